//! What a pass would write, computed anew whenever somebody was faster.

use crate::documents::record::begun;
use crate::error::{Done, EngineError};
use crate::model::{Document, DocumentName};
use crate::ports::{Applied, Dropped, Op};
use crate::reflection::{Input, Plan, ReflectionService, Step};
use crate::text::redact::redact;

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
        Ok(draft)
    }

    fn draft_document(&self, asked: &Asked, heard: &Heard, draft: &mut Draft) -> Done<()> {
        let name = &asked.document;
        let Some(document) = self.open_to_change(name)? else { return Ok(()) };
        let has_sections = crate::reflection::lines::has_sections(name);
        let lines = crate::reflection::lines(name, &document.text);
        let plan: Plan = {
            let max_share = self.kernel.settings.reflection.max_share;
            let input = Input { lines: &lines, names: &asked.names, said: &heard.words, has_sections, max_share };
            crate::reflection::plan(&input, &asked.proposal)
        };
        let adds = plan.steps.iter().any(|step| matches!(step, Step::Add { .. }));
        let text = if adds && has_sections { begun(name, &document.text) } else { document.text.clone() };
        let today = self.kernel.local_now().date();
        let outcome = crate::reflection::apply(name, &text, &lines, &plan, today);
        let after = if outcome.applied.is_empty() { document.text.clone() } else { outcome.text };
        draft.applied.extend(outcome.applied);
        draft.dropped.extend(outcome.dropped);
        draft.documents.push((document, after));
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
