//! The one place where the wall clock, the environment and chance are read, and where the parts are wired together.

#![allow(clippy::disallowed_methods, reason = "this is the place that the rule points to")]

mod error;
mod exclude;
mod home;
mod private;
mod settable_clock;
mod store;
mod zone;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::{Timestamp, Zoned, tz::TimeZone};
use throughline_clients::connect::Dirs;
use throughline_core::documents::working::WorkingLimits;
use throughline_core::engine::{Engine, InjectAt, ReflectionSettings, Settings};
use throughline_core::model::{Actor, Name, Source, Status};
use throughline_core::ports::{Backups, Clock, Documents, Embedder, Ids, Store};
use throughline_core::recall::Ranking;
use throughline_core::reflection::Schedule;
use throughline_core::sessions::Policy;
use throughline_core::tools::Tool;
use throughline_documents::{FileDocuments, SplitDocuments};

use crate::config::{self, Loaded};
use crate::embedders;
use crate::sampling::SamplingClients;
use crate::tool_models::OwnModels;

pub use error::OpenError;
pub use home::Home;
pub use private::private_directory;
pub(crate) use private::{is_open_to_others, is_own, private_file};
pub use settable_clock::SettableClock;
pub(crate) use store::{CopyFailure, Place, backups_of};
pub use store::{Durability, PlainFts5, StoreOnServer, index_bytes, store_at};

/// What `THROUGHLINE_HOME` is set to, if it is.
pub fn home_variable() -> Option<PathBuf> {
    let home = std::env::var_os("THROUGHLINE_HOME").filter(|home| !home.is_empty())?;
    Some(std::path::absolute(&home).unwrap_or_else(|_| PathBuf::from(home)))
}

/// The wall clock, or the time that `THROUGHLINE_NOW` fixes.
#[derive(Debug, Clone, Copy)]
pub struct WorldClock {
    fixed: Option<Timestamp>,
}

impl WorldClock {
    /// The wall clock, whatever `THROUGHLINE_NOW` says: for waiting, not for memory.
    pub fn real() -> Self {
        Self { fixed: None }
    }

    /// Reads `THROUGHLINE_NOW`.
    pub fn from_environment() -> Result<Self, OpenError> {
        let Some(given) = variable("THROUGHLINE_NOW") else { return Ok(Self { fixed: None }) };
        let fixed = given.parse().map_err(|_| OpenError::BadNow { given })?;
        Ok(Self { fixed: Some(fixed) })
    }

    /// Whether the time is made up.
    fn is_fixed(self) -> bool {
        self.fixed.is_some()
    }
}

impl Clock for WorldClock {
    fn now(&self) -> Timestamp {
        let now = self.fixed.unwrap_or_else(Timestamp::now);
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

/// How long this process has been running, whatever anybody does to the clock. A machine that sleeps may not count.
pub fn uptime() -> Duration {
    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    BEGINNING.get_or_init(Instant::now).elapsed()
}

/// 256 bits that nobody can guess.
pub fn random_secret() -> Result<[u8; 32], OpenError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| OpenError::NoChance)?;
    Ok(bytes)
}

/// Eighty random bits, in letters that survive being read aloud.
#[derive(Debug, Clone, Copy)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> String {
        let mut bytes = [0; 10];
        // The system's generator does not fail once it has started; should it, a repeated id is refused by the store.
        if let Err(error) = getrandom::fill(&mut bytes) {
            tracing::error!(%error, "the system gives no random bytes");
        }
        let mut id = data_encoding::BASE32_NOPAD.encode(&bytes);
        id.make_ascii_lowercase();
        id
    }
}

/// Everything a command needs.
#[derive(Clone)]
pub struct World {
    /// Where things are kept.
    pub home: Home,
    /// The config, and where it came from.
    pub config: Loaded,
    /// Whether this run made the home.
    pub is_new: bool,
    /// The store below the engine.
    pub store: Arc<dyn Store>,
    /// Copies of it, where it can have any.
    pub backups: Option<Arc<dyn Backups>>,
    /// The engine, in the hands of the person at the terminal.
    pub engine: Engine,
    /// The time zone that people's dates are in.
    pub zone: TimeZone,
    /// The clients of this process whose models may be asked.
    pub(crate) sampling: Arc<SamplingClients>,
    /// What every embedder is wrapped in, where anything is.
    pub(crate) wrap_embedder: Option<WrapEmbedder>,
    /// The time of the server that keeps the memory, where one does.
    pub(crate) server_clock: Option<store::ServerClock>,
}

