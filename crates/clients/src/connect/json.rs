//! JSON with comments and trailing commas, edited where it stands.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};

use super::places::{HookShape, ServerShape};
use super::{Ask, HOME, SERVER, SERVER_ARGS, Seen, State, Unfit, command};
use crate::Client;
use crate::hooks::Event;

/// The keys under which a client can be told of a server elsewhere, which is then the person's choice.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// Enters the server, or brings the program of the one that is there up to date.
pub(super) fn put_server(text: &str, key: &str, shape: ServerShape, ask: &Ask<'_>) -> Result<String, Unfit> {
    let root = parse(text)?;
    let servers = object_in(&top(&root)?, key, key)?;
    let Some(there) = servers.get(SERVER) else {
        servers.append(SERVER, written(server(shape, ask)));
        return Ok(root.to_string());
    };
    let at = format!("{key}.{SERVER}");
    let there = there.object_value().ok_or_else(|| wrong(&at, "an object"))?;
    if !ADDRESSES.iter().any(|address| there.get(address).is_some()) {
        for (name, value) in running(shape, ask.program) {
            set(&there, name, value);
        }
        if let Some(home) = ask.home {
            let name = environment(shape);
            set(&object_in(&there, name, &format!("{at}.{name}"))?, HOME, home.into());
        }
    }
    Ok(root.to_string())
}

/// What a server's environment is called.
fn environment(shape: ServerShape) -> &'static str {
    if shape == ServerShape::OpenCode { "environment" } else { "env" }
}

/// The members of a server's entry that say what runs.
fn running(shape: ServerShape, program: &str) -> Vec<(&'static str, Value)> {
    match shape {
        ServerShape::OpenCode => {
            let words: Vec<&str> = std::iter::once(program).chain(SERVER_ARGS).collect();
            vec![("command", words.into())]
        }
        _ => vec![("command", program.into()), ("args", SERVER_ARGS.as_slice().into())],
    }
}

/// A whole entry, in the order in which people write it.
fn server(shape: ServerShape, ask: &Ask<'_>) -> Vec<(&'static str, Value)> {
    let (first, last) = match shape {
        ServerShape::Plain => (None, None),
        ServerShape::Stdio => (Some(("type", "stdio".into())), None),
        ServerShape::OpenCode => (Some(("type", "local".into())), Some(("enabled", true.into()))),
        ServerShape::Copilot => (Some(("type", "local".into())), Some(("tools", vec!["*"].into()))),
        ServerShape::Zed if ask.home.is_none() => (None, Some(("env", json!({})))),
        ServerShape::Zed => (None, None),
    };
    let home = ask.home.map(|home| (environment(shape), json!({ HOME: home })));
    first.into_iter().chain(running(shape, ask.program)).chain(last).chain(home).collect()
}

/// Takes the server out.
pub(super) fn take_server(text: &str, key: &str, before: Option<&str>) -> Result<String, Unfit> {
    let root = parse(text)?;
    let top = top(&root)?;
    if let Some(servers) = top.get(key).and_then(|servers| servers.object_value()) {
        servers.get(SERVER).into_iter().for_each(CstObjectProp::remove);
        prune(&top, key, &value(before.unwrap_or_default()), &[key]);
    }
    Ok(root.to_string())
}

pub(super) fn find_server(text: &str, key: &str) -> Result<Seen, Unfit> {
    let all = checked(text)?;
    let Some(server) = all[key].get(SERVER) else { return Ok(Seen::default()) };
    let command = &server["command"];
    let program = command.as_str().or(command[0].as_str()).map(str::to_owned);
    let is_elsewhere = ADDRESSES.iter().any(|address| server.get(address).is_some());
    let state = if program.is_some() || is_elsewhere { State::Whole } else { State::Partly };
    let home = ["env", "environment"].iter().find_map(|name| server[name][HOME].as_str()).map(str::to_owned);
    Ok(Seen { state, programs: program.into_iter().collect(), home, ..Seen::default() })
}

