//! What each hook does. The process may end in the middle of it, when the time is up. Every write is one transaction, so
//! nothing is half done then.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use throughline_clients::Client;
use throughline_clients::hooks::{Event, HookInput, Start, answer};
use throughline_clients::transcripts::{self, Spoken};
use throughline_core::context;
use throughline_core::engine::{ContextRequest, Engine, Prepared as PreparedContext, Said, Visibility};
use throughline_core::model::{Role, SessionId, TurnId};
use throughline_core::tools::{self, Tool};

use super::super::failure::Failure;
use super::News;
use crate::world::{self, Prepared, World};
use crate::{background, vectors};

/// More than this is no event of any client.
const LONGEST_INPUT: u64 = 32 << 20;

/// Does what the event asks for, and says the answer as soon as there is one.
pub(super) fn work(
    event: Event,
    client: Option<Client>,
    deadline_is_open: bool,
    say: &Sender<News>,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    if let Err(error) = std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut bytes) {
        tracing::warn!(%error, "standard input ends early");
    }
    let input = HookInput::read(&bytes, client);
    // Whoever no longer listens has printed an answer and is about to end.
    let _ = say.send(News::Client(input.client));
    if world::is_model_run() {
        return Ok(());
    }
    let prepared = Prepared::find()?;
    if deadline_is_open && event == Event::Prompt {
        let ms = u64::from(prepared.config.config.hooks.prompt_deadline_ms);
        let _ = say.send(News::Deadline(Duration::from_millis(ms)));
    }
    // Half of the time is for the vector of a message: an answer from words comes before none.
    let half = Duration::from_millis(u64::from(prepared.config.config.hooks.prompt_deadline_ms) / 2);
    let world = prepared.open()?.asking_within(half);
    if !world.engine.settings().enabled || is_excluded(&world, &input) {
        return Ok(());
    }
    let hooked = Hooked { world: &world, session: input.session_id(), input: &input };
    let outcome = hooked.answer(event, say);
    background::start_waiting(&world, hooked.session.as_ref());
    background::start_upkeep(&world);
    if event == Event::Prompt {
        world.store.ending();
    }
    outcome
}

/// Whether the person works in a directory that stays off the record.
fn is_excluded(world: &World, input: &HookInput) -> bool {
    let dir = input.cwd.as_deref().and_then(|cwd| Path::new(cwd).canonicalize().ok());
    dir.is_some_and(|dir| world.engine.settings().exclude.covers_directory(&dir))
}

/// One event, and the memory that it meets.
struct Hooked<'a> {
    world: &'a World,
    input: &'a HookInput,
    session: Option<SessionId>,
}

/// What memory gives: the text, and what to record once the client has it.
#[derive(Default)]
struct Given {
    text: Option<String>,
    prepared: Option<PreparedContext>,
}

