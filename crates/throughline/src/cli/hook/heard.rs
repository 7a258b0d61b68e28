//! What an event says by itself, before any memory is asked: words, a directory, a transcript.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use throughline_clients::Client;
use throughline_clients::connect::{self, Platform};
use throughline_clients::hooks::{Event, HookInput, Start};
use throughline_clients::transcripts::{self, Spoken};
use throughline_core::engine::{Said, Settings, StartSession};
use throughline_core::model::{Role, SessionId};

use crate::spool::{By, Spool};
use crate::world::{self, Home, Prepared};

/// Turns at the end of a transcript that wait for the server, at most.
const MOST_WAITING: usize = 2000;

/// One event, and where the memory is kept.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) input: &'a HookInput,
    pub(super) home: &'a Home,
}

impl Heard<'_> {
    /// The directory that the person works in.
    pub(super) fn dir(&self) -> Option<PathBuf> {
        Path::new(self.input.cwd.as_deref()?).canonicalize().ok()
    }

    /// Whether the person works in a directory that stays off the record.
    pub(super) fn is_excluded(&self, settings: &Settings) -> bool {
        self.dir().is_some_and(|dir| settings.exclude.covers_directory(&dir))
    }

    /// What the event itself says, if anything, by the client's name for the exchange.
    pub(super) fn said(&self, role: Role, text: Option<&String>) -> Vec<Said> {
        let Some(words) = text.and_then(|text| transcripts::own_words(role, text)) else { return Vec::new() };
        let id = self.input.turn.as_ref().map(|turn| format!("{turn}:{role}"));
        vec![Said { id, at: self.input.at, ..Said::now(role, words) }]
    }

    /// Where the client keeps what was said, as far as it says so or is known to.
    pub(super) fn transcript_path(&self) -> Option<PathBuf> {
        let copilot = world::client_dirs().ok().map(|dirs| connect::root(Client::Copilot, Platform::here(), &dirs));
        self.input.transcript_path(&copilot.unwrap_or_default())
    }

    /// A transcript and its length. Only a plain file that may be one: never a device or a pipe, and nothing of our own,
    /// where reading would take locks away from the database.
    pub(super) fn open(&self, path: &Path) -> Option<(File, u64)> {
        let path = path.canonicalize().ok()?;
        let is_named_so = path.extension().is_some_and(|end| end == "jsonl" || end == "json");
        let is_ours = self.home.data.canonicalize().is_ok_and(|own| path.starts_with(own));
        let found = path.metadata().ok().filter(|found| found.is_file() && is_named_so && !is_ours)?;
        Some((File::open(path).ok()?, found.len()))
    }

    /// What the words of an event are, where the client keeps no transcript.
    fn own(&self, event: Event) -> Vec<Said> {
        let reply = if event == Event::Prompt { None } else { self.input.reply.as_ref() };
        [self.said(Role::User, self.input.prompt.as_ref()), self.said(Role::Assistant, reply)].concat()
    }

    /// The end of a transcript. What of it is stored is not known: names tell later.
    fn tail(&self, path: &Path) -> Vec<Said> {
        let own = self.input.session.as_deref().unwrap_or_default();
        let read = |is_known: &dyn Fn(&Spoken) -> bool| {
            let (file, length) = self.open(path)?;
            transcripts::read(self.input.client, own, file, length, is_known).ok()
        };
        let ids = RefCell::new(Vec::new());
        let note = |spoken: &Spoken| {
            ids.borrow_mut().push(spoken.id.clone());
            true
        };
        if read(&note).is_none() {
            return Vec::new();
        }
        let ids = ids.into_inner();
        let last: HashSet<&String> = ids.iter().rev().take(MOST_WAITING).collect();
        let said = |spoken: Spoken| {
            let Spoken { id, role, text, at } = spoken;
            Said { id: Some(id), role, speaker: None, content: text, at }
        };
        let news = read(&|spoken: &Spoken| !last.contains(&spoken.id)).unwrap_or_default();
        news.said.into_iter().map(said).collect()
    }

    /// Whether an event brings turns.
    fn brings_turns(&self, event: Event) -> bool {
        match event {
            Event::SessionStart => matches!(self.input.start, Start::Compact | Start::Resume),
            Event::PreCompact => !(self.input.client == Client::Gemini && self.input.compacts_by_itself),
            Event::Prompt | Event::Stop | Event::SessionEnd => true,
        }
    }

    /// Puts the words of an event aside before the server is asked anything: whatever happens there, they are not lost. Says
    /// whether it did. Where the client keeps a transcript, nothing needs to be put aside yet.
    pub(super) fn put_aside(&self, event: Event, prepared: &Prepared, settings: &Settings) -> bool {
        self.transcript_path().is_none() && self.put(event, prepared, settings, self.own(event))
    }

    /// The server cannot be reached: what the transcript says waits for it.
    pub(super) fn put_transcript_aside(&self, event: Event, prepared: &Prepared, settings: &Settings) {
        if let Some(path) = self.transcript_path().filter(|_| event != Event::Prompt) {
            self.put(event, prepared, settings, self.tail(&path));
        }
    }

    fn put(&self, event: Event, prepared: &Prepared, settings: &Settings, said: Vec<Said>) -> bool {
        let Some(session) = self.input.session_id().filter(|_| self.brings_turns(event) && settings.enabled) else {
            return false;
        };
        let is_excluded = self.is_excluded(settings) || settings.exclude.covers_channel(&session);
        !is_excluded && self.put_behind(session, said, &prepared.now())
    }

    /// Puts turns behind what waits already. Says whether they wait.
    pub(super) fn put_behind(&self, session: SessionId, mut said: Vec<Said>, now: &Zoned) -> bool {
        let spool = Spool::of(self.home);
        let waiting = spool.waiting(&session);
        said.retain(|said| said.id.as_ref().is_none_or(|id| !waiting.contains(id)));
        for said in &mut said {
            said.fit();
        }
        if said.is_empty() {
            return false;
        }
        let start = StartSession { dir: self.dir(), ..StartSession::new(session) };
        match spool.put(By::Hook, &start, &said, now) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "what was said cannot wait for the server");
                false
            }
        }
    }
}
