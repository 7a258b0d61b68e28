//! The bodies that every surface answers with where a verb gives a list or several things: `--json` and HTTP print the
//! same bytes because they print the same struct.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{
    Change, ContentHash, Namespace, Project, RecallId, SessionId, SessionState, Task, Turn, TurnId, VaultId,
};
use crate::ports::{Page, Spent};
use crate::recall::RecallRecord;
use crate::tools::Tool;
use crate::vault::{EmbeddingProgress, VaultDocument};

use super::explain::Explanation;
use super::inspect::{Health, Overview};
use super::reflect::Reflection;
use super::{Done, Engine, EngineError};

/// The latest changes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Changes {
    /// Newest first.
    pub changes: Vec<Change>,
}

/// The latest recalls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Recalls {
    /// Newest first.
    pub recalls: Vec<RecallRecord>,
}

/// Tasks.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Tasks {
    /// The latest changed first.
    pub tasks: Vec<Task>,
}

/// Projects that are registered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RegisteredProjects {
    /// By name.
    pub projects: Vec<Project>,
}

/// Passes of reflection.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Passes {
    /// Newest first, each with the documents that it changed.
    pub passes: Vec<Reflection>,
}

/// What the vault holds.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VaultListing {
    /// By path.
    pub documents: Vec<VaultDocument>,
    /// Files of the vault's own folder that the person took out.
    pub left_out: Vec<String>,
    /// How far a model is that is giving passages their vectors.
    pub embedding: Option<EmbeddingProgress>,
}

/// The receipt for documents that were taken out of the vault.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VaultRemoved {
    /// How many there were.
    pub removed: u64,
    /// Which.
    pub ids: Vec<VaultId>,
    /// Files that would be noticed again, and are left out from now on.
    pub left_out: Vec<String>,
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ListedSession {
    /// The conversation, its fields at the same level.
    #[serde(flatten)]
    pub state: SessionState,
    /// How much was said in it.
    pub turns: u64,
}

/// Conversations.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionListing {
    /// The latest first.
    pub sessions: Vec<ListedSession>,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}

/// A conversation, and what was said in it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ShownSession {
    /// The conversation.
    pub session: SessionState,
    /// What was said, oldest first.
    pub turns: Vec<Turn>,
    /// Whether more was said after that.
    pub more: bool,
}

/// The receipt for a conversation that begins anew.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionReset {
    /// Which.
    pub session: SessionId,
}

/// Which memories the latest message was given, and why; no fields but `memories` where nothing was recalled yet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Explained {
    /// It was given something.
    Something(Explanation),
    /// Nothing was recalled in this conversation.
    Nothing {
        /// Empty.
        memories: Vec<String>,
    },
}

impl From<Option<Explanation>> for Explained {
    fn from(explanation: Option<Explanation>) -> Self {
        explanation.map_or(Self::Nothing { memories: Vec::new() }, Self::Something)
    }
}

/// A part of memory as Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Rendered {
    /// Its address.
    pub name: Namespace,
    /// What it says; nothing where there is nothing.
    pub markdown: Option<String>,
    /// The digest of a document, for those who mean to write it back.
    pub hash: Option<ContentHash>,
}

/// Working memory, if it is fresh.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct WorkingMemory {
    /// What has been going on.
    pub text: Option<String>,
    /// When it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<jiff::Timestamp>,
    /// When it stops being given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<jiff::Timestamp>,
}

/// What the memory holds, and what models cost lately.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Stats {
    /// What it holds, its fields at the same level.
    #[serde(flatten)]
    pub overview: Overview,
    /// What models cost in the last seven days.
    pub spending: Vec<Spent>,
}

/// Where the memory is and how it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MemoryStatus {
    /// Where it is kept.
    pub memory: String,
    /// The config file, where there is one.
    pub config: Option<String>,
    /// The version of this program.
    pub version: &'static str,
    /// What it holds.
    pub stats: Overview,
    /// What has been going on.
    pub working: WorkingMemory,
    /// What a quick look finds; `doctor` and `/api/health` look at everything.
    pub health: Health,
}

