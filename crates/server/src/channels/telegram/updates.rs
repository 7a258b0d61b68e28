//! What an update means. Pure: JSON as the Bot API sends it goes in, what to do comes out.

use serde::Deserialize;
use serde_json::Value;

use super::api::Me;
use crate::channels::{Author, Incoming, TelegramSettings};

/// As much of a name as is kept, in characters.
const MAX_NAME: usize = 60;

/// Kinds of messages that hold something for the bot that is not text.
const MEDIA: [&str; 16] = [
    "voice",
    "audio",
    "photo",
    "video",
    "video_note",
    "document",
    "sticker",
    "animation",
    "contact",
    "location",
    "venue",
    "poll",
    "dice",
    "story",
    "game",
    "paid_media",
];

/// What is done with an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A message of a chat that is answered.
    Said {
        said: Incoming,
        /// In a group, the message that the reply refers to.
        reply_to: Option<i64>,
    },
    /// The person wants the reply to end.
    Stop,
    /// A chat that is answered sent something that is not text.
    NotText,
    /// A private chat that is not on the list.
    Stranger,
    /// Nothing.
    Ignored,
}

/// An update, and the chat that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Update {
    pub(super) id: i64,
    pub(super) chat: i64,
    pub(super) is_group: bool,
    pub(super) meaning: Meaning,
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
    chat: Chat,
    from: Option<User>,
    text: Option<String>,
    forward_origin: Option<Origin>,
    reply_to_message: Option<Box<Message>>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    #[serde(default)]
    last_name: String,
}

/// Where a forwarded message comes from: one of these, by its kind.
#[derive(Deserialize)]
struct Origin {
    sender_user: Option<User>,
    sender_user_name: Option<String>,
    sender_chat: Option<Titled>,
    chat: Option<Titled>,
}

#[derive(Deserialize)]
struct Titled {
    #[serde(default)]
    title: String,
}

/// Reads an update; none if it has not even an id. One that cannot be understood is ignored.
pub(super) fn read(update: &Value, me: &Me, settings: &TelegramSettings) -> Option<Update> {
    let id = update["update_id"].as_i64()?;
    let Ok(message) = Message::deserialize(&update["message"]) else {
        return Some(Update { id, chat: 0, is_group: false, meaning: Meaning::Ignored });
    };
    let is_group = matches!(message.chat.kind.as_str(), "group" | "supergroup");
    let chat = message.chat.id;
    Some(Update { id, chat, is_group, meaning: meaning(message, me, settings, is_group) })
}

fn meaning(message: Message, me: &Me, settings: &TelegramSettings, is_group: bool) -> Meaning {
    let is_private = message.chat.kind == "private";
    let Some(from) = &message.from else { return Meaning::Ignored };
    if from.is_bot || !(is_private || is_group && settings.groups) {
        return Meaning::Ignored;
    }
    if !settings.allow.contains(&message.chat.id) {
        return if is_private { Meaning::Stranger } else { Meaning::Ignored };
    }
    let Some(text) = message.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        let has_media = MEDIA.iter().any(|kind| message.rest.contains_key(*kind));
        return if has_media && is_private { Meaning::NotText } else { Meaning::Ignored };
    };
    let Some(text) = for_me(text, &message, me, is_group) else { return Meaning::Ignored };
    match text.as_str() {
        "/stop" => Meaning::Stop,
        _ => Meaning::Said {
            reply_to: is_group.then_some(message.message_id),
            said: incoming(&message, text, settings, is_group),
        },
    }
}

fn incoming(message: &Message, text: String, settings: &TelegramSettings, is_group: bool) -> Incoming {
    let author = message.from.as_ref();
    let name = author.and_then(User::name);
    // A private chat has the id of its person.
    let is_person = !is_group || author.is_some_and(|author| settings.allow.contains(&author.id));
    let forwarded = message.forward_origin.as_ref().map(Origin::name);
    let by = if is_person && forwarded.is_none() { Author::Person } else { Author::Other };
    Incoming {
        channel: super::NAME.to_owned(),
        conversation: message.chat.id.to_string(),
        id: Some(message.message_id.to_string()),
        text,
        by,
        speaker: forwarded.or_else(|| name.clone().filter(|_| is_group)),
        person: name.filter(|_| is_person),
    }
}

