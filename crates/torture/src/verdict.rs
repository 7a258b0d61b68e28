//! What has to be true afterwards: every promise kept, nothing there that nobody wrote, everything in one piece.
//!
//! Each acknowledged write stands for one version of an entry, or for one line of the profile. A worker does one thing
//! at a time, so each kill can leave at most one effect that nobody was told about; without kills there is none.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use throughline_core::engine::Engine;
use throughline_core::model::{DocumentName, Entry, EntryId, Kind, Namespace, Source, Status};
use throughline_core::ports::{Bundle, Page};
use throughline_core::recall::Filter;

use crate::said::Said;
use crate::siege::Record;
use crate::{Failure, open, person};

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Promises that were not kept.
    pub lost: Vec<String>,
    /// Everything else that is wrong, the store's own check included.
    pub problems: Vec<String>,
    /// Effects that nobody was told about: in flight when their worker was killed.
    pub in_flight: usize,
}

impl Verdict {
    /// Looks at the memory in `home` after `record` was made of it.
    pub fn of(home: &Path, record: &Record) -> Result<Self, Failure> {
        let (engine, store) = open(home)?;
        let mut verdict = Self::default();
        // First the profile: looking at it notices a file whose version was lost with a kill, as any later use does.
        verdict.bullets_agree_with_the_file(&engine)?;
        let bundle = store.bundle()?;
        verdict.entries(&bundle, &record.said);
        verdict.profile(&engine, &bundle, record)?;
        let kills = record.killed.len();
        verdict.documents(&engine, &bundle, kills)?;
        if verdict.in_flight > kills {
            let found = verdict.in_flight;
            verdict.problems.push(format!("{found} effects were never acknowledged, with {kills} kills"));
        }
        verdict.problems.extend(store.check()?);
        Ok(verdict)
    }

    /// Whether all is well.
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.problems.is_empty()
    }

    fn entries(&mut self, bundle: &Bundle, said: &[Said]) {
        let mut versions: BTreeMap<&EntryId, Vec<&Entry>> = BTreeMap::new();
        for version in &bundle.history {
            versions.entry(&version.entry.id).or_default().push(&version.entry);
        }
        for (id, versions) in &versions {
            if !versions.iter().map(|entry| entry.version).eq(1..=versions.len() as u32) {
                let numbers: Vec<u32> = versions.iter().map(|entry| entry.version).collect();
                self.problems.push(format!("the versions of {id} are {numbers:?}"));
            }
        }
        let entries = bundle.memories.iter().map(|memory| &memory.entry).filter(|entry| entry.kind == Kind::Entry);
        for entry in entries.clone() {
            if versions.get(&entry.id).and_then(|versions| versions.last()) != Some(&entry) {
                self.problems.push(format!("{} is not what its last version says", entry.id));
            }
        }
        let mut seen = HashSet::new();
        for key in entries.filter(|entry| entry.status == Status::Active).filter_map(|entry| entry.key.as_ref()) {
            if !seen.insert(key) {
                self.problems.push(format!("`{key}` stands for two memories"));
            }
        }
        let empty = Vec::new();
        for said in said {
            if !is_kept(said, |id| versions.get(id).unwrap_or(&empty)) {
                self.lost.push(format!("{said:?}"));
            }
        }
        let acknowledged = said.iter().filter(|said| said.is_entry_version()).count();
        self.in_flight += bundle.history.len().saturating_sub(acknowledged);
    }

    /// A line stays until it is acknowledged to be gone; a killed worker may have removed it without saying so.
    fn profile(&mut self, engine: &Engine, bundle: &Bundle, record: &Record) -> Result<(), Failure> {
        let profile = DocumentName::profile(&person()?);
        let now = engine.documents().read(&Namespace::Document(profile))?.unwrap_or_default();
        let has = |text: &str, line: &str| text.lines().any(|it| it.trim_start_matches("- ") == line);
        let mut lines: BTreeMap<&str, bool> = BTreeMap::new();
        for said in &record.said {
            if let Said::Profile { line, present } = said {
                // A later life may clear the line while the words of the earlier one are still being read.
                let known = lines.entry(line).or_insert(*present);
                *known = *known && *present;
            }
        }
        for (line, present) in lines {
            let ever = bundle.document_history.iter().any(|it| it.text.as_ref().is_some_and(|text| has(text, line)));
            match (present, has(&now, line)) {
                (true, true) | (false, false) if ever => {}
                (true, false) if ever && is_of_the_killed(line, record) => self.in_flight += 1,
                _ => self.lost.push(format!("profile `{line}`: present should be {present}, ever seen: {ever}")),
            }
        }
        Ok(())
    }

    /// Versions of documents are numbered without a gap, end with what the file says, and are nobody's who never
    /// opened an editor: only a file whose version was lost with a kill may be taken for an edit by hand.
    fn documents(&mut self, engine: &Engine, bundle: &Bundle, kills: usize) -> Result<(), Failure> {
        let mut last: BTreeMap<&DocumentName, (u32, &Option<String>)> = BTreeMap::new();
        for version in &bundle.document_history {
            let expected = last.get(&version.name).map_or(1, |(number, _)| number + 1);
            if version.version != expected {
                self.problems.push(format!("version {} of {} follows {}", version.version, version.name, expected - 1));
            }
            last.insert(&version.name, (version.version, &version.text));
        }
        for (name, (_, text)) in last {
            let now = engine.documents().read(&Namespace::Document(name.clone()))?;
            if now != *text {
                self.problems.push(format!("{name} is {now:?}, and its last version {text:?}"));
            }
        }
        let by_hand = |it: &&throughline_core::model::DocumentVersion| {
            it.change.actor.via == "editor" && it.change.actor.who == Source::User
        };
        let by_hand = bundle.document_history.iter().filter(by_hand).count();
        if by_hand > kills {
            self.problems.push(format!("{by_hand} versions of documents are said to be edits by hand"));
        }
        Ok(())
    }

    fn bullets_agree_with_the_file(&mut self, engine: &Engine) -> Result<(), Failure> {
        let filter = Filter { kinds: vec![Kind::Bullet], ..Filter::default() };
        let listing = engine.memories().list(&filter, &Page { limit: usize::MAX, cursor: None })?;
        let mut indexed: Vec<String> = listing.memories.into_iter().map(|memory| memory.entry.content).collect();
        let text =
            engine.documents().read(&Namespace::Document(DocumentName::profile(&person()?)))?.unwrap_or_default();
        let mut written: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
        indexed.sort();
        written.sort();
        if indexed != written {
            self.problems.push(format!("the profile says {written:?}, and its index {indexed:?}"));
        }
        Ok(())
    }
}

