//! What changed since the segments were made: the documents that the rows of a tail stand for.

use std::sync::{Arc, OnceLock};

use throughline_index::{Document, IndexError, Query, Tail, TailDocument};

use super::IndexedRows;

/// An item of a tail as it is now. Every search reads all terms of a tail, and the rest of the few that have one of its own:
/// that is read when it is asked for.
pub struct TailItem {
    number: i64,
    terms: String,
    document: OnceLock<Document>,
}

impl TailItem {
    /// One of which only the terms are read.
    pub fn new(number: i64, terms: String) -> Self {
        Self { number, terms, document: OnceLock::new() }
    }

    /// All of it; nothing if its row is gone.
    fn document(&self, rows: &dyn IndexedRows) -> Result<Option<&Document>, IndexError> {
        if let Some(known) = self.document.get() {
            return Ok(Some(known));
        }
        Ok(rows.document(self.number)?.map(|document| self.document.get_or_init(|| document)))
    }

    fn has_any(&self, terms: &[&str]) -> bool {
        self.terms.split(' ').any(|term| terms.contains(&term))
    }
}

impl From<Document> for TailItem {
    fn from(document: Document) -> Self {
        Self { number: document.number, terms: document.terms.clone(), document: document.into() }
    }
}

/// The items of a tail, as they are now.
#[derive(Default)]
pub struct Changed {
    /// In the order of their numbers.
    items: Vec<Arc<TailItem>>,
    removed: Vec<i64>,
}

/// What a tail says of a row.
pub(super) enum Said<'t> {
    /// Nothing: segments have it as it is.
    Nothing,
    /// It is this now.
    Now(&'t Document),
    /// It is gone.
    Removed,
}

impl Changed {
    /// Of each item, what it is now; nothing for one that is gone.
    pub fn new(items: impl IntoIterator<Item = (i64, Option<Arc<TailItem>>)>) -> Self {
        let mut changed = Self::default();
        for (number, item) in items {
            match item {
                Some(item) => changed.items.push(item),
                None => changed.removed.push(number),
            }
        }
        changed.items.sort_unstable_by_key(|item| item.number);
        changed
    }

    /// What became of a row.
    pub(super) fn of(&self, number: i64, rows: &dyn IndexedRows) -> Result<Said<'_>, IndexError> {
        match self.items.binary_search_by_key(&number, |item| item.number) {
            Ok(at) => Ok(self.items[at].document(rows)?.map_or(Said::Removed, Said::Now)),
            Err(_) if self.removed.contains(&number) => Ok(Said::Removed),
            Err(_) => Ok(Said::Nothing),
        }
    }

    /// The tail of a search. Whether the filter admits an item matters only where it has a term of the query.
    pub(super) fn tail(&self, query: &Query<'_>, rows: &dyn IndexedRows) -> Result<Tail<'_>, IndexError> {
        let mut documents = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let found = if item.has_any(query.terms) { item.document(rows)? } else { None };
            let is_admitted = found.is_some_and(|document| query.admits(document));
            documents.push(TailDocument { number: item.number, terms: &item.terms, is_admitted });
        }
        Ok(Tail::new(documents, &self.removed))
    }
}
