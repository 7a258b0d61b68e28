//! What the daemon does by itself, one function per job.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use throughline_core::clock_trust::Trust;
use throughline_core::engine::EngineError;
use throughline_core::model::SessionId;
use throughline_core::ports::{Job, PassOutcome, RunOutcome};
use throughline_core::sessions::Trigger;
use throughline_core::text::count;
use throughline_server::{Chores, Problem, Rhythm, Worked};

use super::Household;
use super::resting::Resting;
use crate::background::IsStopped;
use crate::backups::BackupError;
use crate::vectors::{Effort, Embedding, Of};
use crate::world::{World, uptime};
use crate::{background, backups, imported, sampling, vectors};

/// As much as one run embeds of the vault and of the memories each; the next comes right behind it.
const EMBEDDED_AT_ONCE: Effort = Effort { most: 2_000, patience: Duration::ZERO };

impl Chores for Household {
    fn uptime(&self) -> Duration {
        uptime()
    }

    fn rhythm(&self) -> Rhythm {
        let settings = self.world.engine.settings();
        Rhythm {
            // A store without backups is backed up where it is kept.
            backup_every_hours: match self.world.backups {
                Some(_) => self.world.config.config.server.backup_every_hours,
                None => 0,
            },
            retains: settings.policy.turns_retention_days > 0 || settings.enabled && settings.policy.retention_days > 0,
        }
    }

    fn needed(&self, job: Job) -> Result<Option<Timestamp>, Problem> {
        let (world, now) = (&self.world, self.world.engine.now());
        match job {
            Job::Consolidation | Job::Reflection if sampling::is_elsewhere(world) => Ok(None),
            Job::Consolidation => {
                // What waited for the server may make a conversation due.
                world.deliver_waiting();
                let soonest = self.due()?.into_iter().map(|due| due.rests).min();
                let soonest = if self.imported()?.is_empty() { soonest } else { Some(Duration::ZERO) };
                Ok(soonest.map(|rests| now.saturating_add(rests).unwrap_or(now)))
            }
            Job::Reflection => Ok(background::next_reflection(world)?),
            Job::Embedding => {
                let is_due = vectors::due(world)?.is_some() || vectors::waiting_memories(world)? > 0;
                Ok(is_due.then_some(now))
            }
            Job::Retention | Job::Backup => Ok(None),
        }
    }

    fn work(&self, job: Job, trust: Trust, is_stopped: &dyn Fn() -> bool) -> Result<Option<Worked>, Problem> {
        match job {
            Job::Consolidation => Ok(self.consolidate(is_stopped)?),
            Job::Retention => Ok(Some(retire(&self.world, trust, is_stopped)?)),
            Job::Reflection => Ok(reflect(&self.world, is_stopped)?),
            Job::Backup => {
                let what = backups::automatic(&self.world, trust, is_stopped).map_err(failed)?;
                Ok(what.map(Worked::done))
            }
            Job::Embedding => Ok(embed(&self.world, is_stopped)?),
        }
    }

    fn backup(&self) -> Result<String, Problem> {
        Ok(backups::by_hand(&self.world).map_err(failed)?.display().to_string())
    }
}

fn failed(error: BackupError) -> Problem {
    Problem::failed(&error, Some(error.hint().into_owned()))
}

/// As many imported conversations as one run takes: those that fall due in the meantime come in between.
const IMPORTED_AT_ONCE: usize = 50;

/// A conversation that is due.
struct Due {
    session: SessionId,
    trigger: Trigger,
    /// How long it still rests after a failure.
    rests: Duration,
}

