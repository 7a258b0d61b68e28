//! Consolidation and reflection without a daemon: a detached run of this program, which ends by itself. Where a daemon runs
//! on this memory, or a process that asks its client's model, nothing is started: it notices within a second or two what is
//! due.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use throughline_core::engine::{Consolidation, Ended, EngineError, Reflection, Worker, chain};
use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::{Model, PassOutcome, SAMPLING};
use throughline_core::sessions::Trigger;
use throughline_offline::Offline;

use crate::world::{self, World};
use crate::{daemon, lock_file, models, processes, sampling};

/// How long a run waits for another that holds the lease, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// Conversations older than this are not looked at for silence: they were consolidated, or never will be.
pub(crate) const RECENT: SignedDuration = SignedDuration::from_hours(24 * 7);

/// Whether somebody wants this process to end.
pub(crate) type IsStopped<'a> = &'a dyn Fn() -> bool;

/// Nobody does.
pub(crate) const NEVER: IsStopped<'static> = &|| false;

/// Has a conversation that is due consolidated after this process; says whether somebody will.
pub(crate) fn start(world: &World, session: &SessionId) -> bool {
    is_seen_elsewhere(world) || start_now(world, session)
}

/// Whether another process sees by itself what is due: a daemon, or one whose client offers its model.
fn is_seen_elsewhere(world: &World) -> bool {
    daemon::is_running(&world.home) || sampling::is_elsewhere(world)
}

fn start_now(world: &World, session: &SessionId) -> bool {
    detached(world, &["session", "consolidate", session.as_str(), "--json"])
}

/// Has a conversation consolidated after this process, due or not, and what is sent of it shortened. A daemon does not
/// see by itself that a host forgets what was said.
pub(crate) fn start_compaction(world: &World, session: &SessionId) {
    detached(world, &["session", "consolidate", session.as_str(), "--compact", "--json"]);
}

/// Has a conversation consolidated after this process from a summary that its host made at that time.
pub(crate) fn start_summary(world: &World, session: &SessionId, summary: &str, at: Option<Timestamp>) {
    let mut args = vec!["session", "consolidate", session.as_str(), "--summary", "-", "--json"];
    let at = at.map(|at| at.to_string());
    args.extend(at.iter().flat_map(|at| ["--until", at.as_str()]));
    detached_with(world, &args, summary);
}

/// Has a conversation ended after this process.
pub(crate) fn start_end(world: &World, session: &SessionId) {
    if matches!(world.engine.sessions().find(session), Ok(None)) {
        return;
    }
    if !is_seen_elsewhere(world) {
        detached(world, &["session", "end", session.as_str(), "--json"]);
        return;
    }
    if let Err(error) = world.engine.sessions().mark_ended(session) {
        tracing::warn!(%error, "the conversation was not ended; it is looked back on after some silence");
    }
}

pub(crate) fn detached(world: &World, args: &[&str]) -> bool {
    detached_with(world, args, "")
}

/// The same with a text on standard input, which must fit into a pipe.
fn detached_with(world: &World, args: &[&str], input: &str) -> bool {
    let started = world::program().and_then(|program| {
        let mut command = Command::new(program);
        command.args(args);
        // A home that is all in one place may be another than the one that the environment names.
        if world.home.config == world.home.data {
            command.env("THROUGHLINE_HOME", &world.home.data);
        }
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input.as_bytes()))
    });
    if let Err(error) = &started {
        tracing::warn!(%error, "nothing was begun in the background; the next command tries again");
    }
    started.is_ok()
}

/// Has the upkeep of the word index done after this process, where it did not come to its end: a process that ends does not
/// wait for it.
pub(crate) fn start_upkeep(world: &World) {
    if world.engine.health().has_upkeep() && !daemon::is_running(&world.home) {
        detached(world, &["reindex", "--merge", "--json"]);
    }
}

/// Starts what fell silent, or was left for the conversation `here`, and the reflections that are due.
pub(crate) fn start_idle(world: &World, here: &SessionId) {
    start_waiting(world, Some(here));
    if !is_seen_elsewhere(world) {
        start_reflection(world);
    }
}

