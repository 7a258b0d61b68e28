//! Channels: where a person talks to the model from elsewhere, with this memory.
//!
//! Goes in: messages from a chat service. Comes out: what the model, or a command, answers. Never happens: an answer to a chat
//! that the person did not name, a message that is stored twice, or a secret of a channel in a log.
//!
//! A channel turns what its service sends into an [`Incoming`], hands it to the [`Desk`], and shows what comes back. What a
//! message means, which conversation it belongs to and whether it was answered before is decided behind [`ChannelHost`], for
//! every channel alike. A channel that listens by itself implements [`Channel`]; one that shows replies while they grow
//! implements [`stream::Display`] and has pacing, splitting and retries from there.

mod board;
mod stream;
mod telegram;
pub(crate) mod webhook;

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio_util::sync::CancellationToken;

use crate::http::App;
use crate::http::chat::ChatEvent;
use crate::problem::Problem;

pub(crate) use board::{Board, ChannelState};
use telegram::Telegram;

/// What channels ask of the program that runs the daemon. Every method may block.
pub trait ChannelHost: Send + Sync + 'static {
    /// Which channels are set up, and how.
    fn channels(&self) -> ChannelSettings;

    /// Answers a message, as a command or with the model's reply, and passes on what happens, `Done` or `Failed` last.
    /// A message whose id was heard before is stored once, and a reply that is stored is given again without the model.
    /// `tell` answers whether to go on.
    fn hear(&self, said: &Incoming, tell: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem>;

    /// What a channel last noted about itself.
    fn channel_marks(&self, channel: &str) -> Result<Option<String>, Problem>;

    /// Notes it, whole or not at all; durable when it returns.
    fn keep_channel_marks(&self, channel: &str, marks: &str) -> Result<(), Problem>;
}

/// Which channels are set up, and how.
#[derive(Debug, Clone, Default)]
pub struct ChannelSettings {
    /// Telegram, where a token is named.
    pub telegram: Option<TelegramSettings>,
    /// Messages from other programs.
    pub webhook: WebhookSettings,
}

/// The bot, and whom it answers.
#[derive(Debug, Clone)]
pub struct TelegramSettings {
    /// The bot's token; none if the variable that should hold it is not set.
    pub token: Option<ChannelSecret>,
    /// The variable that should hold it.
    pub token_env: String,
    /// The chats that are answered.
    pub allow: Vec<i64>,
    /// Whether group chats may be among them.
    pub groups: bool,
    /// Where the Bot API is, if not at its usual address.
    pub base_url: Option<String>,
}

/// Which names take messages from other programs.
#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    /// The names; each is a channel.
    pub names: Vec<String>,
    /// What signatures are made with, where they are taken.
    pub secret: Option<ChannelSecret>,
}

/// A secret of a channel. It is never shown.
#[derive(Clone)]
pub struct ChannelSecret(String);

impl ChannelSecret {
    /// The secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ChannelSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChannelSecret(***)")
    }
}

/// Who wrote a message, as far as its channel can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The person whose memory this is.
    Person,
    /// Somebody else, whatever they call themselves.
    Other,
    /// The channel cannot tell: a program sent it.
    Unknown,
}

/// A message that arrived on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// The channel: `telegram`.
    pub channel: String,
    /// The channel's own name for the conversation: the id of a chat.
    pub conversation: String,
    /// The channel's own name for the message, where it has one: heard twice, it is stored and answered once.
    pub id: Option<String>,
    /// The words.
    pub text: String,
    /// Who wrote them.
    pub by: Author,
    /// Who said it, where several people talk or the words are somebody else's.
    pub speaker: Option<String>,
    /// The name of the person whose memory this is among the speakers, where it is known.
    pub person: Option<String>,
}

/// A channel that listens by itself for as long as the daemon runs.
trait Channel: Send + Sync + 'static {
    /// Listens until the desk is closed, or until there is no point in it; says so on the board.
    fn listen(self: Arc<Self>, desk: Desk) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What a channel has at hand.
#[derive(Clone)]
struct Desk {
    app: Arc<App>,
    name: &'static str,
}

impl Desk {
    /// Has a message answered; what happens comes as events, `Done` or `Failed` last. `enough` stops the reply.
    async fn hear(&self, said: Incoming, enough: CancellationToken) -> UnboundedReceiver<ChatEvent> {
        match Arc::clone(&self.app.chats).acquire_owned().await {
            Ok(place) => hear(&self.app, place, said, enough),
            // The daemon stops.
            Err(_) => mpsc::unbounded_channel().1,
        }
    }

    /// Done when the daemon stops.
    fn stop(&self) -> &CancellationToken {
        &self.app.stop
    }

    /// Says how the channel is, for whoever asks how everything is.
    fn say(&self, state: ChannelState) {
        self.app.channels.say(self.name, state);
    }

    async fn marks(&self) -> Result<Option<String>, Problem> {
        let name = self.name;
        self.app.host(move |host| host.channel_marks(name)).await
    }

    async fn keep_marks(&self, marks: String) -> Result<(), Problem> {
        let name = self.name;
        self.app.host(move |host| host.keep_channel_marks(name, &marks)).await
    }
}

/// Has a message answered on a thread that may block. `place` is held until the reply has ended, `enough` stops it.
fn hear(
    app: &App,
    place: OwnedSemaphorePermit,
    said: Incoming,
    enough: CancellationToken,
) -> UnboundedReceiver<ChatEvent> {
    // A model streams from within a runtime of its own, where nothing may block; what waits is bounded by its reply.
    let (sender, receiver) = mpsc::unbounded_channel();
    let (host, stop) = (Arc::clone(&app.host), app.stop.clone());
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut tell = |event| sender.send(event).is_ok() && !stop.is_cancelled() && !enough.is_cancelled();
        if let Err(problem) = host.hear(&said, &mut tell) {
            tell(ChatEvent::Failed(problem));
        }
    });
    receiver
}

/// Listens on every channel that is set up, until the daemon stops.
pub(crate) async fn run(app: Arc<App>) {
    let settings = app.channel_settings.clone();
    let listening = settings.telegram.map(|telegram| {
        let desk = Desk { app: Arc::clone(&app), name: telegram::NAME };
        Arc::new(Telegram::new(telegram)).listen(desk)
    });
    futures_util::future::join_all(listening).await;
}