/// Puts something between the memory and an embedder.
pub(crate) type WrapEmbedder = Arc<dyn Fn(Arc<dyn Embedder>) -> Arc<dyn Embedder> + Send + Sync>;

impl World {
    /// Opens the memory, making its home on the first run.
    pub fn open() -> Result<Self, OpenError> {
        Prepared::find()?.open()
    }

    /// Opens the memory in this home, with this clock.
    pub fn open_at(home: Home, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Prepared::at(home)?.open_with(clock, None, Durability::Full)
    }

    /// The same for a home that is thrown away: its writes do not survive a power cut.
    pub(crate) fn open_trial(home: Home, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Prepared::at(home)?.open_with(clock, None, Durability::Process)
    }

    /// The same for a command that is run in the current directory: off the record where that is excluded.
    pub(crate) fn here(self) -> Self {
        let engine = self.engine.working_in(current_dir().iter().map(PathBuf::as_path));
        Self { engine, ..self }
    }

    /// Now, where the person is.
    pub fn now(&self) -> Zoned {
        self.engine.now().to_zoned(self.zone.clone())
    }

    /// The time of whoever waits for something, whatever `THROUGHLINE_NOW` says: the server's, where several machines wait for
    /// the same.
    pub(crate) fn waiting_clock(&self) -> Arc<dyn Clock> {
        match &self.server_clock {
            Some(clock) => Arc::new(clock.clone()),
            None => Arc::new(WorldClock::real()),
        }
    }

    /// A time by the clock of this machine, which may be wrong: as the machines that share the memory would say it.
    pub(crate) fn corrected(&self, at: Timestamp) -> Timestamp {
        self.server_clock.as_ref().map_or(at, |clock| clock.corrected(at))
    }
}

/// A home with its config, before the memory in it is opened.
#[derive(Clone)]
pub struct Prepared {
    pub(crate) home: Home,
    /// The config, and where it came from.
    pub config: Loaded,
    is_new: bool,
    /// How long a server that cannot be reached is waited for, where that is less than usual.
    patience: Option<Duration>,
}

impl Prepared {
    /// Reads the config, making the home on the first run.
    pub fn find() -> Result<Self, OpenError> {
        Self::at(Home::find()?)
    }

    fn at(home: Home) -> Result<Self, OpenError> {
        private_directory(&home.data)?;
        private_directory(&home.config)?;
        private_directory(&home.backups())?;
        let mut config = config::load(&home.config)?;
        let is_new = config.path.is_none();
        if is_new {
            if let Err(error) = config::write_first_run(&home.config) {
                // Another process may have been faster; then its file is read.
                tracing::debug!(%error, "the first config was not written");
            }
            config = config::load(&home.config)?;
        }
        Ok(Self { home, config, is_new, patience: None })
    }