/// Starts the consolidation of what fell silent, or was left for the conversation `here`: not every client says that a
/// conversation ends. One run does all of it, however much there is, and at most one more waits behind it. A failure to look is
/// no failure of the command.
pub(crate) fn start_waiting(world: &World, here: Option<&SessionId>) {
    if is_seen_elsewhere(world) || lock_file::is_held(&waiting_locks(world).0) {
        return;
    }
    match waiting(world, here) {
        Ok(waiting) if waiting.is_empty() => {}
        Ok(_) => {
            let here = here.map(SessionId::as_str);
            let args = ["session", "consolidate", "--waiting", "--json"].into_iter().chain(here);
            detached(world, &args.collect::<Vec<_>>());
        }
        Err(error) => tracing::warn!(%error, "silent conversations could not be looked for"),
    }
}

/// What the next run holds until it begins, and what the current one holds.
fn waiting_locks(world: &World) -> (PathBuf, PathBuf) {
    (world.home.data.join("waiting-next.lock"), world.home.data.join("waiting.lock"))
}

/// Waits for the run before this one; nothing if another waits already.
fn take_turn(world: &World) -> io::Result<Option<File>> {
    let (next, current) = waiting_locks(world);
    let Some(_next) = lock_file::take(&next)? else { return Ok(None) };
    lock_file::wait(&current).map(Some)
}

/// Consolidates or ends what fell silent, or was left for the conversation `here`, one after the other, until nothing new waits.
/// Gives how many were looked at: none where another process will do it.
pub(crate) fn consolidate_waiting(world: &World, here: Option<&SessionId>) -> Result<usize, EngineError> {
    let turn = take_turn(world).unwrap_or_else(|error| {
        tracing::warn!(%error, "what waits cannot be locked; it stays until the next command");
        None
    });
    let Some(_turn) = turn else { return Ok(0) };
    let mut tried = HashSet::new();
    loop {
        let mut waiting = waiting(world, here)?;
        waiting.retain(|(session, _)| tried.insert(session.clone()));
        if waiting.is_empty() {
            return Ok(tried.len());
        }
        for (session, trigger) in waiting {
            if let Err(why) = consolidate_due(world, &session, trigger, NEVER) {
                tracing::warn!(%session, why, "a conversation was not consolidated; it is tried again");
            }
        }
    }
}

/// The conversations other than this one that nobody else will begin to consolidate: those that are due by silence or
/// their end, and those that were left for this one.
fn waiting(world: &World, here: Option<&SessionId>) -> Result<Vec<(SessionId, Trigger)>, EngineError> {
    let sessions = world.engine.sessions();
    let mut waiting = sessions.all_due(RECENT)?;
    // What else is due was begun when it became due; where that failed, it falls silent, too.
    waiting.retain(|(session, trigger)| matches!(trigger, Trigger::Idle | Trigger::Ended) && Some(session) != here);
    if let Some(here) = here {
        for left in sessions.left_for(here, RECENT)? {
            if waiting.iter().all(|(session, _)| *session != left) {
                waiting.push((left, Trigger::Idle));
            }
        }
    }
    Ok(waiting)
}

/// Starts the passes of reflection that are due, caught up after any sleep; a failure to look is no failure of the
/// command.
fn start_reflection(world: &World) {
    match reflections_due(world) {
        Ok(due) if !due.is_empty() => {
            detached(world, &["reflect", "--due", "--json"]);
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "whether a reflection is due could not be told"),
    }
}

/// What is looked back on: the person's own memory, and projects that have a place.
fn targets(world: &World) -> Result<Vec<Option<String>>, EngineError> {
    let placed = world.engine.projects().list()?.into_iter().filter(|project| project.dir.is_some());
    Ok(std::iter::once(None).chain(placed.map(|project| Some(project.name.to_string()))).collect())
}

/// When the next pass of any kind is due.
pub(crate) fn next_reflection(world: &World) -> Result<Option<Timestamp>, EngineError> {
    let mut next = None;
    for target in targets(world)? {
        let due = world.engine.reflection().next(target.as_deref(), &world.zone)?;
        next = next.into_iter().chain(due).min();
    }
    Ok(next)
}

/// Those of which a pass is due.
fn reflections_due(world: &World) -> Result<Vec<Option<String>>, EngineError> {
    let mut due = Vec::new();
    for target in targets(world)? {
        if world.engine.reflection().is_due(target.as_deref(), &world.zone)? {
            due.push(target);
        }
    }
    Ok(due)
}

