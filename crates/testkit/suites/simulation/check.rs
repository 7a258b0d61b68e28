//! What must hold after every step: nothing that was confirmed is lost, nothing that was refused is there, nothing that was
//! erased comes back, no version is skipped, no turn is passed over, and no line of a file is overwritten.

use std::collections::BTreeMap;

use throughline_core::model::{EntryId, Kind, Layer, Position, Role, SessionId, Status};
use throughline_core::ports::Bundle;

use super::acts::found;
use super::plain::{Fact, Known, Plain, Words, word};
use super::steps::PROCESSES;
use super::world::World;

impl World {
    /// Compares everything; what was neither confirmed nor refused is as the store says from now on.
    pub(crate) fn check(&self) -> Result<(), String> {
        let bundle = self.judge.bundle().map_err(|error| format!("the store cannot be read: {error:?}"))?;
        let mut plain = self.plain.lock().unwrap();
        adopt_unknown(&mut plain, &bundle);
        no_stranger(&plain, &bundle)?;
        plain.facts.iter_mut().try_for_each(|fact| check_fact(fact, &bundle))?;
        one_for_each_key(&plain)?;
        self.check_conversations(&mut plain, &bundle)?;
        let text = std::fs::read_to_string(self.profile()).unwrap_or_default();
        let lines: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
        settle(&mut plain.lines, &lines, "the profile", true)
    }

    /// The same, and every memory through every process, and the store's own check.
    pub(crate) fn check_all(&self) -> Result<(), String> {
        self.check()?;
        let facts = self.plain.lock().unwrap().facts.clone();
        for (nth, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.exists == Known::Yes) {
            let found = found(&self.engine(nth % PROCESSES), fact.now.first().unwrap())
                .map_err(|error| format!("{error:?}"))?;
            let is_found = fact.id.as_ref().is_some_and(|id| found.contains(id));
            if is_found != (fact.active == Known::Yes) {
                return Err(format!("{fact:?} is found: {is_found}"));
            }
        }
        let problems = self.judge.check().map_err(|error| format!("{error:?}"))?;
        if problems.is_empty() { Ok(()) } else { Err(format!("the store is damaged: {problems:?}")) }
    }

    fn check_conversations(&self, plain: &mut Plain, bundle: &Bundle) -> Result<(), String> {
        let archived: String = archive(bundle);
        let shown = plain.shown.clone();
        for (session, conversation) in &mut plain.conversations {
            let turns = self.judge.turns_after(session, Position::default()).map_err(|error| format!("{error:?}"))?;
            let said: Vec<_> = turns.into_iter().filter(|(_, turn)| turn.role != Role::Summary).collect();
            let texts: Vec<String> = said.iter().map(|(_, turn)| turn.content.clone()).collect();
            settle(&mut conversation.words, &texts, session.as_str(), conversation.is_mixed)?;
            let pointer = self.pointer(session)?;
            if pointer < conversation.pointer {
                return Err(format!("the pointer of {session} went back"));
            }
            conversation.pointer = pointer;
            for (position, turn) in said.iter().filter(|(position, _)| *position <= pointer) {
                if !shown.contains(&turn.id) && !archived.contains(&turn.content) {
                    return Err(format!(
                        "{session} is consolidated past {position:?} {:?}, which no model saw",
                        turn.content
                    ));
                }
            }
        }
        Ok(())
    }

    fn pointer(&self, session: &SessionId) -> Result<Position, String> {
        let state = self.judge.session(session).map_err(|error| format!("{error:?}"))?;
        Ok(state.map(|state| state.consolidated).unwrap_or_default())
    }
}

/// What the archive says.
fn archive(bundle: &Bundle) -> String {
    let kept = bundle.memories.iter().filter(|memory| memory.entry.layer == Layer::Archive);
    kept.map(|memory| format!("{}\n", memory.entry.content)).collect()
}

/// Facts that nobody was told about: they are there under an id, are another version of one that is, or are not there.
fn adopt_unknown(plain: &mut Plain, bundle: &Bundle) {
    let unknown: Vec<Fact> = plain.facts.extract_if(.., |fact| fact.id.is_none()).collect();
    for fact in unknown {
        let text = fact.now.first().cloned().unwrap_or_default();
        let Some(version) = bundle.history.iter().find(|version| version.entry.content == text) else { continue };
        match plain.by_id(&version.entry.id) {
            Some(nth) => {
                let known = &mut plain.facts[nth];
                known.said.push(text.clone());
                known.now.insert(text);
            }
            None => plain.add(Some(version.entry.id.clone()), fact.key, text),
        }
    }
}

