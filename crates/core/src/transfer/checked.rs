//! What an import may bring: everything in it is held to the rules that new things obey. Touches nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::context::without_fence;
use crate::error::{Done, EngineError};
use crate::input;
use crate::model::{Change, DocumentName, Entry, Kind, Layer, Project, Session, Task, Thread, shown_speaker};
use crate::ports::Bundle;
use crate::sessions::session_title;
use crate::text::redact::redact;

/// No memory changes more often than this.
const MAX_VERSION: u32 = 1_000_000_000;

/// What may be stored: an export that was edited, or made elsewhere, obeys the rules that new memories obey.
/// Times that are still to come become `now`, as where they are observed.
pub(crate) fn checked(bundle: &Bundle, now: Timestamp) -> Done<Bundle> {
    let mut bundle = bundle.clone();
    let memories = bundle.memories.iter_mut().map(|memory| &mut memory.entry);
    let versions = bundle.history.iter_mut().map(|version| &mut version.entry);
    for entry in memories.chain(versions) {
        let id = entry.id.clone();
        check_entry(entry, now).map_err(|error| bad(format!("memory `{id}`: {error}")))?;
    }
    for turn in &mut bundle.turns {
        let own = without_fence(&turn.content);
        let own = if own.trim().is_empty() { turn.content.as_str().into() } else { own };
        let refused = |error: EngineError| bad(format!("turn `{}`: {error}", turn.id));
        input::no_secret("the session's id", turn.session.as_str()).map_err(&refused)?;
        let (content, _) = input::said(&own).map_err(&refused)?;
        let speaker = turn.speaker.as_deref().map(input::speaker).transpose().map_err(&refused)?;
        turn.content = content;
        turn.speaker = speaker.map(|name| shown_speaker(turn.role.as_str(), Some(&name)));
        turn.at = kept(turn.at, now);
    }
    for session in &mut bundle.sessions {
        let id = redact(session.id.as_str()).text.into_owned();
        check_session(session, now).map_err(|error| bad(format!("session `{id}`: {error}")))?;
    }
    for version in &mut bundle.document_history {
        check_document(&version.name, version.text.as_deref().unwrap_or_default())?;
        version.text = version.text.as_deref().map(|text| redact(text).text.into_owned());
    }
    check_work(&mut bundle, now)?;
    changes(&mut bundle).for_each(|change| change.at = kept(change.at, now));
    bundle.mutes.iter_mut().for_each(|mute| mute.at = kept(mute.at, now));
    check_history(&bundle)?;
    Ok(bundle)
}

/// Every change that made a version of something.
fn changes(bundle: &mut Bundle) -> impl Iterator<Item = &mut Change> {
    let entries = bundle.history.iter_mut().map(|version| &mut version.change);
    let documents = bundle.document_history.iter_mut().map(|version| &mut version.change);
    let tasks = bundle.task_history.iter_mut().map(|version| &mut version.change);
    let threads = bundle.thread_history.iter_mut().map(|version| &mut version.change);
    let projects = bundle.project_history.iter_mut().map(|version| &mut version.change);
    entries.chain(documents).chain(tasks).chain(threads).chain(projects)
}

/// The rules that a document obeys which is written here.
pub(super) fn check_document(name: &DocumentName, text: &str) -> Done<()> {
    let checked = input::no_secret("its name", &name.to_string()).and_then(|()| input::no_nul("its text", text));
    checked.map_err(|error| bad(format!("document `{}`: {error}", redact(&name.to_string()).text)))
}

fn check_session(session: &mut Session, now: Timestamp) -> Done<()> {
    input::no_secret("its id", session.id.as_str())?;
    session.title = session.title.as_deref().map(session_title).transpose()?;
    session.project = session.project.as_deref().map(input::project).transpose()?;
    session.task = session.task.as_deref().map(input::title).transpose()?;
    session.person = session.person.as_deref().map(input::person).transpose()?;
    session.created_at = kept(session.created_at, now);
    session.updated_at = kept(session.updated_at, now);
    session.ended_at = session.ended_at.map(|at| kept(at, now));
    Ok(())
}

/// The rules that new tasks and projects obey, for those that come whole, in every version.
fn check_work(bundle: &mut Bundle, now: Timestamp) -> Done<()> {
    let versions = bundle.task_history.iter_mut().map(|version| &mut version.task);
    for task in bundle.tasks.iter_mut().chain(versions) {
        let id = task.id.clone();
        check_task(task, now).map_err(|error| bad(format!("task `{id}`: {error}")))?;
    }
    let versions = bundle.thread_history.iter_mut().map(|version| &mut version.thread);
    for thread in bundle.threads.iter_mut().chain(versions) {
        let id = thread.id.clone();
        check_thread(thread, now).map_err(|error| bad(format!("thread `{id}`: {error}")))?;
    }
    let versions = bundle.project_history.iter_mut().map(|version| &mut version.project);
    for project in bundle.projects.iter_mut().chain(versions) {
        let name = project.name.clone();
        let refused = |error| bad(format!("project `{}`: {error}", redact(name.as_str()).text));
        check_project(project, now).map_err(refused)?;
    }
    Ok(())
}

fn check_task(task: &mut Task, now: Timestamp) -> Done<()> {
    check_id("the id", task.id.as_str())?;
    task.archive.iter().try_for_each(|id| check_id("the id of its archive", id.as_str()))?;
    check_version(task.version)?;
    task.title = input::title(&task.title)?;
    task.state = input::state(&task.state)?;
    task.project = task.project.as_deref().map(input::project).transpose()?;
    task.created_at = kept(task.created_at, now);
    task.updated_at = kept(task.updated_at, now);
    task.done_at = task.done_at.map(|at| kept(at, now));
    Ok(())
}