/// What came of the passes that were due.
#[derive(Default)]
pub(crate) struct Passed {
    /// Those that are in the log of passes.
    pub(crate) passes: Vec<Reflection>,
    /// What was not looked back on at all, and why.
    pub(crate) failures: Vec<String>,
}

/// Does every pass that is due, until it is stopped; one that fails is no obstacle to the others.
pub(crate) fn reflect_due(world: &World, is_stopped: IsStopped<'_>) -> Result<Passed, EngineError> {
    let mut done = Passed::default();
    for target in reflections_due(world)? {
        if is_stopped() {
            break;
        }
        match reflect_until(world, target.as_deref(), false, is_stopped) {
            Ok(reflection) => done.passes.extend(reflection),
            Err(error) => done.failures.push(format!("{}: {}", target.as_deref().unwrap_or("user"), chain(&error))),
        }
    }
    Ok(done)
}

/// Looks back here and now, waiting for its turn.
pub(crate) fn reflect(world: &World, project: Option<&str>, dry_run: bool) -> Result<Option<Reflection>, EngineError> {
    reflect_until(world, project, dry_run, NEVER)
}

/// Looks back on what was said to one agent, here and now, waiting for its turn.
pub(crate) fn reflect_for(
    world: &World,
    agent: &str,
    dry_run: bool,
    is_stopped: IsStopped<'_>,
) -> Result<Option<Reflection>, EngineError> {
    with_model(world, is_stopped, has_failed, |model, worker| {
        world.engine.reflection().run_for_agent(agent, model, worker, dry_run)
    })
}

/// As [`reflect`], waiting no longer once it is stopped.
pub(crate) fn reflect_until(
    world: &World,
    project: Option<&str>,
    dry_run: bool,
    is_stopped: IsStopped<'_>,
) -> Result<Option<Reflection>, EngineError> {
    with_model(world, is_stopped, has_failed, |model, worker| {
        world.engine.reflection().run(project, model, worker, dry_run)
    })
}

fn has_failed(reflection: &Reflection) -> bool {
    reflection.pass.outcome == PassOutcome::Failed
}

/// Consolidates and reflects on what is due, until it is stopped; what fails is no obstacle to the rest.
pub(crate) fn work_due(world: &World, is_stopped: IsStopped<'_>) -> Result<(), EngineError> {
    for (session, trigger) in world.engine.sessions().all_due(RECENT)? {
        if is_stopped() {
            return Ok(());
        }
        if let Err(why) = consolidate_due(world, &session, trigger, is_stopped) {
            tracing::warn!(%session, why, "a conversation was not consolidated; it is tried again");
        }
    }
    for why in reflect_due(world, is_stopped)?.failures {
        tracing::warn!(why, "a reflection failed; it is tried again");
    }
    Ok(())
}

/// Consolidates or ends a conversation that is due. Gives how many facts are new, nothing where somebody else is at it, or
/// why it could not be done.
pub(crate) fn consolidate_due(
    world: &World,
    session: &SessionId,
    trigger: Trigger,
    is_stopped: IsStopped<'_>,
) -> Result<Option<u64>, String> {
    let failed = |error: EngineError| chain(&error);
    let outcome = match trigger {
        Trigger::Ended => end_until(world, session, is_stopped).map(|ended| ended.consolidation),
        _ => consolidate_until(world, session, None, is_stopped),
    };
    match outcome.map_err(failed)? {
        Consolidation::Done(compaction) | Consolidation::Archived(compaction) => {
            Ok(Some(compaction.facts.len() as u64))
        }
        Consolidation::Failed { reason, .. } => Err(reason),
        Consolidation::Nothing | Consolidation::Busy => Ok(None),
    }
}

/// Consolidates here and now, waiting for its turn.
pub(crate) fn consolidate(
    world: &World,
    session: &SessionId,
    summary: Option<&str>,
) -> Result<Consolidation, EngineError> {
    consolidate_until(world, session, summary, NEVER)
}

/// As [`consolidate`], waiting no longer once it is stopped.
pub(crate) fn consolidate_until(
    world: &World,
    session: &SessionId,
    summary: Option<&str>,
    is_stopped: IsStopped<'_>,
) -> Result<Consolidation, EngineError> {
    let has_failed = |outcome: &Consolidation| summary.is_none() && is_failure(outcome);
    let outcome = with_model(world, is_stopped, has_failed, |model, worker| {
        let outcome = world.engine.consolidation().run(session, model, summary, worker)?;
        Ok((outcome != Consolidation::Busy).then_some(outcome))
    })?;
    Ok(outcome.unwrap_or(Consolidation::Busy))
}

