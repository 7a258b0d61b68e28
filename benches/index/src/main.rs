//! The bare search of the word index against FTS5 and tantivy: the same documents, the same terms, one thread, CPU time.
//!
//! `cargo run --release --manifest-path benches/index/Cargo.toml -- --sizes 100000,1000000`

mod corpus;
mod fts5;
mod ours;
#[allow(unreachable_pub, dead_code, reason = "a module of the program")]
#[path = "../../../crates/throughline/src/synthetic.rs"]
mod synthetic;
mod tantivy_index;
mod timing;

use std::error::Error;

use clap::Parser;

use corpus::{Corpus, Question};
use fts5::Fts5;
use ours::{Cached, OursInMemory, OursInSqlite};
use tantivy_index::Tantivy;
use timing::Times;

type Failure = Box<dyn Error + Send + Sync>;

/// How many hits a search wants.
const HITS: usize = 20;

/// Questions that only warm up.
const WARM_UP: usize = 50;

#[derive(Parser)]
struct Options {
    /// How many memories, one table each
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    sizes: Vec<u64>,
    /// How many questions at each size
    #[arg(long, default_value_t = 400)]
    questions: usize,
    /// FTS5 with stop words answers so many questions at most: it takes seconds each at a million
    #[arg(long, default_value_t = 60)]
    slow_questions: usize,
    /// Also write the times to this file, as comma-separated values
    #[arg(long)]
    csv: Option<std::path::PathBuf>,
}

/// Something that is searched.
trait Engine {
    fn name(&self) -> String;
    /// The best documents, best first.
    fn search(&self, question: &Question) -> Result<Vec<i64>, Failure>;
    /// What it takes on disk or in memory.
    fn bytes(&self) -> Result<u64, Failure>;
    /// Whether it answers a few questions only.
    fn is_slow(&self) -> bool {
        false
    }
}

#[allow(clippy::print_stdout, reason = "a command")]
fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let mut csv = String::from("series,size,p50_ms,p99_ms\n");
    for size in &options.sizes {
        println!("\n{size} memories\n");
        println!(
            "| engine | p50 ms | p99 ms | mean ms | bytes a memory | same first {HITS} as FTS5 without stop words |"
        );
        println!("|---|---|---|---|---|---|");
        csv.push_str(&measure(&options, *size)?);
    }
    if let Some(path) = &options.csv {
        std::fs::write(path, csv)?;
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "a command")]
fn measure(options: &Options, size: u64) -> Result<String, Failure> {
    let mut csv = String::new();
    let directory = tempfile::tempdir()?;
    let corpus = Corpus { size };
    let questions = corpus::questions(options.questions + WARM_UP);
    let words = Fts5::build(&directory.path().join("fts5.db"), &corpus)?;
    let expected: Vec<Vec<i64>> =
        questions.iter().map(|question| words.best(&question.content)).collect::<Result<_, _>>()?;
    let in_sqlite = OursInSqlite::build(&directory.path().join("ours.db"), &corpus)?;
    let upkeep = in_sqlite.upkeep;
    let engines: Vec<Box<dyn Engine>> = vec![
        Box::new(OursInMemory::of(&in_sqlite)?),
        Box::new(in_sqlite.reader(Cached::Everything)?),
        Box::new(in_sqlite.reader(Cached::Some)?),
        Box::new(in_sqlite.reader(Cached::Nothing)?),
        Box::new(Tantivy::build(&directory.path().join("tantivy"), &corpus)?),
        Box::new(words.without_stop_words()?),
        Box::new(words),
    ];
    for engine in &engines {
        let mut times = Times::default();
        let (mut same, mut wanted) = (0, 0);
        let count = if engine.is_slow() { options.slow_questions + WARM_UP.min(3) } else { questions.len() };
        for (nth, question) in questions.iter().enumerate().take(count) {
            let found = times.take(|| engine.search(question))?;
            same += expected[nth].iter().filter(|number| found.contains(number)).count();
            wanted += expected[nth].len();
        }
        times.forget(if engine.is_slow() { 3 } else { WARM_UP });
        let bytes = engine.bytes()? as f64 / size as f64;
        let (same, name) = (same as f64 / wanted.max(1) as f64, engine.name());
        csv.push_str(&format!("{},{size},{:.4},{:.4}\n", name.replace(',', ""), times.at(0.5), times.at(0.99)));
        println!(
            "| {name} | {:.3} | {:.3} | {:.3} | {bytes:.0} | {same:.3} |",
            times.at(0.5),
            times.at(0.99),
            times.mean()
        );
    }
    println!(
        "\nOurs: {:.1} µs a memory for making and merging segments; {} merges, the longest {:.0} ms.",
        upkeep.all * 1e3 / size as f64,
        upkeep.merges,
        upkeep.longest_merge
    );
    Ok(csv)
}
