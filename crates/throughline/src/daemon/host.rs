//! What the daemon asks of the program that runs it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;
use throughline_core::engine::{
    Consolidation, Ended, Engine, EngineError, ErasedMemory, ErasedScope, Health, MemoryStatus, Reflection, Said,
    StartSession, VaultListing, VaultRemoved,
};
use throughline_core::model::{Actor, EntryId, Name, Project, SessionId, Source};
use throughline_core::ports::{ErasureScope, SamplingClient};
use throughline_core::transfer::formats::{Format, Found, ImportError};
use throughline_core::vault::VaultAnswer;
use throughline_readers::{Export, Limits, Source as ExportSource};
use throughline_server::{
    Ahead, ClientState, Code, Connect, Connecting, ConnectionChange, Exports, Host, Kept, ModelWork, Observing,
    Problem, SettingValue, Settings, VaultAdded, VaultFiles,
};

use super::in_turn::InTurn;
use super::resting::Resting;
use crate::world::{World, random_secret};
use crate::{background, cli, connections, directory, exports, file_reader, health, imported, vault};

/// The memory and all that it is wired from, for the daemon.
pub(crate) struct Household {
    pub(super) world: World,
    /// Conversations that could not be consolidated lately.
    pub(super) resting: Mutex<Resting>,
    /// Imported conversations of which memories are made: those that were tried, nothing where nobody imported any.
    pub(super) imported: Mutex<Option<HashSet<SessionId>>>,
    /// Conversations on channels in which a message is being answered.
    pub(super) in_turn: InTurn,
}

impl Household {
    pub(crate) fn new(mut world: World) -> Self {
        world.engine = world.engine.acting(Actor::new(Source::User, "http"));
        Self { world, resting: Mutex::default(), imported: Mutex::default(), in_turn: InTurn::default() }
    }
}

impl Observing for Household {
    fn observe(&self, start: &StartSession, said: &[Said]) -> Result<Kept, EngineError> {
        self.world.observe(start, said)
    }
}

impl Host for Household {
    fn engine(&self) -> &Engine {
        &self.world.engine
    }

    fn zone(&self) -> TimeZone {
        self.world.zone.clone()
    }

    fn secret(&self) -> Result<[u8; 32], Problem> {
        random_secret().map_err(|error| Problem::failed(&error, error.hint()))
    }

    fn status(&self) -> Result<MemoryStatus, Problem> {
        Ok(health::status(&self.world)?)
    }

    fn settings(&self) -> Settings {
        let mut settings = crate::config::shown(&self.world.config);
        // What the file says by now; one that cannot be read changes nothing.
        let Ok(file) = crate::config::load(&self.world.home.config) else { return settings };
        for (now, next) in settings.settings.iter_mut().zip(crate::config::shown(&file).settings) {
            now.next = (now.value != next.value).then_some(next.value);
        }
        settings
    }

    fn change_setting(&self, key: &str, value: Option<SettingValue>) -> Result<(), Problem> {
        let known = self.settings().settings.into_iter().find(|setting| setting.key == key);
        let kind = known.and_then(|setting| setting.change);
        let value = match (kind, value) {
            (Some(_), None) => None,
            (Some("flag"), Some(SettingValue::Flag(flag))) => Some(flag.into()),
            (Some("number"), Some(SettingValue::Number(number))) => Some(number.into()),
            _ => {
                let hint = format!("change it in a terminal: `throughline config set {key} VALUE`");
                return Err(Problem::new(Code::Forbidden, format!("`{key}` is not changed to that here"), hint));
            }
        };
        let refused =
            |(message, hint): (String, Option<String>)| Problem::new(Code::Invalid, message, hint.unwrap_or_default());
        cli::config::change(&self.world.home, key, value).map_err(refused)
    }

    fn health(&self) -> Health {
        health::of(&self.world)
    }

    fn copies(&self) -> Result<Vec<String>, Problem> {
        Ok(exports::copies(&self.world)?)
    }

    fn erase(&self, reference: &str, with_sources: bool) -> Result<ErasedMemory, Problem> {
        Ok(exports::erase(&self.world, reference, with_sources)?)
    }