/// Consolidates here and now what was said until a time, from a summary that the host made then of the whole conversation.
pub(crate) fn consolidate_from(
    world: &World,
    session: &SessionId,
    summary: &str,
    until: Timestamp,
) -> Result<Consolidation, EngineError> {
    let outcome = with_model(
        world,
        NEVER,
        |_| false,
        |model, worker| {
            let outcome = world.engine.consolidation().run_until(session, model, summary, until, worker)?;
            Ok((outcome != Consolidation::Busy).then_some(outcome))
        },
    )?;
    Ok(outcome.unwrap_or(Consolidation::Busy))
}

/// Keeps a summary of a conversation that is given, or makes one; gives the entry in the archive, where there is one.
pub(crate) fn summarise_as(
    world: &World,
    session: &SessionId,
    summary: Option<&str>,
) -> Result<Option<EntryId>, EngineError> {
    match summary {
        Some(text) => world.engine.keep_summary(session, text),
        None => summarise(world, session),
    }
}

/// Sums a conversation up here and now; gives the entry in the archive, where there is one.
pub(crate) fn summarise(world: &World, session: &SessionId) -> Result<Option<EntryId>, EngineError> {
    consolidate(world, session, None)?;
    world.engine.consolidation().summary_of(session)
}

/// Consolidates here and now, waiting for its turn, and shortens what is sent.
pub(crate) fn compact(world: &World, session: &SessionId, summary: Option<&str>) -> Result<Consolidation, EngineError> {
    let has_failed = |outcome: &Consolidation| summary.is_none() && is_failure(outcome);
    let outcome = with_model(world, NEVER, has_failed, |model, worker| {
        let outcome = world.engine.consolidation().compact(session, model, summary, worker)?;
        Ok((outcome != Consolidation::Busy).then_some(outcome))
    })?;
    Ok(outcome.unwrap_or(Consolidation::Busy))
}

/// Ends a conversation here and now.
pub(crate) fn end(world: &World, session: &SessionId) -> Result<Ended, EngineError> {
    end_until(world, session, NEVER)
}

/// As [`end`], waiting no longer once it is stopped.
pub(crate) fn end_until(world: &World, session: &SessionId, is_stopped: IsStopped<'_>) -> Result<Ended, EngineError> {
    let mut last = None;
    let has_failed = |ended: &Ended| is_failure(&ended.consolidation);
    let ended = with_model(world, is_stopped, has_failed, |model, worker| {
        let ended = world.engine.consolidation().end(session, model, worker)?;
        let is_busy = ended.consolidation == Consolidation::Busy;
        last = Some(ended.clone());
        Ok((!is_busy).then_some(ended))
    })?;
    let no_session = || EngineError::NoSession { session: session.clone() };
    ended.or(last).ok_or_else(no_session)
}

fn is_failure(outcome: &Consolidation) -> bool {
    matches!(outcome, Consolidation::Failed { .. })
}

/// Works with the configured model. What a client's model failed at is done by the offline model: its user may have said no.
fn with_model<T>(
    world: &World,
    is_stopped: IsStopped<'_>,
    has_failed: impl Fn(&T) -> bool,
    mut work: impl FnMut(&dyn Model, &Worker<'_>) -> Result<Option<T>, EngineError>,
) -> Result<Option<T>, EngineError> {
    let model = models::for_consolidation(world);
    let done = patiently(&*model, is_stopped, &mut work)?;
    if model.provider() == SAMPLING && done.as_ref().is_some_and(has_failed) {
        return patiently(&Offline, is_stopped, &mut work);
    }
    Ok(done)
}

/// Tries until nobody else is at it, patience ends, or it is stopped.
fn patiently<T>(
    model: &dyn Model,
    is_stopped: IsStopped<'_>,
    work: &mut impl FnMut(&dyn Model, &Worker<'_>) -> Result<Option<T>, EngineError>,
) -> Result<Option<T>, EngineError> {
    let worker = Worker { holder: processes::holder(), is_gone: &processes::is_gone };
    let mut waited = Duration::ZERO;
    loop {
        match work(model, &worker)? {
            None if waited < PATIENCE && !is_stopped() => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            done => return Ok(done),
        }
    }
}
