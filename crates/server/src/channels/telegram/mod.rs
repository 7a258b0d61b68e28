//! Telegram, by long polling of the Bot API.
//!
//! Goes in: updates. Comes out: replies, in messages that are edited while they grow. Each update is handled once: the
//! messages of a chat one after the other, those of several chats side by side.

mod api;
mod chat;
mod ledger;
mod updates;

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::board::ChannelState;
use super::stream::{self, Shown};
use super::{Channel, Desk, TelegramSettings};
use crate::http::chat::ChatEvent;
use api::{Api, ApiError, Me};
use chat::TelegramChat;
use ledger::{Book, Ledger};
use updates::{Meaning, Update};

/// The channel.
pub(super) const NAME: &str = "telegram";

/// How long the Bot API waits for a message.
const WAIT: Duration = Duration::from_secs(50);

/// How often messages are looked for while a reply is under way: an update that is not done makes every poll return at once.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The longest rest after failures in a row.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What is said to a message that has no text.
const ONLY_TEXT: &str = "I can read text only: no voice messages, pictures or files.";

/// Telegram, as it is set up.
pub(super) struct Telegram {
    settings: TelegramSettings,
}

impl Telegram {
    pub(super) fn new(settings: TelegramSettings) -> Self {
        Self { settings }
    }
}

impl Channel for Telegram {
    fn listen(self: Arc<Self>, desk: Desk) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            desk.say(ChannelState::starting());
            match self.set_up(&desk) {
                Ok(api) => listen(api, self.settings.clone(), desk).await,
                Err(why) => desk.say(ChannelState::stopped(why)),
            }
        })
    }
}

impl Telegram {
    fn set_up(&self, desk: &Desk) -> Result<Api, String> {
        let variable = &self.settings.token_env;
        let token = self.settings.token.clone();
        let token =
            token.ok_or_else(|| format!("the variable {variable} is not set: put the token of the bot there"))?;
        tracing::debug!(channel = desk.name, "set up");
        Api::new(self.settings.base_url.as_deref(), token).map_err(|why| format!("{why} (see {variable})"))
    }
}

async fn listen(api: Api, settings: TelegramSettings, desk: Desk) {
    let token_env = settings.token_env.clone();
    let mut rests = Rests::new(&desk, &token_env);
    let me = loop {
        match api.me().await {
            Ok(me) => break me,
            Err(error) if rests.after(&error).await => {}
            Err(_) => return,
        }
    };
    let kept = desk.marks().await.unwrap_or_else(|problem| {
        tracing::warn!(problem = problem.message, "what was answered on Telegram cannot be read");
        None
    });
    let ledger = Ledger::new(desk.clone(), Book::of(me.id, kept.as_deref()));
    let bot = Arc::new(Bot { api, me, settings, desk: desk.clone(), ledger });
    let mut lines = Lines::default();
    // The first poll does not wait for a message: it is to show soon that the bot is heard.
    let mut pace = Pace::AtOnce;
    loop {
        let is_idle = lines.running.is_empty();
        if pace != Pace::AtOnce {
            pace = if is_idle { Pace::Waiting } else { Pace::Looking };
        }
        tokio::select! {
            () = desk.stop().cancelled() => break,
            Some(chat) = lines.running.join_next(), if !is_idle => lines.go_on(&bot, chat.unwrap_or_default()),
            updates = bot.updates(pace) => match updates {
                Ok((asked, updates)) => {
                    rests.reset();
                    pace = Pace::Waiting;
                    desk.say(ChannelState::listening(&bot.me.username));
                    bot.take_in(&updates, asked, &mut lines).await;
                }
                Err(error) => {
                    if !rests.after(&error).await {
                        break;
                    }
                    pace = Pace::AtOnce;
                }
            }
        }
    }
    // What is under way hears that the daemon stops, and is begun again the next time.
    while desk.stop().is_cancelled() && lines.running.join_next().await.is_some() {}
}

/// How long to rest after a failure; each in a row doubles it.
struct Rests<'d> {
    desk: &'d Desk,
    token_env: &'d str,
    failures: u32,
}

impl<'d> Rests<'d> {
    fn new(desk: &'d Desk, token_env: &'d str) -> Self {
        Self { desk, token_env, failures: 0 }
    }

    fn reset(&mut self) {
        self.failures = 0;
    }

    /// Says what is wrong and rests; whether to try again.
    async fn after(&mut self, error: &ApiError) -> bool {
        if error.is(401) || error.is(404) {
            let why = format!(
                "Telegram does not know the bot: put its token into {}, and start the daemon again",
                self.token_env
            );
            self.desk.say(ChannelState::stopped(format!("{error}. {why}")));
            return false;
        }
        let advice = match error.is(409) {
            true => ". Another program asks for the messages of this bot, or it has a webhook: only one can",
            false => "",
        };
        self.desk.say(ChannelState::waiting(format!("{error}{advice}")));
        let rest = rest(error, self.failures);
        self.failures = self.failures.saturating_add(1);
        tokio::select! { () = self.desk.stop().cancelled() => false, () = tokio::time::sleep(rest) => true }
    }
}

