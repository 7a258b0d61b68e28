//! A host of the daemon for tests.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use throughline_core::clock_trust::Trust;
use throughline_core::engine::{
    Consolidation, Ended, Engine, EngineError, ErasedMemory, ErasedScope, Health, MemoryStatus, Reflection, Said,
    StartSession, VaultListing, VaultRemoved,
};
use throughline_core::model::{EntryId, Name, Project, SessionId};
use throughline_core::ports::{ErasureScope, Job, SamplingClient};
use throughline_core::transfer::formats::{self, Format, Found, ImportError};
use throughline_core::vault::VaultAnswer;
use throughline_providers::{Api, Upstream};
use throughline_server::{
    Ahead, ChannelHost, ChannelSettings, ChatEvent, ChatMessage, ChatModel, Chores, ClientState, Code, Connect,
    Connecting, ConnectionChange, Exports, Host, Incoming, Kept, ModelWork, Observing, Problem, ProxySettings, Rhythm,
    SettingValue, Settings, Talks, Upstreams, VaultAdded, VaultFiles, Worked,
};
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::World;
use throughline_testkit::model_server::{ModelServer, Step};

/// A host whose consolidations wait for a word, and whose erasing is broken.
pub(crate) struct Waiting {
    pub(crate) world: World,
    /// Where the proxies lead.
    pub(crate) server: ModelServer,
    /// Whether the memory answers nobody for now.
    pub(crate) is_stuck: Mutex<bool>,
    waiting: Mutex<(usize, bool)>,
    changed: Condvar,
    pub(crate) unstuck: Condvar,
    /// Imports that are under way, and the most that ever were.
    imports: AtomicUsize,
    pub(crate) most_imports: AtomicUsize,
}

impl Waiting {
    pub(crate) fn on(directory: &Path) -> Self {
        let store = SqliteStore::open(&directory.join("memory.db"), &directory.join("backups"), Durability::Full);
        let world = World::around(Arc::new(store.unwrap()));
        let server = ModelServer::always(Step::reply("Hello."));
        let (waiting, is_stuck, changed) = (Mutex::default(), Mutex::default(), Condvar::new());
        let (imports, most_imports, unstuck) = (AtomicUsize::new(0), AtomicUsize::new(0), Condvar::new());
        Self { world, server, is_stuck, waiting, changed, unstuck, imports, most_imports }
    }

    pub(crate) fn wait_for(&self, count: usize) {
        let waiting = self.waiting.lock().unwrap();
        drop(self.changed.wait_while(waiting, |(waiting, _)| *waiting < count).unwrap());
    }

