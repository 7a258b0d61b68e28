//! `throughline bench recall DIR`

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use throughline_core::model::{Kind, Role, SessionId, Turn, TurnId};
use throughline_core::ports::Embedder;
use throughline_core::recall::{Filter, RecallRequest};

use super::dataset::{Dataset, Doc, Query};
use super::features::FeatureFile;
use super::score::Scores;
use super::{Laboratory, elapsed_ms, meaning, percentile};
use crate::cli::failure::Failure;
use crate::cli::reply::Reply;
use crate::cli::{Answer, keep, style};
use crate::exports::write_private;
use crate::world::Durability;

/// Answer the questions of a data set and score them
#[derive(Args)]
pub(in crate::cli) struct RecallBench {
    /// A directory with docs.jsonl, queries.jsonl and, where corpora share documents, haystacks.jsonl
    directory: PathBuf,
    /// Write one line per question: {"query_id", "ranked_ids", "ms"}
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the features of every candidate, for fitting weights: one line per question
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Search by meaning, too: `builtin`, or a model's directory
    #[arg(long, value_name = "none|builtin|DIR", default_value = "none")]
    embeddings: String,
    /// Where vectors are kept between runs; without it, below your cache directory
    #[arg(long, value_name = "FILE")]
    vector_cache: Option<PathBuf>,
    /// How many hits per question
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

#[derive(Serialize)]
struct Answered {
    query_id: String,
    ranked_ids: Vec<String>,
    ms: f64,
}

impl RecallBench {
    pub(in crate::cli) fn run(self) -> Answer {
        let data = Dataset::load(&self.directory)?;
        let mut features = self.features.as_deref().map(FeatureFile::create).transpose()?;
        let embedder = meaning::embedder(&self.embeddings, self.vector_cache.as_deref())?;
        let answers = answer_all(&data, self.limit, embedder.as_ref(), features.as_mut())?;
        if let Some(out) = &self.out {
            let lines: String = answers.iter().map(|answer| format!("{}\n", json!(answer))).collect();
            write_private(out, &lines).map_err(|error| Failure::io(&format!("write {}", out.display()), &error))?;
        }
        let pairs = answers.iter().zip(&data.queries);
        let scores = Scores::of(pairs.map(|(answer, query)| (&answer.ranked_ids[..], &query.gold_ids[..])));
        let mut times: Vec<f64> = answers.iter().map(|answer| answer.ms).collect();
        times.sort_by(f64::total_cmp);
        let (p50, p99) = (percentile(&times, 0.5), percentile(&times, 0.99));
        let row = [scores.recall_5, scores.recall_10, scores.recall_20, scores.hit_10, scores.mrr_10];
        let mut cells = vec![scores.questions.to_string()];
        cells.extend(row.iter().map(|value| format!("{value:.3}")));
        cells.extend([format!("{p50:.2}"), format!("{p99:.2}")]);
        let headings = ["questions", "recall@5", "recall@10", "recall@20", "hit@10", "mrr@10", "p50 ms", "p99 ms"];
        let body = json!({ "scores": scores, "p50_ms": p50, "p99_ms": p99, "out": self.out });
        Ok(Reply::new(&body, style::table(&headings, vec![cells])))
    }
}

/// Answers every question from its own corpus alone, in the order of the questions.
fn answer_all(
    data: &Dataset,
    limit: usize,
    embedder: Option<&Arc<dyn Embedder>>,
    mut features: Option<&mut FeatureFile>,
) -> Result<Vec<Answered>, Failure> {
    let mut by_corpus: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (at, query) in data.queries.iter().enumerate() {
        let corpus = *known.entry(&query.corpus).or_insert_with(|| {
            by_corpus.push((&query.corpus, Vec::new()));
            by_corpus.len() - 1
        });
        by_corpus[corpus].1.push(at);
    }
    let bar = keep::bar("questions");
    bar.set_length(data.queries.len() as u64);
    let mut answers: Vec<(usize, Answered)> = Vec::with_capacity(data.queries.len());
    for (corpus, queries) in by_corpus {
        let mut laboratory = Laboratory::open(Durability::Process)?;
        let turns = turns(&data.corpus(corpus))?;
        laboratory.store.append(&turns)?;
        if let Some(embedder) = embedder {
            laboratory.embed(embedder)?;
        }
        let end = turns.iter().map(|turn| turn.at).max().unwrap_or_default();
        for at in queries {
            let query = &data.queries[at];
            laboratory.clock.set(query.at().unwrap_or(end));
            let request = request(query, limit);
            answers.push((at, answer(&laboratory, query, &request)?));
            if let Some(features) = &mut features {
                features.add(query, &laboratory.engine.recall().measure(&request)?)?;
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    answers.sort_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

fn request(query: &Query, limit: usize) -> RecallRequest {
    let filter = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
    RecallRequest { query: query.query.clone(), limit, filter }
}

fn answer(laboratory: &Laboratory, query: &Query, request: &RecallRequest) -> Result<Answered, Failure> {
    let start = Instant::now();
    let recall = laboratory.engine.recall().recall(request)?;
    let ms = elapsed_ms(start);
    let ranked_ids = recall.hits.iter().map(|hit| hit.memory.entry.id.to_string()).collect();
    Ok(Answered { query_id: query.id.clone(), ranked_ids, ms })
}

/// The documents as turns of conversations: a speaker that is no role is a person by that name.
fn turns(docs: &[&Doc]) -> Result<Vec<Turn>, Failure> {
    let mut sessions: HashMap<&str, SessionId> = HashMap::new();
    let mut turns = Vec::with_capacity(docs.len());
    for doc in docs {
        let next = sessions.len();
        let session = match sessions.get(doc.session_id.as_str()) {
            Some(session) => session.clone(),
            None => SessionId::on_channel("bench", &next.to_string())?,
        };
        sessions.insert(&doc.session_id, session.clone());
        let role = doc.speaker.as_deref().and_then(|speaker| speaker.parse::<Role>().ok());
        let speaker = doc.speaker.clone().filter(|speaker| role.is_none() && speaker != "memory");
        turns.push(Turn {
            id: TurnId::new(&doc.id),
            session,
            role: role.unwrap_or(Role::User),
            speaker,
            content: doc.text.clone(),
            at: doc.at(),
        });
    }
    Ok(turns)
}
