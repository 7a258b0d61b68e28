//! Power cuts: what a disk holds at any moment of a recording, with everything that was not synced lost, torn or reordered.
//!
//! The real program is recorded while writers of every kind use it. Then the directory is put together as a power cut at
//! some record would have left it, opened as the program opens it, and held against what was confirmed until then.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use throughline::synthetic::Dice;

use super::disk::{Damage, Disk};
use super::log::{self, Confirmations, Record};
use super::promises::{Promise, broken};
use super::tracer::Tracer;
use super::writers::{CONFIG, Outcome, Surface, Writer};
use super::{Report, workplace};
use crate::daemon::Program;
use crate::{Failure, chain};

/// Cuts of one recording.
const CUTS_OF_A_RECORDING: usize = 400;

/// Confirmed writes of each writer in a recording.
const WRITES: usize = 14;

/// How often a memory is also written to after a cut: every so many cuts.
const GOES_ON: usize = 4;

/// How it is done.
#[derive(Debug, Clone)]
pub struct Outage {
    /// The program that is recorded.
    pub program: Program,
    /// How many power cuts.
    pub cuts: usize,
    /// Whether syncs of files do anything. Only to see that their lack is noticed.
    pub syncs: bool,
    /// Where chance begins.
    pub seed: u64,
}

/// A recorded home.
struct Recording {
    before: PathBuf,
    records: Vec<Record>,
    _place: tempfile::TempDir,
}

impl Outage {
    /// Runs it.
    pub fn run(&self) -> Result<Report, Failure> {
        let (mut report, mut dice) = (Report::default(), Dice::new(self.seed));
        let tools = tempfile::tempdir()?;
        let tracer = Tracer::compile(tools.path())?;
        while report.cycles < self.cuts {
            let recording = self.record(&tracer, &mut dice, report.recordings % 2 == 1)?;
            report.recordings += 1;
            let cuts = CUTS_OF_A_RECORDING.min(self.cuts - report.cycles);
            recording.cut(cuts, &mut dice, &mut report)?;
        }
        Ok(report)
    }

    /// Records writers of every kind at once; without a daemon, every process that ends copies the log into the database.
    fn record(&self, tracer: &Tracer, dice: &mut Dice, without_daemon: bool) -> Result<Recording, Failure> {
        let place = workplace()?;
        let (home, log) = (place.path().join("home"), place.path().join("log"));
        let before = place.path().join("before");
        for directory in [&home, &before] {
            std::fs::create_dir(directory)?;
            std::fs::write(directory.join("config.toml"), CONFIG)?;
        }
        let mut disk = Disk::of(&home)?;
        let confirmations = Mutex::new(Confirmations::begin(&log)?);
        let program = tracer.recording(&self.program, &home, &log);
        let surfaces = Surface::ALL.into_iter().filter(|surface| !(without_daemon && *surface == Surface::Daemon));
        let done: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
            let threads: Vec<_> = surfaces
                .map(|surface| {
                    let name = surface.as_str().replace(' ', "");
                    let writer = Writer::new(surface, &home, place.path(), name, dice.roll());
                    let (program, confirmations) = (&program, &confirmations);
                    scope.spawn(move || write(writer, program, confirmations))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a writer panicked".into())))
                .collect()
        });
        done.into_iter().collect::<Result<Vec<()>, Failure>>()?;
        let records = log::read(&log)?;
        records.iter().for_each(|record| disk.apply(record));
        let differences = disk.differences(&home)?;
        if !differences.is_empty() {
            return Err(format!("the recording is not complete: {differences:?}").into());
        }
        let is_kept = |record: &Record| self.syncs || !matches!(record, Record::Sync { .. });
        let records = records.into_iter().filter(is_kept).collect();
        Ok(Recording { before, records, _place: place })
    }
}

fn write(mut writer: Writer, program: &Program, confirmations: &Mutex<Confirmations>) -> Result<(), Failure> {
    for _ in 0..WRITES {
        let wish = writer.wish();
        match writer.attempt(program, &wish, None)? {
            Outcome::Confirmed => confirmations.lock().unwrap_or_else(PoisonError::into_inner).note(&wish)?,
            other => return Err(format!("{:?}: {other:?}", writer.surface).into()),
        }
    }
    writer.kill();
    Ok(())
}

impl Recording {
    fn cut(&self, cuts: usize, dice: &mut Dice, report: &mut Report) -> Result<(), Failure> {
        let mut moments: Vec<usize> = (0..cuts).map(|_| dice.below(self.records.len() as u64 + 1) as usize).collect();
        moments.sort_unstable();
        let (mut disk, mut promises, mut applied) = (Disk::of(&self.before)?, Vec::new(), 0);
        for moment in moments {
            for record in &self.records[applied..moment] {
                disk.apply(record);
                if let Record::Confirmed(promise) = record {
                    promises.push(promise.clone());
                }
            }
            applied = moment;
            let damage = Damage::ALL[report.cycles % Damage::ALL.len()];
            report.cycles += 1;
            report.unsettled += usize::from(!disk.is_settled());
            let seed = dice.roll();
            let problems = judge(&disk, damage, seed, &promises, report.cycles.is_multiple_of(GOES_ON))?;
            let at = |problem: String| format!("record {moment} of {}, {damage:?}: {problem}", self.records.len());
            report.problems.extend(problems.into_iter().map(at));
        }
        report.confirmed += promises.len();
        Ok(())
    }
}

fn judge(disk: &Disk, damage: Damage, seed: u64, promises: &[Promise], goes_on: bool) -> Result<Vec<String>, Failure> {
    let place = workplace()?;
    let home = place.path().join("home");
    std::fs::create_dir(&home)?;
    disk.cut(damage, &mut Dice::new(seed), &home)?;
    let problems = broken(&home, promises, goes_on);
    Ok(problems.unwrap_or_else(|error| vec![format!("it cannot be opened: {}", chain(&*error))]))
}
