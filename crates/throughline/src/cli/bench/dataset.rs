//! A data set as files of JSON lines: documents in conversation order, questions, and which sessions belong together.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::cli::failure::Failure;

/// One thing that was said.
#[derive(Deserialize)]
pub(super) struct Doc {
    pub(super) id: String,
    corpus: String,
    pub(super) text: String,
    timestamp: Option<String>,
    pub(super) session_id: String,
    pub(super) speaker: Option<String>,
}

impl Doc {
    pub(super) fn at(&self) -> Timestamp {
        self.timestamp.as_deref().and_then(time).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// One question. The gold is for scoring alone: nothing of it reaches the engine.
#[derive(Deserialize)]
pub(super) struct Query {
    pub(super) id: String,
    pub(super) corpus: String,
    pub(super) query: String,
    timestamp: Option<String>,
    #[serde(default)]
    pub(super) gold_ids: Vec<String>,
    /// What kind of question it is, where the data set says so.
    pub(super) category: Option<String>,
}

impl Query {
    pub(super) fn at(&self) -> Option<Timestamp> {
        self.timestamp.as_deref().and_then(time)
    }
}

#[derive(Deserialize)]
struct Haystack {
    corpus: String,
    sessions: Vec<String>,
}

/// Documents and questions.
pub(super) struct Dataset {
    docs: Vec<Doc>,
    pub(super) queries: Vec<Query>,
    by_corpus: HashMap<String, Vec<usize>>,
}

impl Dataset {
    pub(super) fn load(directory: &Path) -> Result<Self, Failure> {
        let docs: Vec<Doc> = lines(&directory.join("docs.jsonl"))?;
        let queries = questions(directory)?;
        let mut by_session: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_corpus: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, doc) in docs.iter().enumerate() {
            by_session.entry(&doc.session_id).or_default().push(at);
            by_corpus.entry(doc.corpus.clone()).or_default().push(at);
        }
        let haystacks = directory.join("haystacks.jsonl");
        if haystacks.exists() {
            by_corpus = lines::<Haystack>(&haystacks)?
                .into_iter()
                .map(|haystack| {
                    let sessions = haystack.sessions.iter().filter_map(|session| by_session.get(session.as_str()));
                    (haystack.corpus, sessions.flatten().copied().collect())
                })
                .collect();
        }
        Ok(Self { docs, queries, by_corpus })
    }

    /// Every document.
    pub(super) fn docs(&self) -> &[Doc] {
        &self.docs
    }

    /// The documents of a corpus, in conversation order.
    pub(super) fn corpus(&self, name: &str) -> Vec<&Doc> {
        self.by_corpus.get(name).map(|rows| rows.iter().map(|row| &self.docs[*row]).collect()).unwrap_or_default()
    }
}

/// The questions of a data set alone.
pub(super) fn questions(directory: &Path) -> Result<Vec<Query>, Failure> {
    lines(&directory.join("queries.jsonl"))
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::io(&format!("read {}", path.display()), &error))?;
    let parsed = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| {
        serde_json::from_str(line).map_err(|error| {
            let message = format!("{} line {}: {error}", path.display(), at + 1);
            Failure::new(message, "each line is one JSON object: docs.jsonl, queries.jsonl, haystacks.jsonl")
        })
    });
    parsed.collect()
}

/// A time with or without a zone, or a day.
fn time(text: &str) -> Option<Timestamp> {
    let civil = |at: DateTime| at.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    let by_day = || text.parse::<Date>().ok().and_then(|day| civil(day.to_datetime(jiff::civil::Time::midnight())));
    text.parse().ok().or_else(|| text.parse::<DateTime>().ok().and_then(civil)).or_else(by_day)
}