/// The text without the bot's name; none if it is not meant for the bot.
fn for_me(text: &str, message: &Message, me: &Me, is_group: bool) -> Option<String> {
    let mention = format!("@{}", me.username);
    if text.starts_with('/') {
        let (command, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (name, to) = command.split_once('@').map_or((command, None), |(name, to)| (name, Some(to)));
        let is_mine = to.is_none_or(|to| to.eq_ignore_ascii_case(&me.username));
        // What Telegram sends when somebody opens the bot.
        let name = if name == "/start" { "/help" } else { name };
        return is_mine.then(|| format!("{name} {rest}").trim_end().to_owned());
    }
    if !is_group {
        return Some(text.to_owned());
    }
    let replied = message.reply_to_message.as_ref().and_then(|message| message.from.as_ref());
    let is_reply = replied.is_some_and(|author| author.id == me.id);
    let at = position(text, &mention).filter(|_| !me.username.is_empty());
    match at {
        Some(at) => {
            let (before, after) =
                (text[..at].trim_end(), text[at + mention.len()..].trim_start_matches([',', ':', ' ']));
            let rest = format!("{before} {after}").trim().to_owned();
            Some(if rest.is_empty() { text.to_owned() } else { rest })
        }
        None => is_reply.then(|| text.to_owned()),
    }
}

/// Where a mention stands, in any case, and not as the beginning of a longer name.
fn position(text: &str, mention: &str) -> Option<usize> {
    let (lower, mention) = (text.to_ascii_lowercase(), mention.to_ascii_lowercase());
    let ends = |at: usize| {
        let after = lower[at + mention.len()..].chars().next();
        after.is_none_or(|after| !after.is_ascii_alphanumeric() && after != '_')
    };
    lower.match_indices(&mention).map(|(at, _)| at).find(|at| ends(*at))
}

impl User {
    fn name(&self) -> Option<String> {
        shown(&format!("{} {}", self.first_name, self.last_name))
    }
}

impl Origin {
    /// Whose words they are; somebody's in any case.
    fn name(&self) -> String {
        let chat = self.sender_chat.as_ref().or(self.chat.as_ref());
        let name = self.sender_user.as_ref().and_then(User::name);
        let name = name.or_else(|| shown(self.sender_user_name.as_deref()?)).or_else(|| shown(&chat?.title));
        name.unwrap_or_else(|| "somebody else".to_owned())
    }
}

/// A name in one line; none if nothing is left of it.
fn shown(name: &str) -> Option<String> {
    let visible: String = name.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let short: String = visible.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_NAME).collect();
    (!short.is_empty()).then_some(short)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings() -> TelegramSettings {
        TelegramSettings { token: None, token_env: String::new(), allow: vec![7, -100], groups: true, base_url: None }
    }

    fn read_message(more: Value, settings: &TelegramSettings) -> Update {
        let mut message = json!({"message_id": 5, "date": 1, "chat": {"id": 7, "type": "private"},
            "from": {"id": 7, "is_bot": false, "first_name": "Ada", "last_name": "L."}});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let me = Me { id: 99, username: "memo_bot".to_owned() };
        read(&json!({"update_id": 3, "message": message}), &me, settings).unwrap()
    }

    fn said(more: Value) -> Option<Incoming> {
        match read_message(more, &settings()).meaning {
            Meaning::Said { said, .. } => Some(said),
            _ => None,
        }
    }

    #[test]
    fn a_message_belongs_to_its_chat_and_its_person() {
        let expected = Incoming {
            channel: "telegram".to_owned(),
            conversation: "7".to_owned(),
            id: Some("5".to_owned()),
            text: "hello".to_owned(),
            by: Author::Person,
            speaker: None,
            person: Some("Ada L.".to_owned()),
        };
        assert_eq!(said(json!({"text": " hello\n"})), Some(expected));
        let forwarded = |origin: Value| {
            let said = said(json!({"text": "x", "forward_origin": origin})).unwrap();
            assert_eq!(said.by, Author::Other);
            said.speaker.unwrap()
        };
        assert_eq!(forwarded(json!({"type": "user", "sender_user": {"id": 1, "first_name": "Bob"}})), "Bob");
        assert_eq!(forwarded(json!({"type": "hidden_user", "sender_user_name": "Bo\u{7}b"})), "Bo b");
        assert_eq!(forwarded(json!({"type": "channel", "chat": {"id": 1, "title": "News"}})), "News");
        assert_eq!(forwarded(json!({"type": "new kind"})), "somebody else");
    }

    #[test]
    fn commands_lose_the_name_of_the_bot_and_those_of_others_are_ignored() {
        let text = |text: &str| said(json!({"text": text})).map(|said| said.text);
        assert_eq!(text("/memory@Memo_Bot tea time").as_deref(), Some("/memory tea time"));
        assert_eq!(text("/start").as_deref(), Some("/help"));
        assert_eq!(text("/new@other_bot"), None);
        assert_eq!(read_message(json!({"text": "/stop"}), &settings()).meaning, Meaning::Stop);
    }

    #[test]
    fn only_text_of_chats_on_the_list_is_read() {
        let meaning = |more: Value| read_message(more, &settings()).meaning;
        assert_eq!(meaning(json!({"voice": {"file_id": "x"}})), Meaning::NotText);
        assert_eq!(meaning(json!({"photo": [], "caption": "look"})), Meaning::NotText);
        assert_eq!(meaning(json!({"pinned_message": {}})), Meaning::Ignored);
        assert_eq!(meaning(json!({"text": " "})), Meaning::Ignored);
        let chat = |id: i64, kind: &str| json!({"text": "hi", "chat": {"id": id, "type": kind}});
        assert_eq!(meaning(chat(8, "private")), Meaning::Stranger);
        assert_eq!(meaning(chat(-5, "group")), Meaning::Ignored);
        assert_eq!(meaning(chat(7, "channel")), Meaning::Ignored);
        let bot = json!({"text": "hi", "from": {"id": 7, "is_bot": true, "first_name": "R2"}});
        assert_eq!(meaning(bot), Meaning::Ignored);
        let me = Me { id: 99, username: "memo_bot".to_owned() };
        let strange = read(&json!({"update_id": 4, "edited_message": {}}), &me, &settings()).unwrap();
        assert_eq!((strange.id, strange.meaning), (4, Meaning::Ignored));
        assert_eq!(read(&json!({}), &me, &settings()), None);
    }

    #[test]
    fn in_a_group_only_what_is_meant_for_the_bot_is_heard_and_only_if_groups_are_on() {
        let in_group = |more: Value| {
            let mut message = json!({"chat": {"id": -100, "type": "supergroup"}});
            message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            message
        };
        let heard = |more: Value| said(in_group(more));
        assert_eq!(heard(json!({"text": "lunch?"})), None);
        assert_eq!(heard(json!({"text": "@memo_bot2 hi"})), None);
        let asked = heard(json!({"text": "Hey @Memo_bot, when do we deploy?"})).unwrap();
        assert_eq!((asked.text.as_str(), asked.speaker.as_deref()), ("Hey when do we deploy?", Some("Ada L.")));
        let to_bot =
            json!({"message_id": 1, "chat": {"id": -100, "type": "supergroup"}, "from": {"id": 99, "is_bot": true}});
        let other = json!({"id": 8, "first_name": "Bob"});
        let reply = heard(json!({"text": "and then?", "reply_to_message": to_bot, "from": other})).unwrap();
        assert_eq!((reply.by, reply.speaker.as_deref(), reply.person.as_deref()), (Author::Other, Some("Bob"), None));
        let off = TelegramSettings { groups: false, ..settings() };
        assert_eq!(read_message(in_group(json!({"text": "@memo_bot hi"})), &off).meaning, Meaning::Ignored);
        assert_eq!(read_message(in_group(json!({"voice": {}})), &settings()).meaning, Meaning::Ignored);
    }
}
