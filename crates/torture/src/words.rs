//! The word index while processes are killed: in the middle of sealing, merging, building, and of the migration to it.
//!
//! Workers write batches that are long enough to become segments at once, so that merges never end. All of them are killed at
//! a moment of chance; then the memory is searched as it was left, and what is found, in which order and with which scores is
//! compared with a scan of all rows.

mod old;
mod ranks;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use throughline::synthetic::Dice;
use throughline::world::{Durability, store_at};
use throughline_core::model::{Change, ChangeId, Entry, Position, Verb};
use throughline_core::ports::{Op, Page, Search, Store, StoreError};
use throughline_core::recall::{CandidateMark, Filter, FoundBy};
use throughline_testkit::stores::{self, entry};

use crate::{Failure, chain};

/// Memories of one batch: more than a tail may be long.
const BATCH: u64 = 300;
/// Words that memories are made of.
const WORDS: u64 = 60;
/// Memories that a batch changes, of those before it.
const CHANGED: u64 = 20;
/// Nobody works for longer, should whoever started it be gone.
const LONGEST: u64 = 10_000;
/// All of them silent for so long means that they wait for each other.
const SILENCE: Duration = Duration::from_secs(90);
/// More than there ever is.
const ALL: usize = 1_000_000;
/// A kill comes so many batches and milliseconds after the last.
const PACE: u64 = 6;
const MOMENT: u64 = 60;
/// What follows is over soon: a kill comes at most so many milliseconds after it began.
const AT_ONCE: u64 = 8;
/// Kills come about as often in each of these phases of a migration.
const PHASES: [old::Phase; 4] = [old::Phase::Before, old::Phase::Building, old::Phase::Removing, old::Phase::Removing];
/// A memory is left for a new one after so many kills, so that looking at it does not take ever longer.
const LIVES: usize = 10;
/// Words that are looked for after each kill: others after the next.
const LOOKED_FOR: u64 = 12;

/// How it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upheaval {
    /// The program whose `index` command is one worker.
    pub program: PathBuf,
    /// How many work at once; all of them are killed together.
    pub workers: usize,
    /// At how many moments they are killed.
    pub kills: usize,
    /// How many memories there are before.
    pub entries: u64,
    /// How many turns a memory of the schema before the index has.
    pub turns: u64,
    /// Whether each round begins with a memory of the schema before the index.
    pub is_old: bool,
    /// Where chance begins.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Moments at which all workers were killed.
    pub kills: usize,
    /// Workers that were killed.
    pub processes: usize,
    /// Kills before there was the schema of the index.
    pub before_migration: usize,
    /// Kills while an index was not complete yet.
    pub within_migration: usize,
    /// Kills while the index that it replaces was removed.
    pub within_removal: usize,
    /// Segments that were there at the kills, and those that were being built.
    pub segments: usize,
    /// Memories that were acknowledged, in all memories that were begun.
    pub acknowledged: usize,
    /// All memories that there were in the end.
    pub stored: usize,
    /// Writes that were refused because others were writing.
    pub refused: usize,
    /// Words that were searched for.
    pub searches: usize,
    /// Searches whose order and scores were compared.
    pub compared: usize,
    /// Whatever is wrong.
    pub problems: Vec<String>,
}

/// One worker: writes until it is killed. Gives whether all went well.
pub fn work(home: &Path, name: &str, seed: u64) -> bool {
    write(home, name, seed).inspect_err(|error| drop(say(&format!("error {}", chain(&**error))))).is_ok()
}

fn write(home: &Path, name: &str, seed: u64) -> Result<(), Failure> {
    let store = loop {
        match store_at(&home.join("memory.db"), Durability::Full) {
            Err(StoreError::Busy) => say("refused")?,
            opened => break opened?,
        }
    };
    let mut dice = Dice::new(seed);
    let mut kept: Vec<Entry> = Vec::new();
    for round in 0..LONGEST {
        let mut ops: Vec<Op> =
            (0..BATCH).map(|nth| Op::Insert(made_up(&format!("{name}r{round}n{nth}"), &mut dice))).collect();
        for _ in 0..CHANGED.min(kept.len() as u64) {
            let old = kept.swap_remove(dice.below(kept.len() as u64) as usize);
            let content = made_up(old.id.as_str(), &mut dice).content;
            ops.push(Op::Update(Entry { content, ..old }));
        }
        // On a busy machine, eight who write at once refuse some writes: nothing was acknowledged.
        let written = match store.apply(&change(&format!("{name}c{round}")), &ops, &mut || true) {
            Err(StoreError::Busy) => {
                say("refused")?;
                continue;
            }
            written => written?,
        };
        written.iter().try_for_each(|entry| say(&format!("kept {} {}", entry.version, entry.content)))?;
        say("batch")?;
        kept.extend(written.into_iter().filter(|entry| entry.version == 1).take(CHANGED as usize));
    }
    Ok(())
}

