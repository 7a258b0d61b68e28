//! What the daemon asks of the program that runs it: the memory, and what only the wiring knows.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use throughline_core::engine::{
    Consolidation, Embedded, Ended, Engine, EngineError, ErasedMemory, ErasedScope, Health, MemoryStatus, Observed,
    Reflection, Said, StartSession, VaultListing, VaultRemoved,
};
use throughline_core::model::{EntryId, Name, Project, SessionId};
use throughline_core::ports::{ErasureScope, SamplingClient};
use throughline_core::transfer::formats::{Format, Found, ImportError};
use throughline_core::vault::VaultAnswer;
use utoipa::ToSchema;

use crate::Problem;
use crate::channels::ChannelHost;
use crate::http::chat::Talks;
use crate::proxy::Upstreams;
use crate::scheduler::Chores;

/// What the daemon asks of the program that runs it. Every method may block: it is called on a thread for that.
pub trait Host:
    Chores + Talks + ChannelHost + ModelWork + VaultFiles + Exports + Upstreams + Observing + Connecting
{
    /// The memory, in the hands of the person, through this surface.
    fn engine(&self) -> &Engine;

    /// Where the person's days begin and end.
    fn zone(&self) -> TimeZone;

    /// 256 bits that nobody can guess.
    fn secret(&self) -> Result<[u8; 32], Problem>;

    /// Where the memory is and how it is.
    fn status(&self) -> Result<MemoryStatus, Problem>;

    /// Every setting in force.
    fn settings(&self) -> Settings;

    /// Changes a setting in the config file, to its default without a value: one that [`Setting::change`] names. It holds from the next start on.
    fn change_setting(&self, key: &str, value: Option<SettingValue>) -> Result<(), Problem>;

    /// What is wrong, if anything.
    fn health(&self) -> Health;

    /// Copies of memory that erasing reaches into: backups and exports.
    fn copies(&self) -> Result<Vec<String>, Problem>;

    /// Erases a memory for good: here, in backups and in exports.
    fn erase(&self, reference: &str, with_sources: bool) -> Result<ErasedMemory, Problem>;

    /// Erases a conversation or a project for good: here, in backups and in exports.
    fn erase_scope(&self, scope: &ErasureScope) -> Result<ErasedScope, Problem>;

    /// Registers a project, or moves it to another directory.
    fn add_project(&self, name: &str, dir: Option<&str>) -> Result<Project, Problem>;
}

/// Turns that are observed.
pub trait Observing {
    /// Keeps what was said: in the memory or, where the server that has it cannot be reached, on this machine until it can.
    fn observe(&self, start: &StartSession, said: &[Said]) -> Result<Kept, EngineError>;
}

/// Where observed turns are.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// In the memory.
    Stored(Observed),
    /// On this machine: so many turns wait for the server.
    Waiting(usize),
}

/// Turns that wait for the server that has the memory.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitingTurns {
    /// How many: they are kept on this machine, and delivered once when the server is back.
    pub(crate) waiting: usize,
}

/// Work that asks a model; a call waits for it.
pub trait ModelWork {
    /// Consolidates a conversation and shortens what is sent of it, waiting for its turn.
    fn compact(&self, session: &SessionId, summary: Option<&str>) -> Result<Consolidation, Problem>;

    /// Ends a conversation.
    fn end(&self, session: &SessionId) -> Result<Ended, Problem>;

    /// Looks back on memory; nothing if somebody else is at it.
    fn reflect(&self, project: Option<&str>, dry_run: bool) -> Result<Option<Reflection>, Problem>;

    /// Looks back on what was said to one agent; nothing if somebody else is at it.
    fn reflect_for(&self, agent: &str, dry_run: bool) -> Result<Option<Reflection>, Problem>;

    /// Sums a conversation up, or keeps the summary that is given; names the entry in the archive.
    fn summarise(&self, session: &SessionId, summary: Option<&str>) -> Result<Option<EntryId>, Problem>;

    /// Makes memories of imported conversations in the background, where that costs nothing and sends nothing; gives what is
    /// ahead, nothing where none waits. Returns at once.
    fn consolidate_imported(&self) -> Result<Option<Ahead>, Problem>;

    /// Imported conversations of which no memories are made yet, and what that takes.
    fn imported(&self) -> Result<Option<Ahead>, Problem>;

    /// A client connected that offers sampling: its model may be asked, if the config says so. Returns at once.
    fn offer_sampling(&self, client: Arc<dyn SamplingClient>);
}

/// Imported conversations of which no memories are made yet, and what that takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Ahead {
    /// How many they are.
    pub conversations: u64,
    /// What was said in them.
    pub turns: u64,
    /// Whether it goes on in the background.
    pub started: bool,
    /// How long it takes, in seconds, where that can be told.
    pub seconds: Option<u64>,
    /// How often a model is asked, where one must be.
    pub requests: Option<u64>,
    /// What does it on the command line.
    pub command: &'static str,
}

