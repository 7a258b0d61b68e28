//! What channels ask of the program: the same conversation as in the terminal, on a channel that names its messages.

use throughline_core::engine::{EngineError, StartSession};
use throughline_core::model::SessionId;
use throughline_server::{
    ChannelHost, ChannelSecret, ChannelSettings, ChatEvent, Code, Incoming, Problem, TelegramSettings, WebhookSettings,
};

use super::Household;
use super::talks::pass_on;
use crate::background;
use crate::chat::commands::{self, Next};
use crate::chat::{About, Conversation, Spoken, Which, said_before};
use crate::exports::write_private;
use crate::world::secret;

/// What there is on channels alone.
const HELP: &str = "/stop           stop a reply";

/// Is told what happens, and answers whether to go on.
type Tell<'a> = &'a mut dyn FnMut(ChatEvent) -> bool;

impl ChannelHost for Household {
    fn channels(&self) -> ChannelSettings {
        let channels = &self.world.config.config.channels;
        let kept = |variable: &str| secret(variable).map(|value| ChannelSecret::new(value.trim()));
        let telegram = channels.telegram.token_env.as_ref().map(|variable| TelegramSettings {
            token: kept(variable),
            token_env: variable.to_string(),
            allow: channels.telegram.allow.clone(),
            groups: channels.telegram.groups,
            base_url: channels.telegram.base_url.clone(),
        });
        let secret = channels.webhook.secret_env.as_deref().and_then(kept);
        ChannelSettings { telegram, webhook: WebhookSettings { names: channels.webhook.names.clone(), secret } }
    }

    fn hear(&self, said: &Incoming, tell: Tell<'_>) -> Result<(), Problem> {
        let first = session_of(said)?;
        let _turn = self.in_turn.enter(&first);
        let sessions = self.conversations(&first)?;
        let current = sessions.last().unwrap_or(&first).clone();
        if said.text.trim_start().starts_with('/') {
            tell(ChatEvent::Session(current.clone()));
            let answer = self.command(said.text.trim(), &first, &current)?;
            tell(ChatEvent::Done(answer));
            return Ok(());
        }
        let (session, reply) = self.before(said, &sessions)?.unwrap_or((current, None));
        if let Some(reply) = reply {
            tell(ChatEvent::Session(session));
            tell(ChatEvent::Done(reply));
            return Ok(());
        }
        let about = About { person: said.person.clone(), ..About::default() };
        let conversation = Conversation::open(&self.world, self.talking_model()?, Which::Named(session), &about)?;
        tell(ChatEvent::Session(conversation.session.clone()));
        let spoken = Spoken { text: &said.text, id: said.id.as_deref(), speaker: said.speaker.as_deref() };
        pass_on(&conversation, spoken, tell)
    }

    fn channel_marks(&self, channel: &str) -> Result<Option<String>, Problem> {
        match std::fs::read_to_string(self.world.home.channel(channel)) {
            Ok(marks) => Ok(Some(marks)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Problem::failed(&error, None)),
        }
    }

    fn keep_channel_marks(&self, channel: &str, marks: &str) -> Result<(), Problem> {
        write_private(&self.world.home.channel(channel), marks).map_err(|error| Problem::failed(&error, None))
    }
}

impl Household {
    /// The conversations that a chat had so far: `telegram:7`, then `telegram:7-2` and so on, one for each `/new`.
    fn conversations(&self, first: &SessionId) -> Result<Vec<SessionId>, EngineError> {
        let mut found = Vec::new();
        let mut next = first.clone();
        while self.world.engine.sessions().find(&next)?.is_some() {
            found.push(next);
            next = format!("{first}-{}", found.len() + 1).parse()?;
        }
        Ok(found)
    }

    /// Where a message was said before, and the reply to it, if it was.
    fn before(
        &self,
        said: &Incoming,
        sessions: &[SessionId],
    ) -> Result<Option<(SessionId, Option<String>)>, EngineError> {
        let Some(id) = &said.id else { return Ok(None) };
        for session in sessions.iter().rev() {
            if let Some(reply) = said_before(&self.world.engine, session, id)? {
                return Ok(Some((session.clone(), reply)));
            }
        }
        Ok(None)
    }

    /// What a command answers. Done twice, each leaves things as if it was done once.
    fn command(&self, line: &str, first: &SessionId, current: &SessionId) -> Result<String, Problem> {
        Ok(match commands::run(line, &self.world, current)? {
            Next::Shown(text) => console::strip_ansi_codes(&text).trim_end().to_owned(),
            Next::Help(help) => format!("{help}{HELP}"),
            Next::Say | Next::Quit => "there is no end to a conversation here; /new begins another".to_owned(),
            Next::New => self.begin_anew(first, current)?,
        })
    }

    fn begin_anew(&self, first: &SessionId, current: &SessionId) -> Result<String, EngineError> {
        if self.world.engine.sessions().last_turn(current)?.is_some() {
            background::start_end(&self.world, current);
            self.world.engine.sessions().start_new(&StartSession::new(first.clone()))?;
        }
        Ok("a new conversation; what was said before stays in memory".to_owned())
    }
}

/// The first conversation of a chat. The chat's name cannot lead to another channel.
fn session_of(said: &Incoming) -> Result<SessionId, Problem> {
    let session = format!("{}:{}", said.channel, said.conversation).parse::<SessionId>()?;
    if session.channel() == said.channel {
        return Ok(session);
    }
    Err(Problem::new(Code::Invalid, format!("a channel cannot be called `{}`", said.channel), "a name has no colon"))
}
