//! Threads: what conversations left to go on from. Working memory is rendered from them.
//!
//! A conversation changes its own thread and no other. What the person wrote into the file stays theirs: a section that
//! reads differently from its last rendering is not updated, and one that they took out closes its thread.

mod closing;
mod draft;
mod sections;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::{DocumentService, working};
use crate::error::{Done, EngineError, chain};
use crate::kernel::{Kernel, Race as _, conflict, retry};
use crate::model::{
    Document, DocumentName, Entry, EntryId, Name, SessionId, SessionState, Source, Thread, ThreadId, ThreadStatus, Verb,
};
use crate::ports::{self, Op};

pub(crate) use closing::finishes;
pub use closing::is_closing;
pub use draft::{Draft, draft, without_title};
pub use sections::without_threads;
pub(crate) use sections::{Section, read as sections_of};

/// An open thread in a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ListedThread {
    /// Its identifier.
    pub id: ThreadId,
    /// The conversation.
    pub session: SessionId,
    /// What it is about.
    pub title: String,
    /// The project of the conversation.
    pub project: Option<String>,
    /// When the conversation last went on with it.
    pub updated_at: Timestamp,
    /// When it is no longer given.
    pub expires_at: Timestamp,
}

/// Open threads.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ThreadListing {
    /// The latest first.
    pub threads: Vec<ListedThread>,
}

/// Working memory, if it is fresh.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct WorkingMemory {
    /// What has been going on.
    pub text: Option<String>,
    /// When it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// When it stops being given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The open threads, the latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub threads: Vec<ListedThread>,
}

/// The receipt for a thread that was closed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ClosedThread {
    /// Its identifier.
    pub id: ThreadId,
    /// The conversation.
    pub session: SessionId,
    /// What it was about.
    pub title: String,
}

/// How a section is shown.
enum Shown {
    Whole,
    Line(String),
}

/// A thread of another project, or of none, in one line.
fn of_other(thread: &Thread) -> String {
    let project = thread.project.as_ref().map(|project| format!(" ({project})")).unwrap_or_default();
    format!("- Elsewhere{project}: {}", thread.title)
}

/// What a change of threads takes: rows and the file of working memory.
#[derive(Debug, Default)]
pub(crate) struct ThreadChange {
    pub(crate) ops: Vec<Op>,
    pub(crate) documents: Vec<(Document, String)>,
}

/// What is to become of threads.
pub(crate) enum ThreadEdit<'a> {
    /// A conversation has this thread now, unless the person edited its section.
    Put(Box<Thread>),
    /// Those that pass are closed.
    Close(&'a dyn Fn(&Thread) -> bool),
}

/// Threads, and the working memory that shows them.
#[derive(Clone, Copy)]
pub struct ThreadService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) thread_store: &'e dyn ports::Threads,
    pub(crate) documents: DocumentService<'e>,
}

