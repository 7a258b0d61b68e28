//! The profile is the person's own: a line of it that somebody else said is a fault, whatever the scores are.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use throughline_core::engine::Engine;
use throughline_core::model::{DocumentName, Layer, Namespace, TurnId};
use throughline_core::ports::Page;
use throughline_core::recall::{Filter, distinct_words, similarity};
use throughline_core::text::bullets;

use super::cast::Cast;
use super::given::content_words;
use super::trial;
use crate::cli::bench::dataset::Doc;
use crate::cli::failure::Failure;

/// A line of the profile and a memory are the same statement if they share so many of their words.
const SAME: f64 = 0.95;

/// Where no memory says which turns a line came from: those that have so many of its words.
const SAID: f64 = 0.6;

/// A line of the profile that was said by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Leak {
    pub(super) corpus: String,
    /// What stands in the profile.
    pub(super) line: String,
    /// Who said it.
    pub(super) speaker: String,
    /// The turn that it came from.
    pub(super) turn: String,
}

/// Every line of the profile whose sources were all said by others.
pub(super) fn find(engine: &Engine, corpus: &str, docs: &[&Doc], cast: &Cast) -> Result<Vec<Leak>, Failure> {
    let Some(namespace) = engine.settings().namespace.clone() else { return Ok(Vec::new()) };
    let name = DocumentName::profile(&namespace);
    let Some(text) = engine.documents().read(&Namespace::Document(name.clone()))? else { return Ok(Vec::new()) };
    let sources = Sources::of(engine, docs)?;
    let lines = bullets::parse(&name, &text).into_iter().map(|bullet| bullet.content);
    let leak = |line: String| {
        let said = sources.of_line(&line);
        let doc = said.first().filter(|_| said.iter().all(|doc| !cast.is_person(doc)))?;
        let speaker = doc.speaker.clone().unwrap_or_default();
        Some(Leak { corpus: corpus.to_owned(), line, speaker, turn: doc.id.clone() })
    };
    Ok(lines.filter_map(leak).collect())
}

/// What was said, and which memories came from it.
struct Sources<'d> {
    docs: &'d [&'d Doc],
    memories: Vec<(String, Vec<&'d Doc>)>,
}

impl<'d> Sources<'d> {
    fn of(engine: &Engine, docs: &'d [&'d Doc]) -> Result<Self, Failure> {
        let mut turns: HashMap<TurnId, &Doc> = HashMap::new();
        for (nth, session) in trial::sessions(docs).into_iter().enumerate() {
            let id = trial::session_id(nth)?;
            turns.extend(session.into_iter().map(|doc| (TurnId::of_host(&id, &doc.id), doc)));
        }
        let filter = Filter { layers: vec![Layer::Knowledge], ..Filter::default() };
        let mut page = Page { limit: 1000, cursor: None };
        let mut memories = Vec::new();
        loop {
            let listing = engine.memories().list(&filter, &page)?;
            for memory in listing.memories {
                let said = memory.entry.provenance.iter().filter_map(|turn| turns.get(turn).copied()).collect();
                memories.push((memory.entry.content, said));
            }
            page.cursor = listing.cursor;
            if page.cursor.is_none() {
                return Ok(Self { docs, memories });
            }
        }
    }

    /// The turns that a line came from: those that its memory names, else those that share most words with it.
    fn of_line(&self, line: &str) -> Vec<&'d Doc> {
        let same = self.memories.iter().filter(|(content, _)| similarity(content, line) >= SAME);
        let named: Vec<&Doc> = same.flat_map(|(_, said)| said.iter().copied()).collect();
        if !named.is_empty() {
            return named;
        }
        let words = content_words(line);
        let shared = |doc: &&Doc| {
            let said: HashSet<String> = distinct_words(&doc.text).into_iter().collect();
            words.iter().filter(|word| said.contains(*word)).count()
        };
        let by_words: Vec<(usize, &Doc)> = self.docs.iter().map(|doc| (shared(doc), *doc)).collect();
        let most = by_words.iter().map(|(shared, _)| *shared).max().unwrap_or_default();
        let is_said = most > 0 && most as f64 >= SAID * words.len() as f64;
        by_words.into_iter().filter(|(shared, _)| is_said && *shared == most).map(|(_, doc)| doc).collect()
    }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressBar;

    use super::super::cast::Feed;
    use super::super::trial::{Trial, Workshop};
    use super::*;
    use crate::config::Config;

    fn said(id: &str, speaker: &str, text: &str) -> Doc {
        let line = serde_json::json!({ "id": id, "corpus": "c", "session_id": "s", "speaker": speaker, "text": text,
            "timestamp": "2024-05-01" });
        serde_json::from_value(line).unwrap()
    }

    /// The leaks of a profile that was written by hand after a conversation.
    fn leaks(profile: &str) -> Vec<(String, String)> {
        let docs = [
            said("d0", "Ada", "I grew up near the harbour of Porto"),
            said("d1", "Grace", "I fly a red glider over the fjords"),
        ];
        let docs: Vec<&Doc> = docs.iter().collect();
        let cast = Cast::of(&docs, Feed::People);
        let workshop = Workshop::with(&Config::default()).ok().unwrap();
        let mut trial = Trial::open(&workshop).ok().unwrap();
        trial.feed(&docs, &cast, &ProgressBar::hidden()).ok().unwrap();
        let name = DocumentName::profile(trial.engine().settings().namespace.as_ref().unwrap());
        trial.engine().documents().write(&name, profile, None).unwrap();
        let found = find(trial.engine(), "c", &docs, &cast).ok().unwrap();
        found.into_iter().map(|leak| (leak.speaker, leak.turn)).collect()
    }

    #[test]
    fn a_line_of_the_profile_that_another_said_is_found() {
        assert_eq!(leaks("- flies a red glider over the fjords\n"), [("Grace".to_owned(), "d1".to_owned())]);
        assert_eq!(leaks("- grew up near the harbour of Porto\n- likes chess\n"), []);
    }
}
