//! The safetensors format: a JSON header that says where each tensor is, then the tensors.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::error::LoadError;
use crate::rows::Kind;

/// The file's name.
const FILE: &str = "model.safetensors";

/// A header of more bytes is none.
const LONGEST_HEADER: u64 = 1 << 24;

/// How many samples of the weights go into the digest, and of how many bytes.
const SAMPLES: u64 = 64;
const SAMPLE: u64 = 4096;

/// An open file.
#[derive(Debug)]
pub(crate) struct SafeTensors {
    pub(crate) file: File,
    path: PathBuf,
    header: Vec<u8>,
    /// Where the tensors begin.
    start: u64,
    length: u64,
    tensors: BTreeMap<String, Tensor>,
    /// The bytes of the tensor that is being read; kept, because new memory costs more than reading.
    bytes: Vec<u8>,
}

/// Where a tensor is in the file, and what it is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) start: u64,
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

impl SafeTensors {
    /// Reads the header.
    pub(crate) fn open(directory: &Path) -> Result<Self, LoadError> {
        let path = directory.join(FILE);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(LoadError::Missing { directory: directory.to_owned(), file: FILE });
            }
            Err(source) => return Err(LoadError::Read { path, source }),
        };
        match header(&mut file) {
            Ok((header, length)) => {
                let malformed = |why: String| LoadError::Malformed { path: path.clone(), why };
                let all: BTreeMap<String, serde_json::Value> =
                    serde_json::from_slice(&header).map_err(|error| malformed(error.to_string()))?;
                let tensors = all.into_iter().filter(|(name, _)| name != "__metadata__");
                let tensors = tensors.map(|(name, tensor)| Ok((name, serde_json::from_value(tensor)?)));
                let tensors =
                    tensors.collect::<serde_json::Result<_>>().map_err(|error| malformed(error.to_string()))?;
                let start = 8 + header.len() as u64;
                Ok(Self { file, path, header, start, length, tensors, bytes: Vec::new() })
            }
            Err(source) if matches!(source.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => {
                Err(LoadError::Malformed { path, why: "it has no header".to_owned() })
            }
            Err(source) => Err(LoadError::Read { path, source }),
        }
    }

    /// The names of the tensors.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// How many rows a tensor has.
    pub(crate) fn rows(&self, name: &str) -> Result<usize, LoadError> {
        self.tensor(name).map(|tensor| tensor.shape.first().copied().unwrap_or(0))
    }

    /// Where a tensor is; it must have this shape.
    pub(crate) fn place(&self, name: &str, shape: &[usize]) -> Result<Place, LoadError> {
        let tensor = self.tensor(name)?;
        let kind = match tensor.dtype.as_str() {
            "F32" => Kind::F32,
            "F16" => Kind::F16,
            "BF16" => Kind::Bf16,
            other => return Err(LoadError::unsupported(format!("its weights are `{other}`"))),
        };
        if tensor.shape != shape {
            let what = format!("`{name}` is {:?} instead of {shape:?} as in config.json", tensor.shape);
            return Err(LoadError::unsupported(what));
        }
        let bytes = shape.iter().product::<usize>() as u64 * kind.size() as u64;
        let (begin, end) = tensor.data_offsets;
        let is_within =
            end.checked_sub(begin) == Some(bytes) && self.start.checked_add(end).is_some_and(|end| end <= self.length);
        if !is_within {
            return Err(self.malformed(&format!("`{name}` is not where the header says")));
        }
        Ok(Place { start: self.start + begin, kind, shape: shape.to_owned() })
    }

    /// Appends the numbers of a tensor.
    pub(crate) fn append(&mut self, name: &str, shape: &[usize], numbers: &mut Vec<f32>) -> Result<(), LoadError> {
        let place = self.place(name, shape)?;
        let (before, count) = (numbers.len(), shape.iter().product::<usize>());
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(count * place.kind.size(), 0);
        self.read(place.start, &mut bytes)?;
        numbers.resize(before + count, 0.0);
        place.kind.read(&bytes, &mut numbers[before..]);
        self.bytes = bytes;
        Ok(())
    }

    /// Eight digits that differ between models: of the header, the length, samples of the weights and `more`.
    pub(crate) fn digest(&mut self, more: &str) -> Result<String, LoadError> {
        let mut digest = Sha256::new();
        digest.update(&self.header);
        digest.update(self.length.to_le_bytes());
        digest.update(more.as_bytes());
        let weights = self.length - self.start;
        let mut sample = vec![0; SAMPLE.min(weights) as usize];
        let last = weights - sample.len() as u64;
        for number in 0..SAMPLES {
            self.read(self.start + last / SAMPLES * number, &mut sample)?;
            digest.update(&sample);
        }
        Ok(digest.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect())
    }

    fn read(&mut self, start: u64, bytes: &mut [u8]) -> Result<(), LoadError> {
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(bytes));
        read.map_err(|source| LoadError::Read { path: self.path.clone(), source })
    }

    fn tensor(&self, name: &str) -> Result<&Tensor, LoadError> {
        self.tensors.get(name).ok_or_else(|| LoadError::unsupported(format!("its weights have no `{name}`")))
    }

    fn malformed(&self, why: &str) -> LoadError {
        LoadError::Malformed { path: self.path.clone(), why: why.to_owned() }
    }
}

/// The header, and the file's length.
fn header(file: &mut File) -> io::Result<(Vec<u8>, u64)> {
    let length = file.metadata()?.len();
    let mut size = [0; 8];
    file.read_exact(&mut size)?;
    let size = u64::from_le_bytes(size);
    if size > LONGEST_HEADER || size > length - 8 {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut header = vec![0; size as usize];
    file.read_exact(&mut header)?;
    Ok((header, length))
}
