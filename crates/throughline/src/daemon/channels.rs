//! What channels ask of the program: the same conversation as in the terminal, on a channel that names its messages.

use throughline_core::engine::{EngineError, StartSession};
use throughline_core::model::{Person, SessionId};
use throughline_server::{
    Author, ChannelHost, ChannelSecret, ChannelSettings, ChatEvent, Code, Incoming, Problem, TelegramSettings,
    WebhookSettings,
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

/// What stands behind the name of somebody else who could be taken for the person.
const ANOTHER: &str = "(somebody else)";

/// The person's name in a conversation in which they have said nothing yet. Nobody else goes by it.
const THE_PERSON: &str = "the person";

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
            let answer = match said.by {
                Author::Other => "only the person whose memory this is gives commands here".to_owned(),
                Author::Person | Author::Unknown => self.command(said.text.trim(), &first, &current)?,
            };
            tell(ChatEvent::Done(answer));
            return Ok(());
        }
        let (session, reply) = self.before(said, &sessions)?.unwrap_or((current, None));
        if let Some(reply) = reply {
            tell(ChatEvent::Session(session));
            tell(ChatEvent::Done(reply));
            return Ok(());
        }
        let known = self.world.engine.sessions().find(&session)?.and_then(|state| state.session.person);
        let (speaker, person) = told_apart(said, known);
        let about = About { person, ..About::default() };
        let conversation = Conversation::open(&self.world, self.talking_model()?, Which::Named(session), &about)?;
        tell(ChatEvent::Session(conversation.session.clone()));
        let spoken = Spoken { text: &said.text, id: said.id.as_deref(), speaker: speaker.as_deref() };
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

/// The names of the speaker and of the person: nobody else can pass for the person, whatever they call themselves and whoever speaks
/// first. `known` is the person's name in this conversation so far.
fn told_apart(said: &Incoming, known: Option<String>) -> (Option<String>, Option<String>) {
    if said.by != Author::Other {
        return (said.speaker.clone(), said.person.clone());
    }
    let name = said.speaker.as_deref().unwrap_or("somebody");
    let person = said.person.clone().or(known).unwrap_or_else(|| THE_PERSON.to_owned());
    // While the person's own name is not known, any name could turn out to be theirs.
    let is_clear = person != THE_PERSON && !Person::named(&person).looks_like(name);
    let speaker = if is_clear { name.to_owned() } else { format!("{name} {ANOTHER}") };
    (Some(speaker), Some(person))
}

/// The first conversation of a chat. The chat's name cannot lead to another channel.
fn session_of(said: &Incoming) -> Result<SessionId, Problem> {
    let session = format!("{}:{}", said.channel, said.conversation).parse::<SessionId>()?;
    if session.channel() == said.channel {
        return Ok(session);
    }
    Err(Problem::new(Code::Invalid, format!("a channel cannot be called `{}`", said.channel), "a name has no colon"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(by: Author, speaker: Option<&str>, person: Option<&str>) -> Incoming {
        let own = |name: Option<&str>| name.map(str::to_owned);
        let (channel, conversation, text) = ("telegram".to_owned(), "-100".to_owned(), "hello".to_owned());
        Incoming { channel, conversation, id: None, text, by, speaker: own(speaker), person: own(person) }
    }

    #[test]
    fn nobody_else_passes_for_the_person() {
        let check = |said: &Incoming, known: Option<&str>, speaker: Option<&str>, person: Option<&str>| {
            let (given, expected) = (told_apart(said, known.map(str::to_owned)), (speaker, person));
            assert_eq!((given.0.as_deref(), given.1.as_deref()), expected, "{said:?} {known:?}");
        };
        let other = |name| said(Author::Other, Some(name), None);
        check(&other("Bob"), Some("Ada"), Some("Bob"), Some("Ada"));
        check(&other("ADA"), Some("Ada"), Some("ADA (somebody else)"), Some("Ada"));
        check(&other("\u{410}da"), Some("Ada"), Some("\u{410}da (somebody else)"), Some("Ada"));
        check(&other("Bob"), None, Some("Bob (somebody else)"), Some("the person"));
        check(&other("the person"), Some("the person"), Some("the person (somebody else)"), Some("the person"));
        let forwarded = said(Author::Other, Some("Ada"), Some("Ada"));
        check(&forwarded, None, Some("Ada (somebody else)"), Some("Ada"));
        check(&said(Author::Person, Some("Ada"), Some("Ada")), Some("the person"), Some("Ada"), Some("Ada"));
        check(&said(Author::Unknown, Some("Bob"), None), None, Some("Bob"), None);
    }
}
