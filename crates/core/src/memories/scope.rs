//! Erasing a whole conversation, a project, or everything.

use std::collections::HashSet;

use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::lineage::normalised;
use crate::memories::MemoryService;
use crate::model::{DocumentName, Entry, EntryId, Kind, Layer, Namespace, Position, SessionId, Source, TurnId, Verb};
use crate::ports::{Erased, Erasure, ErasureScope, Page};
use crate::recall::{Filter, Projects};
use crate::text::{bullets, sentences::sentences};

/// What erasing a scope removes; nothing was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ScopePreview {
    /// Conversations.
    pub sessions: u64,
    /// What was said in them.
    pub turns: u64,
    /// Entries, whatever their status.
    pub memories: u64,
    /// Lines of documents that were made of those conversations; of everything, all lines.
    pub lines: u64,
    /// Tasks.
    pub tasks: u64,
    /// Files that are not touched.
    pub unreached: Vec<String>,
}

/// The receipt for a scope that was erased.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ErasedScope {
    /// What there was.
    pub preview: ScopePreview,
    /// What was removed, and what could not be reached.
    #[serde(flatten)]
    pub erased: Erased,
}

/// What a conversation or a project says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeWords {
    /// What was said.
    pub said: Vec<String>,
    /// What was made of it: facts, lines, and its threads.
    pub statements: Vec<String>,
}

