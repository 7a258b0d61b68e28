//! What happens by itself while the daemon runs: each job when it is due, one run at a time, every run in its log.
//!
//! Goes in: the clock, change tokens of the store, the log. Comes out: runs. Never happens: two runs of a job at once, a failure
//! that ends the daemon, or anything removed by a clock that jumped ([`throughline_core::clock_trust`] has the rule).

mod plan;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use throughline_core::clock_trust::{Reading, Trust, Watch};
use throughline_core::engine::EngineError;
use throughline_core::ports::{ChangeTokens, Job, KEPT_RUNS, Run, RunOutcome};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Host;
use crate::problem::{Code, Problem};

pub use plan::Rhythm;

/// How often the clock and the change tokens are looked at.
const TICK: Duration = Duration::from_secs(1);

/// How often due work is looked for although nothing changed, since silence makes conversations due; and memory that was not
/// used in between is given back.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// How long a job rests that found nothing to do after all.
const REST: Duration = Duration::from_secs(10);

/// What the scheduler asks of the program that runs it. Every method may block.
pub trait Chores: Send + Sync + 'static {
    /// A time that only ever moves on, and that nobody can set.
    fn uptime(&self) -> Duration;

    /// How often jobs run that follow the clock.
    fn rhythm(&self) -> Rhythm;

    /// When a job that follows the memory has something to do; nothing where it has not.
    fn needed(&self, job: Job) -> Result<Option<Timestamp>, Problem>;

    /// Does a job once; nothing where there was nothing to do. Ends early, with everything whole, once it is stopped.
    fn work(&self, job: Job, trust: Trust, is_stopped: &dyn Fn() -> bool) -> Result<Option<Worked>, Problem>;

    /// Writes a proved copy of the database, as a person asks for it; gives where.
    fn backup(&self) -> Result<String, Problem>;
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worked {
    /// How it ended.
    pub outcome: RunOutcome,
    /// What it did, in words and counts.
    pub what: String,
}

impl Worked {
    /// It is done.
    pub fn done(what: impl Into<String>) -> Self {
        Self { outcome: RunOutcome::Done, what: what.into() }
    }

    /// It could not be done.
    pub fn failed(what: impl Into<String>) -> Self {
        Self { outcome: RunOutcome::Failed, what: what.into() }
    }
}

/// A job as `GET /api/jobs` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct JobState {
    name: Job,
    /// `24h`; `when needed` for a job that follows the memory, `never` for one that is off.
    every: String,
    last_run_at: Option<Timestamp>,
    last_outcome: Option<RunOutcome>,
    next_run_at: Option<Timestamp>,
    running: bool,
    /// The newest first.
    log: Vec<Run>,
}

/// Runs the jobs.
pub(crate) struct Scheduler {
    host: Arc<dyn Host>,
    state: Mutex<State>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

struct State {
    watch: Watch,
    seen: Option<ChangeTokens>,
    looked: Duration,
    jobs: BTreeMap<Job, Known>,
}

/// What is known of a job.
#[derive(Default)]
struct Known {
    is_running: bool,
    next: Option<Timestamp>,
    /// In uptime.
    rests_until: Duration,
    /// It ran, and what is next was not looked for since.
    is_unplanned: bool,
    /// The newest first.
    log: VecDeque<Run>,
}

impl Scheduler {
    /// Knows what the log says; nothing runs yet.
    pub(crate) fn new(host: Arc<dyn Host>, stop: CancellationToken) -> Result<Self, EngineError> {
        let engine = host.engine();
        let reading = Reading { wall: engine.now(), uptime: host.uptime() };
        let watch = Watch::begin(reading, engine.consolidation().is_time_confirmed()?);
        let known = |job| Ok((job, Known { log: engine.health().runs(job, KEPT_RUNS)?.into(), ..Known::default() }));
        let jobs = Job::ALL.into_iter().map(known).collect::<Result<_, EngineError>>()?;
        let state = Mutex::new(State { watch, seen: None, looked: Duration::ZERO, jobs });
        Ok(Self { host, state, stop, tasks: TaskTracker::new() })
    }

