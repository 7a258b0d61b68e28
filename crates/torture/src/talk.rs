//! Conversations that are consolidated while processes are killed.
//!
//! Two workers at a time keep what is said in two sessions and consolidate it, each with the lease that keeps them
//! apart. Both are killed, one of them right within a consolidation; then the memory is looked at as it was left, what
//! is left to do is done, and it is looked at again. The model is deterministic and in-process: it repeats what it reads.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use throughline::processes;
use throughline::synthetic::Dice;
use throughline_core::engine::{Consolidation, Engine, Said, StartSession, Worker};
use throughline_core::model::{Kind, Layer, Namespace, Position, Role, SessionId, Status, Turn, TurnId};
use throughline_core::ports::{Brief, Cost, Model, ModelError, Reply, Store, SummaryOf};

use crate::{Failure, chain, open, person};

const SESSIONS: [&str; 2] = ["telegram:1", "web:1"];
/// Nobody works for longer, should whoever started it be gone.
const LONGEST: u64 = 10_000;
/// Both of them silent for so long means that they wait for each other.
const SILENCE: Duration = Duration::from_secs(90);

/// What a worker prints, once it is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Line {
    /// This was said, and is kept.
    Kept { session: SessionId, id: TurnId, content: String },
    /// A consolidation begins.
    Begin,
    /// It has come to an end.
    End { outcome: String },
    /// Never acceptable.
    Error { error: String },
}

/// Repeats what it reads, as a summary and as facts of several kinds, so that all documents are written.
struct Parrot;

impl Model for Parrot {
    fn provider(&self) -> &'static str {
        "parrot"
    }

    fn name(&self) -> &'static str {
        "parrot"
    }

    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        false
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, _: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        let text = match brief {
            Brief::Summarise(brief) => {
                let lines: String = brief.turns.iter().map(|turn| format!("- {}\n", turn.content)).collect();
                format!("## Working on\n{lines}")
            }
            Brief::Extract(brief) => {
                let kinds = ["fact", "preference", "identity", "decision"];
                let fact = |(at, turn): (usize, &Turn)| serde_json::json!({ "text": turn.content, "kind": kinds[(at + turn.content.len()) % kinds.len()] });
                let theirs = brief.turns.iter().filter(|turn| turn.role == Role::User);
                serde_json::json!({ "facts": theirs.enumerate().map(fact).collect::<Vec<_>>() }).to_string()
            }
            Brief::Reflect(_) => r#"{"operations": []}"#.to_owned(),
            Brief::Chat { .. } => return Err(ModelError::CannotChat),
        };
        Ok(Reply::said(text))
    }
}

fn consolidate(engine: &Engine, session: &SessionId) -> Result<Consolidation, Failure> {
    let worker = Worker { holder: processes::holder(), is_gone: &processes::is_gone };
    Ok(engine.consolidation().run(session, &Parrot, None, &worker)?)
}

fn sessions() -> Result<Vec<SessionId>, Failure> {
    SESSIONS.iter().map(|id| Ok(id.parse()?)).collect()
}

/// One worker: talks and consolidates until it is killed. Gives whether all went well.
pub fn work(home: &Path, name: &str, seed: u64) -> bool {
    talk(home, name, seed).or_else(|error| say(&Line::Error { error: chain(&*error) }).and(Err(error))).is_ok()
}

fn talk(home: &Path, name: &str, seed: u64) -> Result<(), Failure> {
    let (engine, _) = open(home)?;
    let (mut dice, sessions) = (Dice::new(seed), sessions()?);
    for round in 0..LONGEST {
        let session = &sessions[dice.below(SESSIONS.len() as u64) as usize];
        engine.sessions().start(&StartSession::new(session.clone()))?;
        for nth in 0..=dice.below(3) {
            let role = if nth == 1 { Role::Assistant } else { Role::User };
            let content = format!("w{:x} {name}r{round}n{nth} w{:x}", dice.roll(), dice.roll());
            let name = format!("{name}r{round}n{nth}");
            let id = TurnId::of_host(session, &name);
            let said = Said { id: Some(name), ..Said::now(role, content.clone()) };
            engine.sessions().observe(session, &[said])?;
            say(&Line::Kept { session: session.clone(), id, content })?;
        }
        say(&Line::Begin)?;
        let outcome = match consolidate(&engine, session)? {
            Consolidation::Done(_) => "done",
            Consolidation::Busy => "busy",
            // The other worker took these turns, too.
            Consolidation::Nothing => "nothing",
            other => return Err(format!("a model that cannot fail gave {other:?}").into()),
        };
        say(&Line::End { outcome: outcome.to_owned() })?;
    }
    Ok(())
}

/// One `write` for a whole line: a kill leaves it whole or absent.
fn say(line: &Line) -> Result<(), Failure> {
    let text = format!("{}\n", serde_json::to_string(line)?);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// How it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interruption {
    /// The program whose `talk` command is one worker.
    pub program: PathBuf,
    /// How many are killed, two at a time.
    pub kills: usize,
    /// Where chance begins.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Who was killed.
    pub kills: usize,
    /// How many of them within a consolidation.
    pub within: usize,
    /// How often a kill left turns that were not consolidated yet.
    pub unfinished: usize,
    /// Turns that were acknowledged.
    pub kept: usize,
    /// Consolidations that the workers completed.
    pub completed: usize,
    /// Entries of the timeline in the end.
    pub timeline: usize,
    /// Everything that is wrong.
    pub problems: Vec<String>,
}

