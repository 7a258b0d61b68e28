//! What a memory took the place of, by the change that wrote it.

use crate::error::Done;
use crate::model::{ChangeId, DocumentName, Entry, EntryId, Source, Status};
use crate::ports::Undoable;
use crate::recall::similarity;
use crate::text::bullets;

use super::{ReviewService, document_of};

/// A line of a document has no link to what it replaced: it shares this much with it.
const SAME_SUBJECT: f64 = 0.3;

impl ReviewService<'_> {
    /// What became inactive, or left its document, for this memory, in the change that wrote it.
    pub(super) fn replaced_by(&self, entry: &Entry, change: Option<&ChangeId>) -> Done<Vec<Entry>> {
        let change = match change {
            Some(change) => Some(change.clone()),
            None => self.written_by(entry)?,
        };
        let Some(touched) = change.as_ref().map(|change| self.reviews.touched(change)).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let mut former = retired(&touched);
        for (name, _, before) in &touched.documents {
            former.extend(self.removed_lines(&touched, name, before.as_deref().unwrap_or_default())?);
        }
        if document_of(entry).is_none() {
            former.retain(|former| entry.supersedes.contains(&former.id));
            return Ok(former);
        }
        let claimed: Vec<&EntryId> = touched.entries.iter().flat_map(|(now, _)| &now.supersedes).collect();
        former.retain(|former| !claimed.contains(&&former.id));
        former.retain(|former| similarity(&former.content, &entry.content) >= SAME_SUBJECT);
        Ok(former)
    }

    /// The change that wrote a memory as it is now: its last version's, or the one with which its line came.
    pub(super) fn written_by(&self, entry: &Entry) -> Done<Option<ChangeId>> {
        let Some(name) = document_of(entry) else {
            let versions = self.history.entry_versions(&entry.id)?;
            let wrote = versions.into_iter().rfind(|version| version.change.actor.who == Source::System);
            return Ok(wrote.map(|version| version.change.id));
        };
        let versions = self.history.document_versions(name)?;
        let has =
            |text: Option<&str>| bullets::parse(name, text.unwrap_or_default()).iter().any(|line| line.id == entry.id);
        let with_it = versions.iter().rev().take_while(|version| has(version.text.as_deref()));
        Ok(with_it.last().map(|version| version.change.id.clone()))
    }

    /// The lines that a change took out of a document.
    fn removed_lines(&self, touched: &Undoable, name: &DocumentName, before: &str) -> Done<Vec<Entry>> {
        let versions = self.history.document_versions(name)?;
        let after = versions.into_iter().rfind(|version| version.change.id == touched.change.id);
        let after = after.and_then(|version| version.text).unwrap_or_default();
        let left: Vec<EntryId> = bullets::parse(name, &after).into_iter().map(|line| line.id).collect();
        let lines = self.documents.bullets_of(name, before, Source::User).into_iter();
        let removed = lines.filter(|line| !left.contains(&line.id));
        Ok(removed.map(|line| Entry { status: Status::Inactive, ..line }).collect())
    }
}

/// The entries that a change made inactive, and that still are.
fn retired(touched: &Undoable) -> Vec<Entry> {
    let was_active = |before: &Option<Entry>| before.as_ref().is_some_and(|before| before.status == Status::Active);
    let gone = touched.entries.iter().filter(|(now, before)| now.status == Status::Inactive && was_active(before));
    gone.map(|(now, _)| now.clone()).collect()
}
