//! What memory did for the person lately, by the log of recalls and the log of changes.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Done;
use crate::model::{EntryId, SessionId, Verb};
use crate::recall::{AskedBy, RecallRecord};

use super::RecallService;

/// So far back the logs are read, in rows.
const MOST_READ: usize = 2000;

/// What memory did, of the latest 2000 recalls and changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Served {
    /// Messages that came with memories.
    pub messages: usize,
    /// Different memories that were given.
    pub given: usize,
    /// Memories that were given more than once.
    pub again: usize,
    /// Searches that assistants made themselves and that found something.
    pub used: usize,
    /// Memories that were corrected.
    pub corrected: usize,
}

impl RecallService<'_> {
    /// What memory did since a moment.
    pub fn served(&self, since: Timestamp) -> Done<Served> {
        let records = self.recalls.recalls(None, MOST_READ)?;
        let changes = self.kernel.changes.changes(MOST_READ)?;
        let corrected = changes.iter().filter(|change| change.at >= since && change.verb == Verb::Correct).count();
        Ok(Served { corrected, ..served(&records, since) })
    }

    /// How many memories conversations of each kind were given, by a name that `of` makes of a conversation.
    pub fn given_by(&self, of: &dyn Fn(&SessionId) -> Option<&'static str>) -> Done<BTreeMap<&'static str, usize>> {
        let mut counts = BTreeMap::new();
        for record in self.recalls.recalls(None, MOST_READ)? {
            let Some(name) = record.session.as_ref().and_then(of) else { continue };
            *counts.entry(name).or_default() += record.hits.iter().filter(|hit| hit.given).count();
        }
        Ok(counts)
    }
}

fn served(records: &[RecallRecord], since: Timestamp) -> Served {
    let mut served = Served::default();
    let (mut once, mut again) = (HashSet::<&EntryId>::new(), HashSet::<&EntryId>::new());
    for record in records.iter().filter(|record| record.at >= since) {
        let mut given = record.hits.iter().filter(|hit| hit.given).map(|hit| &hit.id).peekable();
        match record.by {
            AskedBy::Message => served.messages += usize::from(given.peek().is_some()),
            AskedBy::Tool => served.used += usize::from(!record.hits.is_empty()),
            AskedBy::Person => {}
        }
        for id in given {
            if !once.insert(id) {
                again.insert(id);
            }
        }
    }
    Served { given: once.len(), again: again.len(), ..served }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, RecallId};
    use crate::recall::{FoundBy, RecalledHit, Why};

    fn record(at: i64, by: AskedBy, hits: &[(&str, bool)]) -> RecallRecord {
        let hit = |(id, given): &(&str, bool)| RecalledHit {
            id: EntryId::new(*id),
            kind: Kind::Entry,
            score: 1.0,
            why: Why::only(FoundBy::Words),
            given: *given,
            evidence: Vec::new(),
        };
        let (recall_id, at) = (RecallId::new("r"), Timestamp::from_second(at).unwrap());
        RecallRecord { recall_id, at, session: None, by, query: String::new(), hits: hits.iter().map(hit).collect() }
    }

    #[test]
    fn what_was_given_is_counted_once_and_what_is_too_old_is_not() {
        let records = [
            record(30, AskedBy::Message, &[("a", true), ("b", false)]),
            record(20, AskedBy::Message, &[("a", true), ("c", true)]),
            record(15, AskedBy::Tool, &[("b", false)]),
            record(14, AskedBy::Tool, &[]),
            record(13, AskedBy::Person, &[("d", false)]),
            record(5, AskedBy::Message, &[("e", true)]),
        ];
        let expected = Served { messages: 2, given: 2, again: 1, used: 1, corrected: 0 };
        assert_eq!(served(&records, Timestamp::from_second(10).unwrap()), expected);
    }
}
