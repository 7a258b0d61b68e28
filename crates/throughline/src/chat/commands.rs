//! What begins with a slash: the same in the terminal and on channels.

use owo_colors::OwoColorize as _;
use throughline_core::engine::EngineError;
use throughline_core::model::SessionId;
use throughline_core::recall::{Filter, RecallRequest};

use crate::cli::style;
use crate::world::World;

const HELP: &str = "\
/memory WORDS   what is remembered about it
/profile        who you are to the assistant
/working        what has been going on lately
/forget ID      forget a memory
/reset          look up anew what this conversation began with
/new            begin a new conversation
";

/// What happens next.
pub(crate) enum Next {
    /// It was no command: say it.
    Say,
    /// The commands that there are everywhere, a line each.
    Help(&'static str),
    /// It was one; this is the answer.
    Shown(String),
    /// Another conversation begins.
    New,
    /// The end.
    Quit,
}

/// Runs a command, if it is one.
pub(crate) fn run(line: &str, world: &World, session: &SessionId) -> Result<Next, EngineError> {
    let Some(command) = line.strip_prefix('/') else { return Ok(Next::Say) };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let shown = match name {
        "help" => return Ok(Next::Help(HELP)),
        "new" => return Ok(Next::New),
        "quit" | "exit" => return Ok(Next::Quit),
        "memory" => memory(rest.trim(), world)?,
        "profile" => world.engine.documents().profile()?.map_or("no profile yet".to_owned(), |(text, usage)| {
            format!("{}\n{}", style::plain(text.trim_end()), usage.dimmed())
        }),
        "working" => world
            .engine
            .threads()
            .working_memory()?
            .text
            .map_or("nothing lately".to_owned(), |text| style::plain(&text)),
        "forget" => match world.engine.memories().forget(rest.trim()) {
            Ok(forgotten) => {
                format!("forgot {}; `throughline undo` brings it back", style::short(forgotten.id.as_str()))
            }
            Err(error @ (EngineError::NotFound { .. } | EngineError::Ambiguous { .. })) => error.to_string(),
            Err(error) => return Err(error),
        },
        "reset" => match world.engine.sessions().reset(session) {
            Ok(()) => "memory is looked up anew with your next message".to_owned(),
            Err(EngineError::NoSession { .. }) => "nothing was said here yet".to_owned(),
            Err(error) => return Err(error),
        },
        "session" => session.to_string(),
        other => format!("there is no /{}; /help shows what there is", style::plain(other)),
    };
    Ok(Next::Shown(shown))
}

fn memory(words: &str, world: &World) -> Result<String, EngineError> {
    let now = world.now();
    let filter = Filter::recallable(now.timestamp());
    let recall = world.engine.recall().recall(&RecallRequest { query: words.to_owned(), limit: 8, filter })?;
    if recall.hits.is_empty() {
        return Ok("nothing found".to_owned());
    }
    Ok(recall.hits.iter().map(|hit| style::hit(hit, &now, true, false)).collect())
}
