//! Writers of every kind on one memory, each killed again and again (`SIGKILL`).
//!
//! Half of the kills come at a change of a file, chosen by chance, and half from outside at some moment. Where a server keeps the
//! memory, they come at a message over a socket in place of a change of a file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use throughline::synthetic::Dice;

use super::promises::{Promise, broken};
use super::tracer::{Fault, Tracer};
use super::writers::{CONFIG, Outcome, Surface, Writer};
use super::{Report, workplace};
use crate::Failure;
use crate::daemon::Program;

/// Kills of each writer before the memory is looked at.
const ROUND: usize = 6;

/// How it is done.
#[derive(Debug, Clone)]
pub struct Killing {
    /// The program whose processes are killed.
    pub program: Program,
    /// How often.
    pub kills: usize,
    /// Where chance begins.
    pub seed: u64,
    /// The server that keeps the memory, in a space of its own for each round; a file where there is none.
    pub server: Option<String>,
}

impl Killing {
    fn surfaces(&self) -> &'static [Surface] {
        if self.server.is_some() { &Surface::ON_A_SERVER } else { &Surface::ALL }
    }

    fn config(&self, round: usize) -> String {
        match &self.server {
            Some(url) => format!("{CONFIG}\n[store]\nurl = \"{url}?space=killed-{}-{round}\"\n", self.seed),
            None => CONFIG.to_owned(),
        }
    }

    /// Runs it, with a memory of its own for each round.
    pub fn run(&self) -> Result<Report, Failure> {
        let (mut report, mut dice) = (Report::default(), Dice::new(self.seed));
        let tools = tempfile::tempdir()?;
        let tracer = Tracer::compile(tools.path())?;
        while report.cycles < self.kills {
            let left = self.kills - report.cycles;
            let each = left.div_ceil(self.surfaces().len()).min(ROUND);
            self.round(&tracer, &mut dice, each, &mut report)?;
        }
        Ok(report)
    }

    fn round(&self, tracer: &Tracer, dice: &mut Dice, each: usize, report: &mut Report) -> Result<(), Failure> {
        let place = workplace()?;
        let home = place.path().join("home");
        std::fs::create_dir(&home)?;
        std::fs::write(home.join("config.toml"), self.config(report.cycles))?;
        let is_on_server = self.server.is_some();
        let round = Round { program: &self.program, tracer, home: &home, each, is_on_server, told: Mutex::default() };
        let outcomes: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .surfaces()
                .iter()
                .map(|&surface| {
                    let seed = dice.roll();
                    let name = format!("{}{}", surface.as_str().replace(' ', ""), report.cycles);
                    let writer = Writer::new(surface, &home, place.path(), name, seed);
                    let round = &round;
                    scope.spawn(move || round.lives(writer, Dice::new(seed)))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a writer panicked".into())))
                .collect()
        });
        outcomes.into_iter().collect::<Result<Vec<()>, Failure>>()?;
        let told = round.told.into_inner().unwrap_or_else(PoisonError::into_inner);
        report.cycles += told.kills;
        report.confirmed += told.confirmed.len();
        report.problems.extend(told.problems);
        report.problems.extend(broken(&home, &told.confirmed, true)?);
        Ok(())
    }
}

#[derive(Default)]
struct Told {
    kills: usize,
    confirmed: Vec<Promise>,
    problems: Vec<String>,
}

struct Round<'a> {
    program: &'a Program,
    tracer: &'a Tracer,
    home: &'a Path,
    each: usize,
    is_on_server: bool,
    told: Mutex<Told>,
}

/// Changes of a process within which it is killed, and milliseconds.
fn reach(surface: Surface) -> (u64, u64) {
    match surface {
        Surface::Daemon => (400, 60),
        Surface::Mcp => (250, 40),
        Surface::CommandLine | Surface::Hook | Surface::Observe | Surface::Prompt => (70, 120),
    }
}

impl Round<'_> {
    /// One process after the other, until enough were killed; then what is still wished for is stored.
    fn lives(&self, mut writer: Writer, mut dice: Dice) -> Result<(), Failure> {
        let (changes, milliseconds) = reach(writer.surface);
        let (mut kills, mut wish) = (0, writer.wish());
        while kills < self.each {
            let is_outside = dice.below(2) == 0;
            let program = if is_outside {
                self.program.clone()
            } else {
                let fault = if self.is_on_server { Fault::KillAtMessage } else { Fault::Kill };
                self.tracer.failing(self.program, self.home, fault, dice.below(changes), 0)
            };
            // One that serves is killed at one of its writes.
            let mut spared = if is_outside && writer.surface.is_lasting() { dice.below(8) } else { 0 };
            loop {
                let moment = Duration::from_micros(dice.below(milliseconds * 1000));
                let outside = (is_outside && spared == 0).then_some(moment);
                spared = spared.saturating_sub(1);
                let outcome = writer.attempt(&program, &wish, outside)?;
                if matches!(outcome, Outcome::Confirmed) {
                    self.confirmed(std::mem::replace(&mut wish, writer.wish()));
                    if writer.surface.is_lasting() {
                        continue;
                    }
                } else if outcome.is_killed() {
                    kills += 1;
                    self.tell(|told| told.kills += 1);
                } else {
                    self.tell(|told| told.problems.push(format!("{:?}: {outcome:?}", writer.surface)));
                    kills += 1;
                }
                break;
            }
        }
        match writer.attempt(self.program, &wish, None)? {
            Outcome::Confirmed => self.confirmed(wish),
            other => self.tell(|told| told.problems.push(format!("{:?} at the end: {other:?}", writer.surface))),
        }
        writer.kill();
        Ok(())
    }

    fn confirmed(&self, wish: Promise) {
        self.tell(|told| told.confirmed.push(wish));
    }

    fn tell(&self, what: impl FnOnce(&mut Told)) {
        what(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