/// A change with a name of its own: several processes make them.
fn change(name: &str) -> Change {
    Change { id: ChangeId::new(name), ..stores::change(Verb::Remember) }
}

fn open(home: &Path) -> Result<std::sync::Arc<dyn Store>, Failure> {
    Ok(store_at(&home.join("memory.db"), Durability::Full)?)
}

/// A memory that begins with its own name; the rest is words by chance.
fn made_up(id: &str, dice: &mut Dice) -> Entry {
    let words: Vec<String> = (0..3 + dice.below(4)).map(|_| format!("w{}", dice.below(WORDS))).collect();
    entry(id, &format!("{id} {}", words.join(" ")))
}

/// One `write` for a whole line: a kill leaves it whole or absent.
fn say(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    Ok(out.flush()?)
}

/// What was acknowledged of one memory: the version, and what it says.
type Kept = BTreeMap<String, (u32, String)>;

impl Upheaval {
    /// Runs it on memories below `dir`.
    pub fn run(&self, dir: &Path) -> Result<Report, Failure> {
        let (mut report, mut dice, mut kept) = (Report::default(), Dice::new(self.seed), Kept::new());
        let lives = if self.is_old { 1 } else { LIVES };
        while report.kills < self.kills && report.problems.is_empty() {
            let home = dir.join(format!("memory{}", report.kills / lives));
            if report.kills.is_multiple_of(lives) {
                kept.clear();
                self.begin(&home, &mut dice)?;
            }
            self.besiege(&home, &mut dice, (&mut kept, &mut report))?;
            report.kills += 1;
            report.processes += self.workers;
            let stored = report.look(&home, &kept)?;
            if report.kills.is_multiple_of(lives) || report.kills == self.kills {
                report.acknowledged += kept.len();
                report.stored += stored;
                std::fs::remove_dir_all(&home)?;
            }
        }
        Ok(report)
    }

    /// The memory as it is before anybody works.
    fn begin(&self, home: &Path, dice: &mut Dice) -> Result<(), Failure> {
        std::fs::create_dir_all(home)?;
        if self.is_old {
            return old::memory(&home.join("memory.db"), (self.entries, self.turns), WORDS);
        }
        let store = open(home)?;
        for batch in 0..self.entries.div_ceil(5000) {
            let numbers = batch * 5000..self.entries.min((batch + 1) * 5000);
            let ops: Vec<Op> = numbers.map(|nth| Op::Insert(made_up(&format!("f{nth}"), dice))).collect();
            store.apply(&change(&format!("fill{batch}")), &ops, &mut || true)?;
        }
        Ok(())
    }

