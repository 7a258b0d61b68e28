//! Read, write, and notice what a person did to the files in between.

pub(crate) mod commit;
mod identity;
mod list;
mod notice;
pub(crate) mod record;
pub mod working;

use std::cell::Cell;
use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::commit::FileStep;
use crate::error::{Done, EngineError, chain};
use crate::input;
use crate::kernel::{Kernel, retry};
use crate::memories::Outcome;
use crate::model::{Actor, ContentHash, Document, DocumentName, Name, Namespace, Position, Source, Verb};
use crate::ports::{self, DocumentError, Documents, Page};
use crate::recall::{Filter, Scope};
use crate::text::redact::redact;
use crate::vault::VaultService;

pub use identity::{IDENTITY_LIMIT, IdentityUsage};
pub use list::{DocumentLimit, ListedDocument, Shelf};
pub(crate) use notice::without_secrets;
pub use record::{LineOutcome, Recorded, RecordedLine};

pub(crate) fn fold_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn changed_meanwhile(name: &DocumentName) -> EngineError {
    DocumentError::Conflict { name: name.clone() }.into()
}

/// The receipt for a document that was written.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Written {
    /// The document as it now is, its fields at the same level.
    #[serde(flatten)]
    pub document: Document,
    /// Whether anything changed.
    pub outcome: Outcome,
    /// How full identity is, where it is the profile.
    pub usage: Option<IdentityUsage>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<&'static str>,
}

/// A part of memory as Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Rendered {
    /// Its address.
    pub name: Namespace,
    /// What it says; none if there is nothing.
    pub markdown: Option<String>,
    /// The digest of a document, for those who mean to write it back.
    pub hash: Option<ContentHash>,
}

/// Documents: read, write, record, list; and what changed in their files.
#[derive(Clone, Copy)]
pub struct DocumentService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) index: &'e dyn ports::Index,
    pub(crate) project_store: &'e dyn ports::Projects,
    pub(crate) thread_store: &'e dyn ports::Threads,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) files: &'e dyn Documents,
    pub(crate) vault: VaultService<'e>,
}