/// A tool that assistants are offered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OfferedTool {
    /// Its name.
    pub name: Tool,
    /// What a model is told about it.
    pub description: &'static str,
    /// Its parameters, as JSON Schema.
    #[schema(value_type = Object)]
    pub parameters: serde_json::Value,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether it may remove something.
    pub destructive: bool,
    /// Whether calling it twice is calling it once.
    pub idempotent: bool,
}

/// The tools that assistants are offered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OfferedTools {
    /// In their order.
    pub tools: Vec<OfferedTool>,
}

impl Engine {
    /// Conversations, the latest first, each with how much was said; of one channel, where one is given.
    pub fn session_page(&self, channel: Option<&str>, limit: usize, cursor: Option<&str>) -> Done<SessionListing> {
        let page = self.store.session_page(channel, &Page { limit, cursor: cursor.map(str::to_owned) })?;
        let sessions = page.sessions.into_iter().map(|(state, turns)| ListedSession { state, turns });
        Ok(SessionListing { sessions: sessions.collect(), cursor: page.cursor })
    }

    /// A conversation and what was said in it, after one of its turns where one is named.
    pub fn session_shown(&self, id: &SessionId, after: Option<&str>, limit: usize) -> Done<ShownSession> {
        let session = self.state(id)?;
        let after = after.map(TurnId::new);
        // One more than is shown says whether there are more.
        let found = self.store.turn_page(id, after.as_ref(), limit.saturating_add(1))?;
        let unsaid = || {
            let after = after.as_ref().map(TurnId::as_str).unwrap_or_default();
            EngineError::invalid("the turn", format!("`{after}` was not said in {id}"))
        };
        let mut turns = found.ok_or_else(unsaid)?;
        let more = turns.len() > limit;
        turns.truncate(limit);
        Ok(ShownSession { session, turns, more })
    }

    /// A name on a channel for a conversation that has none.
    pub fn session_name(&self, channel: &str) -> Done<SessionId> {
        Ok(format!("{channel}:{}", self.ids.next()).parse()?)
    }

    /// The newest recalls first; of one conversation, where one is given.
    pub fn recalls_of(&self, session: Option<&SessionId>, limit: usize) -> Done<Recalls> {
        Ok(Recalls { recalls: self.store.recalls(session, limit)? })
    }

    /// One recall, while the log keeps it.
    pub fn recall_record(&self, id: &str) -> Done<RecallRecord> {
        let record = self.store.recall_record(&RecallId::new(id))?;
        record.ok_or_else(|| EngineError::NoRecall { reference: id.to_owned() })
    }

    /// Any address as Markdown, with the digest of a document.
    pub fn rendered(&self, name: &Namespace) -> Done<Rendered> {
        let markdown = self.read(name)?;
        let document = markdown.as_deref().filter(|_| matches!(name, Namespace::Document(_)));
        let hash = document.map(ContentHash::of);
        Ok(Rendered { name: name.clone(), markdown, hash })
    }

    /// Working memory, as every surface shows it.
    pub fn working_memory(&self) -> Done<WorkingMemory> {
        Ok(self.working()?.map_or_else(WorkingMemory::default, |working| WorkingMemory {
            text: Some(working.content),
            updated_at: Some(working.updated_at),
            expires_at: Some(working.expires_at),
        }))
    }

    /// What the memory holds, and what models cost in the last seven days.
    pub fn stats(&self) -> Done<Stats> {
        let week = jiff::SignedDuration::from_hours(24 * 7);
        let since = self.clock.now().checked_sub(week).unwrap_or_default().strftime("%Y-%m-%d").to_string();
        Ok(Stats { overview: self.overview()?, spending: self.spending(&since)? })
    }

    /// The tools that are offered, for whoever wants to see them.
    pub fn offered_tools(&self) -> OfferedTools {
        let shown = |tool: &Tool| {
            let nature = tool.nature();
            OfferedTool {
                name: *tool,
                description: tool.description(),
                parameters: tool.schema(),
                read_only: nature.is_read_only,
                destructive: nature.is_destructive,
                idempotent: nature.is_idempotent,
            }
        };
        OfferedTools { tools: self.offered().iter().map(shown).collect() }
    }
}