struct Victim {
    process: Child,
    listener: JoinHandle<Vec<Line>>,
}

impl Interruption {
    /// Kills, looks, finishes and looks again, in `home`.
    pub fn run(&self, home: &Path) -> Result<Report, Failure> {
        let (mut report, mut dice) = (Report::default(), Dice::new(self.seed));
        let mut kept: BTreeMap<TurnId, (SessionId, String)> = BTreeMap::new();
        // Opened once before, so that no worker is killed while it makes the database.
        drop(open(home)?);
        let mut round = 0;
        while report.kills < self.kills && report.problems.is_empty() {
            for line in self.round(home, round, &mut dice, &mut report)? {
                match line {
                    Line::Kept { session, id, content } => drop(kept.insert(id, (session, content))),
                    Line::End { outcome } if outcome == "done" => report.completed += 1,
                    Line::Error { error } => report.problems.push(format!("round {round}: {error}")),
                    Line::Begin | Line::End { .. } => {}
                }
            }
            let left = look(home, &kept)?;
            report.unfinished += usize::from(left.uncaptured > 0);
            report
                .problems
                .extend(left.problems.iter().map(|problem| format!("round {round}, as it was left: {problem}")));
            finish(home, &mut report.problems)?;
            let after = look(home, &kept)?;
            report.problems.extend(after.problems.iter().map(|problem| format!("round {round}, finished: {problem}")));
            if after.uncaptured > 0 {
                report.problems.push(format!("round {round}: {} turns are not captured", after.uncaptured));
            }
            report.timeline = after.timeline;
            round += 1;
        }
        report.kept = kept.len();
        Ok(report)
    }

    /// Two workers; one is killed shortly after it began to consolidate, then the other, whatever it does.
    fn round(&self, home: &Path, round: usize, dice: &mut Dice, report: &mut Report) -> Result<Vec<Line>, Failure> {
        let (sender, receiver) = channel();
        let mut victims = Vec::new();
        for worker in 0..2 {
            victims.push(self.start(home, worker, round, dice.roll(), &sender)?);
        }
        drop(sender);
        let mut first = 0;
        for _ in 0..=dice.below(6) {
            first = receiver.recv_timeout(SILENCE).map_err(|_| "no worker began to consolidate")?;
        }
        let mut lines = Vec::new();
        for at in [first, 1 - first] {
            // From the first look at the lease to after the last write.
            std::thread::sleep(Duration::from_micros(dice.below(15_000)));
            victims[at].process.kill()?;
            victims[at].process.wait()?;
            report.kills += 1;
        }
        for victim in victims {
            let said = victim.listener.join().map_err(|_| "a listener failed")?;
            report.within += usize::from(said.last() == Some(&Line::Begin));
            lines.extend(said);
        }
        Ok(lines)
    }

    fn start(
        &self,
        home: &Path,
        worker: usize,
        round: usize,
        seed: u64,
        begun: &Sender<usize>,
    ) -> Result<Victim, Failure> {
        let mut command = Command::new(&self.program);
        command.arg("talk").arg(home).args(["--name", &format!("k{round}w{worker}"), "--seed", &seed.to_string()]);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().ok_or("a worker has no output")?;
        let begun = begun.clone();
        let listener = std::thread::spawn(move || {
            let mut lines = Vec::new();
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // The last words of the killed are no promise.
                let Ok(line) = serde_json::from_str::<Line>(&line) else { continue };
                if line == Line::Begin {
                    let _ = begun.send(worker);
                }
                lines.push(line);
            }
            lines
        });
        Ok(Victim { process, listener })
    }
}