impl DocumentService<'_> {
    /// Any address as Markdown, with the digest of a document.
    pub fn rendered(&self, name: &Namespace) -> Done<Rendered> {
        let markdown = self.read(name)?;
        let document = markdown.as_deref().filter(|_| matches!(name, Namespace::Document(_)));
        let hash = document.map(ContentHash::of);
        Ok(Rendered { name: name.clone(), markdown, hash })
    }

    /// Any address as Markdown; none if there is nothing.
    pub fn read(&self, address: &Namespace) -> Done<Option<String>> {
        match address {
            Namespace::Document(name) => {
                self.notice(name)?;
                Ok(self.files.read(name)?.map(|document| document.text))
            }
            Namespace::Session(session) => {
                let turns = self.turns.turns_after(session, Position::default())?;
                let lines = turns.iter().map(|(_, turn)| {
                    let who = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
                    format!("**{who}** ({}): {}\n", turn.at, turn.content)
                });
                let said = lines.collect::<Vec<_>>().join("\n");
                let entries = self.render_entries(address)?.unwrap_or_default();
                let text = [said, entries].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
                Ok((!text.is_empty()).then_some(text))
            }
            Namespace::Global | Namespace::Facts(_) => self.render_entries(address),
            Namespace::Vault(name) => self.vault.text(Some(name.as_str())),
        }
    }

    fn render_entries(&self, address: &Namespace) -> Done<Option<String>> {
        let filter = Filter { scope: Scope::Only(address.clone()), ..Filter::recallable(self.kernel.now) };
        let listing = self.entries.list(&filter, &Page { limit: usize::MAX, cursor: None })?;
        if listing.memories.is_empty() {
            return Ok(None);
        }
        let lines = listing.memories.iter().map(|memory| {
            let entry = &memory.entry;
            let key = entry.key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default();
            format!("- {key}{}\n", entry.content.replace('\n', "\n  "))
        });
        Ok(Some(format!("# {address}\n\n{}", lines.collect::<String>())))
    }

    /// A document with its digest, for those who mean to write it back.
    pub fn get(&self, name: &DocumentName) -> Done<Option<Document>> {
        match self.notice(name) {
            // Read as it is; its history and its bullets follow later.
            Err(EngineError::Store(error)) if error.is_unwritten() => {
                tracing::warn!(%name, %error, "not indexed yet")
            }
            outcome => outcome?,
        }
        Ok(self.files.read(name)?)
    }

    /// Replaces a document. With `expected`, only if it still is what the writer saw.
    pub fn write(&self, name: &DocumentName, text: &str, expected: Option<&ContentHash>) -> Done<Written> {
        self.check_namespace(name)?;
        input::no_secret("the name", &name.to_string())?;
        input::no_nul("the text", text)?;
        let redacted = redact(text);
        let kinds = redacted.kinds.clone();
        let now = self.kernel.now;
        let wanted =
            if name.is_working() && working::parse(&redacted.text).is_none() && !redacted.text.trim().is_empty() {
                working::render(&redacted.text, now, self.kernel.settings.working)
            } else {
                redacted.text.into_owned()
            };
        if self.kernel.actor.who != Source::User {
            self.check_identity(name, &wanted)?;
        }
        let before = Cell::new(None);
        let text = self.rewrite(name, Verb::Write, &|current| {
            if expected.is_some_and(|expected| *expected != current.hash) {
                return Err(changed_meanwhile(name));
            }
            before.set(Some(current.hash.clone()));
            Ok(Some(wanted.clone()))
        })?;
        let document = Document::new(name.clone(), text);
        let outcome = match before.take() {
            Some(hash) if hash == document.hash => Outcome::Unchanged,
            Some(hash) if hash != ContentHash::missing() => Outcome::Updated,
            _ => Outcome::Created,
        };
        let usage = name.is_profile().then(|| IdentityUsage::of(&document.text));
        Ok(Written { document, outcome, usage, redacted: kinds })
    }

    /// Documents are the person's or a project's: refuses one where no person is named, below somebody else's name, or
    /// of a project that has no directory.
    pub(crate) fn check_namespace(&self, name: &DocumentName) -> Done<()> {
        if let Some(project) = name.as_project() {
            let known = crate::projects::registered(self.project_store, project.as_str())?;
            return known.dir.map(drop).ok_or_else(|| EngineError::NoDirectory { project: project.clone() });
        }
        match &self.kernel.settings.namespace {
            _ if name.is_copy() => {
                let problem = "is that of a copy which was kept after a conflict; write the document itself";
                Err(EngineError::invalid("the name", problem))
            }
            None => Err(EngineError::NoNamespace),
            Some(own) if own == name.namespace() => Ok(()),
            Some(own) => Err(EngineError::OtherNamespace { name: name.clone(), own: own.clone() }),
        }
    }

    /// Refuses what would push identity past its limit.
    pub fn check_identity(&self, name: &DocumentName, text: &str) -> Done<()> {
        let usage = IdentityUsage::of(text);
        if !name.is_profile() || !usage.is_over() {
            return Ok(());
        }
        let current = self.files.read(name)?.map(|document| document.text).unwrap_or_default();
        Err(EngineError::IdentityFull { name: name.clone(), usage, current })
    }

    /// Changes a document by a function of what it is now, never over an edit that was not seen. `None` leaves it alone.
    pub(crate) fn rewrite(
        &self,
        name: &DocumentName,
        verb: Verb,
        edit: &dyn Fn(&Document) -> Done<Option<String>>,
    ) -> Done<String> {
        let wanted = Cell::new(String::new());
        let says_something_new = matches!(verb, Verb::Remember | Verb::Write | Verb::Edit);
        let exhausted =
            || if says_something_new { self.kept_beside(name, &wanted.take()) } else { changed_meanwhile(name) };
        retry(exhausted, || {
            let current = self.current_document(name)?;
            let Some(next) = edit(&current)? else { return Ok(Some(current.text)) };
            if next == current.text {
                return Ok(Some(next));
            }
            let op = self.versioned(name, Some(&next), self.kernel.actor.who);
            let step = FileStep::from(&current, Some(&next));
            match self.with_files(&[step], |last| self.kernel.changes.apply(&self.kernel.change(verb), &[op], last)) {
                Err(EngineError::Document(DocumentError::Conflict { .. })) => {
                    wanted.set(next);
                    Ok(None)
                }
                outcome => outcome.map(|_| Some(next)),
            }
        })
    }

    /// The last resort for a text that could not be written: it is kept beside its document, without secrets, and the
    /// error says where.
    pub(crate) fn kept_beside(&self, name: &DocumentName, text: &str) -> EngineError {
        let stamp = self.kernel.local_now().strftime("%Y-%m-%d-%H%M%S").to_string();
        match self.files.keep_beside(name, &redact(text).text, &stamp) {
            Ok(copy) => DocumentError::KeptBeside { name: name.clone(), copy }.into(),
            Err(error) => {
                tracing::warn!(error = chain(&error), "what was to be written could not be kept beside the document");
                changed_meanwhile(name)
            }
        }
    }

    /// What was kept beside documents, in words.
    pub(crate) fn copies(&self) -> Done<Vec<String>> {
        let known = self.history.known_documents()?.into_iter().map(|known| known.name);
        let is_own = |name: &DocumentName| Some(name.namespace()) == self.kernel.settings.namespace.as_ref();
        let mut names: BTreeSet<DocumentName> = known.filter(is_own).collect();
        names.extend(self.project_documents()?);
        let mut copies = Vec::new();
        for name in names {
            let kept = self.files.kept_beside(&name).unwrap_or_default();
            copies.extend(kept.iter().map(|copy| {
                format!("`{copy}` beside `{name}` holds what could not be written there: move it over, then delete it")
            }));
        }
        Ok(copies)
    }

    /// The profile that would be injected, and how full it is.
    pub fn profile(&self) -> Done<Option<(String, IdentityUsage)>> {
        if let Some(namespace) = &self.kernel.settings.namespace {
            self.notice(&DocumentName::profile(namespace))?;
        }
        self.stored_profile()
    }

    /// The same, for a verb that has checked the documents already.
    pub(crate) fn stored_profile(&self) -> Done<Option<(String, IdentityUsage)>> {
        let Some(namespace) = &self.kernel.settings.namespace else { return Ok(None) };
        let text = self.files.read(&DocumentName::profile(namespace))?.map(|document| document.text);
        Ok(text.filter(|text| !text.trim().is_empty()).map(|text| {
            let usage = IdentityUsage::of(&text);
            (text, usage)
        }))
    }

    /// Working memory, if it is fresh.
    pub fn working(&self) -> Done<Option<working::Working>> {
        match self.kernel.settings.namespace.as_ref().map(|own| self.notice(&DocumentName::working(own))) {
            Some(Err(EngineError::Document(error))) => tracing::debug!(error = chain(&error), "not noticed"),
            outcome => outcome.transpose().map(drop)?,
        }
        self.stored_working()
    }

    /// The same, for a verb that has checked the documents already.
    pub(crate) fn stored_working(&self) -> Done<Option<working::Working>> {
        let Some(namespace) = &self.kernel.settings.namespace else { return Ok(None) };
        if !self.kernel.settings.working_memory {
            return Ok(None);
        }
        let text = match self.files.read(&DocumentName::working(namespace)) {
            Err(error @ (DocumentError::NotText { .. } | DocumentError::NotPlain { .. })) => {
                tracing::debug!(error = chain(&error), "working memory cannot be read");
                None
            }
            document => document?.map(|document| document.text),
        };
        Ok(text.and_then(|text| working::read(&text, self.kernel.now)))
    }

    /// The documents of a namespace.
    pub(crate) fn names(&self, namespace: &Name) -> Done<Vec<DocumentName>> {
        Ok(self.files.list(namespace)?)
    }

    /// The same documents, written in somebody else's name.
    pub(crate) fn acting<'a>(&'a self, actor: &'a Actor) -> DocumentService<'a> {
        DocumentService { kernel: self.kernel.acting(actor), ..*self }
    }
}
