//! What each hook does. The process may end in the middle of it, when the time is up. Every write is one transaction, so
//! nothing is half done then.

use std::cell::Cell;
use std::io::Read as _;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use throughline_clients::Client;
use throughline_clients::hooks::{Event, HookInput, Start, answer};
use throughline_clients::transcripts::{self, Spoken, Summary};
use throughline_core::context;
use throughline_core::engine::{ContextRequest, Engine, Prepared as PreparedContext, Said, Visibility};
use throughline_core::model::{Role, SessionId, TurnId};

use super::super::failure::Failure;
use super::heard::Heard;
use super::{News, usual_deadline};
use crate::spool::Spool;
use crate::world::{self, Prepared, World};
use crate::{background, vectors};

/// More than this is no event of any client.
const LONGEST_INPUT: u64 = 32 << 20;

/// How often to try to note what was given while other processes write: their writes are short. The deadline ends it sooner.
const ATTEMPTS: u32 = 12;

/// How long a reply may be late in a transcript, and how often it is looked for.
const LATE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);

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
    let (world, is_aside) =
        if prepared.is_on_server() { open_on_server(&prepared, event, &input)? } else { (prepared.open()?, false) };
    let world = world.asking_within(half);
    let heard = Heard { input: &input, home: &world.home };
    if !world.engine.settings().enabled || heard.is_excluded(world.engine.settings()) {
        return Ok(());
    }
    if event == Event::Prompt {
        world.store.ending();
    }
    let hooked = Hooked { world: &world, session: input.session_id(), input: &input, heard, is_aside };
    let outcome = hooked.answer(event, say);
    background::start_waiting(&world, hooked.session.as_ref());
    background::start_upkeep(&world);
    outcome
}

/// Opens a memory on a server, which may be slow or away: what the event says is put aside first. Says whether it was.
fn open_on_server(prepared: &Prepared, event: Event, input: &HookInput) -> Result<(World, bool), Failure> {
    let (settings, heard) = (world::settings(&prepared.config)?, Heard { input, home: &prepared.home });
    let is_aside = heard.put_aside(event, prepared, &settings);
    // Where a transcript is to be read, there has to be time for that.
    let prepared = match event {
        Event::Stop | Event::PreCompact | Event::SessionEnd => prepared.clone().within(usual_deadline(event) / 2),
        Event::Prompt | Event::SessionStart => prepared.clone(),
    };
    match prepared.clone().open() {
        Ok(world) => Ok((world, is_aside)),
        Err(error) => {
            if error.is_away() && !is_aside {
                heard.put_transcript_aside(event, &prepared, &settings);
            }
            Err(error.into())
        }
    }
}

/// One event, and the memory that it meets.
struct Hooked<'a> {
    world: &'a World,
    input: &'a HookInput,
    session: Option<SessionId>,
    heard: Heard<'a>,
    /// Whether what the event says waits on this machine, to be delivered.
    is_aside: bool,
}

/// What memory gives: the text, and what to record once the client has it.
#[derive(Default)]
struct Given {
    text: Option<String>,
    prepared: Option<PreparedContext>,
}

/// What was read of a transcript.
#[derive(Default)]
struct Read {
    news: transcripts::News,
    /// Whether the reply that the event names is in it.
    has_reply: bool,
}

