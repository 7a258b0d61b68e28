//! What importing an export of our own would do.

use std::collections::HashSet;

use serde::Serialize;

use crate::model::{DocumentName, Kind, Position, TurnId};

use super::super::{Done, EXPORT_VERSION, Engine, EngineError, Export, transfer};

/// What an import would do; nothing was changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImportPreview {
    /// Always true.
    pub dry_run: bool,
    /// Memories that are new here.
    pub added: u64,
    /// Memories that are here already.
    pub kept: u64,
    /// Turns that are new here.
    pub turns: u64,
    /// Documents that are new here.
    pub documents: Vec<DocumentName>,
    /// Documents that differ here: yours would stay, and the other text be put beside it.
    pub differing: Vec<DocumentName>,
}

impl Engine {
    /// Says what [`Engine::import`] would do.
    pub fn preview_import(&self, export: &Export) -> Done<ImportPreview> {
        if export.version != EXPORT_VERSION {
            let problem = format!("format {} is not known here (this program knows {EXPORT_VERSION})", export.version);
            return Err(EngineError::BadExport { problem });
        }
        let bundle = transfer::checked(&export.bundle)?;
        let mut preview = ImportPreview { dry_run: true, ..ImportPreview::default() };
        for memory in bundle.memories.iter().filter(|memory| memory.entry.kind == Kind::Entry) {
            let is_here = self.store.memory(&memory.entry.id)?.is_some();
            *(if is_here { &mut preview.kept } else { &mut preview.added }) += 1;
        }
        let mut known: HashSet<TurnId> = HashSet::new();
        for session in &bundle.sessions {
            let turns = self.store.turns_after(&session.id, Position::default())?;
            known.extend(turns.into_iter().map(|(_, turn)| turn.id));
        }
        preview.turns = bundle.turns.iter().filter(|turn| !known.contains(&turn.id)).count() as u64;
        for document in &export.documents {
            match self.documents.read(&document.name)? {
                None => preview.documents.push(document.name.clone()),
                Some(here) if here.text != document.text => preview.differing.push(document.name.clone()),
                Some(_) => {}
            }
        }
        Ok(preview)
    }
}
