//! The vault: how fast files are indexed without an embedder, and how a search among packed vectors compares with a plain
//! scan of 32-bit numbers, in time and in what is found.

use std::time::Instant;

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::vault::Sync;
use throughline::world::{Durability, Home, store_at};
use throughline_core::model::{ContentHash, EntryId};
use throughline_core::ports::{ChunkMark, Made, MadeBy, Store, VectorSetId};
use throughline_core::vault::{Chunk, Packed, Place, VaultDocument};

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

const BATCH: usize = 1000;
const WANTED: usize = 10;

#[derive(Args)]
pub(crate) struct Vault {
    /// How much is indexed, in megabytes
    #[arg(long, default_value_t = 20)]
    megabytes: usize,
    /// How many vectors are searched
    #[arg(long, default_value_t = 100_000)]
    vectors: usize,
    /// How long each is
    #[arg(long, default_value_t = 768)]
    dimension: usize,
    /// How many searches of each
    #[arg(long, default_value_t = 50)]
    queries: usize,
}

impl Vault {
    pub(crate) fn run(self) -> Result<String, Failure> {
        Ok(format!("{}\n{}", self.indexing()?, self.searching()?))
    }

    /// Markdown files of 50 kB or so, with headings and paragraphs.
    fn indexing(&self) -> Result<String, Failure> {
        let (home, files) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let mut dice = Dice::new(11);
        let (mut written, mut nth) = (0, 0);
        while written < self.megabytes * 1_000_000 {
            let mut text = format!("# File {nth}\n\n");
            while text.len() < 50_000 {
                if dice.below(8) == 0 {
                    text.push_str(&format!("## {}\n\n", synthetic::memory(&mut dice)));
                }
                let sentences: Vec<String> = (0..5).map(|_| synthetic::memory(&mut dice)).collect();
                text.push_str(&format!("{}.\n\n", sentences.join(". ")));
            }
            written += text.len();
            std::fs::write(files.path().join(format!("{nth}.md")), text)?;
            nth += 1;
        }
        let engine = laboratory::open(home.path(), Durability::Full)?;
        let home = Home { config: home.path().to_owned(), data: home.path().to_owned() };
        let sync = Sync { engine: &engine, home: &home, collection: "files".parse()? };
        let mut rows = Vec::new();
        for what in ["new", "unchanged"] {
            let start = Instant::now();
            let synced = sync.run(files.path(), &mut |_, _| {})?;
            let seconds = start.elapsed().as_secs_f64();
            let rate = format!("{:.1}", written as f64 / 1e6 / seconds);
            rows.push(vec![
                what.to_owned(),
                (synced.indexed + synced.unchanged).to_string(),
                ms(seconds * 1000.0),
                rate,
            ]);
        }
        Ok(markdown(&["files", "how many", "ms", "MB/s"], &rows))
    }

    fn searching(&self) -> Result<String, Failure> {
        let home = tempfile::tempdir()?;
        let store = store_at(&home.path().join("memory.db"), Durability::Process)?;
        let mut clusters = Clusters::new(self.dimension);
        let vectors: Vec<Vec<f32>> = (0..self.vectors).map(|_| clusters.next()).collect();
        let set = keep(&*store, &vectors)?;
        let (mut ours, mut plain, mut found) = (Times::default(), Times::default(), 0);
        for _ in 0..self.queries {
            let query = clusters.next();
            let near = ours.time(|| store.nearest(&set, &query, WANTED))?;
            let exact = plain.time(|| scan(&vectors, &query));
            let near: Vec<String> = near.into_iter().map(|(passage, _)| passage.chunk.content).collect();
            found += exact.iter().filter(|at| near.contains(&at.to_string())).count();
        }
        let row = vec![
            format!("{} × {}", self.vectors, self.dimension),
            ms(ours.at(0.5)),
            ms(plain.at(0.5)),
            ratio(ours.at(0.5), plain.at(0.5)),
            format!("{:.4}", found as f64 / (self.queries * WANTED) as f64),
        ];
        Ok(markdown(
            &["vectors", "packed, in SQLite p50 ms", "f32 scan in memory p50 ms", "ratio", "recall@10"],
            &[row],
        ))
    }
}

