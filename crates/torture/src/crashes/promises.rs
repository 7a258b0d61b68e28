//! What was confirmed, and whether a memory keeps it: everything is there, once, and every check is clean.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use throughline::world::{Home, World, WorldClock};
use throughline_core::engine::NewMemory;
use throughline_core::model::{DocumentName, Kind, Namespace, Status};
use throughline_core::ports::Bundle;

use crate::{Failure, person};

/// Something that is stored once it was confirmed. Each text is written by nobody else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Promise {
    /// A memory.
    Memory {
        /// Its text.
        text: String,
    },
    /// A line of the profile, which is a document.
    Line {
        /// Without its bullet.
        text: String,
    },
    /// A turn of a conversation.
    Turn {
        /// Which conversation.
        session: String,
        /// What was said.
        text: String,
    },
}

/// What the memory in `home` fails to keep, opened as the program itself opens it. `goes_on` says that it is also written to.
pub fn broken(home: &Path, promises: &[Promise], goes_on: bool) -> Result<Vec<String>, Failure> {
    let world = World::open_at(Home::at(home.to_owned()), Arc::new(WorldClock::real()))?;
    let profile = Namespace::Document(DocumentName::profile(&person()?));
    // Before all else: it notices a file whose version was lost, as any later use does.
    world.engine.memories().list(&throughline_core::recall::Filter::default(), &Default::default())?;
    let file = world.engine.documents().read(&profile)?.unwrap_or_default();
    let bundle = world.store.bundle()?;
    let mut problems = world.store.check()?;
    let stored = stored(&bundle, &file);
    compare(promises, &stored, &mut problems);
    order(promises, &stored, &mut problems);
    documents(&world, &bundle, &mut problems)?;
    if goes_on {
        let new = NewMemory::fact("written afterwards".to_owned());
        let id = world.engine.memories().remember(&new)?.memory.entry.id;
        if world.engine.memories().show(id.as_str())?.entry.status != Status::Active {
            problems.push("what is written afterwards is not there".to_owned());
        }
        problems.extend(world.store.check()?);
    }
    Ok(problems)
}

/// Everything that is stored, as it would have been promised.
fn stored(bundle: &Bundle, profile: &str) -> Vec<Promise> {
    let active = |kind: Kind| {
        let memories = bundle.memories.iter().map(|memory| &memory.entry);
        memories.filter(move |entry| entry.kind == kind && entry.status == Status::Active)
    };
    let memories = active(Kind::Entry).map(|entry| Promise::Memory { text: entry.content.clone() });
    let lines = profile.lines().filter_map(|line| line.strip_prefix("- "));
    let lines = lines.map(|line| Promise::Line { text: line.to_owned() });
    let turns = bundle.turns.iter();
    let turns = turns.map(|turn| Promise::Turn { session: turn.session.to_string(), text: turn.content.clone() });
    memories.chain(lines).chain(turns).collect()
}

fn compare(promises: &[Promise], stored: &[Promise], problems: &mut Vec<String>) {
    let counts = count(stored);
    problems
        .extend(promises.iter().filter(|it| !counts.contains_key(it)).map(|it| format!("confirmed and lost: {it:?}")));
    let twice = counts.iter().filter(|(_, count)| **count > 1);
    problems.extend(twice.map(|(it, count)| format!("stored {count} times: {it:?}")));
}

/// Turns of a conversation are in the order in which they were confirmed: each writer waits for that before it says more.
fn order(promises: &[Promise], stored: &[Promise], problems: &mut Vec<String>) {
    let places: HashMap<&Promise, usize> = stored.iter().enumerate().map(|(place, it)| (it, place)).collect();
    let mut latest: HashMap<&str, usize> = HashMap::new();
    for promise in promises {
        let (Promise::Turn { session, .. }, Some(&place)) = (promise, places.get(promise)) else { continue };
        let before = latest.insert(session, place);
        if before.is_some_and(|before| before > place) {
            problems.push(format!("stored before what was said earlier: {promise:?}"));
        }
    }
}

fn count<T: Hash + Eq>(items: &[T]) -> HashMap<&T, usize> {
    let mut counts = HashMap::new();
    items.iter().for_each(|item| *counts.entry(item).or_insert(0) += 1);
    counts
}

/// Each document is what its last version says, and nothing was kept as a document of its own.
fn documents(world: &World, bundle: &Bundle, problems: &mut Vec<String>) -> Result<(), Failure> {
    let last: HashMap<&DocumentName, &Option<String>> =
        bundle.document_history.iter().map(|version| (&version.name, &version.text)).collect();
    for (name, text) in last {
        let now = world.engine.documents().read(&Namespace::Document(name.clone()))?;
        if now != *text {
            problems.push(format!("{name} is {now:?}, and its last version {text:?}"));
        }
        if name.to_string().contains("recovered-") {
            problems.push(format!("{name} was left by a write"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(text: &str) -> Promise {
        Promise::Memory { text: text.to_owned() }
    }

    #[test]
    fn what_is_missing_and_what_is_there_twice_is_told() {
        let (mut none, mut problems) = (Vec::new(), Vec::new());
        compare(&[memory("a")], &[memory("a"), memory("b")], &mut none);
        assert_eq!(none, Vec::<String>::new());
        compare(&[memory("a"), memory("c")], &[memory("a"), memory("a")], &mut problems);
        assert_eq!(problems.len(), 2, "{problems:?}");
    }

    #[test]
    fn turns_in_another_order_are_told() {
        let turn = |session: &str, text: &str| Promise::Turn { session: session.to_owned(), text: text.to_owned() };
        let (mut none, mut problems) = (Vec::new(), Vec::new());
        let said = [turn("a", "1"), turn("b", "1"), turn("a", "2")];
        order(&said, &[turn("a", "1"), turn("a", "2"), turn("b", "1")], &mut none);
        assert_eq!(none, Vec::<String>::new());
        order(&said, &[turn("a", "2"), turn("a", "1"), turn("b", "1")], &mut problems);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
