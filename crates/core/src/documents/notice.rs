//! Notices what changed in the files of documents, and derives what can be found of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Done, EngineError, chain};
use crate::model::{
    Actor, Bullet, ContentHash, Document, DocumentName, Entry, Kind, Layer, Name, Namespace, Source, Status, Verb,
};
use crate::ports::{DocumentError, KnownDocument, Op, StoreError};
use crate::text::{bullets, redact::redact};
use crate::threads;

use super::commit::FileStep;
use super::{DocumentService, fold_blanks, working};

/// The stamp of a document, or why it cannot be told.
type Stamp = Result<Option<String>, DocumentError>;

/// Lines of one document that can be found on their own; a longer list belongs into the vault.
const MAX_BULLETS: usize = 5000;

impl DocumentService<'_> {
    /// Notices every document that changed since it was last seen, and says of which it cannot tell. A recall comes
    /// here first: it costs a `stat` each.
    pub(crate) fn notice_all(&self) -> Done<()> {
        let problems = match self.notice_each() {
            // They are read as they are, and found as they were.
            Err(EngineError::Store(StoreError::ReadOnly { .. })) => return Ok(()),
            problems => problems?,
        };
        for problem in problems {
            tracing::warn!("{problem}; going on without it");
        }
        Ok(())
    }

    /// Notices every document, for a verb that goes on without what cannot be read. Called once per verb.
    pub(crate) fn notice_all_or_warn(&self) {
        match self.notice_all() {
            // Many processes at once are no trouble: the next verb looks again.
            Err(EngineError::Store(error)) if error.is_unwritten() => tracing::debug!(%error, "documents wait"),
            Err(error) => {
                let error = chain(&error);
                tracing::warn!(error, "documents cannot be checked; going on without their latest changes");
            }
            Ok(()) => {}
        }
    }

    /// The same for a verb that writes: somebody who reads is told what cannot be read.
    pub(crate) fn notice_all_quietly(&self) {
        match self.notice_each() {
            Ok(problems) => problems.iter().for_each(|problem| tracing::debug!(problem, "going on without a document")),
            Err(error) => tracing::debug!(error = chain(&error), "documents cannot be checked"),
        }
    }

    /// Notices every document; one that cannot be read is a problem in words, and no obstacle to the others.
    pub(crate) fn notice_each(&self) -> Done<Vec<String>> {
        let known: BTreeMap<DocumentName, KnownDocument> =
            self.history.known_documents()?.into_iter().map(|document| (document.name.clone(), document)).collect();
        let mut names: BTreeSet<DocumentName> = self.project_documents()?.into_iter().collect();
        let own = self.kernel.settings.namespace.as_ref().map(|namespace| self.files.stamps(namespace)).transpose()?;
        let mut stamps: BTreeMap<DocumentName, Stamp> = own.into_iter().flatten().collect();
        names.extend(stamps.keys().cloned());
        let was_here = |document: &&KnownDocument| {
            let is_own = Some(document.name.namespace()) == self.kernel.settings.namespace.as_ref();
            is_own && document.hash != ContentHash::missing()
        };
        names.extend(known.values().filter(was_here).map(|document| document.name.clone()));
        let mut problems = Vec::new();
        for name in &names {
            let stamp = stamps.remove(name).unwrap_or_else(|| self.files.stamp(name));
            match self.notice_known(name, known.get(name), stamp) {
                Err(EngineError::Document(error)) => problems.push(chain(&error)),
                outcome => outcome?,
            }
        }
        Ok(problems)
    }

    /// The memory files of projects that have a directory.
    pub(crate) fn project_documents(&self) -> Done<Vec<DocumentName>> {
        let placed =
            crate::projects::all_registered(self.project_store)?.into_iter().filter(|project| project.dir.is_some());
        Ok(placed.map(|project| DocumentName::project(&project.name)).collect())
    }

    /// Notices what happened to one document since it was last seen. A project that has no directory, or is not
    /// registered any more, has no document: nothing happened to it.
    pub(crate) fn notice(&self, name: &DocumentName) -> Done<()> {
        if let Some(project) = name.as_project()
            && self.memory_file(Some(project.as_str()))?.is_none()
        {
            return Ok(());
        }
        if name.is_copy() {
            return Ok(());
        }
        let known = self.history.known_documents()?;
        self.notice_known(name, known.iter().find(|document| document.name == *name), self.files.stamp(name))
    }

    /// The stamp was taken first: a change after it leaves a stamp that differs, and is noticed the next time.
    fn notice_known(&self, name: &DocumentName, known: Option<&KnownDocument>, stamp: Stamp) -> Done<()> {
        let stamp = stamp?;
        let is_as_known = match known {
            // No stamp is kept of a file that was just written: only one that is known to be gone may be missing.
            Some(known) if stamp.is_none() => known.hash == ContentHash::missing(),
            Some(known) => known.stamp == stamp,
            None => stamp.is_none(),
        };
        if is_as_known {
            return Ok(());
        }
        let document = self.files.read(name)?;
        let hash = document.as_ref().map_or_else(ContentHash::missing, |document| document.hash.clone());
        let text = document.as_ref().map(|document| document.text.as_str());
        let is_new = known.is_none_or(|known| known.hash != hash);
        if is_new {
            let by_hand = self.kernel.acting(&Actor::new(Source::User, "editor")).change(Verb::Write);
            let missing = || Document { name: name.clone(), text: String::new(), hash: ContentHash::missing() };
            let found = FileStep::from(&document.clone().unwrap_or_else(missing), None);
            let unfinished = self.unfinished(&found, known.map(|known| &known.hash))?;
            let op = self.versioned(name, text, Source::User);
            // Our own writers write the file while they hold the store: looked at under that lock, a text that is still
            // there and still unknown is a person's, or that of a writer which died.
            let known_hash = known.map(|known| &known.hash);
            let mut is_theirs = || {
                let now = self.files.read(name).map(|now| now.map_or_else(ContentHash::missing, |now| now.hash));
                let is_unknown = self.known_hash(name).is_ok_and(|now| now.as_ref() == known_hash);
                let is_there = is_unknown && now.is_ok_and(|now| now == hash);
                is_there && unfinished.as_ref().inspect(|back| self.take_back_unfinished(back)).is_none()
            };
            match self.kernel.changes.apply(&by_hand, &[op], &mut is_theirs) {
                Ok(_) => self.files.settle(name),
                Err(StoreError::Conflict { .. } | StoreError::TakenBack) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        let entries = self.bullets(name, text.unwrap_or_default(), Source::User)?;
        match self.index.replace_bullets(name, &hash, stamp.as_deref(), &entries) {
            // Only its stamp is missing: it is looked at again.
            Err(error) if !is_new && error.is_unwritten() => {
                tracing::debug!(%name, %error, "no stamp is kept");
                Ok(())
            }
            outcome => Ok(outcome?),
        }
    }

    /// The digest of a document as the store knows it.
    fn known_hash(&self, name: &DocumentName) -> Done<Option<ContentHash>> {
        let known = self.history.known_documents()?.into_iter().find(|document| document.name == *name);
        Ok(known.map(|document| document.hash))
    }

    /// Derives again what can be found of working memory, whose threads changed without the file.
    pub(crate) fn derive_working_or_warn(&self) {
        let derive = || -> Done<()> {
            let Some(namespace) = &self.kernel.settings.namespace else { return Ok(()) };
            let name = DocumentName::working(namespace);
            let Some(document) = self.files.read(&name)? else { return Ok(()) };
            let lines = self.working_bullets(&name, &document.text)?;
            Ok(self.index.replace_bullets(&name, &document.hash, None, &lines)?)
        };
        if let Err(error) = derive() {
            tracing::warn!(error = chain(&error), "lines of closed threads can still be found");
        }
    }

    /// A document's new text, and what can be found of it. What is found of working memory depends on its threads, which
    /// may change with it: the next look at the file tells.
    pub(crate) fn versioned(&self, name: &DocumentName, text: Option<&str>, source: Source) -> Op {
        if name.is_working() {
            return Op::document(name.clone(), text.map(str::to_owned));
        }
        let found = self.bullets_of(name, text.unwrap_or_default(), source);
        match Op::document(name.clone(), text.map(str::to_owned)) {
            Op::Document { name, text, hash, .. } => Op::Document { name, text, hash, bullets: Some(found) },
            other => other,
        }
    }

    fn bullets(&self, name: &DocumentName, text: &str, source: Source) -> Done<Vec<Entry>> {
        if name.is_working() { self.working_bullets(name, text) } else { Ok(self.bullets_of(name, text, source)) }
    }

    /// What can be found of working memory: each line expires with its thread, and belongs to that thread's project.
    fn working_bullets(&self, name: &DocumentName, text: &str) -> Done<Vec<Entry>> {
        let Some(working) = working::parse(text) else { return Ok(Vec::new()) };
        let threads = self.thread_store.shown_threads(name.namespace())?;
        let mut found: Vec<Entry> = Vec::new();
        for section in threads::sections_of(&working.content, &threads).into_iter().filter(|s| !s.is_of_closed()) {
            let source = if section.is_own { Source::User } else { Source::System };
            let expires_at = section.thread.map_or(working.expires_at, |t| t.expires_at.min(working.expires_at));
            let project = section.thread.and_then(|thread| thread.project.clone());
            let lines = self.bullets_of(name, &section.text, source).into_iter();
            let is_new = |line: &Entry| found.iter().all(|known| known.id != line.id);
            let lines: Vec<Entry> = lines.filter(is_new).collect();
            found.extend(lines.into_iter().map(|line| Entry {
                expires_at: Some(expires_at),
                project: project.clone(),
                ..line
            }));
        }
        Ok(found)
    }

    /// What can be found of any other document.
    pub(crate) fn bullets_of(&self, name: &DocumentName, text: &str, source: Source) -> Vec<Entry> {
        let now = self.kernel.now;
        let layer = match name {
            name if name.is_profile() => Layer::Identity,
            name if name.is_working() => Layer::Archive,
            _ => Layer::Knowledge,
        };
        let safe = fold_blanks(&redact(&text.replace('\0', "")).text);
        let entry = |bullet: Bullet| Entry {
            id: bullet.id,
            kind: Kind::Bullet,
            namespace: Namespace::Document(name.clone()),
            layer,
            key: None,
            content: without_secrets(&bullet.content, &safe),
            source,
            status: Status::Active,
            importance: bullet.importance,
            tags: Vec::new(),
            session: None,
            task: None,
            project: name.as_project().map(Name::to_string),
            created_at: now,
            updated_at: now,
            expires_at: None,
            supersedes: Vec::new(),
            provenance: Vec::new(),
            version: 1,
        };
        bullets::parse(name, text).into_iter().take(MAX_BULLETS).map(entry).collect()
    }
}

/// A line without NUL characters and its secrets: also those that only the whole document shows to be one, such as a key over several
/// paragraphs.
pub(crate) fn without_secrets(line: &str, safe_document: &str) -> String {
    let line = redact(&line.replace('\0', "")).text.into_owned();
    if safe_document.contains(&line) { line } else { "[redacted:secret]".to_owned() }
}
