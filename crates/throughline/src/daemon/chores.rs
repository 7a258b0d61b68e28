//! What the daemon does by itself, one function per job.

use std::time::Duration;

use jiff::Timestamp;
use throughline_core::engine::{Consolidation, EngineError};
use throughline_core::model::{Position, SessionId};
use throughline_core::ports::{Job, PassOutcome, RunOutcome};
use throughline_core::session::Trigger;
use throughline_core::steady::Trust;
use throughline_server::{Chores, Problem, Rhythm, Worked};

use super::Household;
use crate::backups::BackupError;
use crate::world::{World, uptime};
use crate::{background, backups, embedders};

/// How many pieces of the timeline one change retires.
const RETIRED_AT_ONCE: usize = 500;

impl Chores for Household {
    fn uptime(&self) -> Duration {
        uptime()
    }

    fn rhythm(&self) -> Rhythm {
        let settings = self.world.engine.settings();
        Rhythm {
            backup_every_hours: self.world.config.config.server.backup_every_hours,
            retains: settings.enabled && settings.policy.retention_days > 0,
        }
    }

    fn needed(&self, job: Job) -> Result<Option<Timestamp>, Problem> {
        let (world, now) = (&self.world, self.world.engine.now());
        match job {
            Job::Consolidation => Ok((!world.engine.all_due(background::RECENT)?.is_empty()).then_some(now)),
            Job::Reflection => Ok(background::next_reflection(world)?),
            Job::Embedding => match embedders::for_indexing(world) {
                Ok(Some(embedder)) => Ok((world.engine.vault_unembedded(&*embedder)? > 0).then_some(now)),
                // What is wrong with the settings is said by whoever asks for it.
                Ok(None) | Err(_) => Ok(None),
            },
            Job::Retention | Job::Backup => Ok(None),
        }
    }

    fn work(&self, job: Job, trust: Trust, is_stopped: &dyn Fn() -> bool) -> Result<Option<Worked>, Problem> {
        match job {
            Job::Consolidation => Ok(consolidate(&self.world, is_stopped)?),
            Job::Retention => Ok(Some(retire(&self.world, trust, is_stopped)?)),
            Job::Reflection => Ok(reflect(&self.world)?),
            Job::Backup => backups::automatic(&self.world, trust).map(|what| Some(Worked::done(what))).map_err(failed),
            Job::Embedding => embed(&self.world),
        }
    }

    fn backup(&self) -> Result<String, Problem> {
        let path = backups::dated(&self.world);
        self.world.store.backup(&path, &mut |_, _| {}).map_err(|error| failed(error.into()))?;
        backups::prove(&path).map_err(failed)?;
        Ok(path.display().to_string())
    }
}

fn failed(error: BackupError) -> Problem {
    Problem::failed(&error, Some(error.hint().to_owned()))
}

/// Consolidates or ends each conversation that is due; one that fails is no obstacle to the others.
fn consolidate(world: &World, is_stopped: &dyn Fn() -> bool) -> Result<Option<Worked>, EngineError> {
    let (mut done, mut facts, mut failures) = (0, 0, Vec::new());
    for (session, trigger) in world.engine.all_due(background::RECENT)? {
        if is_stopped() {
            break;
        }
        let before = standing(world, &session)?;
        let outcome = match trigger {
            Trigger::Ended => background::end(world, &session).map(|ended| ended.consolidation),
            _ => background::consolidate(world, &session, None),
        };
        match outcome {
            Ok(Consolidation::Done(compaction) | Consolidation::Archived(compaction)) => {
                done += 1;
                facts += compaction.facts.len();
            }
            Ok(Consolidation::Failed { reason, .. }) => failures.push(format!("{session}: {reason}")),
            Ok(Consolidation::Nothing | Consolidation::Busy) if standing(world, &session)? != before => done += 1,
            Ok(Consolidation::Nothing) => failures.push(format!("{session} was not looked back on")),
            // Somebody else is at it.
            Ok(Consolidation::Busy) => {}
            Err(error) => failures.push(format!("{session}: {error}")),
        }
    }
    let what = format!("{done} conversations, {facts} new facts");
    Ok(match failures.first() {
        Some(first) => Some(Worked::failed(format!("{what}; {} failed: {first}", failures.len()))),
        None if done == 0 => None,
        None => Some(Worked::done(what)),
    })
}

/// How far a conversation is.
fn standing(world: &World, session: &SessionId) -> Result<(Position, Position), EngineError> {
    let (state, _) = world.engine.conversation(session)?;
    Ok((state.consolidated, state.filled))
}

fn retire(world: &World, trust: Trust, is_stopped: &dyn Fn() -> bool) -> Result<Worked, EngineError> {
    if let Trust::Waiting { doubt, left } = trust {
        let what = format!("nothing is retired for {} min: {doubt}", left.as_secs().div_ceil(60));
        return Ok(Worked { outcome: RunOutcome::Waiting, what });
    }
    let mut retired = 0;
    while !is_stopped() {
        let more = world.engine.retire()?;
        retired += more;
        if more < RETIRED_AT_ONCE {
            break;
        }
    }
    Ok(Worked::done(format!("{retired} pieces of the timeline were retired")))
}

fn reflect(world: &World) -> Result<Option<Worked>, EngineError> {
    let passes = background::reflect_due(world)?;
    let failed = passes.iter().find(|reflection| reflection.pass.outcome == PassOutcome::Failed);
    if let Some(failed) = failed {
        let reason = failed.pass.reason.clone().unwrap_or_default();
        return Ok(Some(Worked::failed(format!("{}: {reason}", failed.pass.target))));
    }
    let changes: usize = passes.iter().map(|reflection| reflection.pass.applied.len()).sum();
    Ok((!passes.is_empty()).then(|| Worked::done(format!("{} passes, {changes} changes", passes.len()))))
}

fn embed(world: &World) -> Result<Option<Worked>, Problem> {
    let embedder = embedders::for_indexing(world).map_err(|error| {
        let hint = error.hint();
        Problem::new(throughline_server::Code::NoModel, error.to_string(), hint)
    })?;
    let Some(embedder) = embedder else { return Ok(None) };
    let done = world.engine.vault_embed(&*embedder, &mut |_, _| {})?;
    let what = format!("{} passages got vectors of {}, {} are left", done.embedded, done.model, done.missing);
    Ok(match done.problem {
        Some(problem) => Some(Worked::failed(format!("{what}: {problem}"))),
        None if done.embedded == 0 => None,
        None => Some(Worked::done(what)),
    })
}
