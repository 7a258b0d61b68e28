//! Disks that fill up, break or become read-only under a writer, and are well again.
//!
//! Every write is confirmed or refused; no process ends by itself; the daemon and the MCP server go on without a restart.

use throughline::synthetic::Dice;

use super::promises::{Promise, broken};
use super::tracer::{Fault, Tracer};
use super::writers::{CONFIG, Outcome, Surface, Writer};
use super::{Report, workplace};
use crate::Failure;
use crate::daemon::Program;

/// Writes before the fault is looked for, with it and after it.
const WRITES: usize = 6;

/// So often a refused write is tried again at most, before the disk counts as never well again.
const TRIES: usize = 400;

/// Changes that go well first, and that fail then, at most.
const AFTER: u64 = 160;
const DURATION: u64 = 60;

/// How it is done.
#[derive(Debug, Clone)]
pub struct Failing {
    /// The program whose disk it is.
    pub program: Program,
    /// Which fault.
    pub fault: Fault,
    /// How often.
    pub faults: usize,
    /// Where chance begins.
    pub seed: u64,
}

impl Failing {
    /// Runs it, with a memory of its own for every four.
    pub fn run(&self) -> Result<Report, Failure> {
        let (mut report, mut dice) = (Report::default(), Dice::new(self.seed));
        let tools = tempfile::tempdir()?;
        let tracer = Tracer::compile(tools.path())?;
        for first in (0..self.faults).step_by(Surface::ALL.len()) {
            let place = workplace()?;
            let home = place.path().join("home");
            std::fs::create_dir(&home)?;
            std::fs::write(home.join("config.toml"), CONFIG)?;
            let mut confirmed = Vec::new();
            let surfaces = Surface::ALL.into_iter().take(self.faults - first);
            for surface in surfaces {
                let name = format!("{}{first}", surface.as_str().replace(' ', ""));
                let mut writer = Writer::new(surface, &home, place.path(), name, dice.roll());
                let (after, duration) = (dice.below(AFTER), 1 + dice.below(DURATION));
                let failing = tracer.failing(&self.program, &home, self.fault, after, duration);
                report.cycles += 1;
                for _ in 0..WRITES {
                    let wish = writer.wish();
                    match stored(&mut writer, &wish, [&failing, &self.program], &mut report)? {
                        true => confirmed.push(wish),
                        false => break,
                    }
                }
            }
            report.confirmed += confirmed.len();
            report.problems.extend(broken(&home, &confirmed, true)?);
        }
        Ok(report)
    }
}

/// Tries until it is stored. A process that does not last is run on the broken disk first, and then on one that is well.
fn stored(writer: &mut Writer, wish: &Promise, programs: [&Program; 2], report: &mut Report) -> Result<bool, Failure> {
    let [failing, well] = programs;
    let mut last = String::new();
    for attempt in 0..TRIES {
        let program = if attempt == 0 || writer.surface.is_lasting() { failing } else { well };
        match writer.attempt(program, wish, None)? {
            Outcome::Confirmed => return Ok(true),
            Outcome::Refused(why) => {
                report.refused += 1;
                last = why;
            }
            // A server that cannot begin on a broken disk says so and ends.
            Outcome::Ended(status) if status.code().is_some() && !writer.is_serving() => {
                report.refused += 1;
                if writer.attempt(well, wish, None).is_ok_and(|outcome| matches!(outcome, Outcome::Confirmed)) {
                    return Ok(true);
                }
            }
            outcome => {
                report.problems.push(format!("{:?}: {outcome:?}", writer.surface));
                return Ok(false);
            }
        }
    }
    report.problems.push(format!("{:?}: refused {TRIES} times: {wish:?}: {last}", writer.surface));
    Ok(false)
}
