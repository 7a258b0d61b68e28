//! Exports that are made to break their reader: each is an answer, and none changes anything that it does not say.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use throughline_core::transfer::formats::{Format, ImportError};
use throughline_readers::{Export, Limits, Reader, Source};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::{added, everything, put};
use crate::common::{Home, zipped};

const NOTE: &[u8] = b"- We deploy on Fridays at noon\n";

/// An archive of these files, packed well: a gigabyte of blanks takes a megabyte.
fn packed(files: &[(&str, u64)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    let blanks = vec![b' '; 1 << 20];
    for (name, megabytes) in files {
        writer.start_file(*name, options).unwrap();
        (0..*megabytes).for_each(|_| writer.write_all(&blanks).unwrap());
    }
    writer.finish().unwrap().into_inner()
}

/// The same archive with another size written in both places where it stands.
fn lying(mut archive: Vec<u8>, size: u32) -> Vec<u8> {
    for (mark, place) in [(b"PK\x03\x04", 22), (b"PK\x01\x02", 24)] {
        let at = archive.windows(4).position(|four| four == mark).unwrap() + place;
        archive[at..at + 4].copy_from_slice(&size.to_le_bytes());
    }
    archive
}

fn many_entries(count: usize) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    (0..count).for_each(|n| writer.start_file(format!("{n}.png"), options).unwrap());
    writer.finish().unwrap().into_inner()
}

/// Each with what is said of it.
fn archives() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let inner = zipped(&[("MEMORY.md", NOTE)]);
    let mut cut = zipped(&[("MEMORY.md", NOTE), ("USER.md", NOTE)]);
    cut.truncate(cut.len() / 2);
    vec![
        ("deflate.zip", packed(&[("conversations.json", 1100)]), "more than is unpacked"),
        ("entries.zip", many_entries(200_001), "has more than 200000 entries"),
        ("nested.zip", zipped(&[("memories.json", &inner), ("export.zip", &inner)]), "is a zip archive"),
        ("small-claim.zip", lying(zipped(&[("MEMORY.md", NOTE)]), 3), "is damaged, or not as large"),
        ("large-claim.zip", lying(zipped(&[("MEMORY.md", NOTE)]), u32::MAX - 1), "more than is unpacked"),
        ("up.zip", zipped(&[("a.txt", b""), ("../MEMORY.md", NOTE), ("/MEMORY.md", NOTE)]), "holds none of the files"),
        ("cut.zip", cut, "is a damaged zip archive"),
    ]
}

#[test]
fn no_archive_breaks_the_program_or_changes_anything() {
    let home = Home::new();
    home.remember(&["here before"]);
    let before = everything(&home);
    for (name, bytes, problem) in archives() {
        let file = put(&home, name, bytes);
        for args in [vec!["import", &file], vec!["import", &file, "--dry-run"]] {
            home.run(&args).failed(2, problem, "");
        }
    }
    assert_eq!(everything(&home), before);
    assert!(!home.root().join("MEMORY.md").exists() && !home.root().join("person/MEMORY.md").exists());
}

