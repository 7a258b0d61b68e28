//! Codex's `config.toml`. The text is cut and pasted at the places that the parser names, so that nothing else moves.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, TableLike};

use super::{Ask, HOME, SERVER, SERVER_ARGS, Seen, State, Unfit, line_end, position};

const SERVERS: &str = "mcp_servers";

/// Enters the server, or brings the program of the one that is there up to date.
pub(super) fn put_server(text: &str, ask: &Ask<'_>) -> Result<String, Unfit> {
    let document = parse(text)?;
    let new = match server(&document)? {
        Some(server) => updated(text, server, ask)?,
        None => appended(text, ask),
    };
    // Where servers are written in one line, a table behind them is no TOML: better refused than broken.
    match Document::parse(new.as_str()) {
        Ok(_) => Ok(new),
        Err(_) => Err(shape(SERVERS, "written as `[mcp_servers.NAME]` tables")),
    }
}

fn appended(text: &str, ask: &Ask<'_>) -> String {
    let end = line_end(text);
    let home = ask.home.map_or_else(String::new, |home| format!("\nenv = {{ {HOME} = {} }}", string(home)));
    let table = format!("[{SERVERS}.{SERVER}]\ncommand = {}\nargs = {}{home}", string(ask.program), args());
    let table = table.replace('\n', end);
    match text {
        "" => format!("{table}\n"),
        _ if text.ends_with('\n') => format!("{text}{end}{table}{end}"),
        _ => format!("{text}{end}{end}{table}"),
    }
}

fn updated(text: &str, server: &dyn TableLike, ask: &Ask<'_>) -> Result<String, Unfit> {
    if server.contains_key("url") {
        return Ok(text.to_owned());
    }
    let is_right = |item: &Item| item.as_str() == Some(ask.program);
    let has_args =
        |item: &Item| item.as_array().is_some_and(|all| all.iter().map(|arg| arg.as_str()).eq(SERVER_ARGS.map(Some)));
    let command = span(server, "command")?;
    let mut changes: Vec<(Range<usize>, String)> = home_change(text, server, ask.home)?.into_iter().collect();
    if !server.get("command").is_some_and(is_right) {
        changes.push((command.clone(), string(ask.program)));
    }
    match server.get("args") {
        Some(args) if has_args(args) => {}
        Some(_) => changes.push((span(server, "args")?, args())),
        None => changes.push((command.end..command.end, format!("{}args = {}", line_end(text), args()))),
    }
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    changes.into_iter().for_each(|(range, new)| text.replace_range(range, &new));
    Ok(text)
}

/// What is to be written where, so that the server knows where the memory is.
fn home_change(
    text: &str,
    server: &dyn TableLike,
    home: Option<&str>,
) -> Result<Option<(Range<usize>, String)>, Unfit> {
    let Some(home) = home else { return Ok(None) };
    let behind_command = span(server, "command")?.end;
    let Some(there) = server.get("env") else {
        let line = format!("{}env = {{ {HOME} = {} }}", line_end(text), string(home));
        return Ok(Some((behind_command..behind_command, line)));
    };
    let env = there.as_table_like().ok_or_else(|| shape(&format!("{SERVERS}.{SERVER}.env"), "a table"))?;
    match env.get(HOME) {
        Some(own) if own.as_str() == Some(home) => Ok(None),
        Some(own) => Ok(own.span().map(|at| (at, string(home)))),
        None if there.is_inline_table() => {
            let inner = there.span().map_or(behind_command, |at| at.start + 1);
            let comma = if env.is_empty() { "" } else { "," };
            Ok(Some((inner..inner, format!(" {HOME} = {}{comma}", string(home)))))
        }
        None => {
            let last = env.iter().filter_map(|(_, item)| end(item)).max().or(there.span().map(|at| at.end));
            let last = last.unwrap_or(text.len());
            Ok(Some((last..last, format!("{}{HOME} = {}", line_end(text), string(home)))))
        }
    }
}

/// Whether Codex noted what the person thinks of hooks with these names.
pub(super) fn has_trust(text: &str, names: &[String]) -> bool {
    let is_noted = |document: &Document<&str>| {
        let state = document.get("hooks").and_then(|hooks| hooks.get("state")).and_then(Item::as_table_like);
        state.is_some_and(|state| names.iter().any(|name| state.contains_key(name)))
    };
    !names.is_empty() && parse(text).is_ok_and(|document| is_noted(&document))
}

/// Takes out what Codex noted about hooks with these names.
pub(super) fn take_trust(text: &str, names: &[String]) -> Result<String, Unfit> {
    if !has_trust(text, names) {
        return Ok(text.to_owned());
    }
    let mut document: DocumentMut = text.parse().map_err(|error| malformed(text, &error))?;
    let all = document.get_mut("hooks").and_then(Item::as_table_like_mut);
    let state = all.and_then(|all| all.get_mut("state")).and_then(Item::as_table_like_mut);
    if let Some(state) = state {
        names.iter().for_each(|name| drop(state.remove(name)));
    }
    prune(&mut document);
    Ok(document.to_string())
}

