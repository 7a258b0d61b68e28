//! Zip archives as services mail them.
//!
//! Goes in: an archive. Comes out: what its known files hold. Never happens: a file written anywhere, a file read whose
//! name is not known, more unpacked than the limits say, whatever the archive claims about sizes.

use std::io::{Read, Seek};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::{Format, Found, ImportError, detect, read};

/// More entries than any export has.
const MAX_ENTRIES: usize = 200_000;

/// How many known files are read.
const MAX_FILES: usize = 5_000;

/// How large one of them may be, in an archive or by itself, in bytes.
pub const MAX_FILE: u64 = 1 << 30;

/// What all of them may unpack to together when a command reads them, in bytes.
pub const MAX_UNPACKED: u64 = 2 << 30;

/// A file that cannot be unpacked as the archive describes it.
const DAMAGED: &str = "is damaged, or not as large as the archive says";

/// Folders of an export in which known files lie.
const FOLDERS: [&str; 6] = ["", "conversations", "daily", "memories", "memory", "projects"];

/// Whether a file begins like an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// Reads the known files of an archive, each as what it is, or as what all are said to be. One that cannot be read costs
/// no other. All of them may unpack to `most` bytes.
pub fn read_archive(
    name: &str,
    source: impl Read + Seek,
    format: Option<Format>,
    most: u64,
) -> Result<Found, ImportError> {
    let bad = |problem: &str| ImportError::BadArchive { name: name.to_owned(), problem: problem.to_owned() };
    let mut archive = ZipArchive::new(source).map_err(|error| bad(broken(&error)))?;
    if archive.len() > MAX_ENTRIES {
        return Err(bad(&format!("has more than {MAX_ENTRIES} entries")));
    }
    let known = known_entries(&archive);
    if known.is_empty() {
        return Err(bad("holds none of the files that are known, such as conversations.json"));
    }
    if known.len() > MAX_FILES {
        return Err(bad(&format!("has more than {MAX_FILES} files to read")));
    }
    let (mut found, mut first, mut left) = (Found::default(), None, most);
    for (at, path) in known {
        let bytes =
            unpacked(&mut archive, at, MAX_FILE.min(left)).map_err(|problem| bad(&format!("{path} {problem}")))?;
        left -= bytes.len() as u64;
        match read(&path, &bytes, format) {
            Ok(part) => found.join(part),
            Err(ImportError::Unknown { .. }) if detect::is_account(&path) => {}
            Err(error) => {
                found.skip(&path, &error.to_string());
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if found.files.is_empty() => Err(error),
        None if found.files.is_empty() => Err(bad("holds nothing that is read")),
        _ => Ok(found),
    }
}

/// The known files by their place in the archive, sorted by name. The folder that all entries lie in is no part of it; a
/// name that leads out of the archive is no name.
fn known_entries<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<(usize, String)> {
    let names = archive.file_names().enumerate();
    // A name that is no text is not known either.
    let names: Vec<(usize, String)> = names.filter_map(|(at, name)| Some((at, name.ok()?.into_owned()))).collect();
    let root = names.first().and_then(|(_, name)| Some(format!("{}/", name.split_once('/')?.0)));
    let root = root.filter(|root| names.iter().all(|(_, name)| name.starts_with(root.as_str()))).unwrap_or_default();
    let below = |(at, name): (usize, String)| {
        let path = name.strip_prefix(root.as_str())?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_safe = !path.contains(['\\', '\0']) && !path.starts_with('/');
        (is_safe && FOLDERS.contains(&folder) && detect::is_known(path)).then(|| (at, path.to_owned()))
    };
    let mut known: Vec<(usize, String)> = names.into_iter().filter_map(below).collect();
    known.sort_by(|a, b| a.1.cmp(&b.1));
    known
}

/// The bytes of one file: what it is said to have, and no byte more. `most` is what may be unpacked.
fn unpacked<R: Read + Seek>(archive: &mut ZipArchive<R>, at: usize, most: u64) -> Result<Vec<u8>, String> {
    let failed = |error: &ZipError| broken(error).to_owned();
    let raw = archive.by_index_raw(at).map_err(|error| failed(&error))?;
    let (is_encrypted, method, size) = (raw.encrypted(), raw.compression(), raw.size());
    drop(raw);
    if is_encrypted {
        return Err("is encrypted".to_owned());
    }
    if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(format!("is packed in a way that is not read ({method})"));
    }
    if size > most {
        return Err(format!("would take {} MB, more than is unpacked", size >> 20));
    }
    let file = archive.by_index(at).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    file.take(size + 1).read_to_end(&mut bytes).map_err(|_| DAMAGED.to_owned())?;
    if bytes.len() as u64 != size {
        return Err(DAMAGED.to_owned());
    }
    Ok(bytes)
}

fn broken(error: &ZipError) -> &'static str {
    match error {
        ZipError::UnsupportedArchive(_) => "is a kind of zip archive that is not read",
        ZipError::Io(_) => "cannot be read to its end",
        _ => "is a damaged zip archive",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    const NOTE: &[u8] = b"- We deploy on Fridays at noon\n";

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
            writer.start_file(*name, packed).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn problem(bytes: &[u8]) -> String {
        read_archive("e.zip", Cursor::new(bytes), None, MAX_UNPACKED).unwrap_err().to_string()
    }

    #[test]
    fn known_files_are_read_below_the_folder_that_holds_all() {
        let bytes = archive(&[
            ("data-2026/MEMORY.md", NOTE),
            ("data-2026/memory/2026-01-02.md", b"- Met Otto\n"),
            ("data-2026/picture.png", b"\x89PNG"),
            ("data-2026/deep/down/MEMORY.md", b"- not looked at\n"),
            ("data-2026/user.json", br#"{"id": "u", "email": "a@example.com"}"#),
        ]);
        let found = read_archive("e.zip", Cursor::new(bytes), None, MAX_UNPACKED).unwrap();
        let names: Vec<&str> = found.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["MEMORY.md", "memory/2026-01-02.md"]);
        assert_eq!((found.memories.len(), found.skipped.len()), (2, 0));
    }

    #[test]
    fn a_name_that_leads_out_is_not_read() {
        for name in ["../MEMORY.md", "/MEMORY.md", "a/../../MEMORY.md", "..\\MEMORY.md"] {
            let bytes = archive(&[("notes.txt", b"x"), (name, NOTE)]);
            assert!(problem(&bytes).contains("holds none of the files"), "{name}");
        }
    }

    /// Half a gigabyte for a few hundred bytes: refused by what it claims, and where it lies, after one byte too many.
    #[test]
    fn bombs_are_not_unpacked() {
        let mut bytes = archive(&[("MEMORY.md", &vec![b' '; 100_000])]);
        let claimed = |bytes: &[u8], size: u32| {
            let mut bytes = bytes.to_vec();
            for (mark, place) in [(b"PK\x03\x04", 22), (b"PK\x01\x02", 24)] {
                let at = bytes.windows(4).position(|four| four == mark).unwrap() + place;
                bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
            }
            bytes
        };
        assert!(problem(&claimed(&bytes, u32::MAX - 1)).contains("more than is unpacked"));
        assert!(problem(&claimed(&bytes, 10)).contains("not as large as the archive says"));
        // The flag of encryption, in both places.
        for (mark, place) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
            let at = bytes.windows(4).position(|four| four == mark).unwrap() + place;
            bytes[at] |= 1;
        }
        assert!(problem(&bytes).contains("MEMORY.md is encrypted"), "{}", problem(&bytes));
    }

    #[test]
    fn all_files_together_unpack_to_no_more_than_is_allowed() {
        let bytes = archive(&[("MEMORY.md", NOTE), ("USER.md", NOTE)]);
        let both = 2 * NOTE.len() as u64;
        let read = |most| read_archive("e.zip", Cursor::new(&bytes), None, most);
        assert_eq!(read(both).unwrap().files.len(), 2);
        assert!(read(both - 1).unwrap_err().to_string().contains("USER.md would take"));
    }

    #[test]
    fn a_damaged_archive_is_named_and_no_panic() {
        let whole = archive(&[("MEMORY.md", NOTE), ("USER.md", NOTE)]);
        for cut in 0..whole.len() {
            assert!(problem(&whole[..cut]).starts_with("cannot read the export: e.zip "), "{cut}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            // Whatever comes of it, it is an answer.
            let _ = read_archive("e.zip", Cursor::new(bytes), None, MAX_UNPACKED);
        }
        assert!(problem(b"PK\x03\x04 and so on").contains("is a damaged zip archive"));
    }
}
