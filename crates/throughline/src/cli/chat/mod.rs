//! `throughline chat`: a conversation in the terminal, with memory.

mod commands;
mod rounds;
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
use throughline_core::context::Context;
use throughline_core::engine::{Engine, StartSession};
use throughline_core::model::{Actor, EntryId, Role, SessionId, Source, Turn};
use throughline_core::ports::{Message, Model, ModelError, ToolSpec};
use throughline_core::text::{redact::redact, tokens};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::background;
use crate::world::World;
use commands::Next;
use rounds::{Asked, Ended};
use screen::Screen;

/// Room that is left for the reply; a quarter of a window that is smaller than four times as much.
const REPLY_TOKENS: usize = 4000;

/// Talk to the configured model, with memory
///
/// The model may look into memory and write to it by itself: each time, a line says so. With --json, the conversation is
/// shown on standard error, and standard output gets one JSON object at the end.
#[derive(Args)]
pub(super) struct Chat {
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
        let session = match &self.session {
            Some(id) => SessionId::on_channel("cli", id)?,
            None => fresh(world)?,
        };
        background::start_idle(world, &session);
        if let Some(task) = &self.task {
            world.engine.task(task)?;
        }
        let about = (self.project, self.task);
        let mut talk = Talk::begin(world, model, session, about, Screen::new(self.json))?;
        talk.greet();
        let mut editor = editor(world, self.json)?;
        let ended = talk.converse(&mut editor, if self.json { "" } else { "› " });
        let _ = editor.save_history(&world.home.chat_history());
        ended?;
        background::start_end(&talk.session);
        let goodbye = format!("{}\n", format!("this was {}; it is remembered", talk.session).dimmed());
        Ok(Reply::new(&json!({ "session": talk.session }), goodbye))
    }
}

/// A conversation that does not exist yet, named after the minute it begins.
fn fresh(world: &World) -> Result<SessionId, Failure> {
    let stamp = world.now().strftime("%Y-%m-%d-%H%M").to_string();
    let known = world.engine.sessions()?;
    let taken = |id: &SessionId| known.iter().any(|state| state.session.id == *id);
    let mut id = SessionId::on_channel("cli", &stamp)?;
    let mut nth = 1;
    while taken(&id) {
        nth += 1;
        id = SessionId::on_channel("cli", &format!("{stamp}-{nth}"))?;
    }
    Ok(id)
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

/// A project and a task, where they are named.
type About = (Option<String>, Option<String>);

/// A conversation that is going on.
struct Talk<'a> {
    world: &'a World,
    /// The memory, sized to what this model can see.
    engine: Engine,
    model: Arc<dyn Model>,
    session: SessionId,
    stopped: Arc<AtomicBool>,
    screen: Screen,
    about: About,
}

impl<'a> Talk<'a> {
    fn begin(
        world: &'a World,
        model: Arc<dyn Model>,
        session: SessionId,
        about: About,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let person = world.engine.acting(Actor::new(Source::User, "chat"));
        let engine = match model.context_window() {
            Some(window) => person.with_window(window),
            None => person,
        };
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        // Ctrl-C stops the reply, not the program; at the prompt the line editor sees it first.
        let handled = ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst));
        if let Err(error) = handled {
            tracing::warn!(%error, "Ctrl-C will end the program");
        }
        let talk = Self { world, engine, model, session, stopped, screen, about };
        talk.open()?;
        Ok(talk)
    }

    /// The session begins, or goes on, with what the model is told about its memory.
    fn open(&self) -> Result<(), Failure> {
        let system_prompt = self.engine.guidance().map(|guidance| guidance.text);
        let (project, task) = self.about.clone();
        let start = StartSession { system_prompt, project, task, ..StartSession::new(self.session.clone()) };
        self.engine.start_session(&start)?;
        Ok(())
    }

    fn greet(&self) {
        self.screen.aside(&format!("{} · {} · {}", self.model.provider(), self.model.name(), self.session));
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
            match commands::run(said, self.world, &self.session)? {
                Next::Say => self.exchange(said)?,
                Next::Shown(text) => self.screen.line(&text),
                Next::New => {
                    background::start_end(&self.session);
                    self.session = fresh(self.world)?;
                    self.open()?;
                    self.screen.aside(&format!("a new conversation: {}", self.session));
                }
                Next::Quit => return Ok(()),
            }
        }
    }

    /// One message and its reply. A model that fails costs the reply, and nothing that was said.
    fn exchange(&self, said: &str) -> Result<(), Failure> {
        // What is sent later is the raw turn: a memory that still matters must come again.
        let context = self.engine.repeating().context(&self.session, said)?;
        let used: Vec<EntryId> = context.parts.iter().filter_map(|part| part.id.clone()).collect();
        let asked = self.asked(context, said)?;
        self.observe(Role::User, said.to_owned())?;
        match self.rounds(asked)? {
            Ended::Said(reply) if !reply.trim().is_empty() => {
                let observed = self.observe(Role::Assistant, reply)?;
                self.note_used(&used);
                if observed.due.is_some() {
                    background::start(&self.session);
                }
            }
            Ended::Said(_) => self.screen.aside("(no reply)"),
            Ended::TooManyRounds => self.screen.aside("(the model calls tools and does not come to an end: stopped)"),
            Ended::Failed(ModelError::Cancelled) => self.screen.aside("(stopped)"),
            Ended::Failed(error) => self.explain(&error),
        }
        Ok(())
    }

    /// What the model is asked: as much of the conversation as fits beside the rest.
    fn asked(&self, context: Context, said: &str) -> Result<Asked, Failure> {
        let tools = self.engine.tools();
        let system = context.system_prompt;
        let enriched = context.message.unwrap_or_else(|| said.to_owned());
        let size =
            |tool: &ToolSpec| tokens::estimate(tool.description) + tokens::estimate(&tool.parameters.to_string());
        let fixed = tokens::estimate(&system) + tokens::estimate(&enriched) + tools.iter().map(size).sum::<usize>();
        let window = self.engine.settings().policy.context_window;
        let budget = window.saturating_sub(REPLY_TOKENS.min(window / 4)).saturating_sub(fixed);
        let (turns, left_out) = self.engine.window(&self.session, budget)?;
        if left_out > 0 {
            let turns = style::count(left_out as u64, "older turn", "older turns");
            self.screen.aside(&format!("({turns} did not fit and stay in memory)"));
        }
        let mut messages: Vec<Message> = turns.iter().filter_map(message).collect();
        messages.push(Message::said(Role::User, enriched));
        Ok(Asked { system, messages, tools })
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

/// A turn as the model sees it; a summary says that it is one. Calls and their results are for the transcript alone:
/// without each other they are refused, and what came of them is in the replies.
fn message(turn: &Turn) -> Option<Message> {
    match turn.role {
        Role::Tool | Role::System => None,
        Role::Summary => Some(Message::said(Role::User, format!("[Context Summary]\n{}", turn.content))),
        role => Some(Message::said(role, turn.content.clone())),
    }
}
