//! From a document's name to its directory and file, one component at a time.
//!
//! Never happens: a link that is followed, a document that is found under another spelling of its name.

use std::io;

use cap_std::fs::{Dir, FileType};
use throughline_core::model::{DocumentName, Name, copied_from, fold_name};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::failure::Failure;
use crate::{plain, sys};

/// How many components a document has below its namespace, at most.
pub(crate) const MAX_DEPTH: usize = 8;
/// How many documents a namespace lists, at most.
const MAX_LISTED: usize = 10_000;

/// What to do about folders that are missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Folders {
    /// There is nothing then.
    Existing,
    /// There is nothing then, unless the name clashes.
    Unclashing,
    /// Create them, unless the name clashes.
    Create,
}

/// The folders of a document, the namespace first, and its file.
pub(crate) fn path(name: &DocumentName) -> (Vec<&str>, String) {
    let mut folders: Vec<&str> = name.components().map(Name::as_str).collect();
    folders.pop();
    (folders, name.file())
}

/// Opens the last of `folders`.
pub(crate) fn folder(root: &Dir, folders: &[&str], missing: Folders) -> Result<Option<Dir>, Failure> {
    let mut dir = root.try_clone().map_err(Failure::io("open the folder of"))?;
    for (depth, component) in folders.iter().enumerate() {
        let mut next = open(&dir, component)?;
        if next.is_none() && missing != Folders::Existing {
            refuse_clash(&dir, &folders[..depth], component)?;
        }
        if next.is_none() && missing == Folders::Create {
            create(&dir, component)?;
            next = open(&dir, component)?;
        }
        match next {
            Some(next) => dir = next,
            None => return Ok(None),
        }
    }
    Ok(Some(dir))
}

fn open(dir: &Dir, component: &str) -> Result<Option<Dir>, Failure> {
    match sys::open_dir(dir, component) {
        Ok(opened) => Ok(is_exact(dir, component).map_err(Failure::io("look for"))?.then_some(opened)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if sys::is_not_plain(&error) => Err(Failure::NotPlain),
        Err(error) => Err(Failure::Io("open the folder of", error)),
    }
}

fn create(dir: &Dir, component: &str) -> Result<(), Failure> {
    match sys::create_dir(dir, component) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(Failure::Io("create the folder of", error)),
        _ => sys::sync_dir(dir).map_err(Failure::io("create the folder of")),
    }
}

/// Reads a file that has exactly this name.
pub(crate) fn read(dir: &Dir, file: &str) -> Result<Option<String>, Failure> {
    if !is_exact(dir, file).map_err(Failure::io("look for"))? {
        return Ok(None);
    }
    plain::read(dir, file)
}

/// The stamp of a file that has exactly this name.
pub(crate) fn stamp(dir: &Dir, file: &str) -> Result<Option<String>, Failure> {
    match dir.symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::Io("look for", error)),
        Ok(_) if !is_exact(dir, file).map_err(Failure::io("look for"))? => Ok(None),
        Ok(found) if !found.is_file() => Err(Failure::NotPlain),
        Ok(found) => Ok(Some(sys::stamp(&found))),
    }
}

/// Whether what the file system finds under this name, if anything, really has it. Where the other case is not found
/// too, case matters and there is nothing to doubt; else the directory itself is asked.
fn is_exact(dir: &Dir, component: &str) -> io::Result<bool> {
    let other_case = swap_case(component);
    if other_case != component && is_missing(dir, &other_case)? {
        return Ok(true);
    }
    Ok(is_missing(dir, component)? || entries(dir)?.iter().any(|(entry, _)| composed(entry) == component))
}

fn is_missing(dir: &Dir, name: &str) -> io::Result<bool> {
    match dir.symlink_metadata(name) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn swap_case(text: &str) -> String {
    let swap = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    text.chars().map(swap).collect()
}

/// Some file systems keep names decomposed, whichever form they were given in.
fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// Refuses a component that is not there while a sibling differs from it only in case or Unicode form.
pub(crate) fn refuse_clash(dir: &Dir, above: &[&str], component: &str) -> Result<(), Failure> {
    let wanted = fold_name(component);
    let siblings = entries(dir).map_err(Failure::io("look for"))?;
    match siblings.into_iter().find(|(entry, _)| entry != component && fold_name(entry) == wanted) {
        None => Ok(()),
        Some((entry, _)) => {
            let shown = entry.strip_suffix(".md").unwrap_or(&entry);
            Err(Failure::Clash([above, &[shown]].concat().join("/")))
        }
    }
}

/// Names in a directory, sorted; those that are not Unicode are nothing of ours.
pub(crate) fn entries(dir: &Dir) -> io::Result<Vec<(String, FileType)>> {
    let mut found = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        match (entry.file_name().into_string(), entry.file_type()) {
            (Ok(name), Ok(kind)) => found.push((name, kind)),
            (Err(name), _) => tracing::debug!(?name, "skipped a name that is not Unicode"),
            (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
            (_, Err(error)) => return Err(error),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Every document of a namespace, sorted.
pub(crate) fn list(root: &Dir, namespace: &Name) -> io::Result<Vec<DocumentName>> {
    let mut found = Vec::new();
    if let Some(dir) = enter(root, namespace.as_str())? {
        walk(&dir, namespace.as_str(), 1, &mut found)?;
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Every document of a namespace whose own directory this is, sorted.
pub(crate) fn list_in(dir: &Dir, namespace: &Name) -> io::Result<Vec<DocumentName>> {
    let mut found = Vec::new();
    walk(dir, namespace.as_str(), 1, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

/// Opens a directory to list it; none if it went away or is a link.
fn enter(dir: &Dir, component: &str) -> io::Result<Option<Dir>> {
    match open(dir, component) {
        Ok(opened) => Ok(opened),
        Err(Failure::Io(_, error)) => Err(error),
        Err(_) => Ok(None),
    }
}

fn walk(dir: &Dir, above: &str, depth: usize, found: &mut Vec<DocumentName>) -> io::Result<()> {
    for (entry, kind) in entries(dir)? {
        if found.len() >= MAX_LISTED {
            tracing::warn!(above, limit = MAX_LISTED, "too many documents; the rest is not listed");
            return Ok(());
        }
        if kind.is_dir() && is_listable(dir, &entry)? && entry.parse::<Name>().is_ok() && depth < MAX_DEPTH {
            if let Some(inner) = enter(dir, &composed(&entry))? {
                walk(&inner, &format!("{above}/{}", composed(&entry)), depth + 1, found)?;
            }
            continue;
        }
        match document(above, &entry) {
            Some(name) if kind.is_file() && is_listable(dir, &entry)? => found.push(name),
            _ => tracing::debug!(above, entry, "skipped what is not a document"),
        }
    }
    Ok(())
}

/// Whether an entry is reached by its composed name, as a reader would ask for it.
fn is_listable(dir: &Dir, entry: &str) -> io::Result<bool> {
    Ok(is_nfc(entry) || !is_missing(dir, &composed(entry))?)
}

/// The document that a file holds. A file that no name leads to, such as `profile.md.md`, holds none.
fn document(above: &str, entry: &str) -> Option<DocumentName> {
    let stem = entry.strip_suffix(".md").or_else(|| entry.strip_suffix(".txt"))?;
    if copied_from(stem).is_some() {
        return None;
    }
    let name: DocumentName = format!("{above}/{entry}").parse().ok()?;
    (name.file() == composed(entry)).then_some(name)
}
