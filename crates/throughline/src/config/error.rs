//! What can be wrong with a config file. No message repeats a text value: it may be a key pasted into the wrong place.

use std::borrow::Cow;
use std::path::PathBuf;

use super::show::is_secret;

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not of its format.
    #[error("not valid {format}{}: {message}", at_line(.line))]
    Syntax {
        /// The format that was tried.
        format: &'static str,
        /// Where the parser stopped, counted from 1.
        line: Option<u64>,
        /// What the parser missed.
        message: String,
    },
    /// The file is a list or a single value.
    #[error("the config is {found}, expected tables such as `memory`")]
    NotATable {
        /// What it is instead.
        found: &'static str,
    },
    /// A key that nothing reads.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
    /// A value of another kind than its key takes.
    #[error("`{key}` is {found}, expected {expected}")]
    BadValue {
        /// The key.
        key: String,
        /// What kind of value stands there.
        found: &'static str,
        /// What it takes.
        expected: String,
    },
    /// A number that is too small or too large.
    #[error("`{key}` is {value}, expected {range}")]
    OutOfRange {
        /// The key.
        key: String,
        /// The number as written.
        value: String,
        /// What it takes, such as `1 to 365`.
        range: String,
    },
    /// Something that cannot be a variable's name: most likely the secret itself.
    #[error("`{key}` is not the name of an environment variable")]
    NotAVariable {
        /// The key; its value is not repeated.
        key: String,
    },
    /// More than one config file.
    #[error("there are two config files: `{}` and `{}`", .first.display(), .second.display())]
    TwoFiles {
        /// The one that comes first.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The file was read, and its content is wrong.
    #[error("cannot use `{}`", .path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Box<ConfigError>,
    },
}

impl ConfigError {
    /// What to try next: `hint:` on the terminal, `hint` in JSON.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(match self {
            Self::UnknownKey { key, .. } if is_secret(key) && key.starts_with("channels.") => {
                "secrets are never kept in this file: put it in an environment variable, and name that in `token_env` or \
                 `secret_env`"
            }
            Self::UnknownKey { key, .. } if is_secret(key) => {
                "keys are never kept in this file: put it in an environment variable, and name that in `api_key_env`"
            }
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                return Some(Cow::Owned(format!("did you mean `{nearest}`?")));
            }
            Self::UnknownKey { .. } | Self::NotATable { .. } | Self::BadValue { .. } | Self::OutOfRange { .. } => {
                "`throughline config show` lists every key with its value"
            }
            Self::NotAVariable { .. } => "put the key itself in an environment variable, and that variable's name here",
            Self::TwoFiles { .. } => "keep the one you mean and move the other away",
            Self::InFile { source, .. } => return source.hint(),
            Self::Syntax { .. } | Self::Read { .. } => return None,
        }))
    }
}

fn at_line(line: &Option<u64>) -> String {
    line.map(|line| format!(" at line {line}")).unwrap_or_default()
}