    /// Starts workers, kills all of them, and notes what they said.
    fn besiege(&self, home: &Path, dice: &mut Dice, (kept, report): (&mut Kept, &mut Report)) -> Result<(), Failure> {
        let round = report.kills;
        let (sender, lines) = channel();
        let mut processes = Vec::new();
        for worker in 0..self.workers {
            let mut command = Command::new(&self.program);
            command.arg("index").arg(home).args(["--name", &format!("a{round}b{worker}")]);
            command.args(["--seed", &dice.roll().to_string()]);
            let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
            let output = process.stdout.take().ok_or("a worker has no output")?;
            processes.push(process);
            let sender = sender.clone();
            std::thread::spawn(move || {
                BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        drop(sender);
        let heard = self.wait(home, &lines, dice, (kept, report));
        end(processes)?;
        heard?;
        lines.iter().for_each(|line| note(&line, kept, report));
        Ok(())
    }

    /// Waits until it is time for the kill.
    fn wait(
        &self,
        home: &Path,
        lines: &Receiver<String>,
        dice: &mut Dice,
        (kept, report): (&mut Kept, &mut Report),
    ) -> Result<(), Failure> {
        let mut batches = if self.is_old { 0 } else { 1 + dice.below(PACE) };
        while batches > 0 {
            let line = lines.recv_timeout(SILENCE).map_err(|_| "nothing was heard of any worker for 90 s")?;
            batches -= u64::from(line == "batch");
            note(&line, kept, report);
        }
        let phase = PHASES[report.kills % PHASES.len()];
        if self.is_old {
            wait_for(&home.join("memory.db"), phase);
        }
        let moment = if self.is_old && phase == old::Phase::Removing { AT_ONCE } else { MOMENT };
        std::thread::sleep(Duration::from_millis(dice.below(moment)));
        Ok(())
    }
}

/// Waits until a migration has come to a phase.
fn wait_for(database: &Path, phase: old::Phase) {
    let began = Instant::now();
    while began.elapsed() < SILENCE && old::progress(database).is_ok_and(|progress| progress.phase < phase) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn end(processes: Vec<Child>) -> Result<(), Failure> {
    for mut process in processes {
        process.kill()?;
        process.wait()?;
    }
    Ok(())
}

fn note(line: &str, kept: &mut Kept, report: &mut Report) {
    match line.split_once(' ') {
        Some(("kept", rest)) => {
            let Some((version, content)) = rest.split_once(' ') else { return };
            let id = content.split(' ').next().unwrap_or_default().to_owned();
            let version: u32 = version.parse().unwrap_or_default();
            let known = kept.entry(id).or_default();
            if version >= known.0 {
                *known = (version, content.to_owned());
            }
        }
        None if line == "refused" => report.refused += 1,
        Some(("error", error)) => report.problems.push(error.to_owned()),
        _ => {}
    }
}

impl Report {
    /// Searches the memory as it was left, and compares with all of its rows. Gives how many memories there are.
    fn look(&mut self, home: &Path, kept: &Kept) -> Result<usize, Failure> {
        let database = home.join("memory.db");
        let progress = old::progress(&database)?;
        match progress.phase {
            old::Phase::Before => self.before_migration += 1,
            old::Phase::Building => self.within_migration += 1,
            old::Phase::Removing => self.within_removal += 1,
            old::Phase::Done => {}
        }
        self.segments += progress.segments;
        let words = looked_for(self.kills as u64);
        let pairs: Vec<[String; 2]> = words.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect();
        let (compared, problems) = ranks::compare(&database, &pairs)?;
        self.compared += compared;
        self.problems.extend(problems);
        let store = open(home)?;
        let rows = rows(&*store)?;
        for (id, (version, content)) in kept {
            let is_there = rows.get(id).is_some_and(|(now, text)| now > version || (now == version && text == content));
            if !is_there {
                self.problems.push(format!("{id} was acknowledged, and is not there"));
            }
        }
        let said = said(&*store)?;
        for word in words {
            let texts = rows.iter().map(|(id, (_, text))| (id, text)).chain(&said);
            let with_it = texts.filter(|(_, text)| text.split(' ').any(|other| other == word));
            let expected: BTreeSet<&str> = with_it.map(|(id, _)| id.as_str()).collect();
            let found = found(&*store, &word)?;
            let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
            self.searches += 1;
            if found != expected {
                let (missing, more) = (expected.difference(&found).count(), found.difference(&expected).count());
                self.problems.push(format!("`{word}`: {missing} are not found, {more} should not be"));
            }
        }
        self.problems.extend(store.check()?);
        Ok(rows.len())
    }
}

/// Some of the words, others after each kill.
fn looked_for(kill: u64) -> Vec<String> {
    (0..LOOKED_FOR).map(|nth| format!("w{}", (kill * LOOKED_FOR + nth) % WORDS)).collect()
}

/// Everything that was said, by its id.
fn said(store: &dyn Store) -> Result<BTreeMap<String, String>, Failure> {
    let mut said = BTreeMap::new();
    for session in store.sessions()? {
        let turns = store.turns_after(&session.session.id, Position::default())?;
        said.extend(turns.into_iter().map(|(_, turn)| (turn.id.to_string(), turn.content)));
    }
    Ok(said)
}

fn found(store: &dyn Store, word: &str) -> Result<Vec<String>, Failure> {
    let (terms, filter) = (vec![word.to_owned()], Filter::default());
    let pool = store.search(&Search { terms, also: Vec::new(), filter, limit: ALL, turns: ALL })?;
    let by_words = pool.candidates.into_iter().filter(|candidate| candidate.found_by == FoundBy::Words);
    let marks: Vec<CandidateMark> = by_words.map(|candidate| candidate.mark).collect();
    let found = store.fetch(&marks)?.into_iter().flatten();
    Ok(found.map(|found| found.memory.entry.id.to_string()).collect())
}

/// Every row: its version and what it says.
fn rows(store: &dyn Store) -> Result<BTreeMap<String, (u32, String)>, Failure> {
    let (mut rows, mut page) = (BTreeMap::new(), Page { limit: 5000, cursor: None });
    loop {
        let listing = store.list(&Filter::default(), &page)?;
        let entries = listing.memories.into_iter().map(|memory| memory.entry);
        rows.extend(entries.map(|entry| (entry.id.to_string(), (entry.version, entry.content))));
        page.cursor = listing.cursor;
        if page.cursor.is_none() {
            return Ok(rows);
        }
    }
}