/// Does what is left to do; the dead hold no lease, and nothing is done twice.
fn finish(home: &Path, problems: &mut Vec<String>) -> Result<(), Failure> {
    let (engine, store) = open(home)?;
    for session in sessions()? {
        if store.session(&session)?.is_none() {
            continue;
        }
        match consolidate(&engine, &session)? {
            Consolidation::Done(_) | Consolidation::Nothing => {}
            other => problems.push(format!("finishing {session} gave {other:?}")),
        }
        let again = consolidate(&engine, &session)?;
        if again != Consolidation::Nothing {
            problems.push(format!("{session} was consolidated again: {again:?}"));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Look {
    problems: Vec<String>,
    uncaptured: usize,
    timeline: usize,
}

/// Looks at what is stored: every turn is there, pointer and timeline agree, nothing is there twice.
fn look(home: &Path, kept: &BTreeMap<TurnId, (SessionId, String)>) -> Result<Look, Failure> {
    let (engine, store) = open(home)?;
    let mut look = Look::default();
    let mut there: BTreeMap<TurnId, (SessionId, String)> = BTreeMap::new();
    for session in sessions()? {
        look.session(&*store, &session, &mut there)?;
    }
    for (id, words) in kept {
        if there.get(id) != Some(words) {
            look.problems.push(format!("{id} was acknowledged and is {:?}", there.get(id)));
        }
    }
    look.facts(&*store)?;
    look.documents(&engine)?;
    look.problems.extend(store.check()?);
    Ok(look)
}

impl Look {
    fn session(
        &mut self,
        store: &dyn Store,
        session: &SessionId,
        there: &mut BTreeMap<TurnId, (SessionId, String)>,
    ) -> Result<(), Failure> {
        let Some(state) = store.session(session)? else { return Ok(()) };
        let mut captured: BTreeMap<TurnId, usize> = BTreeMap::new();
        let mut chunks = 0;
        for memory in store.bundle()?.memories {
            let entry = memory.entry;
            let is_chunk = entry.key.as_deref().is_some_and(|key| key.starts_with("ctx_"));
            if is_chunk && entry.namespace == Namespace::Session(session.clone()) {
                chunks += 1;
                entry.provenance.into_iter().for_each(|id| *captured.entry(id).or_default() += 1);
            }
        }
        let turns = store.turns_after(session, Position::default())?;
        let summaries = turns.iter().filter(|(_, turn)| turn.role == Role::Summary).count();
        if summaries != chunks {
            self.problems.push(format!("{session} has {summaries} summaries and {chunks} entries in the timeline"));
        }
        for (position, turn) in turns.into_iter().filter(|(_, turn)| turn.role != Role::Summary) {
            let (times, expected) = (captured.remove(&turn.id).unwrap_or(0), position <= state.consolidated);
            if times != usize::from(expected) {
                let pointer = state.consolidated.number();
                let at = position.number();
                self.problems.push(format!("{} at {at} is captured {times} times, the pointer is {pointer}", turn.id));
            }
            self.uncaptured += usize::from(!expected);
            if there.insert(turn.id.clone(), (turn.session, turn.content)).is_some() {
                self.problems.push(format!("{} is there twice", turn.id));
            }
        }
        if !captured.is_empty() {
            self.problems.push(format!("the timeline of {session} stands for turns that are not there: {captured:?}"));
        }
        self.timeline += chunks;
        Ok(())
    }

    fn facts(&mut self, store: &dyn Store) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        for memory in store.bundle()?.memories {
            let entry = memory.entry;
            let is_fact = entry.layer == Layer::Knowledge && entry.kind == Kind::Entry;
            if is_fact && entry.status == Status::Active && !seen.insert(entry.content.clone()) {
                self.problems.push(format!("a fact is there twice: {}", entry.content));
            }
        }
        Ok(())
    }

    /// No line is in a document twice, although a kill may leave the file without its version.
    fn documents(&mut self, engine: &Engine) -> Result<(), Failure> {
        for name in ["profile", "patterns", "working"] {
            let address: Namespace = format!("{}/{name}", person()?).parse()?;
            let text = engine.documents().read(&address)?.unwrap_or_default();
            let mut seen = HashSet::new();
            if let Some(twice) = text.lines().filter(|line| line.starts_with("- ")).find(|line| !seen.insert(*line)) {
                self.problems.push(format!("{address} says twice: {twice}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use throughline_core::model::{Actor, Change, ChangeId, EntryId, Source, Verb};
    use throughline_core::ports::ErasureMark;

    use super::*;

    #[test]
    fn notices_a_turn_that_is_missing_and_one_that_is_captured_twice() {
        let home = tempfile::tempdir().unwrap();
        let (engine, store) = open(home.path()).unwrap();
        let session = sessions().unwrap().remove(0);
        engine.sessions().observe(&session, &[Said::now(Role::User, "hello there")]).unwrap();
        assert_eq!(look(home.path(), &BTreeMap::new()).unwrap().uncaptured, 1);
        assert!(matches!(consolidate(&engine, &session).unwrap(), Consolidation::Done(_)));
        let clean = look(home.path(), &BTreeMap::new()).unwrap();
        assert_eq!((clean.problems, clean.uncaptured, clean.timeline), (Vec::new(), 0, 1));
        let missing = BTreeMap::from([(TurnId::new("m-1"), (session.clone(), "never kept".to_owned()))]);
        assert_eq!(look(home.path(), &missing).unwrap().problems.len(), 1);
        let mut bundle = store.bundle().unwrap();
        bundle.memories.retain(|memory| memory.entry.key.as_deref().is_some_and(|key| key.starts_with("ctx_")));
        bundle.memories[0].entry.id = EntryId::new("another");
        bundle.memories[0].entry.key = Some("ctx_another".to_owned());
        bundle.history.clear();
        let change = Change {
            id: ChangeId::new("a-change"),
            actor: Actor::new(Source::User, "torture"),
            verb: Verb::Import,
            at: engine.now(),
            undoes: None,
        };
        store.adopt(&change, &bundle, &ErasureMark::default(), &mut |_| true).unwrap();
        let twice = look(home.path(), &BTreeMap::new()).unwrap();
        assert!(twice.problems.iter().any(|problem| problem.contains("captured 2 times")), "{:?}", twice.problems);
    }
}
