//! What one change takes away, and what it says: from both follows what is withdrawn.

use std::collections::HashSet;

use throughline_core::lineage::digested;
use throughline_core::model::{Entry, EntryId, Kind, Layer, StatementDigest, Status, Verb, Withdrawal};
use throughline_core::statements;

/// A statement that a change takes back.
#[derive(Debug)]
pub struct NewWithdrawal<'b> {
    /// Of the statement.
    pub digest: StatementDigest,
    /// The memory that said it, beside the first of its digests only.
    pub memory: Option<&'b Entry>,
    /// Why.
    pub why: Withdrawal,
    /// What took its place.
    pub by: Option<EntryId>,
}

/// What one change takes away, and what it says.
#[derive(Debug, Default)]
pub struct Balance {
    gone: Vec<Entry>,
    said: Vec<Entry>,
}

impl Balance {
    /// An entry was added.
    pub fn added(&mut self, entry: &Entry) {
        if counts(entry) {
            self.said.push(entry.clone());
        }
    }

    /// An entry, or a line of a document, was one thing and is another.
    pub fn changed(&mut self, before: &Entry, after: &Entry) {
        let says_other = before.content != after.content;
        if counts(before) && (!counts(after) || says_other) {
            self.gone.push(before.clone());
        }
        let is_news = !counts(before) || says_other || before.supersedes != after.supersedes;
        if counts(after) && is_news {
            self.said.push(after.clone());
        }
    }

    /// A line left its document.
    pub fn removed(&mut self, line: Entry) {
        if counts(&line) {
            self.gone.push(line);
        }
    }

    /// Which memory stands for another from now on, by id: one that says the same in other words, or what a line was edited to.
    pub fn renamed(&self, verb: Verb) -> Vec<(EntryId, EntryId)> {
        let standing = |gone: &Entry| {
            let same = self.said.iter().find(|said| statements::same(&said.content, &gone.content));
            let edited = || self.said.iter().find(|said| said.kind == Kind::Bullet && said.namespace == gone.namespace);
            let is_edit = verb == Verb::Edit && gone.kind == Kind::Bullet;
            let new = same.or_else(|| is_edit.then(edited).flatten())?;
            (new.id != gone.id).then(|| (gone.id.clone(), new.id.clone()))
        };
        self.gone.iter().filter_map(standing).collect()
    }

    /// Whether the change takes a statement away.
    pub fn takes_away(&self) -> bool {
        !self.gone.is_empty()
    }

    /// Whether the change says or takes away nothing.
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.said.is_empty()
    }

    /// The digests of what the change says.
    pub fn said(&self, key: &[u8]) -> HashSet<StatementDigest> {
        self.said.iter().flat_map(|entry| digests(key, &entry.content)).collect()
    }

    /// What the change takes back, and does not say again.
    pub fn withdrawals(&self, key: &[u8], verb: Verb, said: &HashSet<StatementDigest>) -> Vec<NewWithdrawal<'_>> {
        let mut withdrawals = Vec::new();
        for entry in &self.gone {
            let by = self.successor(entry);
            let Some(why) = reason(verb, by.is_some()) else { continue };
            for (nth, digest) in digests(key, &entry.content).into_iter().enumerate() {
                // The text is kept once, beside the digest of its words.
                let memory = (nth == 0).then_some(entry);
                if !said.contains(&digest) {
                    withdrawals.push(NewWithdrawal { digest, memory, why, by: by.clone() });
                }
            }
        }
        withdrawals
    }

    /// What took the place of an entry: what says so, the same entry with another text, the one new line of its document, or
    /// what the change says about the same thing.
    fn successor(&self, gone: &Entry) -> Option<EntryId> {
        let says_so = |entry: &&Entry| entry.supersedes.contains(&gone.id) || entry.id == gone.id;
        if let Some(entry) = self.said.iter().find(says_so) {
            return Some(entry.id.clone());
        }
        let is_line = |entry: &&Entry| entry.kind == Kind::Bullet && entry.namespace == gone.namespace;
        let (left, new) = (self.gone.iter().filter(is_line).count(), self.said.iter().filter(is_line).count());
        let new_line = self.said.iter().find(is_line).map(|entry| entry.id.clone());
        let replaces = |entry: &&Entry| statements::replaces(&entry.content, &gone.content, true);
        let about_same = || self.said.iter().find(replaces).map(|entry| entry.id.clone());
        new_line.filter(|_| gone.kind == Kind::Bullet && left == 1 && new == 1).or_else(about_same)
    }
}

/// Knowledge and identity are statements; the archive repeats what was said, and working memory changes all the time.
fn counts(entry: &Entry) -> bool {
    entry.layer != Layer::Archive && entry.status == Status::Active
}

/// Why a change takes a statement back, if it does.
fn reason(verb: Verb, is_replaced: bool) -> Option<Withdrawal> {
    match verb {
        Verb::Forget => Some(Withdrawal::Forgotten),
        Verb::Remember | Verb::Edit | Verb::Write | Verb::Correct | Verb::Consolidate | Verb::Fill if is_replaced => {
            Some(Withdrawal::Superseded)
        }
        Verb::Edit | Verb::Write => Some(Withdrawal::Forgotten),
        _ => None,
    }
}

fn digests(key: &[u8], content: &str) -> Vec<StatementDigest> {
    digested(content).iter().map(|text| StatementDigest::of(key, text)).collect()
}
