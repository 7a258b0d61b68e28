//! `throughline bench memory DIR`: the path that is measured is the path that is used.
//!
//! Conversations are fed into a temporary home over the daemon's own routes; each question is then asked in a new session,
//! and what an assistant would be given is scored.

mod ask;
mod cast;
mod given;
mod leaks;
mod questions;
mod scores;
mod trial;

use std::path::PathBuf;

use clap::Args;
use indicatif::{MultiProgress, ProgressBar};
use serde_json::{Value, json};

use self::ask::Via;
use self::cast::{Cast, Feed};
use self::given::Given;
use self::leaks::Leak;
use self::questions::{Corpus, Question, Sample};
use self::scores::{Asked, HEADINGS, Scores, Turns};
use self::trial::{Trial, Workshop};
use super::dataset::{self, Dataset};
use crate::cli::failure::Failure;
use crate::cli::reply::Reply;
use crate::cli::{Answer, keep, style};
use crate::exports::write_private;
use crate::world;

/// Feed the conversations of a data set and score what an assistant is given for each question
///
/// Every corpus gets a temporary home with the settings of your config file; your own memory is not opened.
#[derive(Args)]
pub(in crate::cli) struct MemoryBench {
    /// A directory with docs.jsonl, queries.jsonl and, where corpora share documents, haystacks.jsonl
    directory: PathBuf,
    /// Write one line per question: {"query_id", "given_ids", "whole", "part", "tokens", "ms"}
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Who talks; without it, the names of the speakers tell
    #[arg(long)]
    feed: Option<Feed>,
    /// By which way the questions are asked
    #[arg(long, default_value = "http")]
    via: Via,
    /// Also ask the questions of this data set, which nothing in the other can answer
    #[arg(long, value_name = "DIR")]
    foreign: Option<PathBuf>,
    /// Ask so many questions, spread over the corpora
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Which sample: the same seed chooses the same questions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Show what was given for the first so many questions
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// Where vectors are kept between runs, if an embedder is set up; without it, below your cache directory
    #[arg(long, value_name = "FILE")]
    vector_cache: Option<PathBuf>,
}

/// What came of asking.
#[derive(Default)]
struct Outcome {
    /// With their place in the data set.
    asked: Vec<(usize, Asked)>,
    foreign: Vec<Asked>,
    shown: Vec<Shown>,
    leaks: Vec<Leak>,
}

/// A question and what was given for it.
struct Shown {
    query_id: String,
    query: String,
    is_foreign: bool,
    given: Given,
}

impl MemoryBench {
    pub(in crate::cli) fn run(self) -> Answer {
        let data = Dataset::load(&self.directory)?;
        let foreign = self.foreign.as_deref().map(dataset::questions).transpose()?.unwrap_or_default();
        let plan = questions::plan(&data, &foreign, Sample { size: self.sample, seed: self.seed });
        let feed = self.feed.unwrap_or_else(|| Feed::of(&data));
        let cache = self.vector_cache.clone().or_else(|| Some(world::cache_dir()?.join("bench-vectors")));
        let run = Run { data: &data, feed, via: self.via, show: self.show, workshop: Workshop::new(cache.as_deref())? };
        let mut outcome = run.ask_all(&plan)?;
        outcome.asked.sort_by_key(|(at, _)| *at);
        let asked: Vec<Asked> = outcome.asked.into_iter().map(|(_, asked)| asked).collect();
        if let Some(out) = &self.out {
            let lines: String = asked.iter().map(|asked| format!("{}\n", json!(asked))).collect();
            write_private(out, &lines).map_err(|error| Failure::io(&format!("write {}", out.display()), &error))?;
        }
        let report = Report {
            all: Scores::of(&asked),
            categories: Scores::by_category(&asked),
            foreign: self.foreign.is_some().then(|| Scores::of(&outcome.foreign)),
            late: (self.via == Via::Hook).then(|| {
                let deadline_ms = run.workshop.prompt_deadline_ms();
                let late = asked.iter().chain(&outcome.foreign).filter(|asked| asked.ms > f64::from(deadline_ms));
                Late { hooks: late.count(), deadline_ms }
            }),
            shown: outcome.shown,
            leaks: outcome.leaks,
        };
        let mut body = report.json();
        body["corpora"] = json!(plan.len());
        body["feed"] = json!(feed.as_str());
        body["via"] = json!(self.via.as_str());
        body["out"] = json!(self.out);
        Ok(Reply::new(&body, report.text()).or_failed(!report.leaks.is_empty()))
    }
}

/// Everything that is needed to ask.
struct Run<'a> {
    data: &'a Dataset,
    feed: Feed,
    via: Via,
    show: usize,
    workshop: Workshop,
}

