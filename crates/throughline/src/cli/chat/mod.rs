//! `throughline chat`: a conversation in the terminal, with memory.

mod screen;
mod setup;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use owo_colors::OwoColorize as _;
use rustyline::error::ReadlineError;
use rustyline::{Behavior, DefaultEditor};
use serde_json::json;
use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::{Model, ModelError};
use throughline_core::text::redact::redact;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::background;
use crate::chat::commands::{self, Next};
use crate::chat::{About, Conversation, Ended, Happening, Which};
use crate::world::World;
use screen::Screen;

/// As much of an answer as is shown, in characters.
const MAX_SHOWN: usize = 100;

/// What there is in the terminal alone.
const HELP: &str = "\
/quit           end (or Ctrl-D)
Ctrl-C stops a reply.";

/// The channel of the terminal.
const CHANNEL: &str = "cli";

/// Talk to the configured model, with memory
///
/// The model may look into memory and write to it by itself: each time, a line says so. With --json, the conversation is
/// shown on standard error, and standard output gets one JSON object at the end.
#[derive(Args)]
pub(super) struct Chat {
    /// Say this, show the reply, and end
    #[arg(value_name = "MESSAGE")]
    message: Vec<String>,
    /// Go on with this conversation, such as cli:main; without it, a new one begins
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The project that the conversation is about
    #[arg(long)]
    project: Option<String>,
    /// The task that the conversation is about
    #[arg(long)]
    task: Option<String>,
    #[arg(from_global)]
    json: bool,
}

impl Chat {
    pub(super) fn run(self, world: &World) -> Answer {
        let model = setup::model(world)?;
        let which = match &self.session {
            Some(id) => Which::Named(SessionId::on_channel(CHANNEL, id)?),
            None => Which::New(CHANNEL),
        };
        if let Some(task) = &self.task {
            world.engine.tasks().get(task)?;
        }
        let dir = std::env::current_dir().and_then(|dir| dir.canonicalize()).ok();
        let about = About { project: self.project, task: self.task, dir, person: None };
        let mut talk = Talk::begin(world, model, which, about, Screen::new(self.json))?;
        background::start_idle(world, talk.session());
        if !self.message.is_empty() {
            let reply = talk.exchange(&self.message.join(" "))?;
            background::start_end(world, talk.session());
            let failed = reply.is_none();
            return Ok(Reply::new(&json!({ "session": talk.session(), "reply": reply }), "").or_failed(failed));
        }
        talk.greet();
        let mut editor = editor(world, self.json)?;
        let ended = talk.converse(&mut editor, if self.json { "" } else { "› " });
        let _ = editor.save_history(&world.home.chat_history());
        ended?;
        background::start_end(world, talk.session());
        let is_kept = world.engine.sessions().last_turn(talk.session())?.is_some();
        let kept = if is_kept { "it is remembered" } else { "nothing of it is kept" };
        let goodbye = format!("{}\n", format!("this was {}; {kept}", talk.session()).dimmed());
        Ok(Reply::new(&json!({ "session": talk.session() }), goodbye))
    }
}

fn editor(world: &World, is_json: bool) -> Result<DefaultEditor, Failure> {
    let failed = |error: ReadlineError| {
        Failure::new(format!("cannot read from the terminal: {error}"), "try again in another terminal")
    };
    // A person who types while a program reads is shown the line on the terminal itself.
    let at_terminal = is_json && std::io::stdin().is_terminal();
    let behavior = if at_terminal { Behavior::PreferTerm } else { Behavior::Stdio };
    let config = rustyline::Config::builder().behavior(behavior).build();
    let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
    let _ = editor.load_history(&world.home.chat_history());
    Ok(editor)
}

/// A conversation that is going on in the terminal.
struct Talk<'a> {
    world: &'a World,
    conversation: Conversation<'a>,
    stopped: Arc<AtomicBool>,
    screen: Screen,
    about: About,
}

