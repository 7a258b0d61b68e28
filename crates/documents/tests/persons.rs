//! Agents and a person write to one document at once.
//!
//! The file goes through *states*, each with a text of its own: the first text, every append that an agent was told
//! succeeded, and every save of the person. An agent's append replaces the state that it read; a save by renaming
//! replaces whatever is there, and this person looks at what that was. Then
//!
//! 1. no state is replaced twice: an append never stands on a text that was gone already;
//! 2. every state but the last is replaced by somebody who knew it: nothing that was acknowledged vanishes.
//!
//! A save may hit a text that an agent is about to take back. It then stands for the state that was to be given back.
#![cfg(any(target_os = "linux", target_os = "macos"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use throughline_core::model::{ContentHash, DocumentName};
use throughline_core::ports::{DocumentError, Documents};
use throughline_documents::FileDocuments;

const AGENTS: usize = 4;
const APPENDS: usize = 50;
const FIRST: &str = "first\n";

/// What the threads know of each other, so that the person saves in the middle of what the agents do.
#[derive(Default)]
struct Pace {
    attempts: AtomicUsize,
    done: AtomicBool,
}

impl Pace {
    /// Waits for some more attempts of the agents; false once they are done.
    fn await_attempts(&self, more: usize) -> bool {
        let until = self.attempts.load(Ordering::Relaxed) + more;
        while self.attempts.load(Ordering::Relaxed) < until && !self.done.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        !self.done.load(Ordering::Relaxed)
    }
}

/// One state replaced another.
#[derive(Debug)]
struct Step {
    before: String,
    after: String,
}

fn name() -> DocumentName {
    "user/log".parse().unwrap()
}

/// Appends a line to whatever is there, until it is told that it did.
fn append(documents: &FileDocuments, pace: &Pace, line: &str) -> Step {
    loop {
        let before = documents.read(&name()).unwrap().expect("the document is never missing").text;
        let after = format!("{before}{line}\n");
        pace.attempts.fetch_add(1, Ordering::Relaxed);
        match documents.write(&name(), &after, &ContentHash::of(&before)) {
            Ok(()) => return Step { before, after },
            Err(DocumentError::Conflict { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Each agent has a handle of its own, as separate processes have.
fn agent(root: &Path, pace: &Pace, number: usize) -> Vec<Step> {
    let documents = FileDocuments::open(root).unwrap();
    (0..APPENDS).map(|line| append(&documents, pace, &format!("agent {number} line {line}"))).collect()
}

/// All agents at once; gives what they were told succeeded.
fn agents(root: &Path, pace: &Pace) -> Vec<Step> {
    let steps = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS).map(|number| scope.spawn(move || agent(root, pace, number))).collect();
        agents.into_iter().map(|agent| agent.join()).collect::<Vec<_>>()
    });
    pace.done.store(true, Ordering::Relaxed);
    steps.into_iter().flat_map(Result::unwrap).collect()
}

/// Saves until the agents are done: after every second, third, … attempt of theirs, or twice in a row.
fn person(pace: &Pace, mut save: impl FnMut(usize)) {
    for count in 0.. {
        save(count);
        if !pace.await_attempts(count % 5) {
            return;
        }
    }
}

/// Saves as editors do, by a second file that takes the name; exchanging them tells what was replaced.
fn save_by_renaming(folder: &Path, text: &str) -> Step {
    let (saving, file) = (folder.join(".saving"), folder.join("log.md"));
    fs::write(&saving, text).unwrap();
    let here = rustix::fs::CWD;
    rustix::fs::renameat_with(here, &saving, here, &file, rustix::fs::RenameFlags::EXCHANGE).unwrap();
    Step { before: fs::read_to_string(&saving).unwrap(), after: text.to_owned() }
}

fn new_home() -> (tempfile::TempDir, FileDocuments) {
    let home = tempfile::tempdir().unwrap();
    let documents = FileDocuments::open(home.path()).unwrap();
    documents.write(&name(), FIRST, &ContentHash::missing()).unwrap();
    (home, documents)
}

fn leftovers(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "log.md" && name != ".saving").collect()
}

#[test]
fn nothing_acknowledged_is_lost_between_agents_and_a_person_who_renames() {
    let (home, documents) = new_home();
    let (root, folder) = (home.path(), home.path().join("user"));
    let (pace, mut saves) = (Pace::default(), Vec::new());
    let appends = std::thread::scope(|scope| {
        let agents = scope.spawn(|| agents(root, &pace));
        person(&pace, |count| saves.push(save_by_renaming(&folder, &format!("save {count}\n"))));
        agents.join().unwrap()
    });

    let last = documents.read(&name()).unwrap().unwrap().text;
    let states: BTreeSet<&str> = appends.iter().chain(&saves).map(|step| step.after.as_str()).chain([FIRST]).collect();
    assert_eq!(states.len(), 1 + AGENTS * APPENDS + saves.len(), "every state has a text of its own");
    assert!(states.contains(last.as_str()), "the file holds a state: {last:?}");

    let mut replaced = BTreeSet::new();
    let mut taken_back = 0;
    for step in appends.iter().chain(&saves) {
        if states.contains(step.before.as_str()) {
            assert!(replaced.insert(step.before.as_str()), "replaced twice: {:?}", step.before);
        } else {
            taken_back += 1;
        }
    }
    assert!(
        appends.iter().all(|step| states.contains(step.before.as_str())),
        "an append on a text that was taken back"
    );
    assert!(!replaced.contains(last.as_str()), "the last state was replaced by nobody");
    let vanished: Vec<&&str> = states.iter().filter(|state| **state != last && !replaced.contains(**state)).collect();
    assert_eq!(vanished.len(), taken_back, "states that nobody replaced: {vanished:?}");
    assert!(vanished.iter().all(|state| state.starts_with("save") && state.lines().count() == 1), "{vanished:?}");
    assert_eq!(leftovers(&folder), [""; 0], "temporary files");
}

/// A save in place is not atomic: readers may see half of it, and only the kernel knows who still has the file open.
/// What is promised: no other error than a conflict, nothing left behind, and once the person is done, nothing is lost.
#[test]
fn agents_survive_a_person_who_writes_in_place() {
    let (home, documents) = new_home();
    let (root, file) = (home.path(), home.path().join("user/log.md"));
    let pace = Pace::default();
    std::thread::scope(|scope| {
        let agents = scope.spawn(|| agents(root, &pace));
        person(&pace, |count| fs::write(&file, format!("save {count}\n")).unwrap());
        agents.join().unwrap()
    });
    fs::write(&file, "the last save\n").unwrap();
    let steps = agents(root, &pace);
    let text = documents.read(&name()).unwrap().unwrap().text;
    assert!(text.starts_with("the last save\n"), "{text}");
    assert_eq!(text.lines().count(), 1 + steps.len(), "every append is there once");
    assert!(steps.iter().all(|step| text.starts_with(&step.after)), "every append stands on all earlier ones");
    assert_eq!(leftovers(&home.path().join("user")), [""; 0], "temporary files");
}
