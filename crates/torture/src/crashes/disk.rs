//! A disk that remembers what was made durable: the state of a directory after a power cut at any record of a recording.
//!
//! Content is durable once its file was synced, a name once its directory was (not earlier, whatever gentler file systems do).
//! Everything else is at the mercy of [`Damage`].

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use throughline::synthetic::Dice;

use super::log::Record;
use crate::Failure;

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// What becomes of what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// All of it is lost.
    Lost,
    /// All of it is there: the power went, the disk did not.
    Kept,
    /// Each sector is there or not, whatever was written before or after it; where a file grew, what is missing is zeros or
    /// noise. Names are there up to some moment.
    Shuffled,
    /// All of it is there up to some moment, in which one write is torn.
    Cut,
}

impl Damage {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Lost, Self::Kept, Self::Shuffled, Self::Cut];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Dir,
    File(usize),
}

#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    Truncate { size: usize },
}

#[derive(Debug, Default)]
struct Content {
    durable: Vec<u8>,
    pending: Vec<(usize, Change)>,
}

/// A change of names, in the directory that has to be synced for it.
#[derive(Debug)]
struct Naming {
    moment: usize,
    directory: String,
    change: NameChange,
}

#[derive(Debug)]
enum NameChange {
    Add(String, Node),
    Move(String, String),
    Swap(String, String),
    Remove(String),
}

type Names = BTreeMap<String, Node>;

/// The files of a directory, and how durable they are.
#[derive(Debug, Default)]
pub struct Disk {
    contents: Vec<Content>,
    by_inode: HashMap<u64, usize>,
    names: Names,
    durable: Names,
    pending: Vec<Naming>,
    moment: usize,
}

impl Disk {
    /// The directory as it is, all of it durable.
    pub fn of(directory: &Path) -> Result<Self, Failure> {
        let mut disk = Self::default();
        for (path, file) in walk(directory)? {
            let node = match file {
                None => Node::Dir,
                Some((inode, bytes)) => {
                    disk.contents.push(Content { durable: bytes, pending: Vec::new() });
                    let at = disk.contents.len() - 1;
                    disk.by_inode.insert(inode, at);
                    Node::File(at)
                }
            };
            disk.names.insert(path, node);
        }
        disk.durable = disk.names.clone();
        Ok(disk)
    }

    /// One more record. Confirmations change nothing.
    pub fn apply(&mut self, record: &Record) {
        self.moment += 1;
        match record {
            Record::Create { path, inode } => {
                self.contents.push(Content::default());
                let at = self.contents.len() - 1;
                self.by_inode.insert(*inode, at);
                self.name(path, NameChange::Add(path.clone(), Node::File(at)));
            }
            Record::MakeDir { path } => self.name(path, NameChange::Add(path.clone(), Node::Dir)),
            Record::Write { inode, offset, data } => {
                self.change(*inode, Change::Write { offset: *offset as usize, data: data.clone() });
            }
            Record::Truncate { inode, size } => self.change(*inode, Change::Truncate { size: *size as usize }),
            Record::Sync { inode } => {
                if let Some(content) = self.by_inode.get(inode).and_then(|&at| self.contents.get_mut(at)) {
                    content.settle();
                }
            }
            Record::SyncDir { path } => self.settle_names(path),
            Record::Rename { from, to } => self.name(to, NameChange::Move(from.clone(), to.clone())),
            Record::Exchange { one, other } => self.name(other, NameChange::Swap(one.clone(), other.clone())),
            Record::Link { from, to } => {
                if let Some(&node) = self.names.get(from) {
                    self.name(to, NameChange::Add(to.clone(), node));
                }
            }
            Record::Remove { path } => self.name(path, NameChange::Remove(path.clone())),
            Record::Confirmed(_) => {}
        }
    }

    fn name(&mut self, path: &str, change: NameChange) {
        change.apply(&mut self.names);
        self.pending.push(Naming { moment: self.moment, directory: parent(path).to_owned(), change });
    }

    fn change(&mut self, inode: u64, change: Change) {
        let moment = self.moment;
        if let Some(content) = self.by_inode.get(&inode).and_then(|&at| self.contents.get_mut(at)) {
            content.pending.push((moment, change));
        }
    }