/// How long to rest: as long as the service asks for, else twice as long after each failure.
fn rest(error: &ApiError, failures: u32) -> Duration {
    match error {
        ApiError::Refused { retry_after: Some(seconds), .. } => Duration::from_secs((*seconds).max(1)),
        _ => Duration::from_secs(1).saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST_REST),
    }
}

/// How messages are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Without waiting for one: at the start, and after a failure.
    AtOnce,
    /// Waiting for one.
    Waiting,
    /// In a moment, without waiting: a reply is under way.
    Looking,
}

/// What waits in each chat, and what is under way.
#[derive(Default)]
struct Lines {
    chats: HashMap<i64, Line>,
    /// Each gives its chat when it ends.
    running: JoinSet<i64>,
}

#[derive(Default)]
struct Line {
    waiting: VecDeque<Update>,
    /// Ends the reply that is under way.
    enough: CancellationToken,
}

impl Lines {
    fn add(&mut self, bot: &Arc<Bot>, update: Update) {
        let chat = update.chat;
        let is_new = !self.chats.contains_key(&chat);
        self.chats.entry(chat).or_default().waiting.push_back(update);
        if is_new {
            self.go_on(bot, chat);
        }
    }

    /// Begins with the next update of a chat, where one waits.
    fn go_on(&mut self, bot: &Arc<Bot>, chat: i64) {
        let Some(update) = self.chats.get_mut(&chat).and_then(|line| line.waiting.pop_front()) else {
            self.chats.remove(&chat);
            return;
        };
        let enough = CancellationToken::new();
        if let Some(line) = self.chats.get_mut(&chat) {
            line.enough = enough.clone();
        }
        let bot = Arc::clone(bot);
        self.running.spawn(async move {
            let (id, handling) = (update.id, Arc::clone(&bot));
            // One that ends in a panic must not come again and again.
            if tokio::spawn(async move { handling.handle(update, enough).await }).await.is_err() {
                bot.ledger.finish(id).await;
            }
            chat
        });
    }
}

/// A bot that listens.
struct Bot {
    api: Api,
    me: Me,
    settings: TelegramSettings,
    desk: Desk,
    ledger: Ledger,
}

impl Bot {
    /// What is new, and from which update on that was asked for.
    async fn updates(&self, pace: Pace) -> Result<(Option<i64>, Vec<Value>), ApiError> {
        let wait = if pace == Pace::Waiting { WAIT } else { Duration::ZERO };
        if pace == Pace::Looking {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let offset = self.ledger.offset().await;
        Ok((offset, self.api.updates(offset, wait).await?))
    }

    /// Takes in what came when updates from `asked` on were asked for.
    async fn take_in(self: &Arc<Self>, updates: &[Value], asked: Option<i64>, lines: &mut Lines) {
        for update in updates.iter().filter_map(|update| updates::read(update, &self.me, &self.settings)) {
            if !self.ledger.take(update.id, asked).await {
                continue;
            }
            match update.meaning {
                Meaning::Ignored => self.ledger.pass(update.id).await,
                Meaning::Stop => {
                    if let Some(line) = lines.chats.get(&update.chat) {
                        line.enough.cancel();
                    }
                    self.ledger.finish(update.id).await;
                }
                _ => lines.add(self, update),
            }
        }
    }

    /// Answers an update. One that is interrupted stays undone.
    async fn handle(&self, update: Update, enough: CancellationToken) {
        let (id, chat) = (update.id, update.chat);
        let (events, reply_to) = match update.meaning {
            Meaning::Said { said, reply_to } => (self.desk.hear(said, enough).await, reply_to),
            Meaning::NotText => (only(ONLY_TEXT.to_owned()), None),
            Meaning::Stranger if self.ledger.refuse(chat).await => {
                tracing::info!(chat, "a chat that is not in `channels.telegram.allow` was told so");
                (only(refusal(chat)), None)
            }
            Meaning::Stranger | Meaning::Stop | Meaning::Ignored => return self.ledger.finish(id).await,
        };
        let mut display = TelegramChat {
            api: &self.api,
            ledger: &self.ledger,
            update: id,
            chat,
            is_group: update.is_group,
            reply_to,
            messages: self.ledger.drafts(id).await,
            failures: 0,
        };
        match stream::show(events, &mut display, self.desk.stop()).await {
            Shown::Later => return,
            Shown::Whole => {}
            Shown::Refused(why) => tracing::warn!(chat, why, "Telegram does not take a reply"),
        }
        self.ledger.finish(id).await;
    }
}

/// A reply that is known.
fn only(text: String) -> mpsc::UnboundedReceiver<ChatEvent> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let _ = sender.send(ChatEvent::Done(text));
    receiver
}

/// What somebody is told who is not on the list: the person themselves needs the id to put it there.
fn refusal(chat: i64) -> String {
    format!(
        "This bot is somebody's own assistant, and this chat is not on its list. If it is yours, add the chat's id to \
         `allow` under [channels.telegram] and start the daemon again: {chat}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_up_to_a_minute_and_follow_the_service() {
        let away = ApiError::Unreachable("x".to_owned());
        assert_eq!([0, 1, 2, 6, 40].map(|failures| rest(&away, failures).as_secs()), [1, 2, 4, 60, 60]);
        let busy = ApiError::Refused { code: 429, description: String::new(), retry_after: Some(90) };
        assert_eq!(rest(&busy, 0).as_secs(), 90);
    }
}
