//! What a file says: its text, how that is divided, and the title that its format gives it.

use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use throughline_core::vault::{Body, Form};

use crate::{MAX_BYTES, Skip, html, pdf};

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The title of the format, where it has one.
    pub title: Option<String>,
    /// The text.
    pub body: Body,
}

/// How many bytes tell text from anything else.
const SNIFFED: usize = 8 * 1024;

const BINARY: &[&str] = &[
    "7z",
    "a",
    "avi",
    "bin",
    "bmp",
    "bz2",
    "class",
    "db",
    "dll",
    "dmg",
    "doc",
    "docx",
    "dylib",
    "epub",
    "exe",
    "flac",
    "gguf",
    "gif",
    "gz",
    "heic",
    "ico",
    "iso",
    "jar",
    "jpeg",
    "jpg",
    "m4a",
    "mkv",
    "mov",
    "mp3",
    "mp4",
    "o",
    "odt",
    "ogg",
    "onnx",
    "otf",
    "parquet",
    "png",
    "ppt",
    "pptx",
    "pyc",
    "rar",
    "rlib",
    "safetensors",
    "so",
    "sqlite",
    "sqlite3",
    "tar",
    "tgz",
    "tiff",
    "ttf",
    "wasm",
    "wav",
    "webm",
    "webp",
    "woff",
    "woff2",
    "xls",
    "xlsx",
    "xz",
    "zip",
    "zst",
];

const CODE: &[&str] = &[
    "c", "cc", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "hs", "java", "js", "json", "jsx", "kt",
    "lua", "mjs", "ml", "nix", "php", "pl", "proto", "py", "r", "rb", "rs", "scala", "scss", "sh", "sql", "swift",
    "tf", "toml", "ts", "tsx", "vue", "yaml", "yml", "zig",
];

fn ending(path: &Path) -> String {
    path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Whether the name alone says that there is no text: such a file is not opened. A database that is in use must not be.
pub(crate) fn is_binary_name(path: &Path) -> bool {
    let end = ending(path);
    BINARY.contains(&end.as_str()) || end.ends_with("-wal") || end.ends_with("-shm")
}

/// Reads a file in this process.
pub(crate) fn read(path: &Path) -> Result<Contents, Skip> {
    if is_binary_name(path) {
        return Err(Skip::Binary);
    }
    let bytes = bytes(path)?;
    let contents = if bytes.starts_with(b"%PDF-") {
        Contents { title: None, body: Body::Pages(pdf::pages(&bytes)?) }
    } else {
        let text = decoded(&bytes)?;
        match ending(path).as_str() {
            "htm" | "html" | "xhtml" => html::contents(&text)?,
            end => Contents { title: None, body: Body::text(form(end), text) },
        }
    };
    let is_empty = match &contents.body {
        Body::Text { text, .. } => text.trim().is_empty(),
        Body::Pages(pages) => pages.iter().all(|page| page.trim().is_empty()),
    };
    if is_empty { Err(Skip::Empty) } else { Ok(contents) }
}

fn form(ending: &str) -> Form {
    match ending {
        "md" | "markdown" | "mdx" | "mkd" => Form::Markdown,
        end if CODE.contains(&end) => Form::Code,
        _ => Form::Plain,
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, Skip> {
    let failed = |error: std::io::Error| Skip::Unreadable(error.to_string());
    // Since it was looked at, it may have become a link that leads elsewhere, or a pipe that nobody writes to.
    let changed = || Skip::Unreadable("it is no plain file any more".to_owned());
    let seen = path.symlink_metadata().map_err(failed)?;
    if !seen.is_file() {
        return Err(changed());
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    if !is_same(&seen, &file.metadata().map_err(failed)?) {
        return Err(changed());
    }
    let mut bytes = Vec::new();
    // It may have grown.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES { Err(Skip::TooLarge) } else { Ok(bytes) }
}

/// Whether what was opened is what was looked at.
fn is_same(seen: &std::fs::Metadata, opened: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        opened.is_file() && (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = seen;
        opened.is_file()
    }
}

/// Text in UTF-8, in UTF-16 with a mark, or else byte by byte as Latin-1.
fn decoded(bytes: &[u8]) -> Result<String, Skip> {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Ok(wide(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Ok(wide(rest, u16::from_be_bytes));
    }
    if bytes.iter().take(SNIFFED).any(|byte| *byte == 0) {
        return Err(Skip::Binary);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let odd = bytes.iter().filter(|byte| **byte < 32 && !matches!(byte, b'\t' | b'\n' | b'\r' | 12)).count();
    if odd * 20 > bytes.len() {
        return Err(Skip::Binary);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    // A character that text has no use for would end up in the database.
    Ok(if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, bytes: &[u8]) -> Result<Contents, Skip> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    fn text(form: Form, text: &str) -> Result<Contents, Skip> {
        Ok(Contents { title: None, body: Body::text(form, text) })
    }

    #[test]
    fn text_is_read_whatever_it_is_written_in() {
        assert_eq!(of("a.md", b"\xef\xbb\xbf# Hi"), text(Form::Markdown, "# Hi"));
        assert_eq!(of("a.txt", b"\xff\xfeh\0i\0"), text(Form::Plain, "hi"));
        assert_eq!(of("a.txt", b"caf\xe9"), text(Form::Plain, "café"));
        assert_eq!(of("a.rs", b"fn x() {}"), text(Form::Code, "fn x() {}"));
        assert_eq!(of("README", b"hello"), text(Form::Plain, "hello"));
    }

    #[test]
    fn what_is_no_text_is_left_alone() {
        assert_eq!(of("a.txt", b"ab\0cd"), Err(Skip::Binary));
        assert_eq!(of("a.txt", b"\x01\x02\x03\xff\x05"), Err(Skip::Binary));
        assert_eq!(of("a.txt", b" \n\n"), Err(Skip::Empty));
        assert_eq!(of("memory.db-wal", b"text"), Err(Skip::Binary));
        assert!(matches!(of("a.pdf", b"%PDF-1.7\nrubbish"), Err(Skip::Damaged(_))));
        assert!(matches!(read(Path::new("/nowhere/at/all")), Err(Skip::Unreadable(_))));
    }
}
