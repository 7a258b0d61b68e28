//! `throughline chat`: a conversation in the terminal, with memory.

mod commands;
mod setup;

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use owo_colors::OwoColorize as _;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use serde_json::json;
use throughline_core::engine::{Said, StartSession};
use throughline_core::model::{EntryId, Role, SessionId, Turn};
use throughline_core::ports::{Message, Model, ModelError, Task};
use throughline_core::text::redact::redact;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::background;
use crate::world::World;
use commands::Next;

/// Room that is left for the reply.
const REPLY_TOKENS: usize = 4000;

/// Talk to the configured model, with memory
#[derive(Args)]
pub(super) struct Chat {
    /// Go on with this conversation, such as cli:main; without it, a new one begins
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Chat {
    pub(super) fn run(self, world: &World) -> Answer {
        let model = setup::model(world)?;
        let session = match &self.session {
            Some(id) => SessionId::on_channel("cli", id)?,
            None => fresh(world)?,
        };
        background::start_idle(world, &session);
        let mut talk = Talk::begin(world, model, session)?;
        talk.greet();
        let mut editor = editor(world)?;
        let ended = talk.converse(&mut editor);
        let _ = editor.save_history(&world.home.chat_history());
        ended?;
        background::start(&talk.session);
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

fn editor(world: &World) -> Result<DefaultEditor, Failure> {
    let failed = |error: ReadlineError| {
        Failure::new(format!("cannot read from the terminal: {error}"), "try again in another terminal")
    };
    let mut editor = DefaultEditor::new().map_err(failed)?;
    let _ = editor.load_history(&world.home.chat_history());
    Ok(editor)
}

/// A conversation that is going on.
struct Talk<'a> {
    world: &'a World,
    model: Arc<dyn Model>,
    session: SessionId,
    stopped: Arc<AtomicBool>,
}

impl<'a> Talk<'a> {
    fn begin(world: &'a World, model: Arc<dyn Model>, session: SessionId) -> Result<Self, Failure> {
        world.engine.start_session(&StartSession::new(session.clone()))?;
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        // Ctrl-C stops the reply, not the program; at the prompt the line editor sees it first.
        let handled = ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst));
        if let Err(error) = handled {
            tracing::warn!(%error, "Ctrl-C will end the program");
        }
        Ok(Self { world, model, session, stopped })
    }

    fn greet(&self) {
        let with = format!("{} · {} · {}", self.model.provider(), self.model.name(), self.session);
        anstream::println!("{}\n{}\n", with.dimmed(), "/help shows what you can do; Ctrl-D ends".dimmed());
    }

    fn converse(&mut self, editor: &mut DefaultEditor) -> Result<(), Failure> {
        loop {
            let line = match editor.readline("› ") {
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
                Next::Shown(text) => anstream::println!("{text}"),
                Next::New => {
                    background::start(&self.session);
                    self.session = fresh(self.world)?;
                    self.world.engine.start_session(&StartSession::new(self.session.clone()))?;
                    anstream::println!("{}", format!("a new conversation: {}", self.session).dimmed());
                }
                Next::Quit => return Ok(()),
            }
        }
    }

    /// One message and its reply. A model that fails costs the reply, and nothing that was said.
    fn exchange(&self, said: &str) -> Result<(), Failure> {
        let engine = &self.world.engine;
        // What is sent later is the raw turn: a memory that still matters must come again.
        let context = engine.repeating().context(&self.session, said)?;
        let used: Vec<EntryId> = context.parts.iter().filter_map(|part| part.id.clone()).collect();
        let budget = engine.settings().policy.context_window.saturating_sub(REPLY_TOKENS);
        let (window, left_out) = engine.window(&self.session, budget)?;
        let mut messages: Vec<Message> = window.iter().map(message).collect();
        let enriched = context.message.unwrap_or_else(|| said.to_owned());
        messages.push(Message { role: Role::User, content: enriched });
        engine.observe(&self.session, &[Said::now(Role::User, said)])?;
        if left_out > 0 {
            let turns = style::count(left_out as u64, "older turn", "older turns");
            anstream::println!("{}", format!("({turns} did not fit and stay in memory)").dimmed());
        }
        let task = Task::Chat { system: context.system_prompt, messages };
        match self.stream(&task) {
            Ok(reply) if !reply.trim().is_empty() => {
                let observed = engine.observe(&self.session, &[Said::now(Role::Assistant, reply)])?;
                self.note_used(&used);
                if observed.due.is_some() {
                    background::start(&self.session);
                }
            }
            Ok(_) => anstream::println!("{}", "(no reply)".dimmed()),
            Err(ModelError::Cancelled) => anstream::println!("{}", "(stopped)".dimmed()),
            Err(error) => {
                anstream::println!("{} {}", "the model gave no reply:".yellow(), style::plain(&error.to_string()));
                if let Some(hint) = error.hint() {
                    anstream::println!("{}", hint.dimmed());
                }
            }
        }
        Ok(())
    }

    /// Asks, and prints the reply as it comes.
    fn stream(&self, task: &Task) -> Result<String, ModelError> {
        self.stopped.store(false, Ordering::SeqCst);
        let mut out = anstream::stdout();
        let mut sink = |piece: &str| {
            let _ = write!(out, "{}", style::plain(piece));
            let _ = out.flush();
            !self.stopped.load(Ordering::SeqCst)
        };
        let reply = self.world.engine.ask(&*self.model, task, &mut sink);
        anstream::println!();
        Ok(reply?.text)
    }

    fn note_used(&self, used: &[EntryId]) {
        if !used.is_empty() {
            let ids = used.iter().map(|id| style::short(id.as_str())).collect::<Vec<_>>().join(", ");
            anstream::println!("{}\n", format!("remembered: {ids}").dimmed());
        }
    }
}

/// A turn as the model sees it; a summary says that it is one.
fn message(turn: &Turn) -> Message {
    match turn.role {
        Role::Summary => Message { role: Role::User, content: format!("[Context Summary]\n{}", turn.content) },
        role => Message { role, content: turn.content.clone() },
    }
}