    /// The same for somebody who waits no longer than this for a server.
    pub(crate) fn within(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Whether a server keeps the memory.
    pub(crate) fn is_on_server(&self) -> bool {
        self.config.config.store.url.is_some()
    }

    /// Now; a clock that is set wrongly is noticed when the memory is opened.
    pub(crate) fn now(&self) -> Zoned {
        let clock = WorldClock::from_environment().unwrap_or(WorldClock::real());
        clock.now().to_zoned(zone::local())
    }

    /// Opens the memory.
    pub fn open(self) -> Result<World, OpenError> {
        let clock = WorldClock::from_environment()?;
        // Nobody else knows a time that is made up.
        let machine: Option<Arc<dyn Clock>> = if clock.is_fixed() { None } else { Some(Arc::new(clock)) };
        self.open_with(Arc::new(clock), machine, Durability::Full)
    }

    /// `machine` is its clock, where the time of a server is to be taken in place of it.
    fn open_with(
        self,
        clock: Arc<dyn Clock>,
        machine: Option<Arc<dyn Clock>>,
        durability: Durability,
    ) -> Result<World, OpenError> {
        let Self { home, config, is_new, patience } = self;
        let settings = settings(&config)?;
        let server = store::ServerAccess { password: store_password(&config), patience, clock: machine };
        let opened = store::open(&home, &config.config.store, server, durability)?;
        let store::Opened { store, backups, documents: rows, clock: server_clock } = opened;
        let clock = server_clock.clone().map_or(clock, |server| Arc::new(server) as Arc<dyn Clock>);
        let mut files = FileDocuments::open(&home.data)?.with_projects(places(&store));
        if let Some(person) = directories::BaseDirs::new() {
            files = files.with_home(person.home_dir());
        }
        let own = settings.namespace.clone().zip(user_dir(&config, &home));
        // A person who names a directory for their documents wants files in it, wherever the memory is.
        let rows = rows.filter(|_| own.is_none());
        if let Some((namespace, dir)) = own {
            files = files.with_user_dir(namespace, &dir)?;
        }
        let documents: Arc<dyn Documents> = match rows {
            Some(rows) => Arc::new(SplitDocuments::new(files, rows)),
            None => Arc::new(files),
        };
        let person = Actor::new(Source::User, "cli");
        let engine = Engine::new(Arc::clone(&store), documents, clock, Arc::new(RandomIds), settings, person);
        let zone = engine.settings().zone.clone();
        let (sampling, wrap_embedder) = (Arc::default(), None);
        let world = World { home, config, is_new, store, backups, engine, zone, sampling, wrap_embedder, server_clock };
        let world = world.asking_within(embedders::ASKING);
        let engine = world.engine.clone().with_tool_models(Arc::new(OwnModels::of(&world)));
        Ok(World { engine, ..world })
    }
}

/// The directory that the program runs in, without links in its path.
pub(crate) fn current_dir() -> Option<PathBuf> {
    std::env::current_dir().and_then(|dir| dir.canonicalize()).ok()
}

/// The password of the server that keeps the memory, where the config names a variable for it.
fn store_password(loaded: &Loaded) -> Option<String> {
    loaded.config.store.password_env.as_deref().and_then(variable)
}

/// Where projects are, as they are registered at the moment.
fn places(store: &Arc<dyn Store>) -> impl Fn(&Name) -> Option<PathBuf> + Send + Sync + 'static {
    let store = Arc::clone(store);
    move |name| {
        let project = store.project(name).ok().flatten()?;
        project.dir.filter(|_| project.status == Status::Active).map(PathBuf::from)
    }
}

/// The engine's settings, from the config.
pub fn settings(loaded: &Loaded) -> Result<Settings, OpenError> {
    let memory = &loaded.config.memory;
    let namespace = memory.user_namespace.as_deref().map(Name::user_namespace).transpose();
    Ok(Settings {
        enabled: memory.is_enabled(),
        exclude: exclude::of(loaded),
        namespace: namespace.map_err(OpenError::Namespace)?,
        working_memory: memory.working_memory,
        working: WorkingLimits {
            ttl_days: memory.working_memory_ttl_days,
            max_tokens: memory.working_memory_max_tokens as usize,
        },
        project_max_tokens: memory.project_max_tokens as usize,
        recall_limit: memory.recall_limit as usize,
        evidence_limit: memory.evidence_limit as usize,
        recall_max_tokens: memory.recall_max_tokens as usize,
        ranking: match memory.ranking {
            config::Ranking::Fused => Ranking::Fused,
            config::Ranking::Bm25 => Ranking::Bm25,
        },
        inject_at: match loaded.config.inject.recall {
            config::RecallPlace::Message => InjectAt::Message,
            config::RecallPlace::SystemPrompt => InjectAt::SystemPrompt,
            config::RecallPlace::Off => InjectAt::Off,
        },
        inject_repeat: loaded.config.inject.repeat,
        inject_vault: loaded.config.inject.vault,
        greeting: memory.proactive_session_greeting,
        policy: Policy {
            trigger_ratio: memory.trigger_ratio,
            context_window: memory.context_window as usize,
            turn_threshold: memory.consolidation_turn_threshold as usize,
            idle_minutes: memory.idle_consolidation_minutes,
            keep_recent_turns: memory.keep_recent_turns as usize,
            summary_max_tokens: memory.summary_max_tokens as usize,
            auto_extract: memory.auto_extract,
            max_failures: memory.max_failures_before_degrade,
            retention_days: memory.timeline_retention_days,
            turns_retention_days: memory.turns_retention_days,
        },
        daily_tokens: u64::from(loaded.config.model.daily_tokens),
        zone: zone::local(),
        tools: tools(&memory.tools)?,
        agent_erases: memory.agent_forget == config::AgentForget::Delete,
        flush_every: memory.flush_every_prompts as usize,
        reflection: reflection(&loaded.config.reflection),
    })
}

