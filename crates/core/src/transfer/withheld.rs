//! What of an export was forgotten or erased here: it stays so.

use std::collections::HashSet;

use crate::error::Done;
use crate::lineage::digested;
use crate::model::{Entry, Kind, Layer, Memory, Namespace, Status, TurnId, Withdrawal, Withdrawn};
use crate::ports::Erasure;
use crate::transfer::{Export, TransferService};

impl TransferService<'_> {
    /// The export without what was taken back here, and how many memories and turns that leaves out. A memory that is here
    /// stays as it is, whatever its status.
    pub(super) fn without_withdrawn(&self, export: &Export) -> Done<(Export, u64)> {
        let mut export = export.clone();
        let withdrawn = self.withdrawn_entries(&export)?;
        let erased = self.erased_turns(&export)?;
        let turns = export.bundle.turns.iter().filter(|turn| erased.contains(&turn.id)).count();
        export.bundle.turns.retain(|turn| !erased.contains(&turn.id));
        let withheld = withdrawn.len() + turns;
        for entry in &withdrawn {
            let bullets = match (entry.kind, &entry.namespace) {
                (Kind::Bullet, Namespace::Document(name)) => vec![(name.clone(), entry.content.clone())],
                _ => Vec::new(),
            };
            let erasure = Erasure { memories: vec![entry.id.clone()], bullets, ..Erasure::default() };
            export = export.without(&erasure, Some(entry));
        }
        Ok((export, withheld as u64))
    }

    fn withdrawn_entries(&self, export: &Export) -> Done<Vec<Entry>> {
        let is_statement = |memory: &&Memory| memory.entry.layer != Layer::Archive;
        let said = export.bundle.memories.iter().filter(is_statement);
        let (entries, texts): (Vec<&Entry>, Vec<String>) = said
            .flat_map(|memory| digested(&memory.entry.content).into_iter().map(move |text| (&memory.entry, text)))
            .unzip();
        let found = self.lineage.withdrawals.withdrawals_of(&texts)?;
        // What was inactive there is no statement any more, but what was erased here must not be stored again as one.
        let is_withheld = |entry: &Entry, found: &Option<Withdrawn>| {
            found.as_ref().is_some_and(|found| entry.status == Status::Active || found.why == Withdrawal::Erased)
        };
        let mut withdrawn: Vec<Entry> = Vec::new();
        for (entry, _) in entries.into_iter().zip(found).filter(|(entry, found)| is_withheld(entry, found)) {
            let is_known = withdrawn.iter().any(|known| known.id == entry.id);
            if !is_known && self.entries.memory(&entry.id)?.is_none() {
                withdrawn.push(entry.clone());
            }
        }
        Ok(withdrawn)
    }

    fn erased_turns(&self, export: &Export) -> Done<HashSet<TurnId>> {
        let ids: Vec<TurnId> = export.bundle.turns.iter().map(|turn| turn.id.clone()).collect();
        Ok(self.lineage.withdrawals.erased_turns(&ids)?)
    }
}
