//! What a host that runs its own conversations asks: which of them are known, what of them, and what a project adds.

use std::collections::HashSet;
use std::sync::Arc;

use crate::context;
use crate::model::{Document, Name, SessionId, SessionState, TurnId};
use crate::text::{redact::redact, tokens};

use super::{Done, Engine, InjectAt};

/// What a project's memory may take of the prompt, in tokens.
const PROJECT_TOKENS: usize = 2000;

impl Engine {
    /// The same memory for a host whose system prompt nobody else can change: memories go with the message.
    pub fn with_messages_alone(&self) -> Self {
        let mut settings = (*self.settings).clone();
        if settings.inject_at == InjectAt::SystemPrompt {
            settings.inject_at = InjectAt::Message;
        }
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// One session, where it is known.
    pub fn session(&self, session: &SessionId) -> Done<Option<SessionState>> {
        Ok(self.store.session(session)?)
    }

    /// The turns of a session that are still sent: the latest that are known.
    pub fn latest_turns(&self, session: &SessionId) -> Done<HashSet<TurnId>> {
        let Some(state) = self.store.session(session)? else { return Ok(HashSet::new()) };
        let turns = self.store.turns_after(session, state.kept_from)?;
        Ok(turns.into_iter().map(|(_, turn)| turn.id).collect())
    }

    /// A project's memory file as a part of what a session begins with; nothing where memory is off, or the file empty.
    pub fn project_block(&self, project: &Name, file: Option<&Document>) -> Option<String> {
        let file = file.filter(|file| self.settings.enabled && !file.text.trim().is_empty())?;
        let safe = redact(&file.text).text.into_owned();
        Some(context::project_block(project.as_str(), tokens::cut(&safe, PROJECT_TOKENS)))
    }
}