/// Takes `[hooks.state]` and `[hooks]` away where nothing is left in them.
fn prune(document: &mut DocumentMut) {
    let is_empty = |item: &Item| item.as_table_like().is_some_and(TableLike::is_empty);
    if let Some(all) = document.get_mut("hooks").and_then(Item::as_table_like_mut)
        && all.get("state").is_some_and(is_empty)
    {
        all.remove("state");
    }
    if document.get("hooks").is_some_and(is_empty) {
        document.remove("hooks");
    }
}

/// Takes the server out, with whatever the person added to it.
pub(super) fn take_server(text: &str) -> Result<String, Unfit> {
    let document = parse(text)?;
    let Some(server) = server(&document)? else { return Ok(text.to_owned()) };
    let is_table = text.lines().any(|line| line.trim_start().starts_with(&format!("[{SERVERS}.{SERVER}]")));
    match lines(text, server).filter(|_| is_table) {
        Some(range) => Ok(cut(text, range)),
        None => {
            let mut document: DocumentMut = text.parse().map_err(|error| malformed(text, &error))?;
            if let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
                servers.remove(SERVER);
            }
            Ok(document.to_string())
        }
    }
}

/// The text without some lines, and without the blank line that we put before them.
fn cut(text: &str, range: Range<usize>) -> String {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let one_less =
        |text: &str| text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text)).len();
    let shorter = &before[..one_less(before)];
    let is_blank = shorter.is_empty() || shorter.ends_with('\n');
    match (after.is_empty(), text.ends_with('\n')) {
        (true, false) => shorter[..one_less(shorter)].to_owned(),
        _ if is_blank => format!("{shorter}{after}"),
        _ => format!("{before}{after}"),
    }
}

/// The lines from the table's heading to its last value, tables below it included.
fn lines(text: &str, server: &dyn TableLike) -> Option<Range<usize>> {
    let heading = format!("[{SERVERS}.{SERVER}]");
    let mut at = 0;
    let starts = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    let (start, line) = starts.into_iter().find(|(_, line)| line.trim_start().starts_with(&heading))?;
    let last = server.iter().filter_map(|(_, item)| end(item)).max().unwrap_or(start + line.trim_end().len());
    let stop = text[last..].find('\n').map_or(text.len(), |more| last + more + 1);
    Some(start..stop)
}

/// Where an item ends, whatever is in it.
fn end(item: &Item) -> Option<usize> {
    let below = item.as_table().map(|table| table.iter().filter_map(|(_, item)| end(item)).max());
    item.span().map(|span| span.end).max(below.flatten())
}

pub(super) fn find_server(text: &str) -> Result<Seen, Unfit> {
    let document = parse(text)?;
    let feature = |name| document.get("features").and_then(|table| table.get(name)).and_then(Item::as_bool);
    let hooks_are_off = feature("hooks").or_else(|| feature("codex_hooks")) == Some(false);
    let Some(server) = server(&document)? else { return Ok(Seen { hooks_are_off, ..Seen::default() }) };
    let program = server.get("command").and_then(Item::as_str).map(str::to_owned);
    let state = if program.is_some() || server.contains_key("url") { State::Whole } else { State::Partly };
    let home = server.get("env").and_then(|env| env.get(HOME)).and_then(Item::as_str).map(str::to_owned);
    Ok(Seen { state, programs: program.into_iter().collect(), hooks_are_off, home })
}

fn server<'a>(document: &'a Document<&str>) -> Result<Option<&'a dyn TableLike>, Unfit> {
    let Some(servers) = document.get(SERVERS) else { return Ok(None) };
    let servers = servers.as_table_like().ok_or_else(|| shape(SERVERS, "a table"))?;
    let Some(server) = servers.get(SERVER) else { return Ok(None) };
    server.as_table_like().map(Some).ok_or_else(|| shape(&format!("{SERVERS}.{SERVER}"), "a table"))
}

fn span(server: &dyn TableLike, key: &str) -> Result<Range<usize>, Unfit> {
    let at = || format!("{SERVERS}.{SERVER}.{key}");
    server.get(key).and_then(Item::span).ok_or_else(|| shape(&at(), "there"))
}

fn parse(text: &str) -> Result<Document<&str>, Unfit> {
    Document::parse(text).map_err(|error| malformed(text, &error))
}

fn malformed(text: &str, error: &toml_edit::TomlError) -> Unfit {
    let (line, column) = position(text, error.span().map_or(0, |span| span.start));
    Unfit::Malformed { problem: error.message().trim().replace('\n', ", "), line, column }
}

fn shape(at: &str, expected: &'static str) -> Unfit {
    Unfit::Shape { at: at.to_owned(), expected }
}

fn string(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn args() -> String {
    SERVER_ARGS.into_iter().collect::<toml_edit::Array>().to_string()
}