/// What a client calls each event, and how many seconds it may take.
fn events(client: Client) -> &'static [(&'static str, Event, u32)] {
    match client {
        Client::Codex => &[
            ("SessionStart", Event::SessionStart, 5),
            ("UserPromptSubmit", Event::Prompt, 2),
            ("PreCompact", Event::PreCompact, 30),
            ("Stop", Event::Stop, 15),
            // More than that and Codex complains.
            ("SessionEnd", Event::SessionEnd, 3),
        ],
        Client::Cursor => &[
            ("sessionStart", Event::SessionStart, 5),
            ("beforeSubmitPrompt", Event::Prompt, 2),
            ("preCompact", Event::PreCompact, 30),
            ("stop", Event::Stop, 15),
            ("sessionEnd", Event::SessionEnd, 10),
        ],
        Client::Copilot => &[
            ("sessionStart", Event::SessionStart, 5),
            ("userPromptSubmitted", Event::Prompt, 2),
            ("preCompact", Event::PreCompact, 30),
            ("agentStop", Event::Stop, 15),
            ("sessionEnd", Event::SessionEnd, 10),
        ],
        Client::Gemini => &[
            ("SessionStart", Event::SessionStart, 5),
            ("BeforeAgent", Event::Prompt, 2),
            ("PreCompress", Event::PreCompact, 30),
            ("AfterAgent", Event::Stop, 15),
            ("SessionEnd", Event::SessionEnd, 10),
        ],
        _ => &[
            ("SessionStart", Event::SessionStart, 5),
            ("UserPromptSubmit", Event::Prompt, 2),
            ("PreCompact", Event::PreCompact, 30),
            ("Stop", Event::Stop, 15),
            ("SessionEnd", Event::SessionEnd, 10),
        ],
    }
}

/// Enters the hooks, or brings the commands of those that are there up to date.
pub(super) fn put_hooks(text: &str, shape: HookShape, client: Client, ask: &Ask<'_>) -> Result<String, Unfit> {
    let root = parse(text)?;
    let top = top(&root)?;
    if matches!(shape, HookShape::Flat | HookShape::Shell) && top.get("version").is_none() {
        top.insert(0, "version", CstInputValue::from(1_u32));
    }
    let hooks = object_in(&top, "hooks", "hooks")?;
    for (name, event, seconds) in events(client) {
        let at = format!("hooks.{name}");
        let list = hooks.array_value_or_create(name).ok_or_else(|| wrong(&at, "a list"))?;
        let handler = handler(shape, client, *event, *seconds, ask);
        match ours(&list, shape).first() {
            Some(there) => {
                let (name, command) = command_of(&handler);
                set(there, name, command.clone());
                // Twice would be twice in view, and twice the wait.
                keep_first(&list);
            }
            None if matches!(shape, HookShape::Grouped | HookShape::GroupedMillis) => {
                let group = vec![("hooks".to_owned(), CstInputValue::Array(vec![written(handler)]))];
                list.append(CstInputValue::Object(group));
            }
            None => {
                list.append(written(handler));
            }
        }
    }
    Ok(root.to_string())
}

/// One command of one event.
fn handler(shape: HookShape, client: Client, event: Event, seconds: u32, ask: &Ask<'_>) -> Vec<(&'static str, Value)> {
    let command = command::hook(ask.program, ask.platform, event, client);
    let kind = ("type", Value::from("command"));
    match shape {
        HookShape::Grouped => vec![kind, ("command", command.into()), ("timeout", seconds.into())],
        HookShape::GroupedMillis => vec![kind, ("command", command.into()), ("timeout", (seconds * 1000).into())],
        HookShape::Flat => vec![("command", command.into()), ("timeout", seconds.into())],
        HookShape::Shell => {
            let shell = match ask.platform {
                super::Platform::Windows => {
                    ("powershell", command::hook_in_powershell(ask.program, event, client).into())
                }
                _ => ("bash", command.into()),
            };
            vec![kind, shell, ("timeoutSec", seconds.into())]
        }
    }
}

/// The members of a handler that hold a command.
const COMMANDS: [&str; 3] = ["command", "bash", "powershell"];

