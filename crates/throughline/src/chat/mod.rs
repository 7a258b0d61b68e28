//! A conversation with a model that has this memory: the same in the terminal, in the panel and on channels.
//!
//! Goes in: what the person says. Comes out: what happens, as it happens, and how it ended. Never happens: that a model
//! which fails costs anything that was said.

pub(crate) mod commands;
mod rounds;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use throughline_core::context::{Context, Part, joined_prompts};
use throughline_core::engine::{Engine, EngineError, Said, SentMessage, StartSession, Visibility};
use throughline_core::model::{Actor, Role, SessionId, Source, Turn, TurnId};
use throughline_core::ports::{Message, Model, ModelError, ToolSpec};
use throughline_core::text::tokens;

use crate::background;
use crate::world::{World, configured_path};
use rounds::Asked;

/// Room that is left for the reply; a quarter of a window that is smaller than four times as much.
const REPLY_TOKENS: usize = 4000;

/// As many turns as may stand between a message and its reply: calls of tools, and other people's words.
const MOST_BEHIND: usize = 200;

/// What happens while a model answers.
pub(crate) enum Happening<'a> {
    /// These memories were put in front of the message.
    Injected(&'a [Part]),
    /// So many older turns did not fit.
    LeftOut(usize),
    /// More of the reply; nothing at all now and then, to hear whether to go on.
    Piece(&'a str),
    /// The model has nothing more to say for now.
    Paused,
    /// A tool was called, and this came of it.
    Tool {
        /// Its name.
        name: &'a str,
        /// What came of it.
        summary: &'a str,
    },
}

/// Is told what happens, and answers whether to go on.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(Happening<'_>) -> bool;

/// How an exchange ended.
pub(crate) enum Ended {
    /// With words; nothing, where the model had none.
    Said(String),
    /// The model called and called.
    TooManyRounds,
    /// Without an answer.
    Failed(ModelError),
}

/// Something that a person says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spoken<'a> {
    pub(crate) text: &'a str,
    /// What the channel calls it, where it does: said twice, it is kept once.
    pub(crate) id: Option<&'a str>,
    /// Whose words they are, where they may be somebody else's.
    pub(crate) speaker: Option<&'a str>,
}

impl<'a> From<&'a str> for Spoken<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, id: None, speaker: None }
    }
}

/// What a conversation is about, as far as that is said.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// The name of the person among the speakers.
    pub(crate) person: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) task: Option<String>,
    /// The directory that it takes place in.
    pub(crate) dir: Option<PathBuf>,
}

/// Which conversation is meant.
pub(crate) enum Which {
    /// This one, which begins or goes on.
    Named(SessionId),
    /// A new one on this channel, named after the minute in which it begins.
    New(&'static str),
}

/// A conversation that is going on.
pub(crate) struct Conversation<'a> {
    world: &'a World,
    /// The memory, sized to what this model can see.
    engine: Engine,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) session: SessionId,
    /// What was said off the record, each with the kept turn that it followed: the model still sees it.
    unkept: RefCell<Vec<(Option<TurnId>, Message)>>,
}

impl<'a> Conversation<'a> {
    /// The session begins, or goes on, with what the model is told about its memory.
    pub(crate) fn open(
        world: &'a World,
        model: Arc<dyn Model>,
        which: Which,
        about: &About,
    ) -> Result<Self, EngineError> {
        let person = world.engine.acting(Actor::new(Source::User, "chat"));
        let engine = match model.context_window() {
            Some(window) => person.with_window(window),
            None => person,
        };
        let mut prompts = base_prompts(world);
        prompts.extend(engine.tools().guidance().map(|guidance| guidance.text));
        let system_prompt = (!prompts.is_empty()).then(|| joined_prompts(&prompts));
        let start = |id| {
            let About { project, task, dir, person } = about.clone();
            StartSession { system_prompt, project, task, dir, person, ..StartSession::new(id) }
        };
        let started = match which {
            Which::Named(id) => engine.sessions().start(&start(id)),
            Which::New(channel) => {
                let minute = world.now().strftime("%Y-%m-%d-%H%M").to_string();
                engine.sessions().start_new(&start(SessionId::on_channel(channel, &minute)?))
            }
        };
        Ok(Self { world, engine, model, session: started?.session, unkept: RefCell::default() })
    }

