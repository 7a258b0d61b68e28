//! A conversation with a model that has this memory: the same in the terminal and in the panel.
//!
//! Goes in: what the person says. Comes out: what happens, as it happens, and how it ended. Never happens: that a model
//! which fails costs anything that was said.

mod rounds;

use std::sync::Arc;

use throughline_core::context::{Context, Part};
use throughline_core::engine::{Engine, EngineError, StartSession, Visibility};
use throughline_core::model::{Actor, Role, SessionId, Source, Turn};
use throughline_core::ports::{Message, Model, ModelError, ToolSpec};
use throughline_core::text::tokens;

use crate::background;
use crate::world::World;
use rounds::Asked;

/// Room that is left for the reply; a quarter of a window that is smaller than four times as much.
const REPLY_TOKENS: usize = 4000;

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

/// A project and a task, where they are named.
pub(crate) type About = (Option<String>, Option<String>);

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
        let system_prompt = engine.tools().guidance().map(|guidance| guidance.text);
        let (project, task) = about.clone();
        let started = match which {
            Which::Named(id) => {
                engine.sessions().start(&StartSession { system_prompt, project, task, ..StartSession::new(id) })
            }
            Which::New(channel) => {
                let minute = world.now().strftime("%Y-%m-%d-%H%M").to_string();
                let id = SessionId::on_channel(channel, &minute)?;
                engine.sessions().start_new(&StartSession { system_prompt, project, task, ..StartSession::new(id) })
            }
        };
        Ok(Self { world, engine, model, session: started?.session })
    }

    /// One message and its reply. A model that fails costs the reply, and nothing that was said.
    pub(crate) fn exchange(&self, said: &str, tell: Tell<'_>) -> Result<Ended, EngineError> {
        // What is sent later is the raw turn: a memory that still matters must come again.
        let context = self.engine.context().give(&self.session, said, Visibility::Once)?;
        tell(Happening::Injected(&context.parts));
        let asked = self.asked(context, said, tell)?;
        self.observe(Role::User, said.to_owned())?;
        let ended = self.rounds(asked, tell)?;
        if let Ended::Said(reply) = &ended
            && !reply.trim().is_empty()
        {
            let observed = self.observe(Role::Assistant, reply.clone())?;
            if observed.due.is_some() {
                background::start(self.world, &self.session);
            }
        }
        Ok(ended)
    }

    /// What the model is asked: as much of the conversation as fits beside the rest.
    fn asked(&self, context: Context, said: &str, tell: Tell<'_>) -> Result<Asked, EngineError> {
        let tools = self.engine.tools().specs();
        let system = context.system_prompt;
        let enriched = context.message.unwrap_or_else(|| said.to_owned());
        let size =
            |tool: &ToolSpec| tokens::estimate(tool.description) + tokens::estimate(&tool.parameters.to_string());
        let fixed = tokens::estimate(&system) + tokens::estimate(&enriched) + tools.iter().map(size).sum::<usize>();
        let window = self.engine.settings().policy.context_window;
        let budget = window.saturating_sub(REPLY_TOKENS.min(window / 4)).saturating_sub(fixed);
        let (turns, left_out) = self.engine.sessions().window(&self.session, budget)?;
        if left_out > 0 {
            tell(Happening::LeftOut(left_out));
        }
        let mut messages: Vec<Message> = turns.iter().filter_map(message).collect();
        messages.push(Message::said(Role::User, enriched));
        Ok(Asked { system, messages, tools })
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
