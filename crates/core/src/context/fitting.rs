//! Which memories fit a message.

use crate::error::Done;
use crate::model::{Kind, Layer, Memory};
use crate::ports::Page;
use crate::recall::find::Fallback;
use crate::recall::{Filter, FoundBy, Hit, Projects, RecallRequest, Scope, Why, distinct_words, past};
use crate::settings::InjectAt;

use super::{ContextRequest, ContextService};

/// So many tasks that were done and share words with a message are looked at; it may name so many.
const CANDIDATE_TASKS: usize = 50;
const NAMED_TASKS: usize = 2;

/// Memories that were shown already make room for so many others at most.
const MOST_SHOWN: usize = 100;

impl ContextService<'_> {
    /// What fits a message and does not stand in view already.
    pub(super) fn unseen(&self, request: &ContextRequest, message: &str) -> Done<Vec<Hit>> {
        let settings = self.kernel.settings;
        let shows_again = request.repeat || settings.inject_repeat || settings.inject_at == InjectAt::SystemPrompt;
        let shown = match &request.session {
            Some(session) if !shows_again => self.injections.injected(session)?,
            _ => Vec::new(),
        };
        let limit = settings.recall_limit;
        let mut hits = self.fitting(request, message, limit + shown.len().min(MOST_SHOWN))?;
        hits.retain(|hit| !shown.contains(&hit.memory.entry.id));
        hits.truncate(limit);
        // Passages stand behind the memories and take no memory's place.
        let passages = self.vault.passages_for(message);
        hits.extend(passages.into_iter().filter(|hit| !shown.contains(&hit.memory.entry.id)));
        Ok(hits)
    }

    /// Knowledge in reach of a conversation, for one message. Identity and recent context are in the prompt already.
    ///
    /// The archive is searched only where the message asks about the past, or names a task that was done.
    fn fitting(&self, request: &ContextRequest, message: &str, limit: usize) -> Done<Vec<Hit>> {
        let recall = self.for_message(request, message, limit);
        let mut hits = Vec::new();
        if past::is_asked_about(message, self.kernel.now) {
            hits.extend(self.find_past(&recall)?);
        } else {
            for task in self.named_tasks(message)? {
                // A task that is named is meant, whatever project this conversation is about.
                let filter = Filter {
                    layers: vec![Layer::Archive],
                    task: Some(task),
                    projects: Projects::Any,
                    ..recall.filter.clone()
                };
                let request = RecallRequest { filter, limit: 1, ..recall.clone() };
                hits.extend(self.recall.find(&request, Fallback::Nothing)?);
            }
        }
        // What was named or asked about comes first: knowledge with the same words must not crowd it out.
        hits.extend(self.recall.find(&recall, Fallback::Nothing)?);
        // Working memory stands in the prompt already.
        hits.retain(|hit| (hit.memory.entry.kind, hit.memory.entry.layer) != (Kind::Bullet, Layer::Archive));
        hits.truncate(limit);
        Ok(hits)
    }

    /// What the archive has for a message about the past: by its words, else by the time that it names. Outside of any
    /// project, the past of all of them is meant.
    fn find_past(&self, recall: &RecallRequest) -> Done<Vec<Hit>> {
        let projects = match &recall.filter.projects {
            Projects::NoneOr(own) if own.is_empty() => Projects::Any,
            own => own.clone(),
        };
        let filter =
            Filter { layers: vec![Layer::Archive], kinds: vec![Kind::Entry], projects, ..recall.filter.clone() };
        let limit = recall.limit.div_ceil(2);
        let request = RecallRequest { filter: filter.clone(), limit, ..recall.clone() };
        let mut hits = self.recall.find(&request, Fallback::Nothing)?;
        let named = past::since(&recall.query, self.kernel.now);
        if let (true, Some(since)) = (hits.is_empty(), named) {
            let listing = self.entries.list(&Filter { since: Some(since), ..filter }, &Page { limit, cursor: None })?;
            hits.extend(listing.memories.into_iter().map(by_date));
        }
        Ok(hits)
    }

    /// Tasks that were done and that a message names, the latest first.
    fn named_tasks(&self, message: &str) -> Done<Vec<String>> {
        let words = distinct_words(message);
        let mut about = self.task_store.done_tasks_sharing(&words, CANDIDATE_TASKS)?;
        about.retain(|task| past::is_about(&words, task));
        about.sort_by_key(|task| std::cmp::Reverse(task.done_at));
        Ok(about.into_iter().take(NAMED_TASKS).map(|task| task.id.to_string()).collect())
    }

    fn for_message(&self, request: &ContextRequest, message: &str, limit: usize) -> RecallRequest {
        let user = self.kernel.settings.namespace.clone();
        let scope = request.session.clone().map_or(Scope::Everything, |session| Scope::Session { session, user });
        let filter = Filter {
            scope,
            layers: vec![Layer::Knowledge],
            projects: Projects::NoneOr(request.project.iter().cloned().collect()),
            ..Filter::recallable(self.kernel.now)
        };
        RecallRequest { query: message.to_owned(), limit, filter }
    }
}

/// A memory that was found by its date alone.
fn by_date(memory: Memory) -> Hit {
    Hit::of(memory, Why::only(FoundBy::Date))
}