impl Hooked<'_> {
    /// Does what the event asks for, and says the answer as soon as there is one.
    fn answer(&self, event: Event, say: &Sender<News>) -> Result<(), Failure> {
        match event {
            Event::SessionStart => self.give(event, self.beginning()?, say),
            Event::Prompt => {
                // The message is kept whatever becomes of the memories for it.
                let given = self.for_prompt().and_then(|given| self.give(event, given, say));
                self.keep_prompt().and(given)
            }
            Event::PreCompact | Event::Stop | Event::SessionEnd => self.keep(event),
        }
    }

    /// Prints what memory gives, and then records exactly that: what came too late is given with the next message.
    fn give(&self, event: Event, given: Given, say: &Sender<News>) -> Result<(), Failure> {
        let text = answer(self.input.client, event, self.input.prompt.as_deref(), given.text.as_deref());
        let (printed, is_printed) = channel();
        let is_printed = say.send(News::Answer(text, printed)).is_ok() && is_printed.recv().is_ok();
        if let Some(prepared) = given.prepared.filter(|_| is_printed) {
            self.engine().context().note_given(&prepared, Visibility::Stays)?;
        }
        Ok(())
    }

    /// Nobody else can change a client's system prompt: memories go with the message.
    fn engine(&self) -> Engine {
        self.world.engine.with_messages_alone()
    }

    /// What the conversation begins with: once, and again where the client forgot it.
    fn beginning(&self) -> Result<Given, Failure> {
        // Copilot CLI takes it with the first message.
        if self.input.client == Client::Copilot {
            return Ok(Given::default());
        }
        let forgets = matches!(self.input.start, Start::Clear | Start::Compact);
        if !forgets && self.is_begun() {
            return Ok(Given::default());
        }
        let request = ContextRequest { afresh: forgets, ..self.request(None) };
        let prepared = self.engine().context().prepare(&request)?;
        let text = self.opening(&prepared.opening);
        Ok(Given { text, prepared: self.session.is_some().then_some(prepared) })
    }

    /// Memories that fit the message; before the first one, what the conversation begins with, if nothing gave it yet.
    fn for_prompt(&self) -> Result<Given, Failure> {
        let Some(message) = self.input.prompt.clone() else { return Ok(Given::default()) };
        let prepared = self.engine().context().prepare(&self.request(Some(message)))?;
        let Some(session) = &self.session else { return Ok(Given { text: prepared.block, prepared: None }) };
        let begins = !prepared.is_open;
        let opening = if begins { self.opening(&prepared.opening) } else { None };
        tracing::debug!(%session, begins, "memory for a message");
        let parts: Vec<String> = opening.into_iter().chain(prepared.block.clone()).collect();
        let text = (!parts.is_empty()).then(|| parts.join("\n\n"));
        Ok(Given { text, prepared: Some(prepared) })
    }

    /// Whether the conversation has what it begins with.
    fn is_begun(&self) -> bool {
        let known = self.session.as_ref().and_then(|session| self.world.engine.sessions().find(session).ok().flatten());
        known.is_some_and(|state| state.opening.is_some())
    }

    /// Whose context is wanted.
    fn request(&self, message: Option<String>) -> ContextRequest {
        ContextRequest { session: self.session.clone(), message, dir: self.dir(), ..ContextRequest::default() }
    }

    /// Memory for the start, fenced, behind a word on what it is; none if there is none.
    fn opening(&self, own: &str) -> Option<String> {
        if own.is_empty() {
            return None;
        }
        let notes = context::fenced(own);
        // What stands in the prompt itself is kept as said by the person: there, only what is fenced may be added.
        let is_told =
            self.world.engine.settings().tools.contains(&Tool::Recall) && self.input.client != Client::Copilot;
        Some(if is_told { format!("{}\n\n{notes}", tools::guidance(&[Tool::Recall]).text.trim()) } else { notes })
    }

    /// The directory that the person works in.
    fn dir(&self) -> Option<PathBuf> {
        Path::new(self.input.cwd.as_deref()?).canonicalize().ok()
    }

    /// Keeps the message of a client that says it keeps no transcript. Copilot CLI names it only later.
    fn keep_prompt(&self) -> Result<(), Failure> {
        let (Some(session), Some(prompt)) = (&self.session, &self.input.prompt) else { return Ok(()) };
        if self.input.transcript.is_some() || self.input.client == Client::Copilot {
            return Ok(());
        }
        self.observe(session, &self.said(Role::User, Some(prompt))).map(drop)
    }

    /// Keeps what was said since the last time, and has it consolidated where that is due.
    fn keep(&self, event: Event) -> Result<(), Failure> {
        let Some(session) = &self.session else { return Ok(()) };
        let is_due = self.observe(session, &self.new_turns(session)?)?;
        if self.world.engine.sessions().find(session)?.is_none() {
            return Ok(());
        }
        match event {
            Event::SessionEnd => background::start_end(self.world, session),
            // Due or not: what the client forgets now is summed up while all of it is fresh.
            Event::PreCompact => background::start_compaction(self.world, session),
            _ if is_due => {
                background::start(self.world, session);
                background::start_idle(self.world, session);
            }
            _ => vectors::start_memories(self.world, vectors::PILE),
        }
        Ok(())
    }

    /// Says whether a consolidation is due.
    fn observe(&self, session: &SessionId, said: &[Said]) -> Result<bool, Failure> {
        if said.is_empty() {
            return Ok(false);
        }
        Ok(self.world.engine.sessions().observe_at(session, self.dir(), said)?.due.is_some())
    }

    /// What the transcript has that is not stored yet; without one, what the event itself says.
    fn new_turns(&self, session: &SessionId) -> Result<Vec<Said>, Failure> {
        let Some((file, length)) = self.transcript() else {
            let prompt = self.said(Role::User, self.input.prompt.as_ref());
            let reply = self.said(Role::Assistant, self.input.reply.as_ref());
            return Ok([prompt, reply].concat());
        };
        let stored = self.world.engine.sessions().latest_turns(session)?;
        let is_stored = |spoken: &Spoken| stored.contains(&TurnId::of_host(session, &spoken.id));
        let own = self.input.session.as_deref().unwrap_or_default();
        let spoken = transcripts::read(self.input.client, own, file, length, &is_stored)
            .map_err(|error| Failure::io("read the transcript", &error))?;
        let said = |spoken: Spoken| Said {
            id: Some(spoken.id),
            role: spoken.role,
            speaker: None,
            content: spoken.text,
            at: spoken.at,
        };
        Ok(spoken.into_iter().map(said).collect())
    }

    /// What the event itself says, if anything, by the client's name for the exchange.
    fn said(&self, role: Role, text: Option<&String>) -> Vec<Said> {
        let Some(words) = text.and_then(|text| transcripts::own_words(role, text)) else { return Vec::new() };
        let id = self.input.turn.as_ref().map(|turn| format!("{turn}:{role}"));
        vec![Said { id, at: self.input.at, ..Said::now(role, words) }]
    }

    /// The transcript and its length. Only a plain file that may be one: never a device or a pipe, and nothing of our
    /// own, where reading would take locks away from the database.
    fn transcript(&self) -> Option<(File, u64)> {
        let path = Path::new(self.input.transcript.as_deref()?).canonicalize().ok()?;
        let is_named_so = path.extension().is_some_and(|end| end == "jsonl" || end == "json");
        let is_ours = self.world.home.data.canonicalize().is_ok_and(|own| path.starts_with(own));
        let found = path.metadata().ok().filter(|found| found.is_file() && is_named_so && !is_ours)?;
        Some((File::open(path).ok()?, found.len()))
    }
}
