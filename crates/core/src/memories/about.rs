//! Forgetting by topic: what would go is shown first; all of it is one change.

use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::kernel::{Race as _, conflict, retry};
use crate::lineage::says;
use crate::memories::fold::Steps;
use crate::memories::{MemoryService, bullet_in};
use crate::model::{EntryId, Kind, Memory, Namespace, Status, TurnId, Verb};
use crate::ports::Op;
use crate::recall::find::Fallback;
use crate::recall::{Filter, RecallRequest};
use crate::text::bullets;

/// So many turns about a topic are looked for.
const MOST_TURNS: usize = 1000;

/// What there is about a topic.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct About {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Entries and lines that have all words of the topic, the newest first.
    pub memories: Vec<Memory>,
    /// Turns that have them; they stay unless they are erased.
    pub turns: Vec<TurnId>,
}

impl MemoryService<'_> {
    /// What there is about a topic. Changes nothing.
    pub fn about(&self, topic: &str) -> Done<About> {
        if topic.trim().is_empty() {
            return Err(EngineError::invalid("the topic", "is empty"));
        }
        self.documents.notice_all()?;
        let mut memories = self.statements()?;
        memories.retain(|memory| says(&memory.entry.content, topic));
        let filter = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
        let request = RecallRequest { query: topic.to_owned(), limit: MOST_TURNS, filter };
        let turns = self.recall.find(&request, Fallback::Nothing)?.into_iter().map(|hit| hit.memory.entry);
        let turns = turns.filter(|turn| says(&turn.content, topic)).map(|turn| TurnId::new(turn.id.as_str()));
        Ok(About { dry_run: true, memories, turns: turns.collect() })
    }

    /// Forgets the entries and lines about a topic as one change; gives what that was.
    pub fn forget_about(&self, topic: &str) -> Done<About> {
        let about = self.about(topic)?;
        let ids: Vec<EntryId> = about.memories.iter().map(|memory| memory.entry.id.clone()).collect();
        self.forget_all(&ids)?;
        Ok(About { dry_run: false, ..about })
    }

    /// Forgets many memories as one change; gives how many were active.
    pub fn forget_all(&self, ids: &[EntryId]) -> Done<usize> {
        self.with_room(|| self.forget_each(ids))
    }

    fn forget_each(&self, ids: &[EntryId]) -> Done<usize> {
        retry(
            || conflict("memory"),
            || {
                let (steps, count) = self.forgetting(ids)?;
                let committed =
                    self.documents.commit(Verb::Forget, &steps.ops, &steps.changed()).unless_outrun()?.flatten();
                Ok(committed.map(|_| count))
            },
        )
    }

    fn forgetting(&self, ids: &[EntryId]) -> Done<(Steps, usize)> {
        let (Steps { mut ops, mut documents }, mut count) = (Steps::default(), 0);
        for id in ids {
            let entry = self.memory(id)?.entry;
            match &entry.namespace {
                Namespace::Document(name) if entry.kind == Kind::Bullet => {
                    let text = self.opened(name, &mut documents)?;
                    if let Some(bullet) = bullet_in(name, text, id) {
                        *text = bullets::without(text, &bullet);
                        count += 1;
                    }
                }
                _ if entry.status == Status::Active => {
                    ops.push(Op::Update(self.retired(&entry)));
                    count += 1;
                }
                _ => {}
            }
        }
        Ok((Steps { ops, documents }, count))
    }
}