/// A file, and how many memories and turns it gives; none where it is refused.
type Bomb = (&'static str, Vec<u8>, Option<(u64, u64)>);

fn files() -> Vec<Bomb> {
    let nested = |open: &str, shut: &str, depth: usize| [open.repeat(depth), shut.repeat(depth)].concat();
    let huge = "x".repeat(30 << 20);
    let tea = json!({ "content": "Likes tea" });
    let line = |last: String| format!("{tea}\n{last}\n").into_bytes();
    vec![
        ("arrays.json", nested("[", "]", 1_000_000).into_bytes(), None),
        ("objects.json", nested("{\"content\":", "}", 1_000_000).into_bytes(), None),
        ("deep.jsonl", line(nested("[", "]", 1_000_000)), Some((1, 0))),
        ("string.jsonl", line(json!({ "content": huge }).to_string()), Some((1, 0))),
        ("turn.jsonl", line(json!({ "role": "user", "content": huge }).to_string()), Some((1, 0))),
        ("number.jsonl", line(format!("{{\"content\": \"a\", \"importance\": {}}}", "9".repeat(1_000_000))), None),
        ("keys.jsonl", line(format!("{{{}\"content\": \"b\"}}", "\"content\": \"a\",".repeat(100_000))), Some((2, 0))),
        ("nul.jsonl", [vec![0; 100_000], b"\n".to_vec(), line(String::new())].concat(), None),
        ("latin.jsonl", [b"{\"content\": \"caf\xe9\"}\n".to_vec(), line(String::new())].concat(), Some((1, 0))),
        ("objects-in-a-line.jsonl", line(format!("[{}0]", "{\"\":0},".repeat(100_000))), Some((1, 0))),
        ("quotes.md", line(">".repeat(1_000_000)), None),
        ("headings.md", [b"# a\n".repeat(100_000), NOTE.to_vec()].concat(), Some((1, 0))),
        ("fences.md", [b"```\n~~~\n".repeat(100_000), NOTE.to_vec()].concat(), None),
        ("comments.md", [NOTE.to_vec(), b"<!--".repeat(100_000)].concat(), None),
        ("page.html", "<div>".repeat(200_000).into_bytes(), None),
        ("paper.pdf", b"%PDF-1.5\n1 0 obj\n<<".repeat(10_000), None),
        ("text.txt", "words ".repeat(1_000_000).into_bytes(), None),
    ]
}

#[test]
fn no_file_breaks_the_program_or_keeps_out_what_stands_beside() {
    for (name, bytes, expected) in files() {
        let home = Home::new();
        let file = put(&home, name, bytes);
        let ran = home.run(&["import", &file, "--json"]);
        assert!(matches!(ran.code, 0 | 2) && !ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
        if let Some(expected) = expected {
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(added(&report), expected, "{name}: {}", report["skipped"]);
        }
        home.run(&["doctor"]).done();
    }
}

fn reader() -> Reader {
    Reader::new(PathBuf::from(env!("CARGO_BIN_EXE_throughline")), &["file-reader"])
}

fn read(reader: &mut Reader, source: Source<'_>, is_archive: bool, limits: Limits) -> Result<usize, ImportError> {
    let export = Export { name: "export", source, is_archive, format: Some(Format::Jsonl) };
    reader.export(export, limits).map(|found| found.memories.len())
}

/// Whether it is about the file, and what is said.
fn problem(read: Result<usize, ImportError>) -> (bool, String) {
    match read.unwrap_err() {
        ImportError::Unreadable { problem, may_pass, .. } => (!may_pass, problem),
        other => panic!("{other}"),
    }
}

/// The child's limits on memory, computing and output end it, and the next file gets another.
#[cfg(target_os = "linux")]
#[test]
fn an_export_that_takes_too_much_ends_its_reader_and_no_other() {
    let home = Home::new();
    let line = json!({ "content": "tea ".repeat(50) }).to_string() + "\n";
    let many = line.repeat(200_000).into_bytes();
    let mut reader = reader();
    let mut check = |source: Source<'_>, limits: Limits, said: &str| {
        let (is_about_the_file, problem) = problem(read(&mut reader, source, false, limits));
        assert!(is_about_the_file && problem.contains(said), "{problem}");
        assert_eq!(read(&mut reader, Source::Bytes(line.as_bytes()), false, Limits::DAEMON), Ok(1), "{said}");
    };
    let usual = Limits::DAEMON;
    // Each `{"":0}` takes hundreds of bytes.
    let heavy = format!("{{\"content\": \"a\", \"x\": [{}0]}}\n", "{\"\":0},".repeat(3_000_000));
    check(Source::Bytes(heavy.as_bytes()), usual, "too much memory");
    let file = put(&home, "heavy.jsonl", &heavy);
    check(Source::File(Path::new(&file)), usual, "too much memory");
    check(Source::Bytes(&many), Limits { cpu_seconds: 0, ..usual }, "seconds of computing");
    check(Source::Bytes(&many), Limits { answer: 1 << 20, ..usual }, "makes more than 1 MB");
}

/// A child that does not listen, says nothing or anything at all is an error, and keeps nobody waiting.
#[cfg(unix)]
#[test]
fn a_reader_that_misbehaves_is_an_error() {
    let usual = Limits { patience: Duration::from_millis(300), ..Limits::DAEMON };
    let large = vec![b'x'; 4 << 20];
    let told = |script: &str, limits: Limits| {
        let mut reader = Reader::new(PathBuf::from("/bin/sh"), &["-c", script]);
        problem(read(&mut reader, Source::Bytes(&large), false, limits))
    };
    assert_eq!(told("exec sleep 600", usual), (true, "reading it takes longer than 0 seconds".to_owned()));
    let patient = Limits::DAEMON;
    assert!(told("exec cat /dev/zero", patient).1.contains("nonsense"));
    assert!(told("printf '\\377\\377\\377\\177'; exec cat /dev/zero", patient).1.contains("makes more than"));
    assert!(!told("exit 0", patient).0, "that says nothing about the file");
    let mut reader = Reader::new(PathBuf::from("/nowhere/at/all"), &[]);
    let (is_about_the_file, problem) = problem(read(&mut reader, Source::Bytes(b"{}"), false, patient));
    assert!(!is_about_the_file && problem.contains("could not be started"), "{problem}");
}
