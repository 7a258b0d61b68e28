//! An export without a conversation or a project.

use std::collections::{HashMap, HashSet};

use crate::model::{ContentHash, DocumentName, Entry, EntryId, SessionId, Thread};
use crate::ports::{Bundle, ErasureScope};
use crate::threads::without_threads;
use crate::transfer::Export;

impl Export {
    /// The export without what is erased with a scope. Lines of the person's documents are taken out by
    /// [`Export::without`].
    pub fn without_scope(mut self, scope: &ErasureScope) -> Self {
        let (session, project) = match scope {
            ErasureScope::Everything => {
                return Self { bundle: Bundle::default(), documents: Vec::new(), ..self };
            }
            ErasureScope::Session(session) => (Some(session), None),
            ErasureScope::Project(project) => (None, Some(project.as_str())),
        };
        let is_project = |name: Option<&str>| project.is_some() && name == project;
        let of_sessions = self.bundle.sessions.iter();
        let sessions: HashSet<SessionId> = of_sessions
            .filter(|known| session == Some(&known.id) || is_project(known.project.as_deref()))
            .map(|known| known.id.clone())
            .collect();
        let goes = |entry: &&Entry| {
            is_project(entry.project.as_deref()) || entry.session.as_ref().is_some_and(|id| sessions.contains(id))
        };
        let bundle = &mut self.bundle;
        let entries = bundle.memories.iter().map(|memory| &memory.entry);
        let entries = entries.chain(bundle.history.iter().map(|version| &version.entry));
        let entries: HashSet<EntryId> = entries.filter(goes).map(|entry| entry.id.clone()).collect();
        bundle.sessions.retain(|known| !sessions.contains(&known.id));
        bundle.turns.retain(|turn| !sessions.contains(&turn.session));
        bundle.memories.retain(|memory| !entries.contains(&memory.entry.id));
        bundle.history.retain(|version| !entries.contains(&version.entry.id));
        bundle.mutes.retain(|mute| !entries.contains(&mute.memory));
        bundle.tasks.retain(|task| !is_project(task.project.as_deref()));
        bundle.task_history.retain(|version| !is_project(version.task.project.as_deref()));
        bundle.projects.retain(|known| !is_project(Some(known.name.as_str())));
        bundle.project_history.retain(|version| !is_project(Some(version.project.name.as_str())));
        bundle.document_history.retain(|version| !is_project(version.name.as_project().map(|name| name.as_str())));
        self.documents.retain(|document| !is_project(document.name.as_project().map(|name| name.as_str())));
        self.without_threads_of(&sessions)
    }

    /// The export without the threads of some conversations, and what working memory says of them. Earlier versions of working memory go
    /// whole, as in the store: what they said of a thread is not kept apart.
    fn without_threads_of(mut self, sessions: &HashSet<SessionId>) -> Self {
        let bundle = &mut self.bundle;
        let versions = bundle.thread_history.iter().map(|version| &version.thread);
        let threads = bundle.threads.iter().chain(versions).filter(|thread| sessions.contains(&thread.session));
        let threads: Vec<Thread> = threads.cloned().collect();
        let working: HashSet<DocumentName> =
            threads.iter().map(|thread| DocumentName::working(&thread.namespace)).collect();
        bundle.threads.retain(|thread| !sessions.contains(&thread.session));
        bundle.thread_history.retain(|version| !sessions.contains(&version.thread.session));
        let mut latest: HashMap<DocumentName, u32> = HashMap::new();
        for version in bundle.document_history.iter().filter(|version| working.contains(&version.name)) {
            let known = latest.entry(version.name.clone()).or_default();
            *known = version.version.max(*known);
        }
        bundle.document_history.retain(|version| latest.get(&version.name).is_none_or(|last| *last == version.version));
        for version in bundle.document_history.iter_mut().filter(|version| working.contains(&version.name)) {
            if let Some(left) = version.text.as_deref().and_then(|text| without_threads(text, &threads)) {
                // A version from which a secret was left out must not look whole afterwards.
                let was_whole = version.text.as_deref().map(ContentHash::of).as_ref() == Some(&version.hash);
                version.hash = if was_whole { ContentHash::of(&left) } else { version.hash.clone() };
                version.text = Some(left);
            }
        }
        for document in self.documents.iter_mut().filter(|document| working.contains(&document.name)) {
            if let Some(left) = without_threads(&document.text, &threads) {
                document.text = left;
            }
        }
        self
    }
}
