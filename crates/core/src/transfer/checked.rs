//! What an import may bring: everything in it is held to the rules that new things obey. Touches nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::context::without_fence;
use crate::error::{Done, EngineError};
use crate::input;
use crate::model::{Entry, Kind, Layer, Project, Task, Thread};
use crate::ports::Bundle;
use crate::text::redact::redact;

/// No memory changes more often than this.
const MAX_VERSION: u32 = 1_000_000_000;

/// What may be stored: an export that was edited, or made elsewhere, obeys the rules that new memories obey.
pub(crate) fn checked(bundle: &Bundle) -> Done<Bundle> {
    let mut bundle = bundle.clone();
    let memories = bundle.memories.iter_mut().map(|memory| &mut memory.entry);
    let versions = bundle.history.iter_mut().map(|version| &mut version.entry);
    for entry in memories.chain(versions) {
        let id = entry.id.clone();
        check_entry(entry).map_err(|error| bad(format!("memory `{id}`: {error}")))?;
    }
    for turn in &mut bundle.turns {
        let own = without_fence(&turn.content);
        let own = if own.trim().is_empty() { turn.content.as_str().into() } else { own };
        turn.content = redact(&own).text.into_owned();
        turn.speaker =
            turn.speaker.as_deref().map(input::speaker).transpose().map_err(|error| bad(error.to_string()))?;
        turn.at = whole(turn.at);
    }
    for session in &mut bundle.sessions {
        session.title = session.title.as_deref().map(|title| redact(title).text.into_owned());
        session.person =
            session.person.as_deref().map(input::person).transpose().map_err(|error| bad(error.to_string()))?;
    }
    for version in &mut bundle.document_history {
        version.text = version.text.as_deref().map(|text| redact(text).text.into_owned());
    }
    check_work(&mut bundle)?;
    check_history(&bundle)?;
    Ok(bundle)
}

/// The rules that new tasks and projects obey, for those that come whole, in every version.
fn check_work(bundle: &mut Bundle) -> Done<()> {
    let versions = bundle.task_history.iter_mut().map(|version| &mut version.task);
    for task in bundle.tasks.iter_mut().chain(versions) {
        let id = task.id.clone();
        check_task(task).map_err(|error| bad(format!("task `{id}`: {error}")))?;
    }
    let versions = bundle.thread_history.iter_mut().map(|version| &mut version.thread);
    for thread in bundle.threads.iter_mut().chain(versions) {
        let id = thread.id.clone();
        check_thread(thread).map_err(|error| bad(format!("thread `{id}`: {error}")))?;
    }
    let versions = bundle.project_history.iter_mut().map(|version| &mut version.project);
    for project in bundle.projects.iter_mut().chain(versions) {
        let name = project.name.clone();
        check_project(project).map_err(|error| bad(format!("project `{name}`: {error}")))?;
    }
    Ok(())
}

fn check_task(task: &mut Task) -> Done<()> {
    check_id("the id", task.id.as_str())?;
    task.archive.iter().try_for_each(|id| check_id("the id of its archive", id.as_str()))?;
    check_version(task.version)?;
    task.title = input::title(&task.title)?;
    task.state = input::state(&task.state)?;
    task.project = task.project.as_deref().map(input::project).transpose()?;
    task.created_at = whole(task.created_at);
    task.updated_at = whole(task.updated_at);
    task.done_at = task.done_at.map(whole);
    Ok(())
}

fn check_thread(thread: &mut Thread) -> Done<()> {
    check_id("the id", thread.id.as_str())?;
    check_version(thread.version)?;
    thread.title = input::title(&thread.title)?;
    thread.content = input::state(&thread.content)?;
    thread.rendered = thread.rendered.as_deref().map(input::state).transpose()?;
    thread.project = thread.project.as_deref().map(input::project).transpose()?;
    thread.task = thread.task.as_deref().map(input::title).transpose()?;
    thread.created_at = whole(thread.created_at);
    thread.updated_at = whole(thread.updated_at);
    thread.expires_at = whole(thread.expires_at);
    Ok(())
}

fn check_project(project: &mut Project) -> Done<()> {
    check_version(project.version)?;
    project.dir = project.dir.as_deref().map(input::directory).transpose()?;
    project.created_at = whole(project.created_at);
    project.updated_at = whole(project.updated_at);
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
fn check_entry(entry: &mut Entry) -> Done<()> {
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
    entry.created_at = whole(entry.created_at);
    entry.updated_at = whole(entry.updated_at);
    entry.expires_at = entry.expires_at.map(whole);
    Ok(())
}

/// A time in whole milliseconds, as stores keep it.
fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
