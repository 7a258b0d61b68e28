//! Who the person is in stored conversations. The rule itself is [`Person`].

use std::collections::HashMap;

use crate::documents::DocumentService;
use crate::error::Done;
use crate::model::{Person, Position, SessionId, SessionState, Turn};
use crate::ports::{self, Op};

/// Tells the person's words from those of others.
#[derive(Clone, Copy)]
pub(crate) struct Speakers<'e> {
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) documents: DocumentService<'e>,
}

impl Speakers<'_> {
    /// The person in a conversation: as it was told, or settled before; else found by everything that was said in it.
    pub(crate) fn person_in(&self, state: &SessionState) -> Done<Person> {
        if let Some(name) = &state.session.person {
            return Ok(Person::named(name));
        }
        let all: Vec<Turn> =
            self.turns.turns_after(&state.session.id, Position::default())?.into_iter().map(|(_, turn)| turn).collect();
        if all.iter().all(|turn| turn.speaker.is_none()) {
            return Ok(Person::default());
        }
        let profile = self.documents.profile().unwrap_or_else(|error| {
            tracing::warn!(%error, "the profile cannot be read; the first speaker is taken for the person");
            None
        });
        Ok(Person::among(&all, &profile.map(|(text, _)| text).unwrap_or_default()))
    }

    /// Turns of any conversations without what other people said.
    pub(crate) fn own_words(&self, mut turns: Vec<Turn>) -> Done<Vec<Turn>> {
        let mut persons: HashMap<SessionId, Person> = HashMap::new();
        for turn in turns.iter().filter(|turn| turn.speaker.is_some()) {
            if !persons.contains_key(&turn.session)
                && let Some(state) = self.session_store.session(&turn.session)?
            {
                persons.insert(turn.session.clone(), self.person_in(&state)?);
            }
        }
        turns.retain(|turn| !persons.get(&turn.session).is_some_and(|person| person.is_other(turn)));
        Ok(turns)
    }
}

/// Settles who the person is, where that was found and not told: once known, it stays.
pub(crate) fn settled(state: &SessionState, person: &Person) -> Option<Op> {
    let name = person.name.clone().filter(|_| state.session.person.is_none())?;
    Some(Op::Person { session: state.session.id.clone(), name })
}

/// The turns without what other people said.
pub(crate) fn without_others(turns: &[Turn], person: &Person) -> Vec<Turn> {
    turns.iter().filter(|turn| !person.is_other(turn)).cloned().collect()
}