fn check_thread(thread: &mut Thread, now: Timestamp) -> Done<()> {
    check_id("the id", thread.id.as_str())?;
    check_version(thread.version)?;
    thread.title = input::title(&thread.title)?;
    thread.content = input::state(&thread.content)?;
    thread.rendered = thread.rendered.as_deref().map(input::state).transpose()?;
    thread.project = thread.project.as_deref().map(input::project).transpose()?;
    thread.task = thread.task.as_deref().map(input::title).transpose()?;
    thread.created_at = kept(thread.created_at, now);
    thread.updated_at = kept(thread.updated_at, now);
    thread.expires_at = whole(input::end(thread.expires_at, now));
    Ok(())
}

fn check_project(project: &mut Project, now: Timestamp) -> Done<()> {
    check_version(project.version)?;
    project.dir = project.dir.as_deref().map(input::directory).transpose()?;
    input::no_secret("its name", project.name.as_str())?;
    project.created_at = kept(project.created_at, now);
    project.updated_at = kept(project.updated_at, now);
    Ok(())
}

fn bad(problem: String) -> EngineError {
    EngineError::BadExport { problem }
}

/// An id as ours are: nothing that could act on a terminal, a prompt or a path.
fn check_id(field: &'static str, id: &str) -> Done<()> {
    let is_fine = (6..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_fine { Ok(()) } else { Err(EngineError::invalid(field, "is not six or more letters and digits")) }
}

/// What an export says about the history of something must end where that thing is.
fn check_history(bundle: &Bundle) -> Done<()> {
    let entries = bundle.memories.iter().map(|memory| (memory.entry.id.as_str(), memory.entry.version, &memory.entry));
    let versions = bundle.history.iter().map(|version| &version.entry);
    ends_there("memory", entries, versions.map(|entry| (entry.id.as_str(), entry.version, entry)))?;
    let tasks = bundle.tasks.iter().map(|task| (task.id.as_str(), task.version, task));
    let versions = bundle.task_history.iter().map(|version| &version.task);
    ends_there("task", tasks, versions.map(|task| (task.id.as_str(), task.version, task)))?;
    let threads = bundle.threads.iter().map(|thread| (thread.id.as_str(), thread.version, thread));
    let versions = bundle.thread_history.iter().map(|version| &version.thread);
    ends_there("thread", threads, versions.map(|thread| (thread.id.as_str(), thread.version, thread)))?;
    let projects = bundle.projects.iter().map(|project| (project.name.as_str(), project.version, project));
    let versions = bundle.project_history.iter().map(|version| &version.project);
    ends_there("project", projects, versions.map(|project| (project.name.as_str(), project.version, project)))?;
    for version in &bundle.document_history {
        if version.version == 0 || version.version > MAX_VERSION {
            return Err(bad(format!("`{}` has a version {}", version.name, version.version)));
        }
    }
    Ok(())
}

/// Each by its name, its version and itself: no version may come after the current one, or be another current one.
fn ends_there<'a, T: PartialEq + 'a>(
    what: &str,
    current: impl Iterator<Item = (&'a str, u32, &'a T)>,
    versions: impl Iterator<Item = (&'a str, u32, &'a T)>,
) -> Done<()> {
    let current: BTreeMap<&str, (u32, &T)> = current.map(|(name, version, thing)| (name, (version, thing))).collect();
    for (name, version, thing) in versions {
        let agrees =
            current.get(name).is_none_or(|(newest, now)| version < *newest || version == *newest && thing == *now);
        if !agrees {
            return Err(bad(format!("{what} `{name}` is not what its history says")));
        }
    }
    Ok(())
}

fn check_version(version: u32) -> Done<()> {
    if version == 0 || version > MAX_VERSION {
        return Err(EngineError::invalid("the version", format!("{version} is not between 1 and {MAX_VERSION}")));
    }
    Ok(())
}

/// The rules that a new memory obeys, applied to one that comes whole.
fn check_entry(entry: &mut Entry, now: Timestamp) -> Done<()> {
    check_id("the id", entry.id.as_str())?;
    entry.supersedes.iter().try_for_each(|id| check_id("the id that it supersedes", id.as_str()))?;
    entry.project = entry.project.as_deref().map(input::project).transpose()?;
    entry.task = entry.task.as_deref().map(input::project).transpose()?;
    (entry.content, _) = input::content(&entry.content)?;
    entry.key = entry.key.as_deref().map(input::key).transpose()?;
    let labels = input::labels(&entry.tags)?;
    entry.tags = labels.tags;
    entry.project = entry.project.take().or(labels.project);
    entry.task = entry.task.take().or(labels.task);
    if entry.kind == Kind::Entry && entry.layer == Layer::Identity {
        return Err(EngineError::invalid("the layer", "identity is for lines of the profile"));
    }
    check_version(entry.version)?;
    entry.created_at = kept(entry.created_at, now);
    entry.updated_at = kept(entry.updated_at, now);
    entry.expires_at = entry.expires_at.map(|at| whole(input::end(at, now)));
    Ok(())
}

/// A time that can be kept, in whole milliseconds.
fn kept(at: Timestamp, now: Timestamp) -> Timestamp {
    whole(input::time(at, now))
}

/// A time in whole milliseconds, as stores keep it.
fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
