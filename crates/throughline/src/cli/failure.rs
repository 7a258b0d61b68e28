//! A failure as a person sees it: `error:` says what, `hint:` says what to try next.

use std::borrow::Cow;
use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use owo_colors::OwoColorize as _;
use throughline_core::engine::{EngineError, chain};
use throughline_core::model::{NameError, UnknownSpelling, WeightError};
use throughline_core::ports::StoreError;
use throughline_core::recall::FilterError;
use throughline_core::when::WhenError;

use super::style::plain;
use crate::config::ConfigError;
use crate::connections::ConnectError;
use crate::directory::DirectoryError;
use crate::world::OpenError;

/// Why a command could not be done.
pub(super) struct Failure {
    message: String,
    hint: Option<String>,
    /// A word for programs.
    word: &'static str,
    /// 1 where there is no such thing, else 2.
    code: u8,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), word: "invalid", code: 2 }
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

    /// What it says, and what to try next.
    pub(super) fn told(self) -> (String, Option<String>) {
        (self.message, self.hint)
    }

    fn of(error: &dyn Error, hint: Option<String>) -> Self {
        let hint = hint.or_else(|| Some("`throughline doctor` looks for the cause".to_owned()));
        Self { message: chain(error), hint, word: "failed", code: 2 }
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
    anstream::eprint!("{}", with_one_hint(&error.render().ansi().to_string()));
    ExitCode::from(2)
}

/// What the parser says, with one hint at its end: its first own one, else where to look.
fn with_one_hint(rendered: &str) -> String {
    let is_tip = |line: &&str| anstream::adapter::strip_str(line).to_string().trim_start().starts_with("tip:");
    let is_said = |line: &&str| !line.contains("For more information, try") && !is_tip(line);
    let said: Vec<&str> = rendered.trim_end().lines().filter(is_said).collect();
    let tip = rendered.lines().find(is_tip).map(|line| anstream::adapter::strip_str(line).to_string());
    let tip = tip.as_deref().and_then(|tip| tip.split_once("tip:")).map(|(_, tip)| tip.trim().to_owned());
    let hint = tip.unwrap_or_else(|| "`--help` behind the command shows what it takes".to_owned());
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
        Self { code, word: error.code().as_str(), ..Self::of(&error, error.hint().map(Cow::into_owned)) }
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
