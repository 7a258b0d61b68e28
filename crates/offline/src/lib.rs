//! The offline model: summaries and facts without any language model.
//!
//! Goes in: a conversation. Comes out: sentences of it, chosen and sorted, verbatim but for white space. Never happens:
//! a word that nobody said, a reply that depends on anything but the brief, time that grows faster than the text.
//!
//! A conversation that holds nothing worth keeping gives `NOTHING` and no facts; that is an answer, not a failure.

mod change;
mod classify;
mod extract;
mod fate;
mod features;
mod groups;
mod kind;
mod language;
mod lexicon;
mod moves;
mod outcome;
mod phrases;
mod reference;
mod reflect;
mod remember;
mod smalltalk;
mod spoken;
mod summary;
mod veto;
mod weigh;
mod words;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;

pub use features::features;
pub use language::Language;

use throughline_core::model::Turn;
use throughline_core::ports::{Brief, Cost, Finish, Model, ModelError, Reply, SummaryOf};
use throughline_core::text::tokens;

/// The embedded model. It needs nothing and is always there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offline;

impl Model for Offline {
    fn provider(&self) -> &'static str {
        "offline"
    }

    fn name(&self) -> &str {
        "extractive"
    }

    fn cost(&self) -> Cost {
        Cost::Free
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::Conversation
    }

    fn can_chat(&self) -> bool {
        false
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        let (text, turns) = match brief {
            Brief::Summarise(brief) => (summary::summarise(brief), &brief.turns),
            Brief::Extract(brief) => (extract::extract(brief), &brief.turns),
            Brief::Reflect(brief) => (reflect::reflect(brief), &brief.turns),
            Brief::Chat { .. } => return Err(ModelError::CannotChat),
        };
        if !text.is_empty() && !sink(&text) {
            return Err(ModelError::Cancelled);
        }
        let tokens_out = tokens::estimate(&text) as u64;
        Ok(Reply { text, calls: Vec::new(), finish: Finish::Complete, tokens_in: tokens_in(turns), tokens_out })
    }
}

fn tokens_in(turns: &[Turn]) -> u64 {
    turns.iter().map(|turn| tokens::estimate(&turn.content) as u64).sum()
}

/// White space folded: what "verbatim" is measured by.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use throughline_core::ports::{ExtractBrief, SummaryBrief};

    use super::corpus::turn;
    use super::*;

    fn extraction() -> Brief {
        Brief::Extract(ExtractBrief {
            before: Vec::new(),
            turns: vec![turn("user", "My name is Ada.")],
            known: Vec::new(),
        })
    }

    #[test]
    fn does_not_chat() {
        let brief = Brief::Chat { system: String::new(), messages: Vec::new(), tools: Vec::new() };
        assert_eq!(Offline.complete(&brief, &mut |_| true), Err(ModelError::CannotChat));
        assert_eq!((Offline.provider(), Offline.name(), Offline.can_chat()), ("offline", "extractive", false));
        assert_eq!((Offline.cost(), Offline.summarises()), (Cost::Free, SummaryOf::Conversation));
    }

    #[test]
    fn sends_its_text_once_and_counts_it() {
        let mut pieces = Vec::new();
        let reply = Offline
            .complete(&extraction(), &mut |piece| {
                pieces.push(piece.to_owned());
                true
            })
            .unwrap();
        assert_eq!(reply.text, r#"{"facts":[{"text":"My name is Ada.","kind":"identity"}]}"#);
        assert_eq!(pieces, [reply.text]);
        assert_eq!((reply.finish, reply.tokens_in, reply.tokens_out), (Finish::Complete, 4, 14));
    }

    #[test]
    fn can_be_cancelled() {
        assert_eq!(Offline.complete(&extraction(), &mut |_| false), Err(ModelError::Cancelled));
    }

    #[test]
    fn nothing_gives_nothing() {
        let brief = SummaryBrief {
            personal: true,
            turns: Vec::new(),
            person: Default::default(),
            previous: None,
            knowledge: Vec::new(),
            max_tokens: 100,
        };
        let reply = Offline.complete(&Brief::Summarise(brief), &mut |_| true).unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("NOTHING", Finish::Complete));
    }
}