fn command_of<'a>(handler: &'a [(&'static str, Value)]) -> (&'static str, &'a Value) {
    let found = handler.iter().find(|(name, _)| COMMANDS.contains(name));
    found.map_or(("command", &Value::Null), |(name, value)| (*name, value))
}

/// The program that a handler runs, if it is ours.
fn program_of(handler: &Value) -> Option<String> {
    COMMANDS.iter().find_map(|name| command::program_of(handler[name].as_str()?))
}

/// Our handlers among those of an event.
fn ours(list: &CstArray, shape: HookShape) -> Vec<CstObject> {
    let is_grouped = matches!(shape, HookShape::Grouped | HookShape::GroupedMillis);
    let handlers = list.elements().into_iter().flat_map(|element| match element.as_object() {
        Some(group) if is_grouped => group.array_value("hooks").map(|hooks| hooks.elements()).unwrap_or_default(),
        _ => vec![element],
    });
    handlers.filter(is_ours).filter_map(|handler| handler.as_object()).collect()
}

fn is_ours(handler: &CstNode) -> bool {
    handler.to_serde_value().is_some_and(|handler| program_of(&handler).is_some())
}

/// Takes all but the first of our handlers out of an event; a group goes with the last that was in it.
fn keep_first(list: &CstArray) {
    let mut is_first = true;
    for element in list.elements() {
        let inner = element.as_object().and_then(|group| group.array_value("hooks"));
        let handlers = inner.map_or_else(|| vec![element.clone()], |inner| inner.elements());
        let count = handlers.len();
        let again = handlers.into_iter().filter(is_ours).filter(|_| !std::mem::take(&mut is_first));
        let again: Vec<CstNode> = again.collect();
        if again.len() == count && count > 0 {
            element.remove();
        } else {
            again.into_iter().for_each(CstNode::remove);
        }
    }
}

/// Takes our hooks out of every event, also of those that an earlier version knew.
pub(super) fn take_hooks(text: &str, client: Client, before: Option<&str>) -> Result<String, Unfit> {
    let root = parse(text)?;
    let top = top(&root)?;
    let old = value(before.unwrap_or_default());
    let Some(hooks) = top.get("hooks").and_then(|hooks| hooks.object_value()) else { return Ok(text.to_owned()) };
    for event in hooks.properties() {
        let (Some(name), Some(list)) = (event.decoded_name(), event.array_value()) else { continue };
        let count = list.elements().len();
        for element in list.elements() {
            let inner = element.as_object().and_then(|group| group.array_value("hooks"));
            match inner {
                Some(inner) => take_group(element, &inner),
                None if is_ours(&element) => element.remove(),
                None => {}
            }
        }
        if list.elements().len() < count {
            prune(&hooks, &name, &old, &["hooks", &name]);
        }
    }
    prune(&top, "hooks", &old, &["hooks"]);
    let is_versioned = matches!(client, Client::Cursor | Client::Copilot);
    if is_versioned && old.get("version").is_none() && top.properties().len() == 1 {
        top.get("version").into_iter().for_each(CstObjectProp::remove);
    }
    Ok(root.to_string())
}

/// Takes our handlers out of a group; the group goes with the last of them.
fn take_group(group: CstNode, handlers: &CstArray) {
    let mine: Vec<CstNode> = handlers.elements().into_iter().filter(is_ours).collect();
    if mine.is_empty() {
        return;
    }
    if mine.len() == handlers.elements().len() {
        group.remove();
    } else {
        mine.into_iter().for_each(CstNode::remove);
    }
}

pub(super) fn find_hooks(text: &str, client: Client) -> Result<Seen, Unfit> {
    let all = checked(text)?;
    let handlers = |event: &str| -> Vec<String> {
        let elements = all["hooks"][event].as_array().into_iter().flatten();
        let inner = elements.flat_map(|element| match element["hooks"].as_array() {
            Some(inner) => inner.iter().collect(),
            None => vec![element],
        });
        inner.filter_map(program_of).collect()
    };
    let found: Vec<Vec<String>> = events(client).iter().map(|(event, ..)| handlers(event)).collect();
    let state = match found.iter().filter(|programs| !programs.is_empty()).count() {
        0 => State::Absent,
        n if n == found.len() => State::Whole,
        _ => State::Partly,
    };
    let hooks_are_off = all["disableAllHooks"] == true || all["hooksConfig"]["enabled"] == false;
    Ok(Seen { state, programs: found.into_iter().flatten().collect(), hooks_are_off, home: None })
}

/// Where our handlers stand among those of their events, as Codex says it: `session_start:0:0`.
pub(super) fn places(text: &str, client: Client) -> Vec<String> {
    let all = value(text);
    let mut places = Vec::new();
    for (name, ..) in events(client) {
        for (group, element) in all["hooks"][name].as_array().into_iter().flatten().enumerate() {
            for (at, handler) in element["hooks"].as_array().into_iter().flatten().enumerate() {
                if program_of(handler).is_some() {
                    places.push(format!("{}:{group}:{at}", snake_case(name)));
                }
            }
        }
    }
    places
}

/// Where they stand in a file that has no others.
pub(super) fn first_places(client: Client) -> Vec<String> {
    events(client).iter().map(|(name, ..)| format!("{}:0:0", snake_case(name))).collect()
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Whether nothing is left in a file.
pub(super) fn is_empty(text: &str) -> bool {
    parse(text).is_ok_and(|root| root.object_value().is_none_or(|top| is_bare(&top)))
}

/// Whether an object has no members, and no comments either.
fn is_bare(object: &CstObject) -> bool {
    object.properties().is_empty() && !object.children().iter().any(CstNode::is_comment)
}

/// Takes a member away that is empty now, unless it was there before we came.
fn prune(parent: &CstObject, name: &str, before: &Value, path: &[&str]) {
    if path.iter().try_fold(before, |value, key| value.get(key)).is_some() {
        return;
    }
    let Some(member) = parent.get(name) else { return };
    let is_empty = match member.value() {
        Some(CstNode::Container(container)) if container.is_object() || container.is_array() => {
            let inner = container.children_exclude_trivia_and_tokens();
            inner.is_empty() && !container.children().iter().any(CstNode::is_comment)
        }
        _ => false,
    };
    if is_empty {
        member.remove();
    }
}

/// Sets a member, unless it says so already.
fn set(object: &CstObject, name: &str, value: Value) {
    match object.get(name) {
        Some(member) if member.to_serde_value().as_ref() == Some(&value) => {}
        Some(member) => member.set_value(input(value)),
        None => {
            object.append(name, input(value));
        }
    }
}

fn written(members: Vec<(&'static str, Value)>) -> CstInputValue {
    CstInputValue::Object(members.into_iter().map(|(name, value)| (name.to_owned(), input(value))).collect())
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text),
        Value::Array(all) => CstInputValue::Array(all.into_iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.into_iter().map(|(name, value)| (name, input(value))).collect())
        }
    }
}

/// A member that is an object, made where it is missing.
fn object_in(parent: &CstObject, name: &str, at: &str) -> Result<CstObject, Unfit> {
    parent.object_value_or_create(name).ok_or_else(|| wrong(at, "an object"))
}

fn top(root: &CstRootNode) -> Result<CstObject, Unfit> {
    root.object_value_or_create().ok_or_else(|| wrong("the file", "an object"))
}

fn wrong(at: &str, expected: &'static str) -> Unfit {
    Unfit::Shape { at: at.to_owned(), expected }
}

/// What clients read: comments and trailing commas, and nothing else that JSON has not.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn parse(text: &str) -> Result<CstRootNode, Unfit> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| Unfit::Malformed {
        problem: error.kind().to_string().to_lowercase(),
        line: error.line_display(),
        column: error.column_display(),
    })
}

/// The whole file as a value, where it can be read.
pub(super) fn checked(text: &str) -> Result<Value, Unfit> {
    Ok(parse(text)?.to_serde_value().unwrap_or_default())
}

fn value(text: &str) -> Value {
    checked(text).unwrap_or_default()
}
