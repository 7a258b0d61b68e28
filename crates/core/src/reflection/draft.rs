//! What a pass would write, computed anew whenever somebody was faster.

use crate::documents::record::begun;
use crate::error::{Done, EngineError};
use crate::lineage::says;
use crate::model::{Document, DocumentName, EntryId, Role, Thread};
use crate::ports::{Applied, Dropped, Op};
use crate::reflection::{Input, Plan, ReflectionService, Step};
use crate::text::{bullets, redact::redact};
use crate::threads::{self, ThreadEdit};

use super::reply::{Operation, Proposal};
use super::{Answers, Asked, Difference, Heard, Target};

/// What a pass would write.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) documents: Vec<(Document, String)>,
    pub(super) ops: Vec<Op>,
    pub(super) applied: Vec<Applied>,
    pub(super) dropped: Vec<Dropped>,
}

impl Draft {
    /// Whether nothing would change.
    pub(super) fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.changed().is_empty()
    }

    /// The documents that change.
    pub(super) fn changed(&self) -> Vec<(Document, String)> {
        self.documents.iter().filter(|(before, after)| before.text != *after).cloned().collect()
    }

    pub(super) fn differences(&self) -> Vec<Difference> {
        let difference =
            |(before, after): (Document, String)| Difference { name: before.name, before: before.text, after };
        self.changed().into_iter().map(difference).collect()
    }
}

impl ReflectionService<'_> {
    /// Plans everything against what is there now. Touches nothing.
    pub(super) fn draft_pass(&self, target: &Target, heard: &Heard, answers: &Answers) -> Done<Draft> {
        let mut draft = Draft { dropped: answers.left_alone.clone(), ..Draft::default() };
        for asked in &answers.asked {
            self.draft_document(asked, heard, &mut draft)?;
        }
        if self.kernel.settings.reflection.merge {
            self.draft_merges(target, heard, &mut draft)?;
        }
        if self.kernel.settings.reflection.promote && target.project.is_none() {
            self.draft_promotions(heard, &mut draft)?;
        }
        self.draft_closings(target, heard, &mut draft)?;
        Ok(draft)
    }

    /// Closes the threads of which the person has said since, in whatever conversation, that they are finished.
    fn draft_closings(&self, target: &Target, heard: &Heard, draft: &mut Draft) -> Done<()> {
        let is_in_reach = |thread: &Thread| target.project.is_none() || thread.project == target.project;
        let is_finished = |thread: &Thread| {
            let later = heard.turns.iter().filter(|turn| turn.role == Role::User && turn.at > thread.updated_at);
            is_in_reach(thread)
                && !heard.refused.contains(&EntryId::new(thread.id.as_str()))
                && later.into_iter().any(|turn| threads::finishes(&turn.content, &thread.title))
        };
        let finished: Vec<Thread> = self.threads.list()?.into_iter().filter(is_finished).collect();
        if finished.is_empty() {
            return Ok(());
        }
        let is_it = |thread: &Thread| finished.iter().any(|other| other.id == thread.id);
        let change = self.threads.plan(&ThreadEdit::Close(&is_it))?;
        draft.ops.extend(change.ops);
        draft.documents.extend(change.documents);
        draft.applied.extend(finished.iter().map(|thread| Applied {
            op: "close".to_owned(),
            document: None,
            ids: vec![EntryId::new(thread.id.as_str())],
            what: format!("“{}”, which is finished", thread.title),
        }));
        Ok(())
    }

    fn draft_document(&self, asked: &Asked, heard: &Heard, draft: &mut Draft) -> Done<()> {
        let name = &asked.document;
        let Some(document) = self.open_to_change(name)? else { return Ok(()) };
        let has_sections = crate::reflection::lines::has_sections(name);
        let lines = crate::reflection::lines(name, &document.text);
        let plan: Plan = {
            let max_share = self.kernel.settings.reflection.max_share;
            let input = Input { lines: &lines, names: &asked.names, said: &heard.turns, has_sections, max_share };
            crate::reflection::plan(&input, &self.without_withdrawn(&asked.proposal, heard, &mut draft.dropped)?)
        };
        let adds = plan.steps.iter().any(|step| matches!(step, Step::Add { .. }));
        let text = if adds && has_sections { begun(name, &document.text) } else { document.text.clone() };
        let today = self.kernel.local_now().date();
        let outcome = crate::reflection::apply(name, &text, &lines, &plan, today);
        let after = if outcome.applied.is_empty() { document.text.clone() } else { outcome.text };
        draft.applied.extend(outcome.applied);
        draft.dropped.extend(outcome.dropped);
        self.draft_moves(name, &document.text, &after, draft)?;
        draft.documents.push((document, after));
        Ok(())
    }

    /// A proposal without facts that were taken back and that nobody said again.
    fn without_withdrawn(&self, proposal: &Proposal, heard: &Heard, dropped: &mut Vec<Dropped>) -> Done<Proposal> {
        let mut kept = Proposal { operations: Vec::new(), unreadable: proposal.unreadable.clone() };
        for operation in &proposal.operations {
            match operation {
                Operation::Add { text, .. } if self.is_withdrawn(text, heard)? => {
                    dropped.push(operation.dropped("it was taken back".to_owned()));
                }
                operation => kept.operations.push(operation.clone()),
            }
        }
        Ok(kept)
    }

    fn is_withdrawn(&self, fact: &str, heard: &Heard) -> Done<bool> {
        let lineage = &self.recall.lineage;
        match heard.turns.iter().rev().find(|turn| turn.role == Role::User && says(&turn.content, fact)) {
            Some(turn) => lineage.is_withdrawn_since(fact, turn),
            None => lineage.is_withdrawn(fact, None),
        }
    }

    /// What a document says from now on is no entry any more: it moved there.
    fn draft_moves(&self, name: &DocumentName, before: &str, after: &str, draft: &mut Draft) -> Done<()> {
        let known: Vec<String> = bullets::parse(name, before).into_iter().map(|line| line.content).collect();
        for line in bullets::parse(name, after).into_iter().filter(|line| !known.contains(&line.content)) {
            let project = name.as_project().map(ToString::to_string);
            for entry in self.memories.entries_saying(&line.content, project.as_deref())? {
                draft.ops.push(Op::Update(self.memories.retired(&entry)));
            }
        }
        Ok(())
    }

    /// A document as it is, unless it cannot be read, or a change of it could not be undone.
    pub(super) fn open_to_change(&self, name: &DocumentName) -> Done<Option<Document>> {
        match self.documents.current_document(name) {
            Err(EngineError::Document(error)) => {
                tracing::warn!(%error, "a document cannot be read; going on without");
                Ok(None)
            }
            Ok(document) if !redact(&document.text).kinds.is_empty() => Ok(None),
            document => document.map(Some),
        }
    }

    /// A document of the draft, with what the draft makes of it so far.
    pub(super) fn drafted<'a>(
        &self,
        name: &DocumentName,
        draft: &'a mut Draft,
    ) -> Done<Option<&'a mut (Document, String)>> {
        if !draft.documents.iter().any(|(before, _)| before.name == *name) {
            let Some(document) = self.open_to_change(name)? else { return Ok(None) };
            let text = document.text.clone();
            draft.documents.push((document, text));
        }
        Ok(draft.documents.iter_mut().find(|(before, _)| before.name == *name))
    }
}
