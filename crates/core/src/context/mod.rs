//! What an assistant is given: the opening of a session, and the memories that fit a message.
//!
//! There is one path. [`ContextService::prepare`] computes what would be given and records nothing; a preview ends there.
//! [`ContextService::note_given`] records exactly what was prepared, once the host has it.

mod asked;
mod blocks;
mod fitting;
mod lines;
mod muted;
mod opening;
mod passage;
mod preview;
mod project;
mod readable;
mod render;
mod repeats;
mod tier;

use std::path::PathBuf;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError, chain};
use crate::input;
use crate::kernel::Kernel;
use crate::memories::MemoryService;
use crate::model::{EntryId, RecallId, SessionId, SessionState};
use crate::off_record::{OffRecordService, asks_not_to_be_kept};
use crate::ports::{self, ErasureMark, NewSession, NewlyGiven, ReadingAhead, StoreError, Upcoming};
use crate::projects::ProjectService;
use crate::recall::{AskedBy, Hit, OPENING, RecallLog, RecallService, distinct_words};
use crate::settings::InjectAt;
use crate::text::{ends::ends, redact::redact};
use crate::threads::ThreadService;
use crate::vault::VaultService;

pub use blocks::opening_blocks;
pub use fitting::CANDIDATE_TASKS;
pub use lines::{GivenLine, OpeningLine};
pub(crate) use passage::passage;
pub use preview::{LeftOut, Preview};
pub use readable::Readable;
pub(crate) use render::BESIDE_TOKENS;
pub use render::{Context, Part, fenced, joined_prompts, neutralise, system_prompt, without_fence};
pub use tier::Tier;

use opening::Opening;

/// So much of a message is looked for, in characters: its beginning and its end. What lies between is pasted.
const LONGEST_QUESTION: usize = 4000;

/// Whose context is wanted, and for which message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextRequest {
    /// The conversation; it need not have begun.
    pub session: Option<SessionId>,
    /// The host's own system prompt, where the conversation has none yet.
    pub base_prompt: Option<String>,
    /// The project the conversation is about, where it names none itself.
    pub project: Option<String>,
    /// The task the conversation is about, where it names none itself.
    pub task: Option<String>,
    /// The directory that the conversation takes place in: it is about the project there, where it names none.
    pub dir: Option<PathBuf>,
    /// What the person just said.
    pub message: Option<String>,
    /// Whether memories that stand in view already are given again.
    pub repeat: bool,
    /// Whether the host lost what the conversation began with: it is computed and recorded anew.
    pub afresh: bool,
    /// What the model sees with this message, where the host sends the whole conversation and knows it. Without it, what was
    /// noted as given and the session's own turns are taken to be in view.
    pub in_view: Option<InView>,
}

/// What a model sees beside a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InView {
    /// Memories and turns.
    pub ids: Vec<EntryId>,
    /// Texts, whatever they are kept as: what stands in one of them is not given again.
    pub texts: Vec<String>,
}

impl ContextRequest {
    /// For a message in a conversation.
    pub fn message(session: &SessionId, message: &str) -> Self {
        Self { session: Some(session.clone()), message: Some(message.to_owned()), ..Self::default() }
    }
}

/// How long a model sees the memories that came with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// The host keeps the message as it was given: its memories stay in view and are not repeated.
    Stays,
    /// The host sends the raw message from then on: a memory that still fits must come again.
    Once,
}

/// What would be given: computed, and not recorded yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What goes to the model, with the reasons.
    pub context: Context,
    /// The memory that the session begins with.
    pub opening: String,
    /// Whether the session has that opening already.
    pub is_open: bool,
    /// What was erased when the opening was computed.
    since: ErasureMark,
    /// Whether the session is off the record: then nothing is given, and nothing is recorded.
    is_off_record: bool,
    /// Whether recording it opens the session, or tells it what it is about.
    opens: bool,
    /// The memories that fit the message, without the message.
    pub block: Option<String>,
    /// What was found and fits too little to be given, the best first.
    pub fits_too_little: Vec<Hit>,
    /// Why no memories could be looked for, where that failed.
    pub failure: Option<String>,
    request: ContextRequest,
    hits: Option<Vec<Hit>>,
    line_ids: Vec<(String, EntryId)>,
}