impl MemoryService<'_> {
    /// What [`MemoryService::erase_scope`] would remove.
    pub fn preview_scope(&self, scope: &ErasureScope) -> Done<ScopePreview> {
        self.documents.notice_all()?;
        let sessions = self.sessions_in(scope)?;
        let turns = self.turns_in(&sessions)?.len() as u64;
        let tasks = self.task_store.tasks()?.into_iter().filter(|task| match scope {
            ErasureScope::Everything => true,
            ErasureScope::Project(project) => task.project.as_deref() == Some(project.as_str()),
            ErasureScope::Session(_) => false,
        });
        let unreached = match scope {
            ErasureScope::Project(project) => vec![format!("the memory file in the directory of {project}")],
            _ => Vec::new(),
        };
        Ok(ScopePreview {
            sessions: sessions.len() as u64,
            turns,
            memories: self.entries_in(scope)? as u64,
            lines: self.lines_in(scope, &sessions)?.len() as u64,
            tasks: tasks.count() as u64,
            unreached,
        })
    }

    /// What is erased with a scope, lines of the person's documents included, those of earlier versions too.
    pub fn scope_erasure(&self, scope: &ErasureScope) -> Done<Erasure> {
        self.documents.notice_all()?;
        let sessions = self.sessions_in(scope)?;
        let lines = self.lines_in(scope, &sessions)?;
        let memories = lines.iter().map(|(_, line)| line.id.clone()).collect();
        let mut bullets: Vec<(DocumentName, String)> =
            lines.into_iter().map(|(name, line)| (name, line.content)).collect();
        bullets.extend(self.former_lines(&sessions)?);
        let (scope, at) = (Some(scope.clone()), self.kernel.now);
        Ok(Erasure { memories, bullets, scope, at, ..Erasure::default() })
    }

    /// Lines of earlier versions of documents that were made of what was said, and do not stand there any more.
    fn former_lines(&self, sessions: &[SessionId]) -> Done<HashSet<(DocumentName, String)>> {
        let turns = self.turns_in(sessions)?;
        let said: HashSet<String> = turns.iter().flat_map(|turn| sentences(turn)).filter_map(normalised).collect();
        let mut former = HashSet::new();
        for name in self.history.known_documents()?.into_iter().map(|known| known.name) {
            let current = self.files.read(&name)?.map(|document| document.text).unwrap_or_default();
            let stands: HashSet<EntryId> = bullets::parse(&name, &current).into_iter().map(|line| line.id).collect();
            for version in self.history.document_versions(&name)? {
                let lines = bullets::parse(&name, version.text.as_deref().unwrap_or_default()).into_iter();
                let gone = lines.filter(|line| !stands.contains(&line.id));
                let is_said = |content: &str| normalised(content).is_some_and(|text| said.contains(&text));
                former.extend(gone.filter(|line| is_said(&line.content)).map(|line| (name.clone(), line.content)));
            }
        }
        Ok(former)
    }

    /// What is erased with a topic: these turns, and what the program made that has its words.
    pub fn topic_erasure(&self, topic: &str, turns: &[TurnId]) -> Erasure {
        let (turns, topic) = (turns.to_vec(), Some(topic.to_owned()));
        Erasure { turns, topic, at: self.kernel.now, ..Erasure::default() }
    }

    /// Removes turns for good, and what the program made that has the words of a topic.
    pub fn erase_topic(&self, topic: &str, turns: &[TurnId]) -> Done<Erased> {
        self.with_room(|| self.erase_all(&self.topic_erasure(topic, turns)))
    }

    /// Removes a scope for good. Of a conversation and a project, the lines that were made of what was said go too; the
    /// memory file of a project stays in its directory.
    pub fn erase_scope(&self, scope: &ErasureScope) -> Done<ErasedScope> {
        self.with_room(|| self.erase_all_of(scope))
    }

    fn erase_all_of(&self, scope: &ErasureScope) -> Done<ErasedScope> {
        let preview = self.preview_scope(scope)?;
        let sessions = self.sessions_in(scope)?;
        let words = self.scope_words(scope)?;
        self.threads.close_all(Verb::Forget, &|thread| sessions.contains(&thread.session))?;
        let erasure = self.scope_erasure(scope)?;
        self.remove_lines(&erasure.bullets)?;
        let mut erased = self.eraser.erase(&erasure)?;
        self.note_erasing()?;
        erased.unreached.extend(preview.unreached.iter().cloned());
        if *scope == ErasureScope::Everything {
            erased.unreached.extend(self.remove_files()?);
        } else {
            erased.unreached.extend(self.places_of(&words.statements)?);
        }
        Ok(ErasedScope { preview, erased })
    }

    /// The texts of a conversation or a project, read before it is erased: copies of them are looked for in backups and exports.
    pub fn scope_words(&self, scope: &ErasureScope) -> Done<ScopeWords> {
        if *scope == ErasureScope::Everything {
            return Ok(ScopeWords::default());
        }
        let sessions = self.sessions_in(scope)?;
        let entries = self.listed(scope)?.into_iter().filter(|entry| entry.layer != Layer::Archive);
        let mut statements: Vec<String> = entries.map(|entry| entry.content).collect();
        statements.extend(self.lines_in(scope, &sessions)?.into_iter().map(|(_, line)| line.content));
        statements.extend(self.former_lines(&sessions)?.into_iter().map(|(_, line)| line));
        for session in &sessions {
            let Some(thread) = self.threads.any_of(session)? else { continue };
            let lines = bullets::parse(&DocumentName::working(&thread.namespace), &thread.content);
            statements.extend(lines.into_iter().map(|line| line.content).chain([thread.title]));
        }
        statements.sort();
        statements.dedup();
        Ok(ScopeWords { said: self.turns_in(&sessions)?, statements })
    }

    fn sessions_in(&self, scope: &ErasureScope) -> Done<Vec<SessionId>> {
        let all = self.session_store.sessions()?.into_iter().map(|state| state.session);
        let is_in = |project: Option<&str>, id: &SessionId| match scope {
            ErasureScope::Everything => true,
            ErasureScope::Project(name) => project == Some(name.as_str()),
            ErasureScope::Session(session) => id == session,
        };
        let found: Vec<SessionId> =
            all.filter(|session| is_in(session.project.as_deref(), &session.id)).map(|session| session.id).collect();
        match scope {
            ErasureScope::Session(session) if found.is_empty() => {
                Err(EngineError::NoSession { session: session.clone() })
            }
            _ => Ok(found),
        }
    }

    fn turns_in(&self, sessions: &[SessionId]) -> Done<Vec<String>> {
        let mut turns = Vec::new();
        for session in sessions {
            turns.extend(
                self.turns.turns_after(session, Position::default())?.into_iter().map(|(_, turn)| turn.content),
            );
        }
        Ok(turns)
    }

    fn entries_in(&self, scope: &ErasureScope) -> Done<usize> {
        Ok(self.listed(scope)?.len())
    }

    /// The entries in a scope, whatever their status.
    fn listed(&self, scope: &ErasureScope) -> Done<Vec<Entry>> {
        let filter = match scope {
            ErasureScope::Everything => Filter::default(),
            ErasureScope::Project(name) => Filter { projects: Projects::Only(name.clone()), ..Filter::default() },
            ErasureScope::Session(session) => Filter { session: Some(session.clone()), ..Filter::default() },
        };
        let filter = Filter { kinds: vec![Kind::Entry], ..filter };
        let listing = self.entries.list(&filter, &Page { limit: usize::MAX, cursor: None })?;
        Ok(listing.memories.into_iter().map(|memory| memory.entry).collect())
    }

    /// Lines of the person's documents that the program made of what was said.
    fn lines_in(&self, scope: &ErasureScope, sessions: &[SessionId]) -> Done<Vec<(DocumentName, Entry)>> {
        let filter = Filter { kinds: vec![Kind::Bullet], projects: Projects::NoneOr(Vec::new()), ..Filter::default() };
        let lines = self.entries.list(&filter, &Page { limit: usize::MAX, cursor: None })?.memories;
        let turns = self.turns_in(sessions)?;
        let said: HashSet<String> = turns.iter().flat_map(|turn| sentences(turn)).filter_map(normalised).collect();
        let is_in = |line: &Entry| {
            let is_said = || normalised(&line.content).is_some_and(|text| said.contains(&text));
            *scope == ErasureScope::Everything || line.source != Source::User && is_said()
        };
        let lines = lines.into_iter().map(|memory| memory.entry).filter(|line| is_in(line));
        Ok(lines.filter_map(|line| Some((document_of(&line)?, line))).collect())
    }

    fn remove_lines(&self, lines: &[(DocumentName, String)]) -> Done<()> {
        let names: HashSet<&DocumentName> = lines.iter().map(|(name, _)| name).collect();
        for name in names {
            self.documents.rewrite(name, Verb::Forget, &|current| {
                let gone = lines.iter().filter(|(of, _)| of == name);
                Ok(Some(gone.fold(current.text.clone(), |text, (_, line)| bullets::without_content(name, &text, line))))
            })?;
        }
        Ok(())
    }

    /// Removes the person's documents; names those that are still there.
    fn remove_files(&self) -> Done<Vec<String>> {
        let Some(namespace) = &self.kernel.settings.namespace else { return Ok(Vec::new()) };
        let mut left = Vec::new();
        for name in self.files.list(namespace)? {
            let removed = match self.files.read(&name)? {
                Some(document) => self.files.remove(&name, &document.hash),
                None => Ok(()),
            };
            left.extend(removed.err().map(|error| format!("the document {name} ({error})")));
            left.extend(self.files.kept_beside(&name)?.into_iter().map(|copy| format!("the copy {copy}")));
        }
        Ok(left)
    }
}

fn document_of(line: &Entry) -> Option<DocumentName> {
    match &line.namespace {
        Namespace::Document(name) => Some(name.clone()),
        _ => None,
    }
}
