//! The opening: what a session begins with. Computed once, and the same for all of its turns.

use crate::error::Done;
use crate::model::{DocumentName, EntryId};
use crate::tasks;
use crate::text::{redact::redact, tokens};

use super::repeats::without_repeats;
use super::{ContextRequest, ContextService, Part, render};

/// A profile that a person made longer is cut here when it is injected, in tokens.
const PROFILE_TOKENS: usize = 2000;

/// What a task's working state may take of the prompt, in tokens.
const TASK_TOKENS: usize = 1000;

/// What a session begins with.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// The whole text.
    pub(crate) text: String,
    /// The reasons, in its order.
    pub(super) parts: Vec<Part>,
    /// Which memory a line of the project's block is.
    pub(super) ids: Vec<(String, EntryId)>,
}

impl ContextService<'_> {
    /// Who the person is, what the project says, what was going on and where the task stands, with the reasons. What
    /// cannot be read is left out, and logged.
    pub(crate) fn opening(&self, request: &ContextRequest) -> Opening {
        if !self.kernel.settings.enabled {
            return Opening::default();
        }
        let (project, ids) = match self.project_part(request) {
            Some((block, part)) => (Some((block.text, part)), block.ids),
            None => (None, Vec::new()),
        };
        let blocks = [
            (render::PROFILE, self.profile_part(request)),
            (render::PROJECT, project),
            (render::WORKING, self.working_part(request.project.as_deref())),
            (render::TASK, self.task_part(request)),
        ];
        let (mut texts, mut parts) = (Vec::new(), Vec::new());
        for (title, (text, part)) in blocks.into_iter().filter_map(|(title, found)| Some((title, found?))) {
            texts.push(render::block(title, &text));
            parts.push(part);
        }
        let texts = without_repeats(texts);
        Opening { text: render::opening(texts, self.kernel.settings.greeting), parts, ids }
    }

    /// The opening as it would be now, whatever the session began with.
    pub(crate) fn opening_now(&self, request: &ContextRequest) -> Done<String> {
        let state = request.session.as_ref().map(|session| self.session_store.session(session)).transpose()?.flatten();
        Ok(self.opening(&self.completed(request, state.as_ref())).text)
    }

    fn profile_part(&self, request: &ContextRequest) -> Option<(String, Part)> {
        let found = self.documents.stored_profile().unwrap_or_else(|error| {
            tracing::warn!(%error, "the profile cannot be read; going on without it");
            None
        });
        let (text, usage) = found?;
        let name = DocumentName::profile(self.kernel.settings.namespace.as_ref()?);
        let text = self.without_muted(&name, text, request.project.as_deref());
        let text = tokens::cut(&redact(&text).text, PROFILE_TOKENS).to_owned();
        let why = format!("who the person is, {usage}");
        let part = Part { what: "profile", id: None, why, tokens: tokens::estimate(&text) };
        Some((text, part))
    }

    /// What was going on: in a project, its own threads whole and the others by their titles.
    fn working_part(&self, project: Option<&str>) -> Option<(String, Part)> {
        let found = self.threads.recent(project).unwrap_or_else(|error| {
            tracing::warn!(%error, "working memory cannot be read; going on without it");
            None
        });
        let (text, expires_at) = found?;
        let text = self.without_withdrawn(&text);
        let text = tokens::cut(&redact(&text).text, self.kernel.settings.working.max_tokens).to_owned();
        let why = format!("what was going on; expires {expires_at}");
        let part = Part { what: "working", id: None, why, tokens: tokens::estimate(&text) };
        Some((text, part))
    }

    /// A text that repeats what was said, without what was taken back since.
    pub(super) fn without_withdrawn(&self, text: &str) -> String {
        self.recall.lineage.current_text(text).unwrap_or_else(|error| {
            tracing::warn!(%error, "what was taken back cannot be read; going on without working memory");
            String::new()
        })
    }

    fn task_part(&self, request: &ContextRequest) -> Option<(String, Part)> {
        let found = match &request.task {
            Some(task) => tasks::open(self.task_store, Some(task)),
            None => tasks::latest_open(self.task_store, request.project.as_deref()),
        };
        let found = found.unwrap_or_else(|error| {
            tracing::warn!(%error, "the task cannot be read; going on without it");
            None
        });
        let task = found?;
        let text = tokens::cut(format!("{}\n\n{}", task.title, task.state).trim(), TASK_TOKENS).to_owned();
        let why = format!("where the task {} stands", task.id);
        let part = Part { what: "task", id: None, why, tokens: tokens::estimate(&text) };
        Some((text, part))
    }
}