impl Prepared {
    /// Whether the session is off the record at the moment.
    pub fn is_off_record(&self) -> bool {
        self.is_off_record
    }

    /// The memories that go to the model.
    pub fn given_ids(&self) -> Vec<EntryId> {
        self.context.parts.iter().filter_map(|part| part.id.clone()).collect()
    }

    /// The same with the opening that the session has, where another process was first.
    fn with_opening(mut self, opening: &str) -> Self {
        if self.opening != opening {
            let base = self.request.base_prompt.as_deref().unwrap_or_default();
            let block = self.block.as_deref().filter(|_| self.context.message == self.request.message);
            let prompt = system_prompt(base, opening);
            self.context.system_prompt = system_prompt(&prompt, block.unwrap_or_default());
            self.opening = opening.to_owned();
        }
        self
    }
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The opening as it stands; another process may have been first.
    pub opening: String,
    /// Names the recall in the log, where one was made.
    pub recall_id: Option<RecallId>,
}

/// What an assistant is given.
#[derive(Clone, Copy)]
pub struct ContextService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) injections: &'e dyn ports::Injections,
    pub(crate) mutes: &'e dyn ports::Mutes,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) task_store: &'e dyn ports::Tasks,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) log: RecallLog<'e>,
    pub(crate) memories: MemoryService<'e>,
    pub(crate) projects: ProjectService<'e>,
    pub(crate) off_record: OffRecordService<'e>,
    pub(crate) recall: RecallService<'e>,
    pub(crate) threads: ThreadService<'e>,
    pub(crate) vault: VaultService<'e>,
    pub(crate) attempts: u32,
}