/// Keeps vectors as those of chunks whose text is their number; gives the name of their set.
fn keep(store: &dyn Store, vectors: &[Vec<f32>]) -> Result<VectorSetId, Failure> {
    let by = MadeBy { provider: "bench".to_owned(), model: "clusters".to_owned(), base_url: None };
    let mut after = ChunkMark::default();
    for (nth, batch) in vectors.chunks(BATCH).enumerate() {
        let path = format!("/bench/{nth}");
        let chunk = |at: usize| Chunk {
            id: EntryId::new(format!("{nth}-{at}")),
            titles: Vec::new(),
            place: Place::Lines { first_line: 1, last_line: 1 },
            content: (nth * BATCH + at).to_string(),
        };
        let document = VaultDocument {
            id: VaultDocument::id_of(&path),
            root: path.clone(),
            collection: "files".parse()?,
            title: path.clone(),
            hash: ContentHash::of(&path),
            stamp: String::new(),
            bytes: 0,
            chunks: batch.len() as u64,
            updated_at: jiff::Timestamp::UNIX_EPOCH,
            path,
        };
        store.replace_documents(&[(document, (0..batch.len()).map(chunk).collect())])?;
        // Named in the order of their chunks.
        let (named, end) = store.without_vector(&by, &after, BATCH)?;
        after = end;
        let vectors = named.into_iter().zip(batch).map(|((name, _), vector)| (name, Packed::of(vector))).collect();
        store.keep_vectors(&by, &Made { vectors, refused: Vec::new() })?;
    }
    store.serve_if_complete(&by)?;
    let set = store.vector_sets()?.into_iter().next();
    set.map(|set| set.id).ok_or_else(|| "no vectors were kept".into())
}

/// The nearest by every number of every vector.
fn scan(vectors: &[Vec<f32>], query: &[f32]) -> Vec<usize> {
    let mut best: Vec<(f32, usize)> = Vec::with_capacity(WANTED + 1);
    for (at, vector) in vectors.iter().enumerate() {
        let product: f32 = dot(vector, query);
        if best.len() < WANTED || best.last().is_some_and(|(least, _)| product > *least) {
            let place = best.partition_point(|(other, _)| *other >= product);
            best.insert(place, (product, at));
            best.truncate(WANTED);
        }
    }
    best.into_iter().map(|(_, at)| at).collect()
}

/// Eight sums at a time, so that the compiler can use wide registers.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest = a.chunks_exact(8).remainder().iter().zip(b.chunks_exact(8).remainder());
    sums.iter().sum::<f32>() + rest.map(|(x, y)| x * y).sum::<f32>()
}

/// Vectors of length 1 around a thousand centres, as texts on a thousand subjects.
struct Clusters {
    dice: Dice,
    centres: Vec<Vec<f32>>,
}

impl Clusters {
    fn new(dimension: usize) -> Self {
        let mut dice = Dice::new(5);
        let centres = (0..1000).map(|_| (0..dimension).map(|_| normal(&mut dice)).collect()).collect();
        Self { dice, centres }
    }

    fn next(&mut self) -> Vec<f32> {
        let centre = &self.centres[self.dice.below(1000) as usize];
        let vector: Vec<f32> = centre.iter().map(|number| number + normal(&mut self.dice)).collect();
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        vector.iter().map(|number| number / length).collect()
    }
}

/// Nearly normal: the sum of uniform numbers.
fn normal(dice: &mut Dice) -> f32 {
    let sum: u64 = (0..4).map(|_| dice.below(1 << 20)).sum();
    (sum as f32 / (1 << 20) as f32 - 2.0) * 1.7
}
