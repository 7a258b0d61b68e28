//! Writers of every kind on both machines, all the time: each wishes for one write after the other until it is confirmed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use throughline::synthetic::Dice;

use super::Machine;
use crate::Failure;
use crate::crashes::promises::Promise;
use crate::crashes::writers::{Outcome, Surface, Writer};
use crate::daemon::Program;

/// No attempt may take longer: one that does counts as hanging. A server that says nothing is waited for ten seconds, by processes
/// that are many on a machine that is busy.
const HANGING: Duration = Duration::from_secs(30);

/// Once everything is well again, a write is refused no longer.
const RECOVERY: Duration = Duration::from_secs(120);

/// Between two attempts once everything is well again: a server that was away counts as away for some seconds.
const PAUSE: Duration = Duration::from_millis(100);

/// Milliseconds within which a process is killed.
fn reach(surface: Surface) -> u64 {
    if surface.is_lasting() { 80 } else { 400 }
}

/// A writer that lives on from one fault to the next.
pub(super) struct Worker {
    pub(super) writer: Writer,
    machine: usize,
    wish: Promise,
    dice: Dice,
}

impl Worker {
    pub(super) fn new(surface: Surface, nth: usize, machine: &Machine, seed: u64) -> Self {
        let name = format!("{}{nth}", surface.as_str().replace(' ', ""));
        let mut writer = Writer::new(surface, &machine.home, &machine.transcripts, name, seed);
        let wish = writer.wish();
        Self { writer, machine: nth, wish, dice: Dice::new(seed) }
    }
}

/// What came of it so far.
#[derive(Default)]
pub(super) struct Told {
    pub(super) kills: usize,
    pub(super) attempts: usize,
    pub(super) refused: usize,
    pub(super) confirmed: Vec<Promise>,
    pub(super) problems: Vec<String>,
    /// The longest time that each kind of writer took, in milliseconds.
    pub(super) longest: BTreeMap<&'static str, u128>,
}

/// Writers under one fault.
pub(super) struct Load<'a> {
    program: &'a Program,
    machines: &'a [Machine; 2],
    /// Kills of each writer.
    kills: usize,
    confirmed: AtomicUsize,
    is_over: AtomicBool,
    told: Mutex<Told>,
}

impl<'a> Load<'a> {
    pub(super) fn new(program: &'a Program, machines: &'a [Machine; 2], kills: usize) -> Self {
        let (confirmed, is_over, told) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::default());
        Self { program, machines, kills, confirmed, is_over, told }
    }

    /// Runs the writers while `fault` happens, and until what each of them wishes for last is confirmed.
    pub(super) fn under(
        &self,
        workers: &mut [Worker],
        fault: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(move || self.lives(worker))).collect();
            let done = fault();
            self.is_over.store(true, Ordering::Relaxed);
            let lived =
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a writer panicked".into())));
            lived.collect::<Vec<_>>().into_iter().chain([done]).collect()
        })
    }

    /// Writes that were confirmed so far.
    pub(super) fn confirmed(&self) -> usize {
        self.confirmed.load(Ordering::Relaxed)
    }

    /// Writes that were tried so far.
    pub(super) fn attempts(&self) -> usize {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).attempts
    }

    pub(super) fn into_told(self) -> Told {
        self.told.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lives(&self, worker: &mut Worker) -> Result<(), Failure> {
        self.machines[worker.machine].enter()?;
        let mut kills = 0;
        while kills < self.kills || !self.is_over.load(Ordering::Relaxed) {
            // One that serves is killed at one of its writes.
            let is_spared = worker.writer.surface.is_lasting() && worker.dice.below(4) > 0;
            let reach = reach(worker.writer.surface) * 1000;
            let outside = (kills < self.kills && !is_spared).then(|| Duration::from_micros(worker.dice.below(reach)));
            if self.attempt(worker, outside)?.is_killed() {
                kills += 1;
                self.tell(|told| told.kills += 1);
            }
        }
        let (mut last, began) = (String::new(), Instant::now());
        while began.elapsed() < RECOVERY {
            match self.attempt(worker, None)? {
                Outcome::Confirmed => return Ok(()),
                other => last = format!("{other:?}"),
            }
            std::thread::sleep(PAUSE);
        }
        let Worker { writer, wish, .. } = worker;
        self.tell(|told| {
            told.problems.push(format!("{:?}: refused for {RECOVERY:?}: {wish:?}: {last}", writer.surface))
        });
        Ok(())
    }

    fn attempt(&self, worker: &mut Worker, outside: Option<Duration>) -> Result<Outcome, Failure> {
        let (began, name) = (Instant::now(), worker.writer.surface.as_str());
        let outcome = worker.writer.attempt(self.program, &worker.wish, outside)?;
        let took = began.elapsed();
        let done =
            matches!(outcome, Outcome::Confirmed).then(|| std::mem::replace(&mut worker.wish, worker.writer.wish()));
        self.confirmed.fetch_add(usize::from(done.is_some()), Ordering::Relaxed);
        self.tell(|told| {
            told.attempts += 1;
            told.refused += usize::from(done.is_none() && !outcome.is_killed());
            told.confirmed.extend(done);
            let longest = told.longest.entry(name).or_default();
            *longest = took.as_millis().max(*longest);
            if took > HANGING {
                told.problems.push(format!("{name}: it hung for {took:?}: {outcome:?}"));
            }
        });
        Ok(outcome)
    }

    fn tell(&self, what: impl FnOnce(&mut Told)) {
        what(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
