//! `throughline pause`, `throughline resume`

use clap::Args;
use throughline_core::engine::PauseState;

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Go off the record: nothing is observed and nothing is given
///
/// It holds for every assistant and channel, also after a restart. Your own commands still work.
#[derive(Args)]
pub(super) struct Pause {
    /// End by itself after this long, such as 30m, 1h or `2 days`
    #[arg(long = "for", value_name = "TIME")]
    lasting: Option<String>,
}

/// Go on the record again
#[derive(Args)]
pub(super) struct Resume {}

impl Pause {
    pub(super) fn run(self, world: &World) -> Answer {
        let state = world.engine.off_record().pause(self.lasting.as_deref())?;
        let end = match state.until {
            Some(until) => format!("until {}", style::date(until, &world.now())),
            None => "until `throughline resume`".to_owned(),
        };
        Ok(Reply::new(&state, format!("off the record {end}: nothing is observed and nothing is given\n")))
    }
}

impl Resume {
    pub(super) fn run(self, world: &World) -> Answer {
        let before = world.engine.off_record().resume()?;
        let state = world.engine.off_record().state()?;
        Ok(Reply::new(&state, told(&before, world)))
    }
}

fn told(before: &PauseState, world: &World) -> String {
    match before.since {
        Some(since) => {
            let since = style::date(since, &world.now());
            format!("on the record again; what was said since the pause began ({since}) was not kept\n")
        }
        None => "memory was not paused\n".to_owned(),
    }
}