/// Lines name the worker and the life that wrote them.
fn is_of_the_killed(line: &str, record: &Record) -> bool {
    record.killed.iter().any(|(worker, life)| line.starts_with(&format!("line w{worker}l{life}o")))
}

/// Whether the history of entries bears out what was said about one of them.
fn is_kept<'a>(said: &Said, versions: impl Fn(&EntryId) -> &'a Vec<&'a Entry>) -> bool {
    match said {
        Said::Own { id, version, content, status } => versions(id)
            .iter()
            .any(|entry| entry.version == *version && entry.content == *content && entry.status == *status),
        Said::Shared { id, key, version, content } => versions(id).iter().any(|entry| {
            entry.version <= *version && entry.content == *content && entry.key.as_deref() == Some(key.as_str())
        }),
        Said::Dropped { id, key } => versions(id)
            .iter()
            .any(|entry| entry.status == Status::Inactive && entry.key.as_deref() == Some(key.as_str())),
        Said::Profile { .. } | Said::Stopped | Said::Error { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use throughline_core::engine::NewMemory;

    use super::*;

    fn record(said: Vec<Said>) -> Record {
        Record { said, ..Record::default() }
    }

    fn own(id: &EntryId, content: &str) -> Said {
        Said::Own { id: id.clone(), version: 1, content: content.to_owned(), status: Status::Active }
    }

    #[test]
    fn notices_what_is_missing_and_what_nobody_wrote() {
        let home = tempfile::tempdir().unwrap();
        let (engine, _) = open(home.path()).unwrap();
        let id = engine.memories().remember(&NewMemory::fact("kept")).unwrap().memory.entry.id;
        assert!(Verdict::of(home.path(), &record(vec![own(&id, "kept")])).unwrap().is_clean());
        let lost = Verdict::of(home.path(), &record(vec![own(&id, "lost")])).unwrap();
        assert_eq!((lost.lost.len(), lost.problems.len()), (1, 0));
        let unknown = Verdict::of(home.path(), &record(Vec::new())).unwrap();
        assert_eq!((unknown.lost.len(), unknown.problems.len(), unknown.in_flight), (0, 1, 1));
    }

    #[test]
    fn notices_a_profile_that_lost_its_line() {
        let home = tempfile::tempdir().unwrap();
        let line = Said::Profile { line: "never written".to_owned(), present: true };
        assert_eq!(Verdict::of(home.path(), &record(vec![line])).unwrap().lost.len(), 1);
    }
}