    /// Runs what is due until it is stopped, and then waits for what is still running.
    pub(crate) async fn run(self: Arc<Self>) {
        while !self.stop.is_cancelled() {
            let looking = Arc::clone(&self);
            let due = tokio::task::spawn_blocking(move || looking.look()).await.unwrap_or_default();
            for job in due {
                let scheduler = Arc::clone(&self);
                self.tasks.spawn(async move { scheduler.run_job(job).await });
            }
            tokio::select! { () = self.stop.cancelled() => {}, () = tokio::time::sleep(TICK) => {} }
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Looks at the clock, and at what each job has to do if that may have changed or some time went by; gives the jobs
    /// that begin now.
    fn look(&self) -> Vec<Job> {
        let engine = self.host.engine();
        let now = Reading { wall: engine.now(), uptime: self.host.uptime() };
        let tokens = engine.health().pulse().ok();
        let (worth_a_look, is_long_ago): (Vec<Job>, bool) = {
            let mut state = self.state();
            state.watch.look(now);
            let is_long_ago = state.looked.is_zero() || now.uptime.saturating_sub(state.looked) >= LOOK_EVERY;
            let has_changed = |job| match (&tokens, &state.seen) {
                (Some(tokens), Some(seen)) => plan::concerns(job, tokens, seen),
                _ => false,
            };
            let is_free = |known: &Known| !known.is_running && known.rests_until <= now.uptime;
            let is_planned = |known: &Known| is_free(known) && known.next.is_some_and(|next| next <= now.wall);
            let is_worth_it = |(job, known): (&Job, &Known)| {
                (is_long_ago || known.is_unplanned || is_planned(known) || has_changed(*job)).then_some(*job)
            };
            let jobs = state.jobs.iter().filter_map(is_worth_it).collect();
            if is_long_ago {
                state.looked = now.uptime.max(Duration::from_nanos(1));
            }
            state.seen = tokens.or(state.seen.take());
            (jobs, is_long_ago)
        };
        if is_long_ago {
            engine.health().trim();
        }
        worth_a_look.into_iter().filter(|job| self.is_due(*job, now)).collect()
    }

    /// Plans a job; one that is due counts as running from here on.
    fn is_due(&self, job: Job, now: Reading) -> bool {
        if self.state().jobs.get(&job).is_none_or(|known| known.is_running) {
            return false;
        }
        let needed = self.host.needed(job).unwrap_or_else(|problem| {
            tracing::warn!(%job, problem = problem.message, "whether there is work could not be told");
            None
        });
        let rhythm = self.host.rhythm();
        let mut state = self.state();
        let Some(known) = state.jobs.get_mut(&job) else { return false };
        known.is_unplanned = false;
        known.next = plan::next_run(job, known.log.make_contiguous(), needed, &rhythm, now.wall);
        let is_due = known.next.is_some_and(|next| next <= now.wall) && known.rests_until <= now.uptime;
        let begins = is_due && !known.is_running && !self.stop.is_cancelled();
        known.is_running |= begins;
        begins
    }

    /// Does a job that counts as running; notes the run if it did anything.
    async fn run_job(&self, job: Job) -> Option<Run> {
        let (host, stop, trust) = (Arc::clone(&self.host), self.stop.clone(), self.state().watch.trust());
        let started_at = self.host.engine().now();
        let work = move || host.work(job, trust, &|| stop.is_cancelled());
        let worked = match tokio::task::spawn_blocking(work).await {
            Ok(Ok(worked)) => worked,
            Ok(Err(problem)) => Some(Worked::failed(problem.message)),
            Err(error) => {
                tracing::error!(%error, %job, "a job ended in the middle");
                Some(Worked::failed(crate::problem::BROKEN))
            }
        };
        let ended_at = self.host.engine().now();
        let run = worked.map(|Worked { outcome, what }| Run { job, started_at, ended_at, outcome, what });
        if let Some(run) = &run {
            self.keep(run).await;
        }
        let mut state = self.state();
        if let Some(known) = state.jobs.get_mut(&job) {
            (known.is_running, known.is_unplanned) = (false, true);
            if run.is_none() {
                known.rests_until = self.host.uptime() + REST;
            }
        }
        run
    }

    /// Keeps a run here and in the store: where that is not possible, the next runs are planned all the same.
    async fn keep(&self, run: &Run) {
        if run.outcome == RunOutcome::Failed {
            tracing::warn!(job = %run.job, why = run.what, "a job failed; it is tried again");
        }
        {
            let mut state = self.state();
            if let Some(known) = state.jobs.get_mut(&run.job) {
                known.log.push_front(run.clone());
                known.log.truncate(KEPT_RUNS);
            }
        }
        let (host, run) = (Arc::clone(&self.host), run.clone());
        let noted = tokio::task::spawn_blocking(move || host.engine().health().note_run(&run)).await;
        if let Ok(Err(error)) = noted {
            tracing::warn!(%error, "a run of a job is not in the log");
        }
    }

    /// Does a job now, because somebody asks for it; answers when it is done.
    pub(crate) async fn run_now(self: &Arc<Self>, job: Job) -> Result<Run, Problem> {
        let begins = {
            let mut state = self.state();
            let known = state.jobs.entry(job).or_default();
            !std::mem::replace(&mut known.is_running, true)
        };
        if !begins {
            return Err(Problem::new(Code::Busy, format!("{job} is running already"), "wait until it is done"));
        }
        let started_at = self.host.engine().now();
        // Whoever asked may go away; the run is finished and noted all the same.
        let scheduler = Arc::clone(self);
        let run = self.tasks.spawn(async move {
            match scheduler.run_job(job).await {
                Some(run) => run,
                None => {
                    let (ended_at, what) = (scheduler.host.engine().now(), "nothing to do".to_owned());
                    let run = Run { job, started_at, ended_at, outcome: RunOutcome::Done, what };
                    scheduler.keep(&run).await;
                    run
                }
            }
        });
        run.await.map_err(|error| Problem::failed(&error, None))
    }

    /// Every job as it stands.
    pub(crate) fn jobs(&self) -> Vec<JobState> {
        let rhythm = self.host.rhythm();
        let state = self.state();
        let shown = |(job, known): (&Job, &Known)| JobState {
            name: *job,
            every: match rhythm.every_hours(*job) {
                Some(0) => "never".to_owned(),
                Some(hours) => format!("{hours}h"),
                None => "when needed".to_owned(),
            },
            last_run_at: known.log.front().map(|run| run.started_at),
            last_outcome: known.log.front().map(|run| run.outcome),
            next_run_at: known.next,
            running: known.is_running,
            log: known.log.iter().cloned().collect(),
        };
        state.jobs.iter().map(shown).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
