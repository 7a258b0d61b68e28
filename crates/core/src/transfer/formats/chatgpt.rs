//! A ChatGPT data export: `conversations.json`, each conversation a tree of messages of which one branch is shown; custom
//! instructions and saved memories, which stand in hidden messages, or in `memories.json` and `user.json`.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::{Role, SessionId};
use crate::text::steps;

use super::about::About;
use super::{Found, FoundTurn, items, json};

#[derive(Deserialize)]
struct Conversation<'a> {
    #[serde(default)]
    conversation_id: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    create_time: Option<Value>,
    #[serde(default)]
    title: Option<Value>,
    #[serde(default)]
    current_node: Option<Value>,
    #[serde(borrow)]
    mapping: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct Node<'a> {
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default, borrow)]
    message: Option<&'a RawValue>,
}

/// The turns of every conversation, what the person told ChatGPT about themself, and what it was to remember.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    let mut about = About::default();
    for (at, raw) in json::list(text, &["conversations", "memories"], &mut found).into_iter().enumerate() {
        let place = format!("conversation {}", at + 1);
        match serde_json::from_str::<Conversation<'_>>(raw.get()) {
            Ok(conversation) => conversation.read(&place, &mut about, &mut found),
            Err(_) if about.read_item(raw.get()) => {}
            Err(_) => found.skip(&place, "is not a conversation"),
        }
    }
    about.tell(&mut found);
    found
}

impl<'a> Conversation<'a> {
    fn read(&self, place: &str, about: &mut About, found: &mut Found) {
        let id = self.conversation_id.as_ref().or(self.id.as_ref()).and_then(Value::as_str);
        let root = self.mapping.keys().next().map(String::as_str);
        let Some(session) = id.or(root).and_then(|id| items::session("chatgpt", id)) else {
            return found.skip(place, "is empty");
        };
        found.title(&session, self.title.as_ref().and_then(Value::as_str));
        let leaf = match self.current_node.as_ref().and_then(Value::as_str) {
            Some(leaf) if self.mapping.contains_key(leaf) => Some(leaf.to_owned()),
            _ => self.last_leaf(),
        };
        let branch = self.branch(leaf, place, found);
        let mut at = items::date(self.create_time.as_ref());
        for (name, raw) in branch.into_iter().rev() {
            let place = format!("{place}, message {name}");
            match message(raw) {
                Message::Said { role, content, said_at } => {
                    at = said_at.or(at);
                    found.turns.push(turn(&session, name, place, role, content, at));
                }
                Message::AboutPerson(message) => about.read_message(&message, at),
                Message::Hidden => found.skip(&place, items::HIDDEN),
                Message::Empty => found.skip(&place, "has no text"),
                Message::Broken => found.skip(&place, "is not a message"),
            }
        }
    }

    /// From the node that is shown last back to the first: each node's name and message.
    fn branch(&self, leaf: Option<String>, place: &str, found: &mut Found) -> Vec<(&str, &'a RawValue)> {
        let mut branch = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        let mut next = leaf;
        while let Some(name) = next {
            if !seen.insert(name.clone()) {
                found.skip(place, "goes in a circle, and is cut there");
                break;
            }
            let Some((name, raw)) = self.mapping.get_key_value(&name) else { break };
            let Ok(node) = serde_json::from_str::<Node<'a>>(raw.get()) else {
                found.skip(&format!("{place}, message {name}"), "is not a message");
                break;
            };
            branch.extend(node.message.map(|message| (name.as_str(), message)));
            next = node.parent;
        }
        branch
    }

    /// Where the latest branch ends, for exports that do not say which one is shown.
    fn last_leaf(&self) -> Option<String> {
        let node = |name: &str| serde_json::from_str::<Node<'a>>(self.mapping.get(name)?.get()).ok();
        let is_root = |name: &&String| node(name).is_some_and(|node| node.parent.is_none());
        let mut name = self.mapping.keys().find(is_root)?.clone();
        // A circle ends where it began: going round it again would read long lists of children over and over.
        let mut seen: HashSet<String> = HashSet::new();
        while seen.insert(name.clone()) {
            steps::count(self.mapping.get(&name).map_or(0, |raw| raw.get().len()));
            match node(&name).and_then(|node| node.children.into_iter().rfind(|child| self.mapping.contains_key(child)))
            {
                Some(child) => name = child,
                None => break,
            }
        }
        Some(name)
    }
}

fn turn(
    session: &SessionId,
    name: &str,
    place: String,
    role: Role,
    content: String,
    at: Option<Timestamp>,
) -> FoundTurn {
    FoundTurn { session: session.clone(), name: name.to_owned(), place, role, content, at }
}

enum Message {
    Said {
        role: Role,
        content: String,
        said_at: Option<Timestamp>,
    },
    /// Custom instructions, or something that ChatGPT was to remember.
    AboutPerson(Box<Value>),
    Hidden,
    Empty,
    Broken,
}

fn message(raw: &RawValue) -> Message {
    let Ok(message) = serde_json::from_str::<Value>(raw.get()) else { return Message::Broken };
    let Some(role) = message.pointer("/author/role").and_then(Value::as_str).and_then(items::role) else {
        return Message::Broken;
    };
    if About::is_in(&message) {
        return Message::AboutPerson(Box::new(message));
    }
    let kind = message.pointer("/content/content_type").and_then(Value::as_str).unwrap_or("text");
    let is_hidden = message.pointer("/metadata/is_visually_hidden_from_conversation") == Some(&Value::Bool(true));
    let to_a_tool = message.get("recipient").and_then(Value::as_str).is_some_and(|to| to != "all");
    let is_shown = matches!(role, Role::User | Role::Assistant) && matches!(kind, "text" | "multimodal_text" | "code");
    if is_hidden || to_a_tool || !is_shown {
        return Message::Hidden;
    }
    let content = message.get("content").and_then(|content| content.get("parts").or_else(|| content.get("text")));
    let content = content.map(|parts| items::words(&without_citations(parts))).unwrap_or_default();
    if content.is_empty() {
        return Message::Empty;
    }
    Message::Said { role, content, said_at: items::date(message.get("create_time")) }
}

/// Text without the marks that stand for citations: they begin and end with characters that nobody types.
fn without_citations(parts: &Value) -> Value {
    const OPEN: char = '\u{e200}';
    const CLOSE: char = '\u{e201}';
    match parts {
        Value::Array(parts) => Value::Array(parts.iter().map(without_citations).collect()),
        Value::String(text) if text.contains(OPEN) => {
            let mut pieces = text.split(OPEN);
            let first = pieces.next().unwrap_or_default().to_owned();
            let rest = pieces.map(|piece| piece.split_once(CLOSE).map_or(piece, |(_, after)| after));
            Value::String(rest.fold(first, |text, piece| text + piece))
        }
        other => other.clone(),
    }
}
