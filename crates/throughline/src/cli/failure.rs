//! A failure as a person sees it: `error:` says what, `hint:` says what to try next.

use std::borrow::Cow;
use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use owo_colors::OwoColorize as _;
use throughline_core::engine::{EngineError, chain};
use throughline_core::model::{NameError, UnknownSpelling, WeightError};
use throughline_core::ports::StoreError;
use throughline_core::recall::FilterError;
use throughline_core::when::WhenError;

use super::style::plain;
use crate::config::ConfigError;
use crate::connections::ConnectError;
use crate::daemon;
use crate::directory::DirectoryError;
use crate::world::{Home, OpenError, World};

/// So many memories that were made of a turn are named.
const SHOWN: usize = 3;

/// Why a command could not be done.
pub(super) struct Failure {
    message: String,
    hint: Option<String>,
    /// A word for programs.
    word: &'static str,
    /// 1 where there is no such thing, else 2.
    code: u8,
    /// The memory that there is not.
    missing: Option<String>,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), word: "invalid", code: 2, missing: None }
    }

    /// A file that could not be read or written.
    pub(super) fn io(doing: &str, error: &std::io::Error) -> Self {
        Self::new(format!("cannot {doing}: {error}"), "check the path, and that you may read and write there")
    }

    /// The same failure, with more to say.
    pub(super) fn with_hint(self, more: String) -> Self {
        let hint = self.hint.map_or(more.clone(), |hint| format!("{hint}; {more}"));
        Self { hint: Some(hint), ..self }
    }

    /// The same failure, which begins another way if it begins so.
    pub(super) fn saying(self, so: &str, instead: &str) -> Self {
        let message = self.message.strip_prefix(so).map(|rest| format!("{instead}{rest}"));
        Self { message: message.unwrap_or(self.message), ..self }
    }

    /// What it says, and what to try next.
    pub(super) fn told(self) -> (String, Option<String>) {
        (self.message, self.hint)
    }

    /// A daemon has the database that is to go.
    pub(super) fn daemon_runs(home: &Home) -> Self {
        let how = match daemon::find(home) {
            Some(running) if cfg!(unix) => format!("or `kill {}`", running.process),
            Some(running) => format!("or `taskkill /F /PID {}`", running.process),
            None => "or as it was started".to_owned(),
        };
        let hint = format!("stop it first: Ctrl-C where `throughline serve` runs, {how}; nothing was changed");
        Self::new("a daemon runs on this memory", hint)
    }

    /// The same failure; where the memory that there is not is a turn, which `recall` shows beside memories, it says so.
    pub(super) fn or_turn(self, world: &World) -> Self {
        let found = self.missing.as_deref().map(|reference| (reference, world.engine.memories().turn_named(reference)));
        let Some((reference, Ok(Some((turn, memories))))) = found else { return self };
        let message = format!("`{reference}` is no memory: it is a turn of the conversation {}", turn.session);
        let made = match memories.as_slice() {
            [] => String::new(),
            made => {
                let made: Vec<&str> = made.iter().take(SHOWN).map(|id| id.as_str()).collect();
                format!("; what was made of it is {}", made.join(", "))
            }
        };
        let hint = format!("`throughline session show {}` shows what was said{made}", turn.session);
        Self { message, hint: Some(hint), ..self }
    }

    fn of(error: &dyn Error, hint: Option<String>) -> Self {
        let hint = hint.or_else(|| Some("`throughline doctor` looks for the cause".to_owned()));
        Self { message: chain(error), hint, word: "failed", code: 2, missing: None }
    }

    /// Prints it for people and, where JSON was asked for, for programs.
    pub(super) fn print(&self, json: bool) -> ExitCode {
        if json {
            let error = serde_json::json!({ "code": self.word, "message": self.message, "hint": self.hint });
            let body = serde_json::json!({ "error": error });
            let _ = writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&body).unwrap_or_default());
        }
        anstream::eprintln!("{} {}", "error:".red().bold(), plain(&self.message));
        if let Some(hint) = &self.hint {
            anstream::eprintln!("{} {}", "hint:".cyan().bold(), plain(hint));
        }
        ExitCode::from(self.code)
    }
}

