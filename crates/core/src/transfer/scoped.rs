//! An export without a conversation, a project, or what was said in some turns.

use std::collections::HashSet;

use crate::model::{Entry, SessionId, TurnId};
use crate::ports::{Bundle, ErasureScope};
use crate::transfer::Export;

impl Export {
    /// The export without these turns.
    pub fn without_turns(mut self, turns: &[TurnId]) -> Self {
        self.bundle.turns.retain(|turn| !turns.contains(&turn.id));
        self
    }

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
        let goes = |entry: &Entry| {
            is_project(entry.project.as_deref()) || entry.session.as_ref().is_some_and(|id| sessions.contains(id))
        };
        let bundle = &mut self.bundle;
        bundle.sessions.retain(|known| !sessions.contains(&known.id));
        bundle.turns.retain(|turn| !sessions.contains(&turn.session));
        bundle.memories.retain(|memory| !goes(&memory.entry));
        bundle.history.retain(|version| !goes(&version.entry));
        bundle.tasks.retain(|task| !is_project(task.project.as_deref()));
        bundle.task_history.retain(|version| !is_project(version.task.project.as_deref()));
        bundle.projects.retain(|known| !is_project(Some(known.name.as_str())));
        bundle.project_history.retain(|version| !is_project(Some(version.project.name.as_str())));
        bundle.document_history.retain(|version| !is_project(version.name.as_project().map(|name| name.as_str())));
        self.documents.retain(|document| !is_project(document.name.as_project().map(|name| name.as_str())));
        self
    }
}
