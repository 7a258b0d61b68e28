//! Many workers at once, and the killing. Says what was acknowledged; judges nothing.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use throughline::synthetic::Dice;

use crate::Failure;
use crate::said::{Line, Said};

/// Nobody acknowledging anything for so long means that they all wait for each other. A writer may wait for thirty
/// seconds before it gives up, so this is longer.
const SILENCE: Duration = Duration::from_secs(90);

/// How it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Siege {
    /// The program whose `work` command is one worker.
    pub program: PathBuf,
    /// How many work at once.
    pub workers: usize,
    /// Operations of each; where there are kills, all stop after the last one instead.
    pub ops: u64,
    /// How many are killed and replaced.
    pub kills: usize,
    /// At most this many acknowledged writes of anybody lie between two kills.
    pub pace: u64,
    /// Where chance begins.
    pub seed: u64,
    /// How many keys everybody shares.
    pub keys: u64,
    /// How many of a hundred operations write under one of them.
    pub keyed: u64,
    /// How many of a hundred operations change the profile.
    pub profile: u64,
}

/// What came of it.
#[derive(Debug, Default, PartialEq)]
pub struct Record {
    /// Everything that was acknowledged, in the order in which each worker said it.
    pub said: Vec<Said>,
    /// Operations that were begun.
    pub ops: u64,
    /// Who was killed: the worker, and which of its lives.
    pub killed: Vec<(usize, usize)>,
    /// Workers that ended otherwise than they should, and what they said.
    pub errors: Vec<String>,
}

enum Event {
    Said(Line),
    Unreadable { worker: usize, life: usize, line: String },
    Ended { worker: usize, life: usize, last_op: u64 },
}

struct Worker {
    life: usize,
    process: Option<Child>,
}

struct Field<'a> {
    siege: &'a Siege,
    home: &'a Path,
    sender: Sender<Event>,
    receiver: Receiver<Event>,
    workers: Vec<Worker>,
    /// Outputs that are still open: those of the killed count until they are read to their end.
    open: usize,
    dice: Dice,
    record: Record,
}

impl Siege {
    /// Runs it on the memory in `home`.
    pub fn run(&self, home: &Path) -> Result<Record, Failure> {
        let (sender, receiver) = channel();
        let workers = (0..self.workers).map(|_| Worker { life: 0, process: None }).collect();
        let (dice, record) = (Dice::new(self.seed), Record::default());
        let mut field = Field { siege: self, home, sender, receiver, workers, open: 0, dice, record };
        let outcome = field.run();
        // Whatever happened, nobody is left behind.
        for process in field.workers.iter_mut().filter_map(|worker| worker.process.as_mut()) {
            let _ = process.kill();
            let _ = process.wait();
        }
        outcome.map(|()| field.record)
    }
}

impl Field<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        (0..self.workers.len()).try_for_each(|worker| self.start(worker))?;
        // Counting what is acknowledged, and not milliseconds, needs no sleep, kills as often on a slow machine, and
        // leaves it to chance what the victim is doing: most of the time it is another worker that was just heard of.
        let mut until_kill = 1 + self.dice.below(self.siege.pace);
        while self.open > 0 {
            let event = self.receiver.recv_timeout(SILENCE).map_err(|_| "nothing was heard of any worker for 90 s")?;
            let is_write = matches!(&event, Event::Said(_));
            self.note(event)?;
            if is_write && self.record.killed.len() < self.siege.kills {
                until_kill -= 1;
                if until_kill == 0 {
                    self.kill_one()?;
                    until_kill = 1 + self.dice.below(self.siege.pace);
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, worker: usize) -> Result<(), Failure> {
        let life = self.workers[worker].life;
        let mut command = Command::new(&self.siege.program);
        command.arg("work").arg(self.home);
        for (name, value) in [
            ("--worker", worker as u64),
            ("--life", life as u64),
            ("--seed", self.dice.roll()),
            ("--keys", self.siege.keys),
            ("--keyed", self.siege.keyed),
            ("--profile", self.siege.profile),
        ] {
            command.arg(name).arg(value.to_string());
        }
        if self.siege.kills == 0 {
            command.arg("--ops").arg(self.siege.ops.to_string());
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().ok_or("a worker has no output")?;
        let sender = self.sender.clone();
        std::thread::spawn(move || listen(worker, life, output, &sender));
        self.workers[worker].process = Some(process);
        self.open += 1;
        Ok(())
    }

    /// Kills one that is still working, puts another in its place, and after the last kill asks everybody to stop.
    fn kill_one(&mut self) -> Result<(), Failure> {
        let working: Vec<usize> = (0..self.workers.len()).filter(|&at| self.workers[at].process.is_some()).collect();
        let Some(&victim) = working.get(self.dice.below(working.len() as u64) as usize) else { return Ok(()) };
        let worker = &mut self.workers[victim];
        if let Some(mut process) = worker.process.take() {
            process.kill()?;
            process.wait()?;
        }
        self.record.killed.push((victim, worker.life));
        worker.life += 1;
        self.start(victim)?;
        if self.record.killed.len() == self.siege.kills {
            self.workers.iter_mut().filter_map(|worker| worker.process.as_mut()).for_each(|it| drop(it.stdin.take()));
        }
        Ok(())
    }

    fn note(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Said(Line { said: Said::Error { error }, .. }) => self.record.errors.push(error),
            Event::Said(Line { said: Said::Stopped, .. }) => {}
            Event::Said(line) => self.record.said.push(line.said),
            Event::Unreadable { worker, life, line } => {
                // The last words of a worker that was killed are no promise.
                if self.workers[worker].life == life {
                    self.record.errors.push(format!("worker {worker} said {line:?}"));
                }
            }
            Event::Ended { worker, life, last_op } => {
                self.open -= 1;
                self.record.ops += last_op;
                self.bury(worker, life)?;
            }
        }
        Ok(())
    }

    /// Looks at how a worker ended, unless it was killed.
    fn bury(&mut self, worker: usize, life: usize) -> Result<(), Failure> {
        let process = if self.workers[worker].life == life { self.workers[worker].process.take() } else { None };
        if let Some(mut process) = process {
            let status = process.wait()?;
            if !status.success() {
                self.record.errors.push(format!("worker {worker} life {life} ended with {status}"));
            }
        }
        Ok(())
    }
}

fn listen(worker: usize, life: usize, output: ChildStdout, sender: &Sender<Event>) {
    let mut last_op = 0;
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { break };
        let event = match serde_json::from_str::<Line>(&line) {
            Ok(line) => {
                last_op = line.op;
                Event::Said(line)
            }
            Err(_) => Event::Unreadable { worker, life, line },
        };
        if sender.send(event).is_err() {
            return;
        }
    }
    let _ = sender.send(Event::Ended { worker, life, last_op });
}
