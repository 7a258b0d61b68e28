//! What is never given although it can be searched for.

use std::collections::HashSet;

use crate::error::{Done, chain};
use crate::model::{DocumentName, EntryId};
use crate::recall::Hit;
use crate::text::bullets;

use super::ContextService;

impl ContextService<'_> {
    /// Memories that are muted in sessions of a project, or everywhere, and the turns that they came from.
    pub(super) fn muted(&self, project: Option<&str>) -> Done<HashSet<EntryId>> {
        let mut muted = HashSet::new();
        for mute in
            self.mutes.mutes()?.into_iter().filter(|mute| mute.project.is_none() || mute.project.as_deref() == project)
        {
            let memory = self.entries.memory(&mute.memory)?;
            let sources = memory.into_iter().flat_map(|memory| memory.entry.provenance);
            muted.extend(sources.map(|turn| EntryId::new(turn.as_str())));
            muted.insert(mute.memory);
        }
        Ok(muted)
    }

    /// The same; empty if it cannot be read, which is logged.
    pub(super) fn muted_or_warn(&self, project: Option<&str>) -> HashSet<EntryId> {
        self.muted(project).unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), "what is muted cannot be read");
            HashSet::new()
        })
    }

    /// The text of a document without the lines that are muted.
    pub(super) fn without_muted(&self, name: &DocumentName, text: String, project: Option<&str>) -> String {
        let muted = self.muted_or_warn(project);
        let line = |text: &str| bullets::parse(name, text).into_iter().find(|line| muted.contains(&line.id));
        let mut text = text;
        while let Some(muted) = line(&text) {
            text = bullets::without(&text, &muted);
        }
        text
    }
}

/// Whether a hit says what is muted: itself, in another form, or in the place of it.
pub(super) fn is_muted(hit: &Hit, muted: &HashSet<EntryId>) -> bool {
    let entry = &hit.memory.entry;
    std::iter::once(&entry.id).chain(&entry.supersedes).chain(&hit.evidence).any(|id| muted.contains(id))
}