impl Household {
    fn resting(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn due(&self) -> Result<Vec<Due>, EngineError> {
        let due = self.world.engine.sessions().all_due(background::RECENT)?;
        let (mut resting, now) = (self.resting(), uptime());
        resting.keep_only(&due.iter().map(|(session, _)| session).collect::<HashSet<_>>());
        let with_rest = |(session, trigger)| Due { rests: resting.left(&session, now), session, trigger };
        Ok(due.into_iter().map(with_rest).collect())
    }

    /// The imported conversations that are to be consolidated, as far as they were not tried yet.
    fn imported(&self) -> Result<Vec<SessionId>, EngineError> {
        if self.tried().is_none() {
            return Ok(Vec::new());
        }
        let mut waiting = imported::waiting(&self.world)?;
        let mut tried = self.tried();
        waiting.retain(|session| tried.as_ref().is_some_and(|tried| !tried.contains(session)));
        if waiting.is_empty() {
            *tried = None;
        }
        Ok(waiting)
    }

    fn tried(&self) -> MutexGuard<'_, Option<HashSet<SessionId>>> {
        self.imported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Consolidates or ends each conversation that is due, and some of those that were imported; one that fails is no
    /// obstacle to the others.
    fn consolidate(&self, is_stopped: IsStopped<'_>) -> Result<Option<Worked>, EngineError> {
        let mut due = self.due()?;
        // Only a person has it begun while all of them rest, and nothing was imported.
        let is_asked_for = due.iter().all(|due| !due.rests.is_zero()) && self.tried().is_none();
        if is_asked_for && imported::is_free(&self.world) {
            *self.tried() = Some(HashSet::new());
        }
        let imported = self.imported()?;
        let left = imported.len().saturating_sub(IMPORTED_AT_ONCE);
        let trigger = Trigger::Idle;
        let some = imported.into_iter().take(IMPORTED_AT_ONCE);
        due.extend(some.map(|session| Due { session, trigger, rests: Duration::ZERO }));
        let (mut done, mut facts, mut failures) = (0, 0, Vec::new());
        for Due { session, trigger, .. } in due.into_iter().filter(|due| is_asked_for || due.rests.is_zero()) {
            if is_stopped() {
                break;
            }
            if let Some(tried) = &mut *self.tried() {
                tried.insert(session.clone());
            }
            match background::consolidate_due(&self.world, &session, trigger, is_stopped) {
                Ok(None) => {}
                Ok(Some(new)) => {
                    self.resting().forget(&session);
                    done += 1;
                    facts += new;
                }
                Err(why) => {
                    self.resting().failed(&session, uptime());
                    tracing::warn!(%session, why, "a conversation was not consolidated; it is tried again");
                    failures.push(format!("{session}: {why}"));
                }
            }
        }
        let conversations = count(done, "conversation", "conversations");
        let mut what = format!("{conversations}, {}", count(facts, "new fact", "new facts"));
        if left > 0 {
            what.push_str(&format!("; {left} imported ones are left"));
        }
        Ok(match failures.first() {
            None if done == 0 => None,
            None => Some(Worked::done(what)),
            Some(first) => {
                let what = format!("{what}; {} failed: {first}", failures.len());
                Some(if done == 0 { Worked::failed(what) } else { Worked::done(what) })
            }
        })
    }
}

fn retire(world: &World, trust: Trust, is_stopped: &dyn Fn() -> bool) -> Result<Worked, EngineError> {
    if let Some(wait) = trust.wait() {
        let what = format!("nothing is retired {wait}");
        return Ok(Worked { outcome: RunOutcome::Waiting, what });
    }
    let mut retired = 0;
    while !is_stopped() {
        let some = world.engine.consolidation().retire()?;
        retired += some.chunks as u64;
        if !some.may_be_more {
            break;
        }
    }
    let mut removed = 0;
    while !is_stopped() {
        let some = world.engine.sessions().remove_old_turns()?;
        removed += some.turns as u64;
        if !some.may_be_more {
            break;
        }
    }
    let pieces = count(retired, "piece of the timeline was", "pieces of the timeline were");
    let turns = if removed > 0 { format!(", {} removed", count(removed, "turn", "turns")) } else { String::new() };
    Ok(Worked::done(format!("{pieces} retired{turns}")))
}

fn reflect(world: &World, is_stopped: IsStopped<'_>) -> Result<Option<Worked>, EngineError> {
    let done = background::reflect_due(world, is_stopped)?;
    let failed = done.passes.iter().filter(|reflection| reflection.pass.outcome == PassOutcome::Failed);
    let why = |reason: &Option<String>| reason.clone().unwrap_or_default();
    let failed = failed.map(|reflection| format!("{}: {}", reflection.pass.target, why(&reflection.pass.reason)));
    if let Some(first) = failed.chain(done.failures).next() {
        return Ok(Some(Worked::failed(first)));
    }
    let changes: usize = done.passes.iter().map(|reflection| reflection.pass.applied.len()).sum();
    let (passes, changes) = (done.passes.len() as u64, changes as u64);
    let what = || format!("{}, {}", count(passes, "pass", "passes"), count(changes, "change", "changes"));
    Ok((passes > 0).then(|| Worked::done(what())))
}

/// Memories first: questions wait for them, and one more turn is done in a moment.
fn embed(world: &World, is_stopped: IsStopped<'_>) -> Result<Option<Worked>, EngineError> {
    let mut told = Vec::new();
    for of in [Of::Memories, Of::Passages] {
        let done = match vectors::embed(world, of, EMBEDDED_AT_ONCE, &mut |_, _| !is_stopped())? {
            Some(Embedding::Ran(done)) => done,
            Some(Embedding::Busy(_)) | None => continue,
        };
        let what = match of {
            Of::Memories => count(done.embedded, "memory got its vector", "memories got their vectors"),
            Of::Passages => count(done.embedded, "passage got its vector", "passages got their vectors"),
        };
        let what = format!("{what} of {}, {} left", done.model, count(done.missing, "is", "are"));
        if let Some(problem) = done.problem {
            told.push(format!("{what}: {problem}"));
            return Ok(Some(Worked::failed(told.join("; "))));
        }
        if done.embedded > 0 {
            told.push(what);
        }
    }
    Ok((!told.is_empty()).then(|| Worked::done(told.join("; "))))
}
