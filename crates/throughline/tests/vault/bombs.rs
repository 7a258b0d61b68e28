//! Files that are made to break their reader: each costs at most itself, once.

use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use throughline_readers::{Reader, Skip};

use super::{by_words, contents, documents, put, search};
use crate::common::{Home, string};

/// A PDF of these objects, the first of them the catalog.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut pdf = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        pdf.extend(format!("{} 0 obj\n", n + 1).as_bytes());
        pdf.extend(object);
        pdf.extend(b"\nendobj\n");
    }
    let start = pdf.len();
    pdf.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    places.iter().for_each(|place| pdf.extend(format!("{place:010} 00000 n \n").as_bytes()));
    let size = objects.len() + 1;
    pdf.extend(format!("trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").as_bytes());
    pdf
}

fn text(object: &str) -> Vec<u8> {
    object.as_bytes().to_vec()
}

fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    [format!("<< /Length {} {entries} >>\nstream\n", data.len()).as_bytes(), data, b"\nendstream"].concat()
}

const PAGE: &str = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R \
                    /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>";

/// One page with this content, and what it refers to from object 6 on.
fn page(content: Vec<u8>, others: Vec<Vec<u8>>) -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    let first = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE].map(text);
    pdf(&[first.to_vec(), vec![content, text(font)], others].concat())
}

/// A tree whose every node has its child nine times: nine to the power of its depth pages.
fn page_tree(depth: usize) -> Vec<u8> {
    let mut objects = vec![text("<< /Type /Catalog /Pages 2 0 R >>")];
    for level in 0..depth {
        let kids = format!("{} 0 R ", level + 3).repeat(9);
        objects.push(text(&format!("<< /Type /Pages /Kids [{kids}] /Count 999999999 >>")));
    }
    objects.push(text("<< /Type /Page /MediaBox [0 0 9 9] >>"));
    pdf(&objects)
}

/// Forms that draw the next nine times each.
fn nested_forms(depth: usize) -> Vec<u8> {
    let form = |level: usize| {
        let entries = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {} 0 R >> >>",
            level + 7
        );
        stream(&entries, "/X Do ".repeat(9).as_bytes())
    };
    let mut forms: Vec<Vec<u8>> = (0..depth).map(form).collect();
    forms.push(stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", b"q Q"));
    page(stream("", b"/X Do"), forms)
}

/// Blanks by the gigabyte: a block that stands for a megabyte, again and again. Packed well, so that the file is not left out for its
/// size.
fn inflated() -> Vec<u8> {
    let mut block = Vec::with_capacity(1 << 20);
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
    deflate.compress_vec(&vec![b' '; 1 << 20], &mut block, flate2::FlushCompress::Full).unwrap();
    page(stream("/Filter /FlateDecode", &[&b"\x78\x9c"[..], &block.repeat(1000)].concat()), Vec::new())
}

fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let nested =
        |open: &str, shut: &str, depth: usize| format!("{}tea{}", open.repeat(depth), shut.repeat(depth)).into_bytes();
    let table = format!("<table>{}", "<tr><td rowspan=65534 colspan=1000>x".repeat(200));
    vec![
        ("page-tree.pdf", page_tree(10)),
        (
            "own-parent.pdf",
            pdf(&["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"].map(text)),
        ),
        ("forms.pdf", nested_forms(10)),
        ("deflate.pdf", inflated()),
        ("arrays.pdf", page(stream("", &nested("[", "]", 100_000)), vec![nested("[", "]", 100_000)])),
        ("dictionaries.pdf", pdf(&[nested("<</A", ">>", 100_000)])),
        ("width.pdf", page(stream("", b"BT /F1 9 Tf 1e38 Tc 1e38 Tw (x) Tj ET"), Vec::new())),
        ("tags.html", nested("<div>", "</div>", 100_000)),
        ("inline.html", nested("<b><i><a href=x>", "", 20_000)),
        ("lists.html", nested("<ul><li><blockquote>", "", 20_000)),
        ("tables.html", nested("<table><tr><td>", "", 20_000)),
        ("spans.html", table.into_bytes()),
        ("entities.html", "&amp;amp;#97;&#98;&#99;<br>\n".repeat(10_000).into_bytes()),
        ("attributes.html", format!("<p {}>tea</p>", "a=b ".repeat(40_000)).into_bytes()),
        ("comments.html", format!("tea{}", "<!--".repeat(40_000)).into_bytes()),
        ("line.txt", vec![b'x'; 300_000]),
        ("lines.txt", vec![b'\n'; 1_000_000]),
        ("marks.txt", "e\u{301}\u{302}".repeat(50_000).into_bytes()),
        ("quotes.md", nested(">", "", 100_000)),
        ("items.md", (0..500).map(|n| format!("{}- item\n", " ".repeat(n))).collect::<String>().into_bytes()),
        ("fences.md", "```\n~~~\n".repeat(20_000).into_bytes()),
        ("headings.md", "###### a\n# b\n".repeat(10_000).into_bytes()),
        ("links.md", nested("[", "](x)", 20_000)),
        ("deep.json", nested("[", "]", 100_000)),
        ("program.txt", [b"\x7fELF\0\0".to_vec(), vec![0; 1_000_000]].concat()),
        ("control.txt", vec![1; 1_000_000]),
    ]
}

/// Every bomb lies between two plain files, in the order of their names.
#[test]
fn no_file_breaks_the_program_or_keeps_others_out() {
    let home = by_words();
    for (nth, (name, bytes)) in bombs().into_iter().enumerate() {
        let path = put(&home, &format!("notes/{nth:02}-{name}"), "");
        std::fs::write(path, bytes).unwrap();
        put(&home, &format!("notes/{nth:02}-{name}.zz.md"), &format!("Gyokuro number{nth} is steeped at 60 degrees."));
    }
    let added = home.json(&["vault", "add", "notes"]);
    for nth in 0..bombs().len() {
        let found = contents(&search(&home, &format!("number{nth}")));
        assert!(found.iter().any(|text| text.contains(&format!("number{nth} is"))), "{nth}: {found:?} of {added}");
    }
    let unreadable = added["unreadable"].as_array().unwrap();
    let is_named = |name: &str| unreadable.iter().any(|each| string(&each["path"]).ends_with(name));
    for name in ["page-tree.pdf", "forms.pdf", "deflate.pdf", "tags.html", "inline.html", "lists.html", "tables.html"] {
        assert!(is_named(name), "{name} is not in {unreadable:?}");
    }
    assert!(added["skipped"]["binary"].as_u64().unwrap() >= 2, "the program and the control characters: {added}");
    let again = home.json(&["vault", "add", "notes"]);
    assert_eq!((&again["bytes"], &again["unreadable"]), (&json!(0), &added["unreadable"]), "nothing was read again");
}

/// Changes what a file says without changing its size or its time.
fn change_unseen(path: &Path, bytes: &[u8]) {
    let before = path.metadata().unwrap();
    assert_eq!(before.len(), bytes.len() as u64);
    std::fs::write(path, bytes).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(before.modified().unwrap())).unwrap();
}