impl Hooked<'_> {
    /// Does what the event asks for, and says the answer as soon as there is one.
    fn answer(&self, event: Event, say: &Sender<News>) -> Result<(), Failure> {
        match event {
            Event::SessionStart => {
                let given = self.give(event, self.beginning()?, say);
                // Codex says nothing between a compaction and the next message: its summary is there now.
                let may_be_new = matches!(self.input.start, Start::Compact | Start::Resume);
                if may_be_new { given.and(self.keep(event)) } else { given }
            }
            Event::Prompt => {
                let message = self.message();
                let _reading = self.world.engine.reading(self.session.as_ref(), message.as_deref());
                // The message is kept whatever becomes of the memories for it.
                let given = self.for_prompt().and_then(|given| self.give(event, given, say));
                self.keep_prompt().and(given)
            }
            // Gemini CLI asks itself before every request whether to compress, and seldom does.
            Event::PreCompact if self.input.client == Client::Gemini && self.input.compacts_by_itself => Ok(()),
            Event::PreCompact => self.keep(event).and_then(|()| self.forget_if_unsaid()),
            Event::Stop | Event::SessionEnd => self.keep(event),
        }
    }

    /// Prints what memory gives, and then records exactly that: what came too late is given with the next message.
    fn give(&self, event: Event, given: Given, say: &Sender<News>) -> Result<(), Failure> {
        let text = answer(self.input.client, event, self.input.prompt.as_deref(), given.text.as_deref());
        let (printed, is_printed) = channel();
        let is_printed = say.send(News::Answer(text, printed)).is_ok() && is_printed.recv().is_ok();
        if let Some(prepared) = given.prepared.filter(|_| is_printed) {
            self.engine().context().trying(ATTEMPTS).note_given(&prepared, Visibility::Stays)?;
        }
        Ok(())
    }

    /// Nobody else can change a client's system prompt: memories go with the message.
    fn engine(&self) -> Engine {
        self.world.engine.with_messages_alone()
    }

    /// What the conversation begins with: once, and again where the client forgot it.
    fn beginning(&self) -> Result<Given, Failure> {
        let forgets = matches!(self.input.start, Start::Clear | Start::Compact);
        if self.begins_with_message() {
            return if forgets { self.forget() } else { Ok(()) }.map(|()| Given::default());
        }
        if !forgets && self.is_begun() {
            return Ok(Given::default());
        }
        let request = ContextRequest { afresh: forgets, ..self.request(None) };
        let prepared = self.engine().context().prepare(&request)?;
        let text = opening(&prepared.opening);
        Ok(Given { text, prepared: self.session.is_some().then_some(prepared) })
    }

    /// Whether the client takes what the conversation begins with only with a message. Copilot CLI ignores it elsewhere;
    /// Gemini CLI ignores it after `/clear`, and without a terminal makes it a part of the first message, which it drops
    /// when the conversation is resumed.
    fn begins_with_message(&self) -> bool {
        matches!(self.input.client, Client::Copilot | Client::Gemini)
    }

    /// The client is about to forget what the conversation began with, and will not say so: it comes again with the next
    /// message.
    fn forget_if_unsaid(&self) -> Result<(), Failure> {
        if self.begins_with_message() { self.forget() } else { Ok(()) }
    }

    fn forget(&self) -> Result<(), Failure> {
        let Some(session) = self.session.as_ref().filter(|_| self.is_begun()) else { return Ok(()) };
        Ok(self.world.engine.sessions().reset(session)?)
    }

    /// Memories that fit the message; before the first one, what the conversation begins with, if nothing gave it yet.
    /// Only the person's own words are looked for: clients put much else into a message.
    fn for_prompt(&self) -> Result<Given, Failure> {
        if self.input.prompt.is_none() {
            return Ok(Given::default());
        }
        let prepared = self.engine().context().prepare(&self.request(self.message()))?;
        let Some(session) = &self.session else { return Ok(Given { text: prepared.block, prepared: None }) };
        let begins = !prepared.is_open;
        let opening = if begins { opening(&prepared.opening) } else { None };
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

    /// The person's own words of the message.
    fn message(&self) -> Option<String> {
        transcripts::own_words(Role::User, self.input.prompt.as_ref()?)
    }

    /// Whose context is wanted.
    fn request(&self, message: Option<String>) -> ContextRequest {
        ContextRequest { session: self.session.clone(), message, dir: self.heard.dir(), ..ContextRequest::default() }
    }

    /// Keeps the message of a client that says it keeps no transcript.
    fn keep_prompt(&self) -> Result<(), Failure> {
        let (Some(session), Some(prompt)) = (&self.session, &self.input.prompt) else { return Ok(()) };
        if self.heard.transcript_path().is_some() {
            return Ok(());
        }
        self.observe(session, &self.heard.said(Role::User, Some(prompt))).map(drop)
    }

    /// Keeps what was said since the last time, and has it consolidated where that is due.
    fn keep(&self, event: Event) -> Result<(), Failure> {
        let Some(session) = &self.session else { return Ok(()) };
        let (said, summary) = self.news(event, session)?;
        let is_due = self.observe(session, &said)?;
        if self.world.engine.sessions().find(session)?.is_none() {
            return Ok(());
        }
        if let Some(summary) = &summary {
            background::start_summary(self.world, session, &summary.text, summary.at);
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

    fn is_excluded(&self, session: &SessionId) -> bool {
        self.world.engine.settings().exclude.covers_channel(session)
    }

    /// Says whether a consolidation is due.
    fn observe(&self, session: &SessionId, said: &[Said]) -> Result<bool, Failure> {
        if said.is_empty() {
            return Ok(false);
        }
        if self.is_aside {
            return Ok(Spool::of(&self.world.home).deliver(self.world)?.due.contains(session));
        }
        // What waited was said before; while it waits, so does this.
        if !self.world.deliver_waiting() && !self.is_excluded(session) {
            self.heard.put_behind(session.clone(), said.to_vec(), &self.world.now());
            return Ok(false);
        }
        // One turn that cannot be kept whole must not keep the others out, now and with every event to come.
        let mut said = said.to_vec();
        let cut = said.iter_mut().map(Said::fit).filter(|is_cut| *is_cut).count();
        if cut > 0 {
            tracing::warn!(%session, turns = cut, "turns were over the limit or held NUL characters, and are kept in part");
        }
        for said in &mut said {
            said.at = said.at.map(|at| self.world.corrected(at));
        }
        Ok(self.world.engine.sessions().observe_at(session, self.heard.dir(), &said)?.due.is_some())
    }

    /// What was said and is not stored yet, and the client's own summary, where there is a new one. Where the client names no
    /// transcript, it is what the event itself says. One that is named and not there yet is read with a later event: what
    /// the event says has no name of its own, and would be kept twice.
    fn news(&self, event: Event, session: &SessionId) -> Result<(Vec<Said>, Option<Summary>), Failure> {
        let Some(path) = self.heard.transcript_path() else {
            let prompt = self.heard.said(Role::User, self.input.prompt.as_ref());
            return Ok(([prompt, self.heard.said(Role::Assistant, self.input.reply.as_ref())].concat(), None));
        };
        let mut read = self.read(&path, session)?;
        let mut waited = Duration::ZERO;
        while event == Event::Stop && self.is_late(&read) && waited < LATE {
            tracing::debug!(%session, "the reply is not in the transcript yet");
            std::thread::sleep(PAUSE);
            waited += PAUSE;
            read = self.read(&path, session)?;
        }
        let Read { news, .. } = read;
        let said = |spoken: Spoken| Said {
            id: Some(spoken.id),
            role: spoken.role,
            speaker: None,
            content: spoken.text,
            at: spoken.at,
        };
        Ok((news.said.into_iter().map(said).collect(), news.summary))
    }

    /// What is new in a transcript; nothing where it cannot be opened.
    fn read(&self, path: &Path, session: &SessionId) -> Result<Read, Failure> {
        let Some((file, length)) = self.heard.open(path) else { return Ok(Read::default()) };
        let stored = self.world.engine.sessions().latest_turns(session)?;
        let reply = self.input.reply.as_deref().and_then(|reply| transcripts::own_words(Role::Assistant, reply));
        let has_reply = Cell::new(false);
        let is_stored = |spoken: &Spoken| {
            if spoken.role == Role::Assistant && reply.as_ref() == Some(&spoken.text) {
                has_reply.set(true);
            }
            stored.contains(&TurnId::of_host(session, &spoken.id))
        };
        let own = self.input.session.as_deref().unwrap_or_default();
        let news = transcripts::read(self.input.client, own, file, length, &is_stored)
            .map_err(|error| Failure::io("read the transcript", &error))?;
        Ok(Read { news, has_reply: has_reply.get() })
    }

    /// Whether the reply that was just finished is not in the transcript yet: some clients write it a moment later.
    fn is_late(&self, read: &Read) -> bool {
        match self.input.client {
            Client::ClaudeCode => self.input.reply.is_some() && !read.has_reply,
            // It does not say which reply it was.
            Client::Copilot => read.news.said.last().is_none_or(|said| said.role != Role::Assistant),
            _ => false,
        }
    }
}

/// Memory for the start, fenced; none if there is none.
fn opening(own: &str) -> Option<String> {
    (!own.is_empty()).then(|| context::fenced(own))
}