    fn erase_scope(&self, scope: &ErasureScope) -> Result<ErasedScope, Problem> {
        Ok(exports::erase_scope(&self.world, scope)?)
    }

    fn add_project(&self, name: &str, dir: Option<&str>) -> Result<Project, Problem> {
        let dir = dir.map(absolute).transpose()?;
        Ok(self.world.engine.projects().add(name, dir.as_deref())?)
    }
}

impl ModelWork for Household {
    fn compact(&self, session: &SessionId, summary: Option<&str>) -> Result<Consolidation, Problem> {
        Ok(background::compact(&self.world, session, summary)?)
    }

    fn end(&self, session: &SessionId) -> Result<Ended, Problem> {
        Ok(background::end(&self.world, session)?)
    }

    fn reflect(&self, project: Option<&str>, dry_run: bool) -> Result<Option<Reflection>, Problem> {
        Ok(background::reflect(&self.world, project, dry_run)?)
    }

    fn reflect_for(&self, agent: &str, dry_run: bool) -> Result<Option<Reflection>, Problem> {
        Ok(background::reflect_for(&self.world, agent, dry_run, background::NEVER)?)
    }

    fn summarise(&self, session: &SessionId, summary: Option<&str>) -> Result<Option<EntryId>, Problem> {
        Ok(background::summarise_as(&self.world, session, summary)?)
    }

    fn consolidate_imported(&self) -> Result<Option<Ahead>, Problem> {
        if imported::is_free(&self.world) {
            *self.imported.lock().unwrap_or_else(PoisonError::into_inner) = Some(HashSet::new());
        }
        self.imported()
    }

    fn imported(&self) -> Result<Option<Ahead>, Problem> {
        let started = self.imported.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        Ok(imported::ahead(&self.world)?.map(|ahead| Ahead { started, ..ahead }))
    }

    fn offer_sampling(&self, client: Arc<dyn SamplingClient>) {
        self.world.sampling.add(client);
    }
}

impl Connecting for Household {
    fn clients(&self) -> Result<Vec<ClientState>, Problem> {
        connections::states()
    }

    fn connect(&self, client: &str, wanted: Connect, dry_run: bool) -> Result<ConnectionChange, Problem> {
        connections::change(client, wanted, dry_run)
    }
}

impl VaultFiles for Household {
    fn vault_add(&self, paths: &[String], into: Option<Name>) -> Result<VaultAdded, Problem> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        vault::add_for_daemon(&self.world, &paths, into.as_ref()).map_err(|error| match error {
            vault::AddError::Sync(vault::SyncError::Engine(error)) => error.into(),
            vault::AddError::Engine(error) => error.into(),
            vault::AddError::Folder(error) => Problem::failed(&error, error.hint()),
            other => Problem::new(Code::Invalid, throughline_core::engine::chain(&other), other.hint()),
        })
    }

    fn vault_documents(&self) -> Result<VaultListing, Problem> {
        Ok(vault::listing(&self.world)?)
    }

    fn vault_search(&self, query: &str, limit: usize) -> Result<VaultAnswer, Problem> {
        Ok(vault::search(&self.world, query, limit)?)
    }

    fn vault_remove(&self, references: &[String]) -> Result<VaultRemoved, Problem> {
        Ok(vault::remove(&self.world, references)?)
    }
}

impl Exports for Household {
    fn read_export(
        &self,
        name: &str,
        bytes: &[u8],
        is_archive: bool,
        format: Option<Format>,
    ) -> Result<Found, ImportError> {
        let export = Export { name, source: ExportSource::Bytes(bytes), is_archive, format };
        file_reader::read_export(export, Limits::DAEMON)
    }
}

/// The absolute path of a directory: where the daemon was started says nothing about its clients.
fn absolute(dir: &str) -> Result<String, Problem> {
    let hint = "give the absolute path of a directory that exists";
    if !Path::new(dir).is_absolute() {
        return Err(Problem::new(Code::Invalid, format!("cannot use {dir}: it is not an absolute path"), hint));
    }
    directory::of_project(Path::new(dir)).map_err(|error| Problem::new(Code::Invalid, error.to_string(), error.hint()))
}
