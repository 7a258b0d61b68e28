//! The parameters of each tool. Strict: what is not named here is refused.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::MemorySection;
use crate::recall::{Category, TimeGiven};

/// `memory_recall`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// What to look for, in plain words.
    pub query: String,
    /// `knowledge` for facts, `timeline` for what happened; both if left out.
    #[serde(default)]
    pub category: Option<Category>,
    /// Not older than this: a date such as 2026-05-07, words such as "last week", or Unix seconds.
    #[serde(default)]
    pub since: Option<TimeGiven>,
    /// Older than this.
    #[serde(default)]
    pub until: Option<TimeGiven>,
    /// Labels that must all be there.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The project it is about.
    #[serde(default)]
    pub project: Option<String>,
    /// Whether passages of the files in the person's vault are searched too.
    #[serde(default)]
    pub vault: bool,
    /// How many at most.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    pub limit: Option<usize>,
}

/// `memory_write`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// What to do. Needed unless `operations` are given.
    #[serde(default)]
    pub action: Option<Action>,
    /// L0 is who the person is, L1 is everything else.
    #[serde(default)]
    pub layer: Option<WriteLayer>,
    /// The fact as a full declarative sentence.
    #[serde(default)]
    pub content: Option<String>,
    /// The id of what is corrected or removed.
    #[serde(default)]
    pub target_id: Option<String>,
    /// Labels; `project:x` and `task:y` are links. L1 only.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The heading under which a new line of L0 goes.
    #[serde(default)]
    pub section: Option<String>,
    /// Several of these at once: all are done, or none.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub operations: Vec<Operation>,
}

/// One operation of `memory_write`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// What to do.
    pub action: Action,
    /// L0 is who the person is, L1 is everything else.
    pub layer: WriteLayer,
    /// The fact as a full declarative sentence.
    #[serde(default)]
    pub content: Option<String>,
    /// The id of what is corrected or removed.
    #[serde(default)]
    pub target_id: Option<String>,
    /// Labels; `project:x` and `task:y` are links. L1 only.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The heading under which a new line of L0 goes.
    #[serde(default)]
    pub section: Option<String>,
}

/// What `memory_write` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Adds.
    Add,
    /// Puts what is right in the place of what is wrong.
    Update,
    /// Takes away.
    Remove,
}

/// The layers that `memory_write` knows; the archive is named so that its refusal can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum WriteLayer {
    /// Identity.
    L0,
    /// Knowledge.
    L1,
    /// The archive, which no assistant writes.
    L2,
}

impl JsonSchema for WriteLayer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WriteLayer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": ["L0", "L1"] })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// `memory_forget`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// The id or the key of the memory.
    #[serde(alias = "id")]
    pub key: String,
}

/// `memory_store`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// A short name for what it is about, such as `preferred_language`.
    pub key: String,
    /// The memory itself.
    pub content: String,
    /// `knowledge` for facts, `timeline` for what happened.
    pub category: Category,
    /// How much it matters, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: Option<f64>,
}

/// `record_fact`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordFact {
    /// The fact, in one sentence.
    pub fact: String,
    /// How much it matters, from 1 to 5; 3 if left out. 4 and 5 are never pruned.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5))]
    pub significance: Option<u8>,
    /// Where it belongs: `is` (how things stand), `happened` (what took place) or `done` (what is completed).
    #[serde(default)]
    pub section: Option<MemorySection>,
    /// The project; without it, the project of this conversation.
    #[serde(default)]
    pub project: Option<String>,
}

/// `update_project_memory`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectMemory {
    /// One or more lines; each becomes a fact.
    pub content: String,
    /// Where they belong.
    #[serde(default)]
    pub section: Option<MemorySection>,
    /// The project; without it, the project of this conversation.
    #[serde(default)]
    pub project: Option<String>,
}

/// `memory_context`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// What the person said, for memories that fit it.
    #[serde(default)]
    pub message: Option<String>,
}

/// `get_context`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContext {
    /// `short` for this conversation, `project`, `user` for the person, or `vault` for shared files.
    pub tier: TierName,
    /// The project, for its tier; without it, the project of this conversation.
    #[serde(default)]
    pub project: Option<String>,
}

/// The name of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TierName {
    /// This conversation.
    Short,
    /// A project.
    Project,
    /// The person.
    User,
    /// Shared files.
    Vault,
}

/// `distill_memories`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distill {
    /// The person, by the name of their memory; there is one.
    #[serde(default)]
    pub user: Option<String>,
    /// Only what was said to this client or channel, such as `claude-code`.
    #[serde(default)]
    pub agent: Option<String>,
}

/// `memory_explain`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// A recall by its id; without it, the latest of this conversation.
    #[serde(default)]
    pub recall_id: Option<String>,
}

/// `summarize_session`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summarise {
    /// What this conversation was about: what was done, decided and left open. Without it, a summary is made.
    #[serde(default)]
    pub summary: Option<String>,
}
