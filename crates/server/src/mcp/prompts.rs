//! Prompts that a person picks in their client: how to begin, to keep something, and to look through what is kept.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use throughline_core::context::neutralise;
use throughline_core::engine::{ContextRequest, Engine, EngineError, Readable};
use throughline_core::text::guard::without_fences;

use super::conversation::{self, Caller};
use super::resources;
use crate::problem::{Code, Problem};

/// A prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    StartSession,
    RememberThis,
    ReviewMemory,
}

/// Longest argument, in bytes.
const LONGEST: usize = 64 * 1024;

impl Ask {
    const ALL: [Self; 3] = [Self::StartSession, Self::RememberThis, Self::ReviewMemory];

    fn name(self) -> &'static str {
        match self {
            Self::StartSession => "start_session",
            Self::RememberThis => "remember_this",
            Self::ReviewMemory => "review_memory",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::StartSession => "Pick up where we left off",
            Self::RememberThis => "Remember this",
            Self::ReviewMemory => "Review my memory",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::StartSession => "Begin with who you are, what was going on, and the project's memory",
            Self::RememberThis => "Keep something for later conversations",
            Self::ReviewMemory => "Look through what is stored about you and correct it together",
        }
    }

    /// Its one argument: name, what it is, whether it must be there.
    fn argument(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::StartSession => ("message", "What you want to begin with; memories that fit it are added", false),
            Self::RememberThis => ("text", "What to remember", true),
            Self::ReviewMemory => ("about", "What to look at; everything if left out", false),
        }
    }
}

/// Every prompt, in its order.
pub(super) fn list() -> Vec<Prompt> {
    let described = |ask: Ask| {
        let (name, about, is_required) = ask.argument();
        let argument = PromptArgument::new(name).with_description(about).with_required(is_required);
        Prompt::new(ask.name(), Some(ask.description()), Some(vec![argument])).with_title(ask.title())
    };
    Ask::ALL.into_iter().map(described).collect()
}

/// A prompt with what it is about.
pub(super) fn get(
    engine: &Engine,
    caller: &Caller,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, Problem> {
    let names = || Ask::ALL.map(Ask::name).join(", ");
    let unknown =
        || Problem::new(Code::NotFound, format!("there is no prompt `{name}`"), format!("there are {}", names()));
    let ask = Ask::ALL.into_iter().find(|ask| ask.name() == name).ok_or_else(unknown)?;
    let given = argument(ask, arguments)?;
    let text = match ask {
        Ask::StartSession => start_session(engine, caller, given)?,
        Ask::RememberThis => remember_this(given.unwrap_or_default()),
        Ask::ReviewMemory => review_memory(engine, given)?,
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(ask.description()))
}

/// The argument, where it was given and is a text.
fn argument(ask: Ask, arguments: Option<&JsonObject>) -> Result<Option<&str>, Problem> {
    let (name, about, is_required) = ask.argument();
    let wrong = |problem: String| Problem::new(Code::Invalid, problem, format!("`{name}`: {}", about.to_lowercase()));
    if let Some(other) = arguments.into_iter().flatten().map(|(key, _)| key).find(|key| *key != name) {
        return Err(wrong(format!("`{}` takes no argument `{other}`", ask.name())));
    }
    let given = match arguments.and_then(|all| all.get(name)) {
        None | Some(serde_json::Value::Null) => None,
        Some(value) => Some(value.as_str().ok_or_else(|| wrong(format!("the argument `{name}` is not a text")))?),
    };
    let given = given.map(str::trim).filter(|text| !text.is_empty());
    match given {
        None if is_required => Err(wrong(format!("the argument `{name}` is missing"))),
        Some(text) if text.len() > LONGEST => {
            Err(wrong(format!("the argument `{name}` is longer than {LONGEST} bytes")))
        }
        given => Ok(given),
    }
}

fn start_session(engine: &Engine, caller: &Caller, message: Option<&str>) -> Result<String, Problem> {
    let (message, dir) = (message.map(str::to_owned), conversation::dir(engine, caller)?);
    // Where the client works on no project, the only one there is.
    let project = if dir.is_none() { resources::project(engine, caller)? } else { None };
    let request = ContextRequest { project, dir, message, ..ContextRequest::default() };
    let context = engine.context().prepare(&request)?.context;
    // Its headings are ours.
    let known = without_fences(&context.system_prompt);
    let known = if known.trim().is_empty() { "Nothing is stored yet." } else { known.trim() };
    let began = context
        .message
        .unwrap_or_else(|| "Tell me in a line or two where we stand, and ask what comes next.".to_owned());
    Ok(include_str!("prompts/start_session.md").trim().replace("{message}", &began).replacen("{context}", known, 1))
}

fn remember_this(text: &str) -> String {
    include_str!("prompts/remember_this.md").trim().replacen("{text}", &neutralise(text), 1)
}

fn review_memory(engine: &Engine, about: Option<&str>) -> Result<String, Problem> {
    let shown = |what: &Readable| match engine.context().readable(what) {
        Err(EngineError::NoNamespace) => Ok(None),
        shown => shown,
    };
    let about = about.map_or_else(|| "everything that is stored about me".to_owned(), neutralise);
    let nothing = || "Nothing is stored here yet.".to_owned();
    let profile = shown(&Readable::Profile)?.unwrap_or_else(nothing);
    let working = shown(&Readable::Working)?.unwrap_or_else(nothing);
    let asked = include_str!("prompts/review_memory.md").trim();
    // What is stored goes in last: it may contain the very words that stand for a place.
    let (before, after) = asked.split_once("{stored}").unwrap_or((asked, ""));
    let stored = format!("--- Profile ---\n{}\n\n--- Working memory ---\n{}", profile.trim(), working.trim());
    Ok(format!("{}{stored}{after}", before.replacen("{about}", &about, 1)))
}