/// No memory is there that nobody asked for.
fn no_stranger(plain: &Plain, bundle: &Bundle) -> Result<(), String> {
    let facts = bundle.memories.iter().filter(|memory| is_fact(memory.entry.kind, memory.entry.layer));
    let erased = |id: &EntryId| plain.by_id(id).is_some_and(|nth| plain.facts[nth].exists == Known::No);
    for memory in facts {
        let id = &memory.entry.id;
        if plain.by_id(id).is_none() {
            return Err(format!("nobody asked for {:?}", memory.entry));
        }
        if erased(id) {
            return Err(format!("what was erased is back: {:?}", memory.entry));
        }
    }
    Ok(())
}

fn is_fact(kind: Kind, layer: Layer) -> bool {
    kind == Kind::Entry && layer == Layer::Knowledge
}

fn check_fact(fact: &mut Fact, bundle: &Bundle) -> Result<(), String> {
    let id = fact.id.clone().ok_or("a fact without an id")?;
    let memory = bundle.memories.iter().find(|memory| memory.entry.id == id);
    let Some(memory) = memory else {
        if fact.exists == Known::Yes {
            return Err(format!("{fact:?} is lost"));
        }
        fact.exists = Known::No;
        let is_left = bundle.history.iter().any(|version| version.entry.id == id);
        return if is_left { Err(format!("a version of the erased {fact:?} is left")) } else { Ok(()) };
    };
    fact.exists = Known::Yes;
    if !fact.now.contains(&memory.entry.content) {
        return Err(format!("{fact:?} says {:?}", memory.entry.content));
    }
    fact.now.retain(|text| *text == memory.entry.content);
    let is_active = if memory.entry.status == Status::Active { Known::Yes } else { Known::No };
    if fact.active != Known::Unknown && fact.active != is_active {
        return Err(format!("{fact:?} is {:?}", memory.entry.status));
    }
    fact.active = is_active;
    let versions: Vec<&str> = bundle
        .history
        .iter()
        .filter(|version| version.entry.id == id)
        .map(|version| version.entry.content.as_str())
        .collect();
    match fact.said.iter().find(|text| !versions.contains(&text.as_str())) {
        Some(lost) => Err(format!("{lost:?} was confirmed and is no version of {id}: {versions:?}")),
        None => Ok(()),
    }
}

fn one_for_each_key(plain: &Plain) -> Result<(), String> {
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    let active = plain.facts.iter().filter(|fact| fact.exists == Known::Yes && fact.active == Known::Yes);
    for key in active.filter_map(|fact| fact.key.as_deref()) {
        let holders = holders.entry(key).or_default();
        *holders += 1;
        if *holders > 1 {
            return Err(format!("two memories have the key {key}"));
        }
    }
    Ok(())
}

/// Compares texts with what must be there: each once, in order unless that is not known, and nothing else.
fn settle(expected: &mut Vec<Words>, there: &[String], place: &str, in_any_order: bool) -> Result<(), String> {
    for words in expected.iter_mut() {
        let count = there.iter().filter(|text| **text == words.text).count();
        match (words.is_kept, count) {
            (Known::Yes, 1) => {}
            (Known::Unknown, 0 | 1) => words.is_kept = if count == 1 { Known::Yes } else { Known::No },
            (_, count) => return Err(format!("{words:?} is in {place} {count} times")),
        }
    }
    expected.retain(|words| words.is_kept == Known::Yes);
    if let Some(stranger) = there.iter().find(|text| expected.iter().all(|words| words.text != **text)) {
        return Err(format!("{stranger:?} is in {place}, and nobody was told so"));
    }
    let is_in_order = expected.iter().map(|words| &words.text).eq(there);
    if in_any_order || is_in_order { Ok(()) } else { Err(format!("{place} has another order: {there:?}")) }
}

/// The words of a simulation are all different, and none begins another.
#[test]
fn words_are_different() {
    let words: std::collections::BTreeSet<String> = (0..2000).map(word).collect();
    assert_eq!(words.len(), 2000);
}
