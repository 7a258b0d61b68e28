//! A program as the model: the prompt goes to its standard input, the reply comes from its standard output.
//!
//! A run has an empty directory of its own, a time limit, and a limit on what it may print. The whole process group ends with
//! it. [`MODEL_RUN`] marks its environment, so that the hooks of an assistant that is run this way leave memory alone.

mod process;
mod ready_made;
mod stderr;

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use throughline_core::ports::{Brief, Cost, Finish, Model, ModelError, Reply, SummaryOf};
use throughline_core::text::tokens;

use crate::ask::Ask;
use crate::wire::{MAX_REPLY, count};
pub use process::kill_programs;
use process::{Limits, Output, RunError};
pub use ready_made::ReadyMade;

/// Set in the environment of a program that is run as a model, and of everything that it starts.
pub const MODEL_RUN: &str = "THROUGHLINE_MODEL_RUN";

/// The provider, as in the config.
const PROVIDER: &str = "command";

/// How long a program may take where nobody says otherwise.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(180);

/// Which program is the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSettings {
    /// The program, then its arguments.
    pub words: Vec<OsString>,
    /// Which ready-made command these words are, where they are one.
    pub ready_made: Option<ReadyMade>,
    /// What the ledger calls it.
    pub name: String,
    /// How long a run may take.
    pub timeout: Duration,
}

/// A program that answers prompts.
#[derive(Debug)]
pub struct CommandModel {
    settings: CommandSettings,
    max_output: usize,
}

/// Splits a command line into words as a shell does, without running one. `None` where a quote is not closed.
pub fn split_words(line: &str) -> Option<Vec<String>> {
    shlex::split(line)
}

impl CommandModel {
    /// Starts nothing yet.
    pub fn new(settings: CommandSettings) -> Self {
        Self { settings, max_output: MAX_REPLY }
    }

    /// What errors call it.
    fn title(&self) -> &'static str {
        self.settings.ready_made.map_or(PROVIDER, ReadyMade::as_str)
    }

    fn program(&self) -> String {
        self.settings.words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn not_started(&self, why: String) -> ModelError {
        ModelError::NotStarted { provider: self.title(), program: self.program(), why }
    }

    fn run(&self, prompt: &str, go_on: &mut dyn FnMut() -> bool) -> Result<Output, ModelError> {
        // Not the directory of whoever called: an assistant would read its files and run its hooks.
        let place = tempfile::Builder::new().prefix("throughline-model-").tempdir();
        let place = place.map_err(|error| self.not_started(format!("no temporary directory: {error}")))?;
        let (program, arguments) = self.settings.words.split_first().ok_or_else(|| self.not_started(String::new()))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(place.path()).env(MODEL_RUN, "1");
        if let Some(ready_made) = self.settings.ready_made {
            ready_made.prepare(&mut command);
        }
        let limits = Limits { time: self.settings.timeout, output: self.max_output };
        process::run(&mut command, prompt, limits, go_on).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: RunError) -> ModelError {
        let provider = self.title();
        match error {
            RunError::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.not_started("it is not installed, or not on PATH".to_owned())
            }
            RunError::NotStarted(error) => self.not_started(error.to_string()),
            RunError::TimedOut => ModelError::TimedOut { provider },
            RunError::Cancelled => ModelError::Cancelled,
            RunError::TooLong => {
                let why = format!("the reply is longer than {} KB", self.max_output >> 10);
                ModelError::Malformed { provider, why }
            }
        }
    }

    /// The text of a run that went well.
    fn text(&self, prompt: &str, output: Output) -> Result<String, ModelError> {
        let provider = self.title();
        if !output.status.success() {
            // Some programs explain themselves on standard output.
            let said = stderr::told(&output.stderr, prompt).or_else(|| stderr::told(&output.stdout, prompt));
            let why = said.unwrap_or_else(|| "it printed no message".to_owned());
            return Err(ModelError::Exited { provider, how: output.status.to_string(), why });
        }
        let text = String::from_utf8(output.stdout)
            .map_err(|_| ModelError::Malformed { provider, why: "the reply is not UTF-8".to_owned() })?;
        if text.trim().is_empty() {
            let said = stderr::told(&output.stderr, prompt).map(|said| format!(": {said}")).unwrap_or_default();
            return Err(ModelError::Malformed { provider, why: format!("the reply is empty{said}") });
        }
        Ok(text.trim_end().to_owned())
    }
}

impl Model for CommandModel {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn name(&self) -> &str {
        &self.settings.name
    }

    /// A program does not say what it spent: tokens are estimated.
    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        let ask = Ask::of(brief, false);
        let prompt = ask.as_text();
        let output = self.run(&prompt, &mut || sink(""))?;
        let text = self.text(&prompt, output)?;
        if !sink(&text) {
            return Err(ModelError::Cancelled);
        }
        let (tokens_in, tokens_out) = (count(tokens::estimate(&prompt)), count(tokens::estimate(&text)));
        Ok(Reply { text, calls: Vec::new(), finish: Finish::Complete, tokens_in, tokens_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_without_a_shell() {
        assert_eq!(
            split_words("llm -m 'my model' --x=\"a b\" $HOME"),
            Some(["llm", "-m", "my model", "--x=a b", "$HOME"].map(str::to_owned).to_vec())
        );
        assert_eq!(split_words("llm 'open"), None);
    }
}