#[test]
fn a_file_that_could_not_be_read_is_not_read_again_until_it_changes() {
    let home = by_words();
    home.put("vault/bomb.pdf", "%PDF-1.5 rubbish ");
    home.put("vault/blob.txt", "\0\u{1}\u{2}           ");
    home.put("vault/blank.txt", "                 ");
    let skipped =
        |added: &serde_json::Value| (added["unreadable"].clone(), added["skipped"].clone(), added["indexed"].clone());
    let first = home.json(&["vault", "add"]);
    assert_eq!(first["unreadable"].as_array().unwrap().len(), 1, "{first}");
    for (name, text) in
        [("bomb.pdf", "gyokuro is tea   "), ("blob.txt", "gyokuro is tea"), ("blank.txt", "gyokuro is tea   ")]
    {
        change_unseen(&home.path(&format!("vault/{name}")), text.as_bytes());
    }
    assert_eq!(skipped(&home.json(&["vault", "add"])), skipped(&first), "another process does not read them either");
    assert_eq!(search(&home, "gyokuro").len(), 0);
    home.put("vault/bomb.pdf", "gyokuro, a green tea");
    assert_eq!(contents(&search(&home, "gyokuro")), ["gyokuro, a green tea"], "it changed");
    assert_eq!(documents(&home), ["bomb.pdf"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_now_is_tried_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = by_words();
    let path = put(&home, "notes/tea.md", "Steep gyokuro at 60 degrees.");
    let allow = |mode: u32| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(0o000);
    if File::open(&path).is_ok() {
        // Whoever runs this may read everything.
        return;
    }
    assert_eq!(home.json(&["vault", "add", "notes"])["unreadable"].as_array().unwrap().len(), 1);
    allow(0o600);
    assert_eq!(home.json(&["vault", "add", "notes"])["indexed"], json!(1));
}

/// A reader of a home's own, so that a test can meet it alone.
fn reader() -> Reader {
    Reader::new(PathBuf::from(env!("CARGO_BIN_EXE_throughline")), &["file-reader"])
}

fn file(home: &Home, name: &str, bytes: &[u8]) -> String {
    let path = put(home, name, "");
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_reader_that_broke_is_replaced_for_the_next_file() {
    let home = by_words();
    let (bomb, tea) = (file(&home, "bomb.pdf", &page_tree(10)), file(&home, "tea.txt", b"green tea"));
    let mut reader = reader();
    assert!(reader.read(&tea).is_ok());
    assert!(matches!(reader.read(&bomb), Err(Skip::Damaged(_))));
    assert!(reader.read(&tea).is_ok());
}

#[test]
fn a_reader_that_cannot_be_started_says_nothing_about_the_file() {
    let home = by_words();
    let tea = file(&home, "tea.txt", b"green tea");
    for program in ["/nowhere/at/all", "/bin/true"] {
        let read = Reader::new(PathBuf::from(program), &[]).read(&tea);
        assert!(matches!(&read, Err(why) if !why.is_lasting()), "{program}: {read:?}");
    }
}

/// What a reader says beyond its limit is not taken in, whoever it is.
#[cfg(unix)]
#[test]
fn an_answer_without_end_is_not_taken_in() {
    let home = by_words();
    let tea = file(&home, "tea.txt", b"green tea");
    let read = Reader::new(PathBuf::from("/bin/cat"), &["/dev/zero"]).read(&tea);
    assert!(read.is_err(), "{read:?}");
    let read =
        Reader::new(PathBuf::from("/bin/sh"), &["-c", "printf '\\377\\377\\377\\177'; cat /dev/zero"]).read(&tea);
    assert!(matches!(&read, Err(Skip::Damaged(why)) if why.contains("MB")), "{read:?}");
}

/// The limits are the child's own: the memory that it may take, no core dumps, no files.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_limits_itself() {
    let home = by_words();
    let mut child = Command::new(env!("CARGO_BIN_EXE_throughline"));
    child.arg("file-reader").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    let path = file(&home, "tea.txt", b"green tea");
    use std::io::{Read as _, Write as _};
    let stdin = child.stdin.as_mut().unwrap();
    let question = json!({ "Document": { "path": path } }).to_string();
    stdin.write_all(&u32::try_from(question.len()).unwrap().to_le_bytes()).unwrap();
    stdin.write_all(question.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let mut length = [0; 4];
    child.stdout.as_mut().unwrap().read_exact(&mut length).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    let soft = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line[name.len()..].split_whitespace().next().unwrap_or_default().to_owned()
    };
    assert_eq!((soft("Max address space").as_str(), soft("Max core file size").as_str()), ("1073741824", "0"));
    assert_eq!(soft("Max file size"), "0");
    assert!(soft("Max cpu time").parse::<u64>().is_ok_and(|seconds| seconds <= 60), "{limits}");
}