impl Run<'_> {
    fn ask_all(&self, plan: &[Corpus<'_>]) -> Result<Outcome, Failure> {
        let bars = MultiProgress::new();
        let (feeding, asking) = (bars.add(keep::bar("turns fed")), bars.add(keep::bar("questions asked")));
        feeding.set_length(plan.iter().map(|corpus| self.data.corpus(corpus.name).len() as u64).sum());
        asking.set_length(plan.iter().map(|corpus| corpus.questions.len() as u64).sum());
        let mut outcome = Outcome::default();
        for corpus in plan {
            self.ask_over(corpus, (&feeding, &asking), &mut outcome)?;
        }
        feeding.finish_and_clear();
        asking.finish_and_clear();
        Ok(outcome)
    }

    /// Feeds one corpus and asks its questions.
    fn ask_over(
        &self,
        corpus: &Corpus<'_>,
        (feeding, asking): (&ProgressBar, &ProgressBar),
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        let docs = self.data.corpus(corpus.name);
        let cast = Cast::of(&docs, self.feed);
        let mut trial = Trial::open(&self.workshop)?;
        trial.feed(&docs, &cast, feeding)?;
        outcome.leaks.extend(leaks::find(trial.engine(), corpus.name, &docs, &cast)?);
        let turns = Turns::of(&docs);
        for (nth, question) in corpus.questions.iter().enumerate() {
            let Question { query, at, is_foreign } = question;
            let given = self.via.ask(&trial, nth, &query.query, at.unwrap_or_else(|| trial.afterwards()))?;
            let asked = turns.score(&query.id, if *is_foreign { &[] } else { &query.gold_ids }, &given);
            if outcome.shown.len() < self.show {
                let (query_id, query) = (query.id.clone(), query.query.clone());
                outcome.shown.push(Shown { query_id, query, is_foreign: *is_foreign, given });
            }
            if *is_foreign {
                outcome.foreign.push(asked);
            } else {
                let at = self.data.queries.iter().position(|one| std::ptr::eq(one, *query)).unwrap_or_default();
                outcome.asked.push((at, Asked { category: query.category.clone(), ..asked }));
            }
            asking.inc(1);
        }
        Ok(())
    }
}

/// What is told at the end.
struct Report {
    all: Scores,
    categories: std::collections::BTreeMap<String, Scores>,
    foreign: Option<Scores>,
    late: Option<Late>,
    shown: Vec<Shown>,
    leaks: Vec<Leak>,
}

/// Hooks that took longer than an assistant would have waited.
#[derive(serde::Serialize)]
struct Late {
    hooks: usize,
    deadline_ms: u32,
}

impl Report {
    /// How much a question gets that nothing answers, compared with one that something does.
    fn ratio(&self, foreign: &Scores) -> Option<f64> {
        (self.all.tokens > 0.0).then(|| foreign.tokens / self.all.tokens)
    }

    fn json(&self) -> Value {
        let foreign = self.foreign.as_ref().map(|foreign| {
            json!({ "questions": foreign.questions, "silent": foreign.silent, "tokens": foreign.tokens,
                "tokens_ratio": self.ratio(foreign), "p50_ms": foreign.p50_ms, "p99_ms": foreign.p99_ms })
        });
        let shown: Vec<Value> = self.shown.iter().map(Shown::json).collect();
        json!({ "scores": self.all, "categories": self.categories, "foreign": foreign, "late": self.late,
            "leaks": self.leaks, "shown": shown })
    }

    fn text(&self) -> String {
        let mut rows = vec![self.all.row("all", true)];
        rows.extend(self.categories.iter().map(|(category, scores)| scores.row(&style::plain(category), true)));
        rows.extend(self.foreign.as_ref().map(|foreign| foreign.row("foreign", false)));
        let mut text: String = self.shown.iter().map(Shown::text).collect();
        text.push_str(&style::table(&HEADINGS, rows));
        if let Some(ratio) = self.foreign.as_ref().and_then(|foreign| self.ratio(foreign)) {
            text.push_str(&format!("a foreign question gets {ratio:.2} times the tokens of the others\n"));
        }
        if let Some(Late { hooks, deadline_ms }) = &self.late {
            let hooks = style::count(*hooks as u64, "hook", "hooks");
            text.push_str(&format!("{hooks} took longer than `hooks.prompt_deadline_ms` ({deadline_ms} ms)\n"));
        }
        if !self.leaks.is_empty() {
            text.push_str(&format!(
                "\nFAILED: {} of the profile came from somebody else\n",
                style::count(self.leaks.len() as u64, "line", "lines")
            ));
        }
        for Leak { corpus, line, speaker, turn } in &self.leaks {
            text.push_str(&style::plain(&format!("  {corpus}: `{line}`, said by {speaker} in {turn}\n")));
        }
        text
    }
}

impl Shown {
    fn json(&self) -> Value {
        let Given { opening, block, ms } = &self.given;
        json!({ "query_id": self.query_id, "query": self.query, "foreign": self.is_foreign, "opening": opening,
            "block": block, "ms": ms })
    }

    fn text(&self) -> String {
        let Given { opening, block, .. } = &self.given;
        let or_nothing = |text: &str| if text.trim().is_empty() { "(nothing)".to_owned() } else { text.to_owned() };
        let foreign = if self.is_foreign { " (foreign)" } else { "" };
        let text = format!(
            "== {}{foreign}: {}\n-- opening\n{}\n-- block\n{}\n\n",
            self.query_id,
            self.query,
            or_nothing(opening),
            or_nothing(block)
        );
        style::plain(&text)
    }
}
