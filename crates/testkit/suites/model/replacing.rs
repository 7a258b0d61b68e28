//! One memory in the place of others: correct and merge.

use throughline_core::engine::{Correction, EngineError, Outcome};
use throughline_core::model::{EntryId, Verb};
use throughline_core::recall::CORRECTION_TAG;

use super::acts::Which;
use super::pair::Pair;
use super::plain::{State, Step, add_missing};

impl Pair {
    pub(crate) fn correct(&mut self, which: &Which, content: &str, tag: Option<&String>) {
        let Some(id) = self.model.pick(which) else { return };
        let wrong = self.model.now(&id).clone();
        let given: Vec<String> = tag.into_iter().cloned().collect();
        let correction = Correction { tags: given.clone(), ..Correction::by_person(content) };
        let got = self.world.engine.memories().correct(id.as_str(), &correction);
        if !wrong.is_active() {
            assert!(matches!(got, Err(EngineError::Invalid { .. })), "{got:?}");
            return self.touched(&id);
        }
        let got = got.unwrap();
        let mut tags = wrong.tags.clone();
        add_missing(&mut tags, &given);
        add_missing(&mut tags, &[CORRECTION_TAG.to_owned()]);
        let (content, supersedes) = (content.to_owned(), vec![id.clone()]);
        let right = State { content, tags, supersedes, ..wrong.clone() };
        if right.content == wrong.content {
            assert_eq!((&got.memory.entry.id, got.outcome), (&id, Outcome::Unchanged));
        } else {
            assert_eq!(got.superseded.iter().map(|memory| &memory.entry.id).collect::<Vec<_>>(), [&id]);
            let stands = got.memory.entry.id;
            let known = self.model.saying(&right, Some(&id));
            let mut step = Step::new(Verb::Correct);
            self.model.set(&mut step, &id, wrong.inactive());
            if known.is_empty() {
                assert!(got.outcome == Outcome::Created && self.is_new(&stands), "{stands} is new");
                self.model.set(&mut step, &stands, right);
            } else {
                assert!(got.outcome == Outcome::Updated && known.contains(&stands), "{stands} was known");
                let mut next = self.model.now(&stands).clone();
                add_missing(&mut next.tags, &right.tags);
                add_missing(&mut next.supersedes, &right.supersedes);
                next.key = next.key.or(right.key.filter(|_| next.project == right.project));
                self.model.set(&mut step, &stands, next);
            }
            self.model.done(step);
            self.touched(&stands);
        }
        self.touched(&id);
    }

    pub(crate) fn merge(&mut self, first: &Which, others: &[Which], alike: bool, content: Option<&str>) {
        let Some(first) = self.model.pick(first) else { return };
        let mut ids = vec![first.clone()];
        for which in others {
            let other = if alike { Some(self.model.pick_beside(&first, which)) } else { self.model.pick(which) };
            add_missing(&mut ids, &other.into_iter().collect::<Vec<_>>());
        }
        let references: Vec<String> = ids.iter().map(EntryId::to_string).collect();
        let got = self.world.engine.memories().merge(&references, content);
        let standing = self.model.now(&first);
        let fits = |id: &EntryId| self.model.now(id).is_active() && self.model.now(id).is_beside(standing);
        if ids.len() < 2 || !ids.iter().all(fits) {
            assert!(matches!(got, Err(EngineError::Invalid { .. })), "{got:?}");
        } else {
            let got = got.unwrap();
            assert_eq!((&got.memory.entry.id, got.outcome), (&first, Outcome::Updated));
            assert_eq!(
                got.superseded.iter().map(|memory| &memory.entry.id).collect::<Vec<_>>(),
                ids[1..].iter().collect::<Vec<_>>()
            );
            self.merged(&ids, content);
        }
        ids.iter().for_each(|id| self.touched(id));
    }

    /// What the first becomes, with all that the others add, and what they become.
    fn merged(&mut self, ids: &[EntryId], content: Option<&str>) {
        let mut step = Step::new(Verb::Merge);
        let mut next = self.model.now(&ids[0]).clone();
        next.content = content.map_or(next.content, str::to_owned);
        for id in &ids[1..] {
            let other = self.model.now(id).clone();
            add_missing(&mut next.tags, &other.tags);
            add_missing(&mut next.supersedes, &other.supersedes);
            add_missing(&mut next.supersedes, std::slice::from_ref(id));
            next.task = next.task.or_else(|| other.task.clone());
            self.model.set(&mut step, id, other.inactive());
        }
        // Nothing replaces itself, even where it was restored and merged with what had replaced it.
        next.supersedes.retain(|id| *id != ids[0]);
        self.model.set(&mut step, &ids[0], next);
        self.model.done(step);
    }
}
