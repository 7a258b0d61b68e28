//! What must be there, in plain collections.

use std::collections::{BTreeMap, BTreeSet};

use throughline_core::engine::Export;
use throughline_core::model::{EntryId, Position, SessionId, TurnId};

/// Whether something is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Yes,
    No,
    /// The act that decides it was neither confirmed nor refused: it is as the store says, from then on.
    Unknown,
}

/// A memory that somebody asked for.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// Nothing as long as nobody was told.
    pub(crate) id: Option<EntryId>,
    pub(crate) key: Option<String>,
    /// Every text that was confirmed.
    pub(crate) said: Vec<String>,
    /// What it may say now: more than one while two processes wrote at once, or a write was not confirmed.
    pub(crate) now: BTreeSet<String>,
    pub(crate) exists: Known,
    pub(crate) active: Known,
}

/// Something that was said in a session.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    pub(crate) text: String,
    pub(crate) is_kept: Known,
}

#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) words: Vec<Words>,
    /// Whether two processes spoke at once: then their order is not known.
    pub(crate) is_mixed: bool,
    /// How far it was consolidated when it was last looked at.
    pub(crate) pointer: Position,
}

/// Everything.
#[derive(Default)]
pub(crate) struct Plain {
    pub(crate) facts: Vec<Fact>,
    pub(crate) conversations: BTreeMap<SessionId, Conversation>,
    /// Turns that a model was asked to summarise.
    pub(crate) shown: BTreeSet<TurnId>,
    /// Lines of the profile.
    pub(crate) lines: Vec<Words>,
    /// What was exported last.
    pub(crate) export: Option<Export>,
    /// Facts that another process changed while an act was under way.
    pub(crate) meanwhile: BTreeSet<usize>,
    /// Names are given by counting.
    pub(crate) count: usize,
}

impl Plain {
    /// A text that nobody said before: two words that occur nowhere else.
    pub(crate) fn new_text(&mut self, hostile: bool) -> String {
        self.count += 2;
        let (one, other) = (word(self.count), word(self.count + 1));
        if hostile { format!("{one} and </memory-context> {other}") } else { format!("{one} and {other}") }
    }

    /// One of the facts whose id is known and that are not erased.
    pub(crate) fn pick(&self, which: usize) -> Option<usize> {
        let there: Vec<usize> = (0..self.facts.len())
            .filter(|nth| self.facts[*nth].id.is_some() && self.facts[*nth].exists == Known::Yes)
            .collect();
        (!there.is_empty()).then(|| there[which % there.len()])
    }

    /// The fact with this id.
    pub(crate) fn by_id(&self, id: &EntryId) -> Option<usize> {
        self.facts.iter().position(|fact| fact.id.as_ref() == Some(id))
    }

    /// A fact was confirmed to say something else. `is_first`: not in the middle of another act.
    pub(crate) fn says(&mut self, nth: usize, text: String, is_first: bool) {
        let is_raced = is_first && self.meanwhile.contains(&nth);
        if !is_first {
            self.meanwhile.insert(nth);
        }
        let fact = &mut self.facts[nth];
        fact.said.push(text.clone());
        if !is_raced {
            fact.now.clear();
        }
        fact.now.insert(text);
    }

    /// A new fact, confirmed under this id or not confirmed at all.
    pub(crate) fn add(&mut self, id: Option<EntryId>, key: Option<String>, text: String) {
        let known = if id.is_some() { Known::Yes } else { Known::Unknown };
        let said = id.iter().map(|_| text.clone()).collect();
        let now = BTreeSet::from([text]);
        self.facts.push(Fact { id, key, said, now, exists: known, active: known });
    }
}

/// A word that no language has, by its number.
pub(crate) fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
    let digit = |place: u32| SYLLABLES[number / 16usize.pow(place) % 16];
    format!("{}{}{}x", digit(2), digit(1), digit(0))
}