impl<'a> Talk<'a> {
    fn begin(
        world: &'a World,
        model: Arc<dyn Model>,
        which: Which,
        about: About,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        // Ctrl-C stops the reply, not the program; at the prompt the line editor sees it first.
        let handled = ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst));
        if let Err(error) = handled {
            tracing::warn!(%error, "Ctrl-C will end the program");
        }
        let conversation = Conversation::open(world, model, which, &about)?;
        Ok(Self { world, conversation, stopped, screen, about })
    }

    fn session(&self) -> &SessionId {
        &self.conversation.session
    }

    fn greet(&self) {
        let Conversation { model, session, .. } = &self.conversation;
        self.screen.aside(&format!("{} · {} · {session}", model.provider(), model.name()));
        self.screen.aside("/help shows what you can do; Ctrl-D ends");
        self.screen.line("");
    }

    fn converse(&mut self, editor: &mut DefaultEditor, prompt: &str) -> Result<(), Failure> {
        loop {
            let line = match editor.readline(prompt) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => return Ok(()),
                Err(error) => return Err(Failure::new(format!("cannot read from the terminal: {error}"), "try again")),
            };
            let said = line.trim();
            if said.is_empty() {
                continue;
            }
            // What was typed is kept for the arrow keys, without its secrets.
            let _ = editor.add_history_entry(redact(said).text);
            match commands::run(said, self.world, self.session())? {
                Next::Help(help) => self.screen.line(&format!("{help}{HELP}")),
                Next::Say => drop(self.exchange(said)?),
                Next::Shown(text) => self.screen.line(&text),
                Next::New => {
                    background::start_end(self.world, self.session());
                    let model = Arc::clone(&self.conversation.model);
                    self.conversation = Conversation::open(self.world, model, Which::New(CHANNEL), &self.about)?;
                    self.screen.aside(&format!("a new conversation: {}", self.session()));
                }
                Next::Quit => return Ok(()),
            }
        }
    }

    /// One message and its reply, shown as it comes; none where there was none.
    fn exchange(&self, said: &str) -> Result<Option<String>, Failure> {
        self.stopped.store(false, Ordering::SeqCst);
        let mut used: Vec<EntryId> = Vec::new();
        let ended = self.conversation.exchange(said.into(), &mut |happening| {
            match happening {
                Happening::Injected(parts) => used = parts.iter().filter_map(|part| part.id.clone()).collect(),
                Happening::LeftOut(turns) => {
                    let turns = style::count(turns as u64, "older turn", "older turns");
                    self.screen.aside(&format!("({turns} did not fit and stay in memory)"));
                }
                Happening::Piece(text) => self.screen.piece(text),
                Happening::Paused => self.screen.line(""),
                Happening::Tool { name, summary } => self.screen.aside(&shown(name, summary)),
            }
            !self.stopped.load(Ordering::SeqCst)
        })?;
        match ended {
            Ended::Said(reply) if !reply.trim().is_empty() => {
                self.note_used(&used);
                return Ok(Some(reply));
            }
            Ended::Said(_) => self.screen.aside("(no reply)"),
            Ended::TooManyRounds => self.screen.aside("(the model calls tools and does not come to an end: stopped)"),
            Ended::Failed(ModelError::Cancelled) => self.screen.aside("(stopped)"),
            Ended::Failed(error) => self.explain(&error),
        }
        Ok(None)
    }

    fn explain(&self, error: &ModelError) {
        self.screen.line(&format!("{} {}", "the model gave no reply:".yellow(), style::plain(&error.to_string())));
        if let Some(hint) = error.hint() {
            self.screen.aside(hint);
        }
    }

    fn note_used(&self, used: &[EntryId]) {
        if !used.is_empty() {
            let ids = used.iter().map(|id| style::short(id.as_str())).collect::<Vec<_>>().join(", ");
            self.screen.aside(&format!("recalled: {ids}"));
            self.screen.line("");
        }
    }
}

/// `· memory_write: stored abc123`
fn shown(name: &str, summary: &str) -> String {
    let first = style::plain(summary.lines().next().unwrap_or_default());
    let short: String = first.chars().take(MAX_SHOWN).collect();
    let name = style::plain(name);
    if short.starts_with(&name) { format!("· {short}") } else { format!("· {name}: {short}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_in_a_line() {
        assert_eq!(shown("memory_write", "stored abc\nand more"), "· memory_write: stored abc");
        assert_eq!(shown("memory_write", "memory_write could not: x"), "· memory_write could not: x");
        assert_eq!(shown("x", &"y".repeat(500)).chars().count(), 5 + MAX_SHOWN);
    }
}