/// Arguments that make no sense, and `--help` and `--version`, which are answers.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let rendered = error.render();
    let hint = own_hint(error, &rendered.to_string());
    anstream::eprint!("{}", with_one_hint(&rendered.ansi().to_string(), hint));
    ExitCode::from(2)
}

/// What other programs call a command, and what it is here.
const CALLED: [(&[&str], &str); 11] = [
    (&["search", "find", "query", "ask"], "`throughline recall`"),
    (&["add", "store", "save", "new"], "`throughline remember`"),
    (&["delete", "remove", "rm", "del", "erase"], "`throughline forget`"),
    (&["ls"], "`throughline list`"),
    (&["get", "view", "cat"], "`throughline show`"),
    (&["install", "init"], "`throughline setup`"),
    (&["start", "daemon", "server"], "`throughline serve`"),
    (&["log"], "`throughline history`"),
    (&["revert"], "`throughline undo`"),
    (&["status", "info"], "`throughline` alone"),
    (&["version"], "`throughline --version`"),
];

/// What we know better than the parser: a command by another name, and an option that belongs to the program.
fn own_hint(error: &clap::Error, rendered: &str) -> Option<String> {
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(given)) => Some(given.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand if rendered.contains("Usage: throughline [OPTIONS]") => {
            let given = given(ContextKind::InvalidSubcommand)?;
            let (_, here) = CALLED.iter().find(|(names, _)| names.contains(&given))?;
            Some(format!("{here} does that; `throughline help` lists every command"))
        }
        ErrorKind::UnknownArgument if matches!(given(ContextKind::InvalidArg)?, "--version" | "-V") => {
            let is_restore = rendered.contains("Usage: throughline restore");
            let alone = "`throughline --version`, without a command, says the program's version";
            Some(
                if is_restore { "the number stands behind the id: `throughline restore ID VERSION`" } else { alone }
                    .to_owned(),
            )
        }
        _ => None,
    }
}

/// What the parser says, with one hint at its end: ours, else its first own one, else where to look.
fn with_one_hint(rendered: &str, own: Option<String>) -> String {
    let is_tip = |line: &&str| anstream::adapter::strip_str(line).to_string().trim_start().starts_with("tip:");
    let is_said = |line: &&str| !line.contains("For more information, try") && !is_tip(line);
    let said: Vec<&str> = rendered.trim_end().lines().filter(is_said).collect();
    let tip = rendered.lines().find(is_tip).map(|line| anstream::adapter::strip_str(line).to_string());
    let tip = tip.as_deref().and_then(|tip| tip.split_once("tip:")).map(|(_, tip)| tip.trim().to_owned());
    let hint = own.or(tip).unwrap_or_else(|| "`--help` behind the command shows what it takes".to_owned());
    let mut text = String::new();
    for (nth, line) in said.iter().enumerate() {
        // A tip leaves the empty line in front of it.
        if !(line.is_empty() && (nth + 1 == said.len() || said[nth + 1].is_empty())) {
            text.push_str(&format!("{line}\n"));
        }
    }
    format!("{text}{} {hint}\n", "hint:".cyan().bold())
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.message)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let code = if error.is_not_found() { 1 } else { 2 };
        let missing = match &error {
            EngineError::NotFound { reference } => Some(reference.clone()),
            _ => None,
        };
        Self { code, word: error.code().as_str(), missing, ..Self::of(&error, error.hint().map(Cow::into_owned)) }
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        Self::new(error.to_string(), error.hint())
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::of(&error, error.hint().map(Cow::into_owned))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::of(&error, error.hint().map(Cow::into_owned))
    }
}

impl From<FilterError> for Failure {
    fn from(error: FilterError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<WhenError> for Failure {
    fn from(error: WhenError) -> Self {
        Self::of(&error, Some(error.hint().to_owned()))
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::of(&error, Some(error.hint().to_owned()))
    }
}

impl From<WeightError> for Failure {
    fn from(error: WeightError) -> Self {
        Self::of(&error, Some("significance is 1 to 5, importance 0 to 1; 4 and 5 are protected".to_owned()))
    }
}

impl From<UnknownSpelling> for Failure {
    fn from(error: UnknownSpelling) -> Self {
        Self { word: "invalid", ..Self::of(&error, Some("use one of those".to_owned())) }
    }
}
