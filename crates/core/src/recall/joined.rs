//! One conversation under several names. A client's hooks record under its own id (`claude-code:UUID`), and the MCP server
//! that the same client runs is another process, which no id reaches (`mcp:claude-code-k3j5…`).
//!
//! The rule: the same client, the same project (or none), and overlapping in time. A client that has several conversations
//! in one project at once cannot be told apart; the one with the latest message counts.

use jiff::Timestamp;

use crate::error::Done;
use crate::model::{SessionId, SessionState};
use crate::ports::Page;
use crate::recall::{AskedBy, RecallRecord, RecallService};

/// The channel of MCP connections.
const MCP: &str = "mcp";

/// How many sessions of a channel are looked at, the latest.
const LOOKED_AT: usize = 20;

/// How many recalls of each session are looked at, the latest.
const LATEST: usize = 50;

/// A session, and what was recalled in it, the oldest first.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) state: SessionState,
    pub(super) records: Vec<RecallRecord>,
}

impl Told {
    pub(super) fn is_mcp(&self) -> bool {
        channel(&self.state.session.id).0 == MCP
    }

    fn last_message(&self) -> Option<Timestamp> {
        self.records.iter().rev().find(|record| record.by == AskedBy::Message).map(|record| record.at)
    }
}

impl RecallService<'_> {
    /// A conversation under all of its names; what a client's hooks gave stands before what its tools did.
    pub(super) fn under_all_names(&self, state: SessionState) -> Done<Vec<Told>> {
        let (own, name) = channel(&state.session.id);
        if own == MCP {
            let Some(hooks) = self.hooks_of(name, &state)? else { return Ok(vec![self.told(state)?]) };
            return Ok(vec![hooks, self.told(state)?]);
        }
        let connections = self.session_store.session_page(Some(MCP), &page())?.sessions;
        let (own, now) = (own.to_owned(), self.kernel.now);
        let is_its = |other: &SessionState| is_client(channel(&other.session.id).1, &own) && meet(&state, other, now);
        let its: Vec<SessionState> = connections.into_iter().map(|(other, _)| other).filter(is_its).collect();
        std::iter::once(state).chain(its).map(|each| self.told(each)).collect()
    }

    /// The conversation of the client that an MCP connection is named after.
    fn hooks_of(&self, name: &str, connection: &SessionState) -> Done<Option<Told>> {
        // The name may be longer than the channel: `codex-mcp-client-…` belongs to `codex`.
        let ends = name.match_indices('-').map(|(at, _)| &name[..at]);
        let mut found: Vec<Told> = Vec::new();
        for client in ends.map(|client| client.strip_prefix(PUBLISHER).unwrap_or(client)) {
            let sessions = self.session_store.session_page(Some(client), &page())?.sessions;
            let met =
                sessions.into_iter().map(|(state, _)| state).filter(|state| meet(state, connection, self.kernel.now));
            for state in met {
                found.push(self.told(state)?);
            }
        }
        // Of equally late ones, the store gave the latest first.
        Ok(found.into_iter().rev().max_by_key(|told| (told.last_message(), told.state.session.updated_at)))
    }

    fn told(&self, state: SessionState) -> Done<Told> {
        let mut records = self.recalls.recalls(Some(&state.session.id), LATEST)?;
        records.reverse();
        Ok(Told { state, records })
    }
}

fn page() -> Page {
    Page { limit: LOOKED_AT, cursor: None }
}

/// `github-copilot-…` is Copilot.
const PUBLISHER: &str = "github-";

/// The channel of a session, and its name there.
fn channel(id: &SessionId) -> (&str, &str) {
    id.as_str().split_once(':').unwrap_or((id.as_str(), ""))
}

/// Whether an MCP connection of this name is one of a client.
fn is_client(name: &str, client: &str) -> bool {
    let name = name.strip_prefix(PUBLISHER).unwrap_or(name);
    name.strip_prefix(client).is_some_and(|rest| rest.starts_with('-'))
}

/// Whether two sessions have the same project and overlap in time.
fn meet(a: &SessionState, b: &SessionState, now: Timestamp) -> bool {
    let end = |state: &SessionState| state.session.ended_at.unwrap_or(now);
    let (a_began, b_began) = (a.session.created_at, b.session.created_at);
    a.session.project == b.session.project && a_began <= end(b) && b_began <= end(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_named_after_their_client() {
        for (name, client, is_its) in [
            ("claude-code-k3j5", "claude-code", true),
            ("codex-mcp-client-k3j5", "codex", true),
            ("github-copilot-developer-k3j5", "copilot", true),
            ("gemini-cli-mcp-client-k3j5", "gemini", true),
            ("gemini-cli-mcp-client-k3j5", "cli", false),
            ("claude-code-k3j5", "claude", true),
            ("claudette-k3j5", "claude", false),
            ("", "claude", false),
        ] {
            assert_eq!(is_client(name, client), is_its, "{name} {client}");
        }
    }
}