    /// Waits for the word.
    fn wait(&self) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.0 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(waiting, |(_, may_go_on)| !*may_go_on).unwrap());
    }

    pub(crate) fn go_on(&self) {
        self.waiting.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

fn not_here<T>() -> Result<T, Problem> {
    Err(Problem::new(Code::NoModel, "not in this test", "none"))
}

impl Chores for Waiting {
    fn uptime(&self) -> Duration {
        Duration::ZERO
    }
    fn rhythm(&self) -> Rhythm {
        Rhythm { backup_every_hours: 0, retains: false }
    }
    fn needed(&self, _: Job) -> Result<Option<Timestamp>, Problem> {
        Ok(None)
    }
    fn work(&self, _: Job, _: Trust, _: &dyn Fn() -> bool) -> Result<Option<Worked>, Problem> {
        Ok(None)
    }
    fn backup(&self) -> Result<String, Problem> {
        not_here()
    }
}

impl Talks for Waiting {
    fn chat_model(&self) -> ChatModel {
        ChatModel { available: false, provider: "none".to_owned(), model: None, why: None }
    }
    fn chat(&self, _: &ChatMessage, _: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem> {
        not_here()
    }
}

impl ChannelHost for Waiting {
    fn channels(&self) -> ChannelSettings {
        ChannelSettings::default()
    }
    fn hear(&self, _: &Incoming, _: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem> {
        not_here()
    }
    fn channel_marks(&self, _: &str) -> Result<Option<String>, Problem> {
        Ok(None)
    }
    fn keep_channel_marks(&self, _: &str, _: &str) -> Result<(), Problem> {
        Ok(())
    }
}

impl Upstreams for Waiting {
    fn upstream(&self, api: Api) -> Result<Upstream, Problem> {
        Upstream::new(api, Some(&self.server.url()), None).or_else(|_| not_here())
    }
    fn proxy_settings(&self) -> ProxySettings {
        ProxySettings { deadline: Duration::from_millis(250), compacts: false }
    }
}

impl Observing for Waiting {
    fn observe(&self, start: &StartSession, said: &[Said]) -> Result<Kept, EngineError> {
        self.engine().sessions().observe_in(start, said).map(Kept::Stored)
    }
}

impl Host for Waiting {
    fn engine(&self) -> &Engine {
        drop(self.unstuck.wait_while(self.is_stuck.lock().unwrap(), |is_stuck| *is_stuck).unwrap());
        &self.world.engine
    }
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
    fn secret(&self) -> Result<[u8; 32], Problem> {
        Ok([7; 32])
    }
    fn status(&self) -> Result<MemoryStatus, Problem> {
        not_here()
    }
    fn settings(&self) -> Settings {
        Settings { path: None, settings: Vec::new() }
    }
    fn change_setting(&self, _: &str, _: Option<SettingValue>) -> Result<(), Problem> {
        not_here()
    }
    fn health(&self) -> Health {
        Health::default()
    }
    fn copies(&self) -> Result<Vec<String>, Problem> {
        Ok(Vec::new())
    }
    fn erase(&self, _: &str, _: bool) -> Result<ErasedMemory, Problem> {
        panic!("broken on purpose")
    }
    fn erase_scope(&self, _: &ErasureScope) -> Result<ErasedScope, Problem> {
        not_here()
    }
    fn add_project(&self, _: &str, _: Option<&str>) -> Result<Project, Problem> {
        not_here()
    }
}

impl ModelWork for Waiting {
    fn compact(&self, _: &SessionId, _: Option<&str>) -> Result<Consolidation, Problem> {
        self.wait();
        Ok(Consolidation::Nothing)
    }

    fn end(&self, _: &SessionId) -> Result<Ended, Problem> {
        not_here()
    }

    fn reflect(&self, _: Option<&str>, _: bool) -> Result<Option<Reflection>, Problem> {
        Ok(None)
    }

    fn reflect_for(&self, _: &str, _: bool) -> Result<Option<Reflection>, Problem> {
        Ok(None)
    }

    fn consolidate_imported(&self) -> Result<Option<Ahead>, Problem> {
        Ok(None)
    }

    fn imported(&self) -> Result<Option<Ahead>, Problem> {
        Ok(None)
    }

    fn summarise(&self, _: &SessionId, _: Option<&str>) -> Result<Option<EntryId>, Problem> {
        not_here()
    }

    fn offer_sampling(&self, _: Arc<dyn SamplingClient>) {}
}

/// Imports wait for a word, as consolidations do.
impl Exports for Waiting {
    fn read_export(&self, name: &str, bytes: &[u8], _: bool, format: Option<Format>) -> Result<Found, ImportError> {
        let under_way = self.imports.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_imports.fetch_max(under_way, Ordering::SeqCst);
        self.wait();
        self.imports.fetch_sub(1, Ordering::SeqCst);
        formats::read(name, bytes, format)
    }
}

impl Connecting for Waiting {
    fn clients(&self) -> Result<Vec<ClientState>, Problem> {
        Ok(Vec::new())
    }

    fn connect(&self, _: &str, _: Connect, _: bool) -> Result<ConnectionChange, Problem> {
        not_here()
    }
}

impl VaultFiles for Waiting {
    fn vault_add(&self, _: &[String], _: Option<Name>) -> Result<VaultAdded, Problem> {
        not_here()
    }

    fn vault_documents(&self) -> Result<VaultListing, Problem> {
        not_here()
    }

    fn vault_search(&self, _: &str, _: usize) -> Result<VaultAnswer, Problem> {
        not_here()
    }

    fn vault_remove(&self, _: &[String]) -> Result<VaultRemoved, Problem> {
        not_here()
    }
}
