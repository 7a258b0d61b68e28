//! A database that disappears under a daemon with many clients: moved, replaced, truncated, deleted, overwritten or garbled.
//!
//! What is asserted, for each run: every write whose request was sent after the event was over and that was confirmed is in the
//! database at the path after recovery; every refusal names the newest backup and how to restore it; work goes on in the same
//! process as soon as a sound database is back. Where the database was only moved away and back, everything that was ever
//! confirmed is there. Writes that were confirmed before or during the event into a file that somebody else then
//! destroyed are counted, and not asserted.
//!
//! One of the ways, [`Way::Overlaid`], also cuts the index of the log, which SQLite maps into memory: then the system may end the
//! daemon (`SIGBUS`). That is counted; nothing that was confirmed may be lost by it either.

mod home;
mod load;
mod way;

use std::collections::HashSet;
use std::time::Instant;

use throughline::synthetic::Dice;

use crate::Failure;
use crate::daemon::{Daemon, Program};

pub use way::Way;

use home::Home;
use load::{Attempt, Load, Outcome};

/// Clients that write at once.
const WRITERS: usize = 6;

/// At most this many confirmed writes come before an event.
const PACE: u64 = 250;

/// So many writes are refused before the database is brought back, and so many are confirmed afterwards.
const ENOUGH: u64 = 24;

/// Events that one daemon lives through.
const RUNS_OF_A_DAEMON: usize = 10;

/// How it is done.
#[derive(Debug, Clone)]
pub struct Vanishing {
    /// The program whose daemon it is.
    pub program: Program,
    /// What is done to the database.
    pub way: Way,
    /// How often.
    pub runs: usize,
    /// Where chance begins.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Events.
    pub runs: usize,
    /// Daemons that were started for them.
    pub daemons: usize,
    /// Writes that were confirmed before the events were over.
    pub before: usize,
    /// Writes that were refused.
    pub refused: usize,
    /// Writes that were sent and confirmed after the events.
    pub after: usize,
    /// Writes that were confirmed while the events happened, and that went with the file.
    pub in_flight: usize,
    /// Events after which the same process went on.
    pub recovered: usize,
    /// Daemons that the system ended, because the index of the log was cut while it was mapped into memory.
    pub ended: usize,
    /// Everything that is wrong.
    pub problems: Vec<String>,
}

/// One line about it.
pub fn summary(way: Way, report: &Report) -> String {
    format!(
        "{way} · runs {} · daemons {} · confirmed before {} · refused {} · confirmed after {} · gone with the file while it \
         happened {} · recovered without a restart {} · ended by the system {} · problems {}",
        report.runs,
        report.daemons,
        report.before,
        report.refused,
        report.after,
        report.in_flight,
        report.recovered,
        report.ended,
        report.problems.len(),
    )
}

impl Vanishing {
    /// Runs it, in homes of its own.
    pub fn run(&self) -> Result<Report, Failure> {
        let (mut report, mut dice) = (Report::default(), Dice::new(self.seed));
        while report.runs < self.runs {
            let home = Home::new(&self.program)?;
            let mut daemon = home.start()?;
            report.daemons += 1;
            let mut ever = HashSet::new();
            for _ in 0..RUNS_OF_A_DAEMON.min(self.runs - report.runs) {
                report.runs += 1;
                let number = report.runs;
                match self.once(&home, &mut daemon, &mut dice, &mut ever, &mut report) {
                    Ok(false) => {}
                    Ok(true) => break,
                    Err(error) => {
                        report.problems.push(format!("run {number}: {error}"));
                        break;
                    }
                }
            }
            drop(daemon);
        }
        Ok(report)
    }

    /// One event; says whether the daemon ended with it.
    fn once(
        &self,
        home: &Home,
        daemon: &mut Daemon,
        dice: &mut Dice,
        ever: &mut HashSet<String>,
        report: &mut Report,
    ) -> Result<bool, Failure> {
        let backup = daemon.backup()?;
        let load = Load::new(daemon, format!("run {}", report.runs), dice.roll());
        let wanted = 1 + dice.below(PACE);
        let mut event = None;
        let outcome = std::thread::scope(|scope| {
            let _over = load.over_at_the_end();
            for number in 0..WRITERS {
                scope.spawn({
                    let load = &load;
                    move || load.write(number)
                });
            }
            load.until("writes are confirmed", |load| load.confirmed() >= wanted)?;
            event = Some(home.event(self.way)?);
            load.until("writes are refused", |load| load.refused() >= ENOUGH)?;
            daemon.is_lost()?;
            home.recover(self.way, &backup)?;
            let before = load.confirmed();
            load.until("writes are confirmed again", |load| load.confirmed() >= before + ENOUGH)
        });
        let is_ended = self.way == Way::Overlaid && daemon.is_ended_by_bus_error()?;
        if is_ended {
            report.ended += 1;
        } else {
            outcome?;
            daemon.is_alive()?;
            report.recovered += 1;
            report.problems.extend(load.wrong());
        }
        let stored = home.stored()?;
        if let Some(event) = event {
            self.judge(&load.attempts(), event, &backup, &stored, ever, report);
        }
        Ok(is_ended)
    }

    /// Holds what the clients were told against what is stored.
    fn judge(
        &self,
        attempts: &[Attempt],
        (began, ended): (Instant, Instant),
        backup: &str,
        stored: &HashSet<String>,
        ever: &mut HashSet<String>,
        report: &mut Report,
    ) {
        let restore = format!("`throughline backup --restore {backup}`");
        for attempt in attempts {
            let is_stored = stored.contains(&attempt.content);
            match &attempt.outcome {
                Outcome::Refused { said } => {
                    report.refused += 1;
                    if !said.contains(&restore) {
                        report.problems.push(format!("a refusal does not say how to restore {backup}: {said}"));
                    }
                }
                Outcome::Confirmed if attempt.sent >= ended => {
                    report.after += 1;
                    if !is_stored {
                        report.problems.push(format!("confirmed after the event, and lost: {}", attempt.content));
                    }
                }
                Outcome::Confirmed => {
                    report.before += 1;
                    report.in_flight += usize::from(!is_stored && attempt.answered >= began);
                }
            }
            if attempt.outcome == Outcome::Confirmed && self.way == Way::Moved {
                ever.insert(attempt.content.clone());
            }
        }
        let missing = ever.iter().filter(|content| !stored.contains(*content));
        report.problems.extend(missing.map(|content| format!("moved away and back, and lost: {content}")));
    }
}
