//! Putting a text in the place of another, whole and only over what the writer has seen.
//!
//! A lock would not keep a person's editor away, and looking before renaming leaves a moment in which their save is
//! lost. So the new text and the old one change places in one step, and what came out is looked at afterwards: if it is
//! not what the writer had seen, it goes back and the writer is told. Never happens: deleting a text that nobody saw.
//!
//! A temporary file is a *draft* as long as it can only hold our own text, and is then renamed after the two texts that
//! it may hold while it is exchanged. Whoever is killed in between leaves a file that [`recover`] can judge.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use cap_std::fs::Dir;
use throughline_core::model::ContentHash;

use crate::failure::Failure;
use crate::sys::Privacy;
use crate::{plain, sys, tree};

const PREFIX: &str = ".throughline-";
const SUFFIX: &str = ".tmp";
const DRAFT: &str = "draft";
/// How much of a digest is in a temporary name.
const DIGITS: usize = 16;
/// How often a person can save between two of our system calls before we give up.
const ROUNDS: usize = 64;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A temporary file; goes away with this value while it is known to hold nothing but our own text.
struct Temporary<'a> {
    dir: &'a Dir,
    number: String,
    name: String,
    ours: bool,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.ours {
            self.remove();
        }
    }
}

impl<'a> Temporary<'a> {
    /// A name that is not taken yet.
    fn unused(dir: &'a Dir, role: &str) -> Self {
        let number = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = format!("{PREFIX}{number}.{role}{SUFFIX}");
        Self { dir, number, name, ours: false }
    }

    /// A file with this text, durable.
    fn draft(dir: &'a Dir, text: &str, privacy: Privacy) -> io::Result<Self> {
        loop {
            let mut draft = Self::unused(dir, DRAFT);
            match sys::create_file(dir, &draft.name, privacy) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => {
                    let mut file = created?;
                    draft.ours = true;
                    file.write_all(text.as_bytes())?;
                    file.sync_all()?;
                    return Ok(draft);
                }
            }
        }
    }

    /// Names the file after the texts that it may hold from now on.
    fn prepare(&mut self, new: &ContentHash, old: &ContentHash) -> io::Result<()> {
        let name = format!("{PREFIX}{}.{}{SUFFIX}", self.number, role(new, old));
        self.dir.rename(&self.name, self.dir, &name)?;
        self.name = name;
        Ok(())
    }

    fn holds(&self, expected: &ContentHash) -> bool {
        plain::hash(self.dir, &self.name).as_ref() == Some(expected)
    }

    fn remove(&self) {
        if let Err(error) = self.dir.remove_file(&self.name) {
            tracing::debug!(file = self.name, %error, "a temporary file stays until the next write");
        }
    }
}

fn role(new: &ContentHash, old: &ContentHash) -> String {
    let short = |hash: &ContentHash| hash.as_str().chars().take(DIGITS).collect::<String>();
    format!("{}-{}", short(new), short(old))
}

/// Writes a document that does not exist, and never over one that appeared meanwhile.
pub(crate) fn create(dir: &Dir, file: &str, text: &str, privacy: Privacy) -> Result<(), Failure> {
    name(Temporary::draft(dir, text, privacy).map_err(Failure::io("write"))?, file)
}

/// The same, with the permissions of another file where those are the person's own choice.
pub(crate) fn create_like(dir: &Dir, file: &str, text: &str, privacy: Privacy, like: &str) -> Result<(), Failure> {
    let draft = Temporary::draft(dir, text, privacy).map_err(Failure::io("write"))?;
    if privacy == Privacy::Usual {
        sys::copy_mode(dir, like, &draft.name).map_err(Failure::io("write"))?;
    }
    name(draft, file)
}

/// Gives a draft its name, unless that is taken.
fn name(mut draft: Temporary<'_>, file: &str) -> Result<(), Failure> {
    match sys::rename_new(draft.dir, &draft.name, file) {
        Ok(()) => draft.ours = false,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Failure::Conflict),
        Err(error) => return Err(Failure::Io("create", error)),
    }
    sys::sync_dir(draft.dir).map_err(Failure::io("write"))
}

/// Writes over the text whose digest is `expected`, and over nothing else.
pub(crate) fn replace(
    dir: &Dir,
    file: &str,
    text: &str,
    expected: &ContentHash,
    privacy: Privacy,
) -> Result<(), Failure> {
    // Nobody else reads the draft before it has the permissions of what it replaces.
    let mut temporary = Temporary::draft(dir, text, Privacy::Owner).map_err(Failure::io("write"))?;
    if privacy == Privacy::Usual {
        sys::copy_mode(dir, file, &temporary.name).map_err(Failure::io("write"))?;
    }
    temporary.prepare(&ContentHash::of(text), expected).map_err(Failure::io("write"))?;
    let ours = Print::of(dir, &temporary.name).map_err(Failure::io("write"))?;
    match sys::exchange(dir, &temporary.name, file) {
        Ok(()) => settle(temporary, file, ours, expected),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::Conflict),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => rename_over(temporary, file, expected),
        Err(error) => Err(Failure::Io("replace", error)),
    }
}