impl ContextService<'_> {
    /// The same, which tries this often to note what was given while another process writes. One attempt waits as long as
    /// the store does for a reply.
    #[must_use]
    pub fn trying(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Writes, again where another process does at that moment.
    fn insisting<T>(&self, mut write: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        for _ in 1..self.attempts {
            match write() {
                Err(StoreError::Busy) => {}
                done => return done,
            }
        }
        write()
    }

    /// What to send to the model for this message, recorded as given.
    pub fn give(&self, session: &SessionId, message: &str, visibility: Visibility) -> Done<Context> {
        if !self.off_record.is_excluded(Some(session), None)? {
            self.session(session)?;
        }
        self.give_for(&ContextRequest::message(session, message), visibility)
    }

    /// The same for a session that may not be noted yet: the request says what it is about.
    pub fn give_for(&self, request: &ContextRequest, visibility: Visibility) -> Done<Context> {
        // What the model saw with an earlier message and sees no longer must come again.
        let repeat = visibility == Visibility::Once;
        let prepared = self.prepare(&ContextRequest { repeat, ..request.clone() })?;
        let Given { opening, recall_id } = self.note_given(&prepared, visibility)?;
        let context = prepared.with_opening(&opening).context;
        // The opening is not new with this message.
        let parts = context.parts.into_iter().filter(|part| part.id.is_some()).collect();
        Ok(Context { recall_id, parts, ..context })
    }

    /// Tells the store what is read for a message.
    pub(crate) fn reading(&self, session: Option<&SessionId>, message: Option<&str>) -> ReadingAhead {
        let words = message.map(|message| distinct_words(&ends(message, LONGEST_QUESTION))).unwrap_or_default();
        let upcoming = Upcoming { session, words: &words, searches: message.is_some(), begins: true, person: None };
        self.kernel.reading(upcoming)
    }

    /// Computes what would go to the model, and why. Records nothing as given. What cannot be read is left out, and
    /// logged.
    pub fn prepare(&self, request: &ContextRequest) -> Done<Prepared> {
        let _reading = self.reading(request.session.as_ref(), request.message.as_deref());
        self.documents.notice_all_or_warn();
        // Where a document changed, that was written.
        let _again = self.reading(request.session.as_ref(), request.message.as_deref());
        let state = request.session.as_ref().map(|session| self.session_store.session(session)).transpose()?.flatten();
        let is_told = request.project.is_some() || request.task.is_some() || request.base_prompt.is_some();
        let request = &self.completed(request, state.as_ref());
        let opens = state.is_none() || is_told || request.dir.is_some();
        let is_off_record = self.off_record.reason(request.session.as_ref(), request.project.as_deref())?.is_some();
        let known = state.as_ref().and_then(|state| state.opening.clone()).filter(|_| !request.afresh);
        let is_open = known.is_some();
        let since = if is_open { ErasureMark::default() } else { self.kernel.changes.erasure_mark()? };
        let Opening { text: opening, parts, ids: line_ids } = match known {
            _ if is_off_record => Opening::default(),
            Some(text) => Opening { parts: Part::of_session(&text).into_iter().collect(), text, ids: Vec::new() },
            None => self.opening(request),
        };
        let system_prompt = system_prompt(request.base_prompt.as_deref().unwrap_or_default(), &opening);
        let context = Context { system_prompt, message: request.message.clone(), parts, recall_id: None };
        let mut prepared = Prepared {
            context,
            opening,
            is_open,
            since,
            is_off_record,
            opens,
            block: None,
            fits_too_little: Vec::new(),
            failure: None,
            request: request.clone(),
            hits: None,
            line_ids,
        };
        self.add_memories(&mut prepared);
        Ok(prepared)
    }

    /// Records what was given: the session and its opening, the memories that are in view now, the recall. Hardly waits
    /// for another writer ([`Self::trying`]): what cannot be recorded now is given again with the next message.
    pub fn note_given(&self, prepared: &Prepared, visibility: Visibility) -> Done<Given> {
        let Prepared { opening, request, .. } = prepared;
        if prepared.is_off_record {
            return Ok(Given { opening: opening.clone(), recall_id: None });
        }
        let given = prepared.given_ids();
        let stays_in_view = visibility == Visibility::Stays && self.kernel.settings.inject_at == InjectAt::Message;
        let in_view = if stays_in_view && prepared.hits.is_some() { &given[..] } else { &[] };
        let opening = self.note_for_session(prepared, in_view)?.unwrap_or_else(|| opening.clone());
        let (Some(hits), Some(message)) = (&prepared.hits, &request.message) else {
            return Ok(Given { opening, recall_id: None });
        };
        // The log keeps questions: not those that the person wants forgotten.
        if asks_not_to_be_kept(message) {
            return Ok(Given { opening, recall_id: None });
        }
        let recall_id =
            self.log.note((AskedBy::Message, request.session.as_ref()), &ends(message, LONGEST_QUESTION), hits, &given);
        Ok(Given { opening, recall_id: Some(recall_id) })
    }

    /// Records what a session begins with and sees; gives what it begins with as it stands, where that is recorded.
    fn note_for_session(&self, prepared: &Prepared, in_view: &[EntryId]) -> Done<Option<String>> {
        let Prepared { opening, request, .. } = prepared;
        let Some(session) = &request.session else { return Ok(None) };
        let memories = NewlyGiven { session, forgets: false, opens: None, opening: None, memories: in_view };
        let failure = if prepared.is_open {
            self.note_in_view(&memories).err()
        } else {
            if prepared.opens {
                input::no_secret("the session's id", session.as_str())?;
            }
            let new = prepared.opens.then(|| self.new_session(session, request));
            let opening = Some((opening.as_str(), &prepared.since));
            let all = NewlyGiven { forgets: request.afresh, opens: new.as_ref(), opening, ..memories };
            match self.insisting(|| self.injections.note_given(&all)) {
                // What was erased since it was computed must not be kept with it: the next message computes it anew.
                Err(StoreError::Erased) => {
                    tracing::warn!("something was erased meanwhile: what the session begins with is not noted");
                    self.note_in_view(&memories).err()
                }
                Err(error) if !error.is_unwritten() => return Err(error.into()),
                Err(error) => Some(error),
                Ok(opening) => return Ok(opening),
            }
        };
        if let Some(error) = failure {
            tracing::warn!(%error, "what was given is not noted; it may be given again");
        }
        Ok(None)
    }

    fn note_in_view(&self, given: &NewlyGiven<'_>) -> Result<(), StoreError> {
        if given.memories.is_empty() {
            return Ok(());
        }
        self.insisting(|| self.injections.note_given(given)).map(drop)
    }

    /// Notes in the log what a tool gave. Nothing is in view by that: a tool's answer may be dropped at any time.
    pub(crate) fn note_told(&self, prepared: &Prepared) {
        let asked = (AskedBy::Tool, prepared.request.session.as_ref());
        self.log.note(asked, OPENING, &[], &[]);
        if let (Some(hits), Some(message)) = (&prepared.hits, &prepared.request.message) {
            self.log.note(asked, &ends(message, LONGEST_QUESTION), hits, &prepared.given_ids());
        }
    }

    /// A session that has begun.
    fn session(&self, session: &SessionId) -> Done<SessionState> {
        let unknown = || EngineError::NoSession { session: session.clone() };
        self.session_store.session(session)?.ok_or_else(unknown)
    }

    /// The lines of what the session begins with, and what each costs.
    pub fn opening_lines(&self, prepared: &Prepared) -> Vec<OpeningLine> {
        lines::lines(&prepared.opening, self.kernel.settings.namespace.as_ref(), &prepared.line_ids)
    }

    fn new_session(&self, session: &SessionId, request: &ContextRequest) -> NewSession {
        let entered = request.dir.as_deref().map(|dir| self.projects.enter(dir));
        let entered = entered.transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "the project's name is not kept");
            None
        });
        NewSession {
            id: session.clone(),
            title: None,
            project: entered.flatten().map(|found| found.name.to_string()).or_else(|| request.project.clone()),
            task: request.task.clone(),
            person: None,
            base_prompt: request.base_prompt.as_deref().map(|prompt| redact(prompt).text.into_owned()),
            at: self.kernel.now,
        }
    }

    /// Adds the memories that fit the message, where the settings put them.
    fn add_memories(&self, prepared: &mut Prepared) {
        let settings = self.kernel.settings;
        let Some(message) = prepared.request.message.clone() else { return };
        if !settings.enabled || settings.inject_at == InjectAt::Off || prepared.is_off_record {
            return;
        }
        let fitting = match self.fitting(&prepared.request, &ends(&message, LONGEST_QUESTION), &prepared.opening) {
            Ok(fitting) => fitting,
            Err(error) => {
                let failure = chain(&error);
                tracing::warn!(error = failure, "nothing can be recalled; going on without");
                prepared.failure = Some(failure);
                return;
            }
        };
        let context = &mut prepared.context;
        let (block, parts) = match settings.inject_at {
            InjectAt::SystemPrompt => {
                let (block, parts) = render::memory_block(&fitting.given, settings.recall_max_tokens);
                context.system_prompt = system_prompt(&context.system_prompt, &block);
                (block, parts)
            }
            _ => {
                let (block, parts) = render::message_block(&fitting.given, settings.recall_max_tokens);
                context.message = Some(render::with_block(&block, &message));
                (block, parts)
            }
        };
        context.parts.extend(parts);
        prepared.block = (!block.is_empty()).then_some(block);
        prepared.hits = Some(fitting.given.into_iter().chain(fitting.left.iter().cloned()).collect());
        prepared.fits_too_little = fitting.left;
    }

    /// The request with what the session itself says. Its directory stays where the project comes from it.
    fn completed(&self, request: &ContextRequest, state: Option<&SessionState>) -> ContextRequest {
        let mut request = request.clone();
        if let Some(state) = state {
            request.project = request.project.or_else(|| state.session.project.clone());
            request.task = request.task.or_else(|| state.session.task.clone());
            let own = (!state.base_prompt.is_empty()).then(|| state.base_prompt.clone());
            request.base_prompt = own.or(request.base_prompt);
        }
        request.dir = request.dir.filter(|_| request.project.is_none());
        let here = request.dir.as_deref().map(|dir| self.projects.at(dir)).transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "the project of the directory is not known; going on without it");
            None
        });
        request.project = request.project.or_else(|| here.flatten().map(|found| found.name.to_string()));
        request.dir = request.dir.filter(|_| request.project.is_some());
        request
    }
}
