//! Consolidation without a daemon: a detached run of this program, which ends by itself.

use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::SignedDuration;
use throughline_core::engine::{Consolidation, EngineError, Worker};
use throughline_core::model::SessionId;
use throughline_core::session::Trigger;

use crate::models;
use crate::world::{World, is_running};

/// How long a run waits for another that holds the lease, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// Conversations older than this are not looked at for silence: they were consolidated, or never will be.
const RECENT: SignedDuration = SignedDuration::from_hours(24 * 7);

/// Starts a consolidation that outlives this process; says whether it could.
pub(crate) fn start(session: &SessionId) -> bool {
    let started = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(["session", "consolidate", session.as_str(), "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    });
    if let Err(error) = &started {
        tracing::warn!(%error, "no summary was begun; the next command tries again");
    }
    started.is_ok()
}

/// Starts what fell silent long enough ago; a failure to look is no failure of the command.
pub(crate) fn start_idle(world: &World, except: &SessionId) {
    let due = world.engine.all_due(RECENT).unwrap_or_else(|error| {
        tracing::warn!(%error, "silent conversations could not be looked for");
        Vec::new()
    });
    for (session, trigger) in due {
        if trigger == Trigger::Idle && session != *except {
            start(&session);
        }
    }
}

/// Consolidates here and now, waiting for its turn.
pub(crate) fn consolidate(
    world: &World,
    session: &SessionId,
    summary: Option<&str>,
) -> Result<Consolidation, EngineError> {
    let model = models::for_consolidation(&world.config.config, &world.home.config);
    let worker = Worker { name: std::process::id().to_string(), is_gone: &|name| !is_running(name) };
    let mut waited = Duration::ZERO;
    loop {
        match world.engine.consolidate(session, &*model, summary, &worker)? {
            Consolidation::Busy if waited < PATIENCE => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            outcome => return Ok(outcome),
        }
    }
}
