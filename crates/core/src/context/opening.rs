//! The opening: what a session begins with. Computed once, and the same for all of its turns.

use crate::error::Done;
use crate::model::{Document, Name};
use crate::tasks;
use crate::text::{redact::redact, tokens};

use super::{ContextRequest, ContextService, Part, project_block, render};

/// A profile that a person made longer is cut here when it is injected, in tokens.
const PROFILE_TOKENS: usize = 2000;

/// What a task's working state may take of the prompt, in tokens.
const TASK_TOKENS: usize = 1000;

/// What a project's memory may take of the prompt, in tokens.
const PROJECT_TOKENS: usize = 2000;

impl ContextService<'_> {
    /// Who the person is, what was going on, where the task stands and what the project says, with the reasons. What
    /// cannot be read is left out, and logged.
    pub(crate) fn opening(&self, request: &ContextRequest) -> (String, Vec<Part>) {
        if !self.kernel.settings.enabled {
            return (String::new(), Vec::new());
        }
        let blocks = [
            (render::PROFILE, self.profile_part()),
            (render::WORKING, self.working_part()),
            (render::TASK, self.task_part(request)),
        ];
        let (mut texts, mut parts) = (Vec::new(), Vec::new());
        for (title, (text, part)) in blocks.into_iter().filter_map(|(title, found)| Some((title, found?))) {
            texts.push(render::block(title, &text));
            parts.push(part);
        }
        if let Some(block) = &request.project_block {
            let why = "what the project's memory file says".to_owned();
            parts.push(Part { what: "project", id: None, why, tokens: tokens::estimate(block) });
            texts.push(block.clone());
        }
        (render::opening(texts, self.kernel.settings.greeting), parts)
    }

    /// The opening as it would be now, whatever the session began with.
    pub(crate) fn opening_now(&self, request: &ContextRequest) -> Done<String> {
        let state = request.session.as_ref().map(|session| self.session_store.session(session)).transpose()?.flatten();
        Ok(self.opening(&super::completed(request, state.as_ref())).0)
    }

    fn profile_part(&self) -> Option<(String, Part)> {
        let found = self.documents.stored_profile().unwrap_or_else(|error| {
            tracing::warn!(%error, "the profile cannot be read; going on without it");
            None
        });
        let (text, usage) = found?;
        let text = tokens::cut(&redact(&text).text, PROFILE_TOKENS).to_owned();
        let why = format!("who the person is, {usage}");
        let part = Part { what: "profile", id: None, why, tokens: tokens::estimate(&text) };
        Some((text, part))
    }

    fn working_part(&self) -> Option<(String, Part)> {
        let found = self.documents.stored_working().unwrap_or_else(|error| {
            tracing::warn!(%error, "working memory cannot be read; going on without it");
            None
        });
        let working = found?;
        let text = tokens::cut(&redact(&working.content).text, self.kernel.settings.working.max_tokens).to_owned();
        let why = format!("what was going on; expires {}", working.expires_at);
        let part = Part { what: "working", id: None, why, tokens: tokens::estimate(&text) };
        Some((text, part))
    }

    fn task_part(&self, request: &ContextRequest) -> Option<(String, Part)> {
        let found = tasks::open(self.task_store, request.task.as_deref()).unwrap_or_else(|error| {
            tracing::warn!(%error, "the task cannot be read; going on without it");
            None
        });
        let task = found?;
        let text = tokens::cut(format!("{}\n\n{}", task.title, task.state).trim(), TASK_TOKENS).to_owned();
        let why = format!("where the task {} stands", task.id);
        let part = Part { what: "task", id: None, why, tokens: tokens::estimate(&text) };
        Some((text, part))
    }

    /// A project's memory file as a part of the opening; nothing where memory is off, or the file empty.
    pub fn project_block(&self, project: &Name, file: Option<&Document>) -> Option<String> {
        let file = file.filter(|file| self.kernel.settings.enabled && !file.text.trim().is_empty())?;
        let safe = redact(&file.text).text.into_owned();
        Some(project_block(project.as_str(), tokens::cut(&safe, PROJECT_TOKENS)))
    }
}
