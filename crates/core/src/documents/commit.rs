//! One change that touches entries and documents alike: all of it, or nothing.

use std::collections::HashSet;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError};
use crate::model::{Change, ContentHash, Document, DocumentName, Entry, EntryId, Source, Verb};
use crate::ports::{DocumentError, Op, StoreError};
use crate::text::bullets;

/// What a change does to one file.
#[derive(Debug, Clone)]
pub(crate) struct FileStep {
    /// The document.
    pub(crate) name: DocumentName,
    /// The digest of what is there now; anything else is a conflict.
    pub(crate) expected: ContentHash,
    /// What is there now, to be put back if the change does not come about; none if there is no file.
    pub(crate) before: Option<String>,
    /// What will be there; nothing takes the file away.
    pub(crate) after: Option<String>,
}

impl FileStep {
    /// The step from a document as it was read to its next text.
    pub(crate) fn from(document: &Document, after: Option<&str>) -> Self {
        let is_there = document.hash != ContentHash::missing();
        Self {
            name: document.name.clone(),
            expected: document.hash.clone(),
            before: is_there.then(|| document.text.clone()),
            after: after.map(str::to_owned),
        }
    }

    /// The digest of what will be there.
    fn hash(&self) -> ContentHash {
        self.after.as_deref().map_or_else(ContentHash::missing, ContentHash::of)
    }

    /// The way back.
    fn reversed(&self) -> Self {
        Self { name: self.name.clone(), expected: self.hash(), before: self.after.clone(), after: self.before.clone() }
    }
}

impl DocumentService<'_> {
    /// A document as it is, empty where there is none, with what happened to it noticed.
    pub(crate) fn current_document(&self, name: &DocumentName) -> Done<Document> {
        let missing = || Document { name: name.clone(), text: String::new(), hash: ContentHash::missing() };
        self.notice(name)?;
        Ok(self.files.read(name)?.unwrap_or_else(missing))
    }

    /// Applies operations and documents as one change; none if a person was faster and all must be read again.
    pub(crate) fn commit(&self, verb: Verb, ops: &[Op], documents: &[(Document, String)]) -> Done<Option<Vec<Entry>>> {
        self.commit_as(&self.kernel.change(verb), ops, documents)
    }

    /// The same under a change that the caller knows.
    pub(crate) fn commit_as(
        &self,
        change: &Change,
        ops: &[Op],
        documents: &[(Document, String)],
    ) -> Done<Option<Vec<Entry>>> {
        self.commit_learnt(change, ops, documents, &HashSet::new())
    }

    /// The same; the lines `learnt` are nobody's own words, and the person is asked to review them.
    pub(crate) fn commit_learnt(
        &self,
        change: &Change,
        ops: &[Op],
        documents: &[(Document, String)],
        learnt: &HashSet<EntryId>,
    ) -> Done<Option<Vec<Entry>>> {
        let versions = documents.iter().map(|(before, after)| {
            let mut version = self.versioned(&before.name, Some(after), self.kernel.actor.who);
            if let Op::Document { bullets: Some(lines), .. } = &mut version {
                lines.iter_mut().filter(|line| learnt.contains(&line.id)).for_each(|line| line.source = Source::System);
            }
            version
        });
        let ops: Vec<Op> = ops.iter().cloned().chain(versions).collect();
        let steps: Vec<FileStep> =
            documents.iter().map(|(before, after)| FileStep::from(before, Some(after))).collect();
        match self.with_files(&steps, |last| self.kernel.changes.apply(change, &ops, last)) {
            Err(EngineError::Document(DocumentError::Conflict { .. })) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Applies a change to the store and to files: `apply` is given what the store has to run last, before it commits.
    /// If a file cannot be written or the store does not commit, the files that were written are taken back, so that
    /// they are not taken for a person's edit; what a process that was killed in between left is taken back when it is
    /// next noticed.
    pub(crate) fn with_files<T>(
        &self,
        steps: &[FileStep],
        apply: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T, StoreError>,
    ) -> Done<T> {
        let (mut written, mut failure) = (0, None);
        let mut last = || {
            for step in &steps[written..] {
                let taken = self.files.announce(&step.name, &step.hash()).and_then(|()| self.take_step(step));
                if let Err(error) = taken {
                    self.files.settle(&step.name);
                    failure = Some(error);
                    self.take_back(&steps[..std::mem::take(&mut written)]);
                    return false;
                }
                written += 1;
            }
            true
        };
        match (apply(&mut last), failure) {
            (_, Some(error)) => Err(error.into()),
            (Err(error), None) => {
                self.take_back(&steps[..written]);
                Err(error.into())
            }
            (Ok(value), None) => {
                for step in steps {
                    self.files.settle(&step.name);
                    self.accept_written(step);
                }
                Ok(value)
            }
        }
    }

    /// Accepts the lines that this memory wrote into the memory file of a project. A pass over a file that still quotes
    /// others accepts nothing: a line made of theirs is theirs. Where that fails, a line of ours is quoted.
    fn accept_written(&self, step: &FileStep) {
        let (Some(project), Some(after)) = (step.name.as_project(), &step.after) else { return };
        let lines = |text: &str| bullets::parse(&step.name, text).into_iter().map(|line| line.id);
        let before: HashSet<EntryId> = lines(step.before.as_deref().unwrap_or_default()).collect();
        let written: Vec<EntryId> = lines(after).filter(|line| !before.contains(line)).collect();
        if written.is_empty() {
            return;
        }
        let accept = || {
            let accepted = self.project_store.accepted_lines(project)?;
            let is_ours = self.kernel.actor.who != Source::System || before.is_subset(&accepted);
            if is_ours { self.project_store.accept_lines(project, &written) } else { Ok(()) }
        };
        if let Err(error) = accept() {
            tracing::warn!(%error, %project, "lines that were written are quoted until they are accepted");
        }
    }

    fn take_step(&self, step: &FileStep) -> Result<(), DocumentError> {
        match &step.after {
            Some(text) => self.files.write(&step.name, text, &step.expected),
            None if step.expected == ContentHash::missing() => Ok(()),
            None => self.files.remove(&step.name, &step.expected),
        }
    }

    /// The way back from what a writer that died left in a file: from a text that was announced, and that no change has, to
    /// the one that is known. None if it is not that, or if the known text had secrets that the history does not have.
    pub(super) fn unfinished(&self, found: &FileStep, known: Option<&ContentHash>) -> Done<Option<FileStep>> {
        if self.files.announced(&found.name).as_ref() != Some(&found.expected) {
            return Ok(None);
        }
        let before = self.history.document_versions(&found.name)?.pop().and_then(|version| version.text);
        let back = FileStep { after: before, ..found.clone() };
        Ok((back.hash() == *known.unwrap_or(&ContentHash::missing())).then_some(back))
    }

    /// Goes that way, to be called while nobody else writes.
    pub(super) fn take_back_unfinished(&self, back: &FileStep) {
        self.take_back(&[back.reversed()]);
        tracing::info!(name = %back.name, "took back what an interrupted change had left in a document");
    }

    /// Takes steps back, the last one first. What a person saved over them meanwhile stays; documents that are kept in the
    /// store went back with the transaction.
    fn take_back(&self, steps: &[FileStep]) {
        for step in steps.iter().rev() {
            match self.take_step(&step.reversed()) {
                Err(error @ DocumentError::Conflict { .. }) => tracing::debug!(%error, "not taken back"),
                Err(error) => tracing::warn!(%error, "a document could not be taken back"),
                Ok(()) => {}
            }
            self.files.settle(&step.name);
        }
    }
}