/// Whether a memory can be opened with these settings; nothing is opened.
pub(crate) fn check(loaded: &Loaded) -> Result<(), OpenError> {
    settings(loaded)?;
    store::check(&loaded.config.store)
}

/// How memory is looked back on.
fn reflection(config: &config::ReflectionConfig) -> ReflectionSettings {
    let (every_hours, quiet_from, quiet_until) = (config.every_hours, config.quiet_from, config.quiet_until);
    let schedule = Schedule { every_hours, quiet_from, quiet_until };
    ReflectionSettings { schedule, max_share: config.max_share, promote: config.promote, merge: config.merge }
}

/// The person's own directory for documents, where one is set; `~/` is their home.
fn user_dir(loaded: &Loaded, home: &Home) -> Option<PathBuf> {
    let given = loaded.config.memory.user_dir.as_deref().filter(|given| !given.trim().is_empty())?;
    Some(configured_path(given, &home.config))
}

/// A path in a config file: `~/` is the person's home, and any other path begins at the file's own directory.
pub(crate) fn configured_path(given: &str, config: &Path) -> PathBuf {
    match (given.strip_prefix("~/"), directories::BaseDirs::new()) {
        (Some(below), Some(person)) => person.home_dir().join(below),
        _ => config.join(given),
    }
}

/// The tools that are offered, in their own order.
fn tools(chosen: &config::Tools) -> Result<Vec<Tool>, OpenError> {
    let named = match chosen {
        config::Tools::Set(config::ToolSet::Default) => return Ok(Tool::USUAL.to_vec()),
        config::Tools::Set(config::ToolSet::All) => return Ok(Tool::ALL.to_vec()),
        config::Tools::Only(names) => names.iter().map(|name| name.parse::<Tool>()).collect::<Result<Vec<_>, _>>(),
    };
    let named = named.map_err(OpenError::Tools)?;
    Ok(Tool::ALL.into_iter().filter(|tool| named.contains(tool)).collect())
}

/// Where things are kept that can be made again; none if no home directory can be found.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "throughline")?.cache_dir().to_owned())
}

/// This program, by its whole path.
pub fn program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Where the settings of other people's assistants are.
pub fn client_dirs() -> Result<Dirs, OpenError> {
    let home = directories::BaseDirs::new().ok_or(OpenError::NoHome)?.home_dir().to_owned();
    let named = |name: &str| variable(name).map(PathBuf::from);
    Ok(Dirs {
        config: named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        roaming: named("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
        claude: named("CLAUDE_CONFIG_DIR"),
        codex: named("CODEX_HOME"),
        copilot: named("COPILOT_HOME"),
        gemini: named("GEMINI_CLI_HOME"),
        opencode: named("OPENCODE_CONFIG_DIR"),
        home,
    })
}

/// Where programs keep a person's data: `XDG_DATA_HOME`, else below the home.
pub(crate) fn data_dir() -> Result<PathBuf, OpenError> {
    let home = directories::BaseDirs::new().ok_or(OpenError::NoHome)?.home_dir().to_owned();
    Ok(variable("XDG_DATA_HOME").map_or_else(|| home.join(".local").join("share"), PathBuf::from))
}

/// Where a browser puts what a person downloads.
pub(crate) fn downloads() -> Option<PathBuf> {
    let set = directories::UserDirs::new()?.download_dir().map(Path::to_owned);
    set.or_else(|| Some(directories::BaseDirs::new()?.home_dir().join("Downloads")))
}

/// The person's editor: `$VISUAL`, else `$EDITOR`.
pub fn editor() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().find_map(variable)
}

/// A secret that a variable holds.
pub fn secret(name: &str) -> Option<String> {
    variable(name)
}

/// Where Ollama listens, if `OLLAMA_HOST` says so.
pub fn ollama_host() -> Option<String> {
    let host = variable("OLLAMA_HOST")?;
    Some(if host.contains("://") { host } else { format!("http://{host}") })
}

/// Whether this process was started by a program that is run as a model: what happens there is no conversation.
pub fn is_model_run() -> bool {
    variable(throughline_providers::MODEL_RUN).is_some()
}

/// Where programs are looked for.
pub fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// How much to log: `THROUGHLINE_LOG=debug` and the like; none if it says nothing.
pub fn log_level() -> Option<tracing::Level> {
    variable("THROUGHLINE_LOG").and_then(|level| level.parse().ok())
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