    fn settle_names(&mut self, directory: &str) {
        let (now, later) = std::mem::take(&mut self.pending).into_iter().partition(|it| it.directory == directory);
        self.pending = later;
        for naming in &now as &Vec<Naming> {
            naming.change.apply(&mut self.durable);
        }
    }

    /// Whether anything is not durable.
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty() && self.contents.iter().all(|content| content.pending.is_empty())
    }

    /// Writes what a power cut leaves into an empty directory.
    pub fn cut(&self, damage: Damage, dice: &mut Dice, target: &Path) -> Result<(), Failure> {
        let since = self.oldest_pending();
        let moment = match damage {
            Damage::Lost => 0,
            Damage::Kept => usize::MAX,
            Damage::Shuffled | Damage::Cut => since + dice.below((self.moment - since + 2) as u64) as usize,
        };
        let mut names = self.durable.clone();
        self.pending.iter().filter(|naming| naming.moment < moment).for_each(|naming| naming.change.apply(&mut names));
        for (path, node) in &names {
            let is_reachable = parent(path).is_empty() || names.get(parent(path)) == Some(&Node::Dir);
            match node {
                _ if !is_reachable => {}
                Node::Dir => std::fs::create_dir_all(target.join(path))?,
                Node::File(at) => std::fs::write(target.join(path), self.contents[*at].after(damage, moment, dice))?,
            }
        }
        Ok(())
    }

    fn oldest_pending(&self) -> usize {
        let writes = self.contents.iter().filter_map(|content| Some(content.pending.first()?.0));
        writes.chain(self.pending.first().map(|naming| naming.moment)).min().unwrap_or(self.moment)
    }

    /// Where the directory is not what the recording says: something was changed that was not recorded.
    pub fn differences(&self, directory: &Path) -> Result<Vec<String>, Failure> {
        let real = walk(directory)?;
        let mut found: Vec<String> = self
            .names
            .keys()
            .filter(|path| !real.contains_key(*path))
            .map(|path| format!("{path} is recorded only"))
            .collect();
        for (path, file) in &real {
            let is_same = match (self.names.get(path), file) {
                (Some(Node::Dir), None) => true,
                (Some(Node::File(at)), Some((_, bytes))) => {
                    self.contents[*at].after(Damage::Kept, usize::MAX, &mut Dice::new(0)) == *bytes
                }
                _ => false,
            };
            if !is_same {
                found.push(format!("{path} is not as recorded"));
            }
        }
        Ok(found)
    }
}

impl NameChange {
    /// What is not there, because an earlier change of another directory was lost, cannot be changed.
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Add(path, node) => {
                names.insert(path.clone(), *node);
            }
            Self::Move(from, to) => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
            Self::Swap(one, other) => {
                if let (Some(&first), Some(&second)) = (names.get(one), names.get(other)) {
                    names.insert(one.clone(), second);
                    names.insert(other.clone(), first);
                }
            }
            Self::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

impl Content {
    fn settle(&mut self) {
        for (_, change) in std::mem::take(&mut self.pending) {
            change.apply(&mut self.durable);
        }
    }

    fn after(&self, damage: Damage, moment: usize, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for (at, change) in &self.pending {
            let is_torn = match damage {
                Damage::Lost => break,
                Damage::Kept => false,
                Damage::Shuffled => true,
                Damage::Cut if *at > moment => break,
                Damage::Cut => *at == moment,
            };
            if is_torn {
                change.tear(&mut bytes, dice);
            } else {
                change.apply(&mut bytes);
            }
        }
        bytes
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => put(bytes, *offset, data),
            Self::Truncate { size } => bytes.resize(*size, 0),
        }
    }

