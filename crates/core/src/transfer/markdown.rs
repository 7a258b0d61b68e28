//! An export for reading: documents, memories, tasks, projects and conversations as Markdown.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::model::{Kind, Memory, Project, Status, Task, TaskStatus};
use crate::transfer::Export;

impl Export {
    /// How an export for reading begins.
    pub const MARKDOWN_TITLE: &str = "# Memory\n";

    /// Everything, for reading. An entry is one list item that names its id.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("{}\nExported {}.\n", Self::MARKDOWN_TITLE, self.exported_at);
        for document in &self.documents {
            let _ = write!(out, "\n## {}\n\n{}\n", document.name, document.text.trim_end());
        }
        let mut sections: Vec<(String, Vec<String>)> = Vec::new();
        for memory in self.bundle.memories.iter().filter(|memory| memory.entry.kind == Kind::Entry) {
            let entry = &memory.entry;
            let forgotten = if entry.status == Status::Inactive { ", forgotten" } else { "" };
            let title = format!("{} ({}{forgotten})", entry.namespace, entry.layer);
            let line = markdown_item(memory);
            match sections.iter_mut().find(|(known, _)| *known == title) {
                Some((_, lines)) => lines.push(line),
                None => sections.push((title, vec![line])),
            }
        }
        for (title, lines) in sections {
            section(&mut out, &title, lines.into_iter());
        }
        for (title, status) in [("Open tasks", TaskStatus::Open), ("Done tasks", TaskStatus::Done)] {
            let tasks = self.bundle.tasks.iter().filter(|task| task.status == status);
            section(&mut out, title, tasks.map(task_item));
        }
        let projects = self.bundle.projects.iter().filter(|project| project.status == Status::Active);
        section(&mut out, "Projects", projects.map(project_item));
        for session in &self.bundle.sessions {
            let _ = write!(out, "\n## sessions/{}\n\n", session.id);
            for turn in self.bundle.turns.iter().filter(|turn| turn.session == session.id) {
                let who = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
                let _ = writeln!(out, "- **{who}** ({}): {}", turn.at, turn.content.replace('\n', "\n  "));
            }
        }
        out
    }
}

/// A heading and its items, where there are any.
fn section(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: String = items.collect();
    if !items.is_empty() {
        let _ = write!(out, "\n## {title}\n\n{items}");
    }
}

/// `- **key** content `id` sig 3, tag, tag, project x, 2026-01-02`
fn markdown_item(memory: &Memory) -> String {
    let entry = &memory.entry;
    let key = entry.key.as_ref().map(|key| format!("**{key}** ")).unwrap_or_default();
    let mut notes = vec![format!("sig {}", memory.significance.value()), entry.source.to_string()];
    notes.extend(entry.tags.iter().cloned());
    notes.extend(entry.project.iter().map(|project| format!("project {project}")));
    notes.push(day(entry.created_at));
    format!("- {key}{} `{}` ({})\n", indented(&entry.content), entry.id, notes.join(", "))
}

/// `- **title** `id` (project x, 2026-01-02, done 2026-01-03)`, and below it where the task stands.
fn task_item(task: &Task) -> String {
    let mut notes: Vec<String> = task.project.iter().map(|project| format!("project {project}")).collect();
    notes.push(day(task.created_at));
    notes.extend(task.done_at.map(|at| format!("done {}", day(at))));
    notes.extend(task.archive.iter().map(|archive| format!("archived as `{archive}`")));
    let state = if task.state.is_empty() { String::new() } else { format!("\n\n  {}", indented(&task.state)) };
    format!("- **{}** `{}` ({}){state}\n", task.title, task.id, notes.join(", "))
}

/// `- **name** `/its/directory` (2026-01-02)`
fn project_item(project: &Project) -> String {
    let dir = project.dir.as_ref().map(|dir| format!(" `{dir}`")).unwrap_or_default();
    format!("- **{}**{dir} ({})\n", project.name, day(project.created_at))
}

/// Lines after the first as a list item holds them.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

fn day(at: Timestamp) -> String {
    at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}