impl ThreadService<'_> {
    /// The person's namespace, where working memory is used.
    fn namespace(&self) -> Option<&Name> {
        let settings = self.kernel.settings;
        settings.namespace.as_ref().filter(|_| settings.working_memory)
    }

    /// The threads that are open and have not expired, the latest first.
    pub fn list(&self) -> Done<Vec<Thread>> {
        let Some(namespace) = self.namespace() else { return Ok(Vec::new()) };
        let mut threads = self.thread_store.open_threads(namespace)?;
        threads.retain(|thread| thread.is_live(self.kernel.now));
        Ok(threads)
    }

    /// The thread of a conversation, while it is live.
    pub(crate) fn of(&self, session: &SessionId) -> Done<Option<Thread>> {
        let Some(namespace) = self.namespace() else { return Ok(None) };
        let thread = self.thread_store.thread_of(namespace, session)?;
        Ok(thread.filter(|thread| thread.is_live(self.kernel.now)))
    }

    /// The thread of a conversation, also after it expired or was closed.
    pub(crate) fn any_of(&self, session: &SessionId) -> Done<Option<Thread>> {
        let Some(namespace) = &self.kernel.settings.namespace else { return Ok(None) };
        Ok(self.thread_store.thread_of(namespace, session)?)
    }

    /// Working memory, as every surface shows it.
    pub fn working_memory(&self) -> Done<WorkingMemory> {
        let Some(working) = self.documents.working()? else { return Ok(WorkingMemory::default()) };
        let text = self.live_text(&working, &|_| Shown::Whole)?;
        let threads = self.listing()?.threads;
        Ok(WorkingMemory { text, updated_at: Some(working.updated_at), expires_at: Some(working.expires_at), threads })
    }

    /// The open threads, as every surface lists them.
    pub fn listing(&self) -> Done<ThreadListing> {
        let listed = |thread: Thread| ListedThread {
            id: thread.id,
            session: thread.session,
            title: thread.title,
            project: thread.project,
            updated_at: thread.updated_at,
            expires_at: thread.expires_at,
        };
        Ok(ThreadListing { threads: self.list()?.into_iter().map(listed).collect() })
    }

    /// What a session begins with, and until when that holds: without a project, working memory as it is; in one, its own
    /// threads and what the person wrote whole, and of others a line each. For a verb that has checked the documents.
    pub(crate) fn recent(&self, project: Option<&str>) -> Done<Option<(String, Timestamp)>> {
        let Some(working) = self.documents.stored_working()? else { return Ok(None) };
        let text = self.live_text(&working, &|section| {
            let of_others = section.thread.filter(|thread| project.is_some() && thread.project.as_deref() != project);
            match of_others {
                Some(thread) => Shown::Line(of_other(thread)),
                None => Shown::Whole,
            }
        })?;
        Ok(text.map(|text| (text, working.expires_at)))
    }

    /// The content of working memory without threads that have expired, each section as `show` says; the lines come last.
    /// Nothing where nothing is left.
    fn live_text(&self, working: &working::Working, show: &dyn Fn(&Section<'_>) -> Shown) -> Done<Option<String>> {
        let Some(namespace) = self.namespace() else { return Ok(None) };
        let shown = self.thread_store.shown_threads(namespace)?;
        let is_live =
            |section: &Section<'_>| section.is_own || section.thread.is_none_or(|t| t.is_live(self.kernel.now));
        let (mut texts, mut lines) = (Vec::new(), Vec::new());
        for section in sections_of(&working.content, &shown).into_iter().filter(is_live) {
            match show(&section) {
                Shown::Whole => texts.push(section.text),
                Shown::Line(line) => lines.push(line),
            }
        }
        texts.extend((!lines.is_empty()).then(|| lines.join("\n")));
        Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
    }

    /// Closes the one open thread that `reference` names: its id or the beginning of it, its conversation, or its title.
    pub fn close(&self, reference: &str) -> Done<ClosedThread> {
        let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        let thread = named(&self.thread_store.open_threads(namespace)?, reference)?;
        self.close_all(Verb::Done, &|other| other.id == thread.id)?;
        Ok(ClosedThread { id: thread.id, session: thread.session, title: thread.title })
    }

    /// Closes the open threads that pass.
    pub(crate) fn close_all(&self, verb: Verb, passes: &dyn Fn(&Thread) -> bool) -> Done<()> {
        self.kernel.unless_erased(|since| {
            retry(
                || conflict("working memory"),
                || {
                    let unerased = [Op::Unerased(since.clone())];
                    let applied = self.commit(verb, &unerased, &ThreadEdit::Close(passes)).unless_outrun()?;
                    Ok(applied.flatten().map(drop))
                },
            )
        })
    }

    /// Applies operations and an edit of threads as one change; none if a person was faster and all must be read again.
    /// Where the file of working memory cannot be written, the rows change, and it follows with the next change.
    pub(crate) fn commit(&self, verb: Verb, ops: &[Op], edit: &ThreadEdit<'_>) -> Done<Option<Vec<Entry>>> {
        let change = self.plan(edit)?;
        match self.documents.commit(verb, &[ops, &change.ops].concat(), &change.documents) {
            Err(EngineError::Document(error)) => {
                let error = chain(&error);
                tracing::warn!(error, "working memory cannot be written; its threads change all the same");
                let rows = self.plan_rows(edit)?;
                let done = self.documents.commit(verb, &[ops, &rows.ops].concat(), &[])?;
                self.documents.derive_working_or_warn();
                Ok(done)
            }
            outcome => outcome,
        }
    }

    /// A conversation's thread as it is to be: a new one, or the next version of the one that it has.
    pub(crate) fn next(&self, state: &SessionState, at: Timestamp, title: &str, content: &str) -> Done<Option<Thread>> {
        let Some(namespace) = self.namespace() else { return Ok(None) };
        let known = self.thread_store.thread_of(namespace, &state.session.id)?;
        let updated_at = at.min(self.kernel.now);
        let ttl = SignedDuration::from_hours(24 * i64::from(self.kernel.settings.working.ttl_days));
        let first = || Thread {
            id: ThreadId::new(self.kernel.new_id()),
            namespace: namespace.clone(),
            session: state.session.id.clone(),
            title: String::new(),
            project: None,
            task: None,
            content: String::new(),
            rendered: None,
            status: ThreadStatus::Closed,
            created_at: updated_at,
            updated_at,
            expires_at: updated_at,
            version: 0,
        };
        Ok(Some(Thread {
            title: title.to_owned(),
            content: content.to_owned(),
            project: state.session.project.clone(),
            task: state.session.task.clone(),
            status: ThreadStatus::Open,
            updated_at,
            expires_at: updated_at.checked_add(ttl).unwrap_or(Timestamp::MAX),
            ..known.unwrap_or_else(first)
        }))
    }

    /// What an edit of threads takes, with what the person did to the file in between. None if working memory is
    /// not used.
    pub(crate) fn plan(&self, edit: &ThreadEdit<'_>) -> Done<ThreadChange> {
        let Some(namespace) = self.namespace() else { return Ok(ThreadChange::default()) };
        match self.documents.current_document(&DocumentName::working(namespace)) {
            Err(EngineError::Document(error)) => {
                tracing::warn!(error = chain(&error), "working memory cannot be read; its threads change all the same");
                self.plan_rows(edit)
            }
            file => self.plan_with(edit, Some(file?)),
        }
    }

    /// The same for a file that cannot be read or written: the rows change, and it follows the next time.
    pub(crate) fn plan_rows(&self, edit: &ThreadEdit<'_>) -> Done<ThreadChange> {
        self.plan_with(edit, None)
    }

    fn plan_with(&self, edit: &ThreadEdit<'_>, file: Option<Document>) -> Done<ThreadChange> {
        let Some(namespace) = self.namespace() else { return Ok(ThreadChange::default()) };
        let known = self.thread_store.shown_threads(namespace)?;
        let now = self.kernel.now;
        let found = file.as_ref().map(|file| working::body(&file.text, now));
        let found = found.map(|body| self.without_older(namespace, sections_of(body, &known))).transpose()?;
        let mut threads = known.clone();
        if let Some(found) = &found {
            close_removed(&mut threads, found);
        }
        edit.apply(&mut threads, found.as_deref().unwrap_or_default());
        for thread in threads.iter_mut().filter(|thread| !thread.is_live(now)) {
            thread.status = ThreadStatus::Closed;
        }
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.updated_at));
        let mut change = ThreadChange::default();
        if let (Some(file), Some(found)) = (file, found) {
            let text = self.rendered(&file, &found, &mut threads);
            change.documents.extend((text != file.text).then_some((file, text)));
        }
        let is_new = |thread: &Thread| !known.contains(thread);
        change.ops = threads.into_iter().filter(is_new).map(Op::Thread).collect();
        Ok(change)
    }

    /// The sections without those that were written before there were threads, and that nobody edited since.
    fn without_older<'t>(&self, namespace: &Name, mut found: Vec<Section<'t>>) -> Done<Vec<Section<'t>>> {
        let may_be_older =
            |section: &Section<'_>| section.thread.is_none() && sections::has_older_heading(&section.text);
        if !found.iter().any(may_be_older) {
            return Ok(found);
        }
        let versions = self.documents.history.document_versions(&DocumentName::working(namespace))?;
        let ours = versions.into_iter().filter(|version| version.change.actor.who == Source::System);
        let written: Vec<String> = ours.filter_map(|version| version.text).collect();
        found.retain(|section| !may_be_older(section) || !written.iter().any(|text| text.contains(&section.text)));
        Ok(found)
    }

    /// The file for these threads and the person's own sections; each thread is told its section, and closed where there
    /// is no room for it.
    fn rendered(&self, file: &Document, found: &[Section<'_>], threads: &mut [Thread]) -> String {
        let is_open = |id: &ThreadId| threads.iter().any(|t| t.id == *id && t.status == ThreadStatus::Open);
        let was_closed = |thread: &Thread| thread.status == ThreadStatus::Closed;
        let stays = |section: &&Section<'_>| {
            section.is_own && section.thread.is_none_or(|thread| was_closed(thread) || is_open(&thread.id))
        };
        let own: Vec<&Section<'_>> = found.iter().filter(stays).collect();
        let is_held = |thread: &&Thread| own.iter().any(|s| s.thread.is_some_and(|held| held.id == thread.id));
        let limits = self.kernel.settings.working;
        let taken: usize = own.iter().map(|section| crate::text::tokens::estimate(&section.text) + 1).sum();
        let live = |thread: &&Thread| thread.status == ThreadStatus::Open && !is_held(thread);
        let shown: Vec<&Thread> = threads.iter().filter(live).collect();
        let rendering = sections::render(&shown, limits.max_tokens.saturating_sub(taken));
        let times = threads.iter().filter(|thread| thread.status == ThreadStatus::Open);
        let latest = times.map(|thread| (thread.updated_at, thread.expires_at)).max();
        let texts = own.iter().map(|section| section.text.as_str());
        let texts = texts.chain(rendering.sections.iter().map(|(_, text)| text.as_str()));
        let text = working::file(&file.text, latest, &texts.collect::<Vec<_>>().join("\n\n"));
        let held: Vec<ThreadId> = own.iter().filter_map(|section| Some(section.thread?.id.clone())).collect();
        for thread in threads.iter_mut().filter(|thread| !held.contains(&thread.id)) {
            if rendering.displaced.contains(&thread.id) {
                thread.status = ThreadStatus::Closed;
            }
            let section = rendering.sections.iter().find(|(id, _)| *id == thread.id);
            thread.rendered = section.map(|(_, text)| text.clone());
        }
        text
    }
}

