//! What the daemon asks of the program that runs it.

use jiff::tz::TimeZone;
use throughline_core::engine::{Consolidation, Ended, Engine, ErasedMemory, Health, Reflection};
use throughline_core::model::SessionId;
use throughline_server::{Host, Problem, Setting};

use crate::world::{World, random_secret};
use crate::{background, config, exports};

/// The memory and all that it is wired from, for the daemon.
pub(crate) struct Household {
    pub(super) world: World,
}

impl Household {
    pub(crate) fn new(world: World) -> Self {
        Self { world }
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

    fn settings(&self) -> Vec<Setting> {
        let setting =
            |(key, value, from): (String, String, config::Origin)| Setting { key, value, from: from.as_str() };
        config::rows(&self.world.config).into_iter().map(setting).collect()
    }

    fn health(&self) -> Health {
        self.world.engine.health()
    }

    fn erase(&self, reference: &str, with_sources: bool) -> Result<ErasedMemory, Problem> {
        Ok(exports::erase(&self.world, reference, with_sources)?)
    }

    fn consolidate(&self, session: &SessionId, summary: Option<&str>) -> Result<Consolidation, Problem> {
        Ok(background::consolidate(&self.world, session, summary)?)
    }

    fn end(&self, session: &SessionId) -> Result<Ended, Problem> {
        Ok(background::end(&self.world, session)?)
    }

    fn reflect(&self, project: Option<&str>, dry_run: bool) -> Result<Option<Reflection>, Problem> {
        Ok(background::reflect(&self.world, project, dry_run)?)
    }
}
