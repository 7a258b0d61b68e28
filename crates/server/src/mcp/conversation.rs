//! Which conversation a call belongs to: one for each connection, in the project that the client works on.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jiff::tz::TimeZone;
use throughline_core::engine::{Engine, StartSession, chain};
use throughline_core::model::SessionId;

use super::Keeper;
use crate::problem::Problem;

/// Longest part of a client's name that a conversation is called by.
const LONGEST_NAME: usize = 40;

/// Who calls, as far as the protocol says.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// What the client calls itself.
    pub(super) client: Option<String>,
    /// Whether calls of this client are held together by nothing but its name.
    pub(super) is_stateless: bool,
    /// The directories that the client works in, the surest first.
    pub(super) directories: Vec<PathBuf>,
}

impl Caller {
    /// The memory as it is where the client works.
    pub(super) fn working(&self, engine: &Engine) -> Engine {
        engine.working_in(self.directories.iter().map(PathBuf::as_path))
    }
}

/// The conversation of a connection.
#[derive(Default)]
pub(super) struct Conversation {
    begun: Mutex<Option<Begun>>,
}

#[derive(Clone, PartialEq)]
struct Begun {
    session: SessionId,
    project: Option<String>,
}

impl Conversation {
    /// The session of this connection, begun where it was not, or where the client moved to another project.
    pub(super) fn session(&self, keeper: &dyn Keeper, engine: &Engine, caller: &Caller) -> Result<SessionId, Problem> {
        let (dir, project) = place(engine, caller)?.unzip();
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(begun) = begun.as_ref().filter(|begun| begun.project == project) {
            return Ok(begun.session.clone());
        }
        let session = match begun.as_ref() {
            Some(begun) => begun.session.clone(),
            None => named(keeper, engine, caller)?,
        };
        let start = StartSession { dir, ..StartSession::new(session.clone()) };
        match engine.sessions().start(&start) {
            Ok(_) => *begun = Some(Begun { session: session.clone(), project }),
            // A memory that can be read but not written still answers.
            Err(error) => tracing::warn!(error = chain(&error), "the conversation is not noted"),
        }
        Ok(session)
    }
}

/// The directory of the client that belongs to a project, and the project's name.
fn place(engine: &Engine, caller: &Caller) -> Result<Option<(PathBuf, String)>, Problem> {
    for directory in &caller.directories {
        if let Some(found) = engine.projects().at(directory)? {
            return Ok(Some((directory.clone(), found.name.to_string())));
        }
    }
    Ok(None)
}

/// The directory that the client works in, if it belongs to a project.
pub(super) fn dir(engine: &Engine, caller: &Caller) -> Result<Option<PathBuf>, Problem> {
    Ok(place(engine, caller)?.map(|(dir, _)| dir))
}

/// The project that the client works on.
pub(super) fn project(engine: &Engine, caller: &Caller) -> Result<Option<String>, Problem> {
    Ok(place(engine, caller)?.map(|(_, name)| name))
}

/// `mcp:claude-code-k3j5…`; clients whose calls nothing holds together share one a day.
fn named(keeper: &dyn Keeper, engine: &Engine, caller: &Caller) -> Result<SessionId, Problem> {
    let word = match caller.is_stateless {
        true => engine.now().to_zoned(TimeZone::UTC).date().to_string(),
        false => keeper.word()?,
    };
    let id = format!("mcp:{}-{word}", plain(caller.client.as_deref().unwrap_or_default()));
    id.parse().map_err(|error| Problem::failed(&error, None))
}

/// A client's name in letters that are safe in an id.
pub(super) fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let letters: String = name.chars().take(LONGEST_NAME).map(letter).collect();
    let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "client".to_owned() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_name_becomes_safe() {
        for (given, plainly) in [
            ("claude-code", "claude-code"),
            ("Visual Studio Code", "visual-studio-code"),
            ("../../etc\n", "etc"),
            ("", "client"),
            ("记忆", "client"),
        ] {
            assert_eq!(plain(given), plainly);
        }
        assert_eq!(plain(&"x".repeat(500)).len(), LONGEST_NAME);
    }
}
