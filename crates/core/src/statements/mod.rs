//! Statements: what one says, compared with another. Pure: text in, answers out.
//!
//! Two questions are answered: do two statements say the same ([`same`]), and does a new one take the place of an old one
//! ([`replaces`])? In doubt the answer is no, and both stay.

mod about;
mod change;
mod identity;
mod lasting;
mod lexicon;
mod numbers;
mod person;
mod phrases;
mod reading;
mod rejected;
mod same;
mod traits;

pub use about::{About, Property, about};
pub use change::{completed, has_sign, rejects, replaces};
pub use identity::tells_who;
pub use lasting::is_lasting;
pub(crate) use numbers::number;
pub use person::{has_relative_date, is_about_person, is_note_on_person, is_rule};
pub use same::{Meaning, canonical, same, words};

#[cfg(test)]
mod tests;