    /// One message and its reply. A model that fails costs the reply, and nothing that was said.
    pub(crate) fn exchange(&self, said: Spoken<'_>, tell: Tell<'_>) -> Result<Ended, EngineError> {
        // What is sent later is the raw turn: a memory that still matters must come again.
        let context = self.engine.context().give(&self.session, said.text, Visibility::Once)?;
        tell(Happening::Injected(&context.parts));
        let asked = self.asked(context, said, tell)?;
        let (id, speaker) = (said.id.map(str::to_owned), said.speaker.map(str::to_owned));
        self.keep(Said { id, speaker, ..Said::now(Role::User, said.text) })?;
        let ended = self.rounds(asked, tell)?;
        if let Ended::Said(reply) = &ended
            && !reply.trim().is_empty()
        {
            let id = said.id.map(reply_to);
            let observed = self.keep(Said { id, ..Said::now(Role::Assistant, reply.clone()) })?;
            if self.engine.sessions().is_long(&self.session)? {
                background::start_compaction(self.world, &self.session);
            } else if observed.due.is_some() {
                background::start(self.world, &self.session);
            }
        }
        Ok(ended)
    }

    /// What the model is asked: as much of the conversation as fits beside the rest.
    fn asked(&self, context: Context, said: Spoken<'_>, tell: Tell<'_>) -> Result<Asked, EngineError> {
        let tools = self.engine.tools().specs();
        let system = context.system_prompt;
        let enriched = context.message.unwrap_or_else(|| said.text.to_owned());
        let size =
            |tool: &ToolSpec| tokens::estimate(tool.description) + tokens::estimate(&tool.parameters.to_string());
        let fixed = tokens::estimate(&system) + tokens::estimate(&enriched) + tools.iter().map(size).sum::<usize>();
        let window = self.engine.settings().policy.context_window;
        let budget = window.saturating_sub(REPLY_TOKENS.min(window / 4)).saturating_sub(fixed);
        let (mut turns, left_out) = self.engine.sessions().window(&self.session, budget)?;
        // It was said before, and whoever answered it was interrupted: what came of that is no part of the conversation.
        let again = said.id.map(|id| TurnId::of_host(&self.session, id));
        if let Some(at) = again.and_then(|again| turns.iter().position(|turn| turn.id == again)) {
            turns.truncate(at);
        }
        if left_out > 0 {
            tell(Happening::LeftOut(left_out));
        }
        let mut messages = self.with_unkept(&turns);
        messages.push(Message::said(Role::User, enriched));
        Ok(Asked { system, messages, tools })
    }
}

/// The name of the reply to a message that its channel names.
fn reply_to(id: &str) -> String {
    format!("{id}:reply")
}

/// The reply to a message that its channel names, if it was said and answered in this session before: `Some(None)` is said
/// and not answered.
pub(crate) fn said_before(
    engine: &Engine,
    session: &SessionId,
    id: &str,
) -> Result<Option<Option<String>>, EngineError> {
    let said = TurnId::of_host(session, id);
    let Some(behind) = engine.sessions().behind(session, &said, MOST_BEHIND)? else { return Ok(None) };
    let reply = TurnId::of_host(session, &reply_to(id));
    Ok(Some(behind.into_iter().find(|turn| turn.id == reply).map(|turn| turn.content)))
}

/// The texts that the person's system prompt is made of. A file that cannot be read is left out, and said.
fn base_prompts(world: &World) -> Vec<String> {
    let read = |file: &String| {
        let path = configured_path(file, &world.home.config);
        std::fs::read_to_string(&path)
            .inspect_err(|error| tracing::warn!(%error, path = %path.display(), "a base prompt cannot be read"))
            .ok()
    };
    world.config.config.memory.base_prompt_files.iter().filter_map(read).collect()
}

impl Conversation<'_> {
    /// The kept turns with what was said off the record between them; what followed a turn that is gone comes first.
    fn with_unkept(&self, turns: &[Turn]) -> Vec<Message> {
        let unkept = self.unkept.borrow();
        let after = |turn: Option<&TurnId>| -> Vec<Message> {
            unkept.iter().filter(|(follows, _)| follows.as_ref() == turn).map(|(_, message)| message.clone()).collect()
        };
        let is_gone = |follows: &TurnId| turns.iter().all(|turn| turn.id != *follows);
        let gone = unkept.iter().filter(|(follows, _)| follows.as_ref().is_none_or(is_gone));
        let mut messages: Vec<Message> = gone.map(|(_, message)| message.clone()).collect();
        for turn in turns {
            messages.extend(message(turn));
            messages.extend(after(Some(&turn.id)));
        }
        messages
    }

    /// Keeps what was said off the record for as long as this conversation is open, and nowhere else.
    fn hold(&self, role: Role, content: String) -> Result<(), EngineError> {
        let follows = self.engine.sessions().last_turn(&self.session)?;
        self.unkept.borrow_mut().push((follows, Message::said(role, content)));
        Ok(())
    }
}

/// A turn as the model sees it; a summary says that it is one. Calls and their results are for the transcript alone:
/// without each other they are refused, and what came of them is in the replies.
fn message(turn: &Turn) -> Option<Message> {
    match turn.role {
        Role::Tool | Role::System => None,
        _ => {
            let sent = SentMessage::of(turn);
            Some(Message::said(sent.role, sent.content))
        }
    }
}