    /// Applies some sectors of it.
    fn tear(&self, bytes: &mut Vec<u8>, dice: &mut Dice) {
        let Self::Write { offset, data } = self else {
            if dice.below(2) == 0 {
                self.apply(bytes);
            }
            return;
        };
        let (mut at, mut rest) = (*offset, data.as_slice());
        while !rest.is_empty() {
            let (sector, left) = rest.split_at(rest.len().min(SECTOR - at % SECTOR));
            match dice.below(4) {
                0 | 1 => put(bytes, at, sector),
                2 if at + sector.len() > bytes.len() => {
                    let noise: Vec<u8> = sector.iter().map(|_| dice.roll() as u8).collect();
                    put(bytes, at, &noise);
                }
                _ => {}
            }
            (at, rest) = (at + sector.len(), left);
        }
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Paths, each with the inode and the bytes of a file, or nothing for a directory.
type Tree = BTreeMap<String, Option<(u64, Vec<u8>)>>;

/// Each path below a directory, with the inode and the bytes of a file. What SQLite maps into memory is on no disk.
fn walk(directory: &Path) -> Result<Tree, Failure> {
    let (mut found, mut left) = (BTreeMap::new(), vec![String::new()]);
    while let Some(parent) = left.pop() {
        for entry in std::fs::read_dir(directory.join(&parent))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if parent.is_empty() { name } else { format!("{parent}/{name}") };
            if entry.file_type()?.is_dir() {
                left.push(path.clone());
                found.insert(path, None);
            } else if !path.ends_with("-shm") {
                found.insert(path, Some((inode(&entry.metadata()?), std::fs::read(entry.path())?)));
            }
        }
    }
    Ok(found)
}

#[cfg(unix)]
fn inode(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(path: &str, inode: u64) -> Record {
        Record::Create { path: path.to_owned(), inode }
    }

    fn write(inode: u64, data: &[u8]) -> Record {
        Record::Write { inode, offset: 0, data: data.to_owned() }
    }

    fn left(records: &[Record], damage: Damage, seed: u64) -> BTreeMap<String, Option<Vec<u8>>> {
        let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut disk = Disk::of(before.path()).unwrap();
        records.iter().for_each(|record| disk.apply(record));
        disk.cut(damage, &mut Dice::new(seed), after.path()).unwrap();
        walk(after.path()).unwrap().into_iter().map(|(path, file)| (path, file.map(|(_, bytes)| bytes))).collect()
    }

    #[test]
    fn what_was_not_synced_is_lost() {
        let root = Record::SyncDir { path: String::new() };
        let records =
            [create("a", 1), write(1, b"old"), Record::Sync { inode: 1 }, root, write(1, b"new"), create("b", 2)];
        let one = |bytes: &[u8]| BTreeMap::from([("a".to_owned(), Some(bytes.to_owned()))]);
        assert_eq!(left(&records, Damage::Lost, 1), one(b"old"));
        assert_eq!(left(&records[..5], Damage::Kept, 1), one(b"new"));
        // A synced file whose directory was not synced has no name.
        assert_eq!(left(&records[..3], Damage::Lost, 1), BTreeMap::new());
    }

    #[test]
    fn a_rename_without_a_sync_can_name_an_empty_file() {
        let rename = Record::Rename { from: "a".to_owned(), to: "b".to_owned() };
        let records = [create("a", 1), write(1, b"text"), rename, Record::SyncDir { path: String::new() }];
        assert_eq!(left(&records, Damage::Lost, 1), BTreeMap::from([("b".to_owned(), Some(Vec::new()))]));
    }

    #[test]
    fn sectors_are_written_or_not_each_by_itself() {
        let data = [[1; SECTOR], [2; SECTOR], [3; SECTOR], [4; SECTOR]].concat();
        let root = Record::SyncDir { path: String::new() };
        let old = vec![9; 4 * SECTOR];
        let records = [create("a", 1), write(1, &old), Record::Sync { inode: 1 }, root, write(1, &data)];
        let states: std::collections::BTreeSet<Vec<bool>> = (0..200)
            .map(|seed| {
                let bytes = left(&records, Damage::Shuffled, seed).remove("a").flatten().unwrap();
                bytes.chunks(SECTOR).zip(data.chunks(SECTOR)).map(|(now, new)| now == new).collect()
            })
            .collect();
        assert_eq!(states.len(), 16, "every combination of four sectors");
    }
}