impl ThreadEdit<'_> {
    /// Applies it. A section that the person edited is theirs, and so is its thread.
    fn apply(&self, threads: &mut Vec<Thread>, found: &[Section<'_>]) {
        match self {
            Self::Put(next) => {
                let is_held = found.iter().any(|s| s.is_own && s.thread.is_some_and(|thread| thread.id == next.id));
                if !is_held {
                    threads.retain(|thread| thread.id != next.id);
                    // Of several that were updated at once, the one that was written last comes first.
                    threads.insert(0, (**next).clone());
                }
            }
            Self::Close(passes) => {
                for thread in threads.iter_mut().filter(|thread| passes(thread)) {
                    thread.status = ThreadStatus::Closed;
                }
            }
        }
    }
}

/// Closes the threads whose sections the person took out of the file.
fn close_removed(threads: &mut [Thread], found: &[Section<'_>]) {
    for thread in threads.iter_mut().filter(|thread| thread.rendered.is_some()) {
        if !found.iter().any(|section| section.thread.is_some_and(|shown| shown.id == thread.id)) {
            thread.status = ThreadStatus::Closed;
        }
    }
}

/// The one thread that a reference names.
fn named(threads: &[Thread], reference: &str) -> Done<Thread> {
    let reference = reference.trim();
    let exact =
        |thread: &&Thread| [thread.id.as_str(), thread.session.as_str(), thread.title.as_str()].contains(&reference);
    let begins = |thread: &&Thread| reference.len() >= 6 && thread.id.as_str().starts_with(reference);
    let mut found: Vec<&Thread> = threads.iter().filter(exact).collect();
    if found.is_empty() {
        found = threads.iter().filter(begins).collect();
    }
    match found.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(EngineError::NoThread { reference: reference.to_owned() }),
        several => {
            let ids = several.iter().map(|thread| EntryId::new(thread.id.as_str())).collect();
            Err(EngineError::Ambiguous { what: "threads", reference: reference.to_owned(), ids })
        }
    }
}