/// The vault with its files: reading them is the program's part.
pub trait VaultFiles {
    /// Brings files and folders into the vault. Their vectors are made by [`Job::Embedding`](throughline_core::ports::Job).
    fn vault_add(&self, paths: &[String], into: Option<Name>) -> Result<VaultAdded, Problem>;

    /// What the vault holds.
    fn vault_documents(&self) -> Result<VaultListing, Problem>;

    /// Finds passages of the vault, by words and, where that is set up, by meaning.
    fn vault_search(&self, query: &str, limit: usize) -> Result<VaultAnswer, Problem>;

    /// Takes documents out of the vault; the files stay.
    fn vault_remove(&self, references: &[String]) -> Result<VaultRemoved, Problem>;
}

/// What other programs wrote: reading it is the program's part, in another process.
pub trait Exports {
    /// What an export holds, or an archive of such files.
    fn read_export(
        &self,
        name: &str,
        bytes: &[u8],
        is_archive: bool,
        format: Option<Format>,
    ) -> Result<Found, ImportError>;
}

/// The assistants of this machine, by their names: which files are theirs is not for a browser to say.
pub trait Connecting {
    /// Every client that is known, and what of ours is in its settings.
    fn clients(&self) -> Result<Vec<ClientState>, Problem>;

    /// Enters what is ours into a client's own settings, or takes it out; only shows it where that is wanted.
    fn connect(&self, client: &str, wanted: Connect, dry_run: bool) -> Result<ConnectionChange, Problem>;
}

/// What is to become of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connect {
    /// It is connected.
    On,
    /// What is ours is taken out.
    Off,
}

/// A client, and what of ours is in its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClientState {
    /// Its name.
    pub client: &'static str,
    /// Whether it seems to be on this machine.
    pub installed: bool,
    /// The parts that are there as a whole: `mcp`, `hooks`, `guidance`.
    pub parts: Vec<&'static str>,
    /// Those of which some is missing.
    pub partly: Vec<&'static str>,
    /// Files that could not be read, and why.
    pub problems: Vec<String>,
}

/// What became, or would become, of a client's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ConnectionChange {
    /// The client.
    pub client: &'static str,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Its files, without those that stay as they are.
    pub files: Vec<FileChange>,
    /// What the person should know or do.
    pub remarks: Vec<String>,
}

/// What became, or would become, of one file: the lines that change, and no others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileChange {
    /// Which one.
    pub path: String,
    /// `written`, `restored` or `removed`.
    pub outcome: &'static str,
    /// What of ours it is for.
    pub parts: Vec<&'static str>,
    /// Lines that come, without secrets.
    pub added: Vec<String>,
    /// Lines that go, without secrets.
    pub removed: Vec<String>,
}

/// Every setting in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Settings {
    /// The config file, where there is one.
    pub path: Option<String>,
    /// In the order of the reference.
    pub settings: Vec<Setting>,
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Setting {
    /// Its dotted key.
    pub key: String,
    /// Its value as TOML; secrets as `***`.
    pub value: String,
    /// `file` or `default`.
    pub from: &'static str,
    /// What it does.
    pub about: String,
    /// What it is where the panel may change it: `flag` or `number`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'static str>,
    /// What the config file says by now, where that is something else: it holds from the next start on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A value that a setting gets.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected true, false, a whole number, or null for the default")]
pub enum SettingValue {
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Number(i64),
}

/// What became of what was added to the vault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct VaultAdded {
    /// The files, its fields at the same level.
    #[serde(flatten)]
    pub synced: Synced,
    /// Their vectors, where an embedder is set up: what was done, or, from a daemon, what its job is about to do.
    pub embeddings: Option<Embedded>,
}

/// What became of what was added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Synced {
    /// Documents that are new or had changed.
    pub indexed: u64,
    /// Documents that are as they were.
    pub unchanged: u64,
    /// Documents whose files are gone.
    pub dropped: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Files that are not in the vault, by reason.
    pub skipped: SkippedFiles,
    /// Files that a person may want to know of, and why they are not in it.
    pub unreadable: Vec<Unreadable>,
}

/// How many files were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SkippedFiles {
    /// Over 5 MB.
    pub too_large: u64,
    /// Not text.
    pub binary: u64,
    /// Without text.
    pub empty: u64,
    /// The memory's own.
    pub private: u64,
    /// Taken out by the person.
    pub left_out: u64,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unreadable {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Synced {
    /// Takes in what became of something else.
    pub fn join(&mut self, other: Self) {
        self.indexed += other.indexed;
        self.unchanged += other.unchanged;
        self.dropped += other.dropped;
        self.bytes += other.bytes;
        self.skipped.too_large += other.skipped.too_large;
        self.skipped.binary += other.skipped.binary;
        self.skipped.empty += other.skipped.empty;
        self.skipped.private += other.skipped.private;
        self.skipped.left_out += other.skipped.left_out;
        self.unreadable.extend(other.unreadable);
    }
}