/// After the exchange: done if what came out is what the writer had seen, else it goes back.
fn settle(mut temporary: Temporary<'_>, file: &str, ours: Print, expected: &ContentHash) -> Result<(), Failure> {
    temporary.ours = false;
    if temporary.holds(expected) {
        if let Err(error) = sys::sync_dir(temporary.dir) {
            restore(&temporary, file, ours)?;
            return Err(Failure::Io("write", error));
        }
        // Looked at again: an editor that writes in place may have opened the file just before the exchange, and its
        // text then arrives in what is now the temporary file.
        if temporary.holds(expected) {
            temporary.remove();
            return Ok(());
        }
    }
    restore(&temporary, file, ours)?;
    Err(Failure::Conflict)
}

/// Puts back what came out. What comes out in turn should be what was put there; if it is not, a person saved again, and
/// that newer save is what has to stand: exchange once more. On an error the temporary file stays for [`recover`].
fn restore(temporary: &Temporary<'_>, file: &str, mut placed: Print) -> Result<(), Failure> {
    let dir = temporary.dir;
    let io = Failure::io("give back a newer edit of");
    for _ in 0..ROUNDS {
        let returned = Print::of(dir, &temporary.name).map_err(&io)?;
        match sys::exchange(dir, &temporary.name, file) {
            Ok(()) => {}
            // Removed meanwhile. That person meant our text; the edit that nobody saw is kept.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match sys::rename_new(dir, &temporary.name, file) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    done => return done.map_err(&io),
                }
            }
            Err(error) => return Err(io(error)),
        }
        if Print::of(dir, &temporary.name).map_err(&io)? == placed {
            temporary.remove();
            return sys::sync_dir(dir).map_err(&io);
        }
        placed = returned;
    }
    Err(io(io::Error::new(io::ErrorKind::ResourceBusy, "it is being saved again and again")))
}

/// By what a file is known again after it was renamed.
#[derive(Debug, PartialEq)]
struct Print {
    identity: String,
    hash: Option<ContentHash>,
}

impl Print {
    fn of(dir: &Dir, name: &str) -> io::Result<Self> {
        let identity = sys::identity(&dir.symlink_metadata(name)?);
        Ok(Self { identity, hash: plain::hash(dir, name) })
    }
}

/// Where files cannot be exchanged: looks as late as possible, then renames. A save in between is lost.
fn rename_over(mut temporary: Temporary<'_>, file: &str, expected: &ContentHash) -> Result<(), Failure> {
    let dir = temporary.dir;
    if plain::hash(dir, file).as_ref() != Some(expected) {
        return Err(Failure::Conflict);
    }
    #[cfg(test)]
    moments::pass();
    dir.rename(&temporary.name, dir, file).map_err(Failure::io("replace"))?;
    temporary.ours = false;
    sys::sync_dir(dir).map_err(Failure::io("write"))
}

/// Removes the text whose digest is `expected`: out of the way first, then looked at, then deleted or put back.
pub(crate) fn remove(dir: &Dir, file: &str, expected: &ContentHash) -> Result<(), Failure> {
    let io = Failure::io("remove");
    let aside = Temporary::unused(dir, &role(expected, expected));
    match dir.rename(file, dir, &aside.name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failure::Conflict),
        renamed => renamed.map_err(&io)?,
    }
    let mut failure = Failure::Conflict;
    if aside.holds(expected) {
        match sys::sync_dir(dir) {
            Err(error) => failure = io(error),
            Ok(()) if aside.holds(expected) => {
                dir.remove_file(&aside.name).map_err(&io)?;
                return sys::sync_dir(dir).map_err(&io);
            }
            Ok(()) => {}
        }
    }
    match sys::rename_new(dir, &aside.name, file) {
        // The person saved once more: their newer text stands.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => aside.remove(),
        done => done.map_err(&io)?,
    }
    sys::sync_dir(dir).map_err(&io)?;
    Err(failure)
}

/// Cleans up after processes that were killed. Only called with the lock held, under which alone temporary files exist:
/// whatever is found is stale, so no process id has to be asked about. A draft, or a file that holds one of the two
/// texts that it was named after, was seen by its writer and goes. Anything else is a person's edit that came out of an
/// exchange which nobody lived to put back: it becomes a document of its own.
pub(crate) fn recover(dir: &Dir) {
    let Ok(entries) = tree::entries(dir) else { return };
    for (name, _) in entries {
        let Some((number, role)) = parse(&name) else { continue };
        let done = if role == DRAFT || is_known(dir, &name, role) {
            dir.remove_file(&name)
        } else {
            let kept = format!("recovered-{number}.md");
            tracing::warn!(kept, "an edit was interrupted; it is kept as a document of its own");
            sys::rename_new(dir, &name, &kept)
        };
        if let Err(error) = done {
            tracing::debug!(name, %error, "a stale temporary file stays");
        }
    }
}

/// The number and role in a name of ours; nothing for any other file, however temporary it looks.
fn parse(name: &str) -> Option<(&str, &str)> {
    let (number, role) = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let hex = |text: &str| text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit());
    let (pid, count) = number.split_once('-')?;
    let known_role = role == DRAFT || role.split_once('-').is_some_and(|(new, old)| hex(new) && hex(old));
    (digits(pid) && digits(count) && known_role).then_some((number, role))
}

fn is_known(dir: &Dir, name: &str, role: &str) -> bool {
    plain::hash(dir, name).is_some_and(|hash| role.split('-').any(|known| hash.as_str().starts_with(known)))
}

#[cfg(test)]
pub(crate) mod moments;
#[cfg(test)]
mod saves;
#[cfg(test)]
mod tests;
