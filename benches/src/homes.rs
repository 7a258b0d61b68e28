//! Memories with turns and vectors, built once and kept under `target/`: building the large one takes minutes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::{Durability, store_at};
use throughline_core::embedding::Baseline;
use throughline_core::model::{Role, SessionId, Turn, TurnId};
use throughline_core::ports::{EmbedFor, Embedder, Embedders, MadeBy, MemoryVector, Store, UnembeddedMemory};
use throughline_core::vault::Packed;
use throughline_embed::BuiltinEmbedder;

use crate::{Failure, laboratory};

/// Changes when what is built changes, so that nothing old is measured.
const VERSION: u32 = 1;
/// Turns of one conversation.
const TURNS: u64 = 20;
/// Turns or vectors written in one transaction.
const BATCH: usize = 5_000;
/// Up to this many texts are really embedded; vectors of more are made up.
const EMBEDDED: u64 = 10_000;

/// How large a memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) memories: u64,
    pub(crate) turns: u64,
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.turns {
            0 => write!(f, "{} memories", self.memories),
            turns => write!(f, "{} memories, {turns} turns", self.memories),
        }
    }
}

#[derive(Args)]
pub(crate) struct Tier {
    /// Also with 100,000 memories and 100,000 turns: built once, which takes minutes
    #[arg(long)]
    full: bool,
    /// How many memories, or memories+turns, instead of 10000
    #[arg(long, value_delimiter = ',', value_name = "N[+TURNS]")]
    sizes: Vec<String>,
}

impl Tier {
    pub(crate) fn sizes(&self) -> Result<Vec<Size>, Failure> {
        let mut sizes = self.sizes.iter().map(|size| parse(size)).collect::<Result<Vec<_>, _>>()?;
        if sizes.is_empty() {
            sizes.push(Size { memories: 10_000, turns: 0 });
        }
        if self.full {
            sizes.push(Size { memories: 100_000, turns: 100_000 });
        }
        Ok(sizes)
    }
}

fn parse(text: &str) -> Result<Size, Failure> {
    let (memories, turns) = text.split_once('+').unwrap_or((text, "0"));
    Ok(Size { memories: memories.parse()?, turns: turns.parse()? })
}

/// A home of this size with vectors of the built-in embedder's kind: a copy that may be written to.
pub(crate) fn copy(size: Size) -> Result<tempfile::TempDir, Failure> {
    let cached = cached(size)?;
    // On the same disk: a temporary directory may be in memory, where nothing waits.
    let home = tempfile::Builder::new().prefix("copy-").tempdir_in(cached.parent().unwrap_or(&cached))?;
    copy_dir(&cached, home.path())?;
    Ok(home)
}

/// The home under `target/`, built unless it is there.
fn cached(size: Size) -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("the program is not below target/")?;
    let homes = target.join("bench-homes");
    let home = homes.join(format!("v{VERSION}-{}-{}", size.memories, size.turns));
    if !home.is_dir() {
        let unfinished = home.with_extension("unfinished");
        let _ = std::fs::remove_dir_all(&unfinished);
        std::fs::create_dir_all(&unfinished)?;
        build(&unfinished, size)?;
        std::fs::rename(&unfinished, &home)?;
    }
    Ok(home)
}

fn build(home: &Path, size: Size) -> Result<(), Failure> {
    let engine = laboratory::open(home, Durability::Process)?;
    engine.documents().write(&"user/profile".parse()?, "- My name is Ada\n- I like short answers\n", None)?;
    engine.documents().write(&"user/working".parse()?, "## Working on\n- the parser in src/parse.rs\n", None)?;
    laboratory::fill(&engine, size.memories)?;
    let now = engine.now();
    drop(engine);
    let store = store_at(&home.join("memory.db"), Durability::Process)?;
    add_turns(&*store, size.turns, now)?;
    add_vectors(&*store, size.memories + size.turns <= EMBEDDED)
}

/// Conversations in which the person and the assistant take turns, one a minute, all of them processed.
fn add_turns(store: &dyn Store, count: u64, now: jiff::Timestamp) -> Result<(), Failure> {
    let mut dice = Dice::new(3);
    let began = now - jiff::SignedDuration::from_mins(i64::try_from(count)? + 60);
    let mut turns = Vec::with_capacity(BATCH);
    for at in 0..count {
        turns.push(Turn {
            id: TurnId::new(format!("turn-{at}")),
            session: SessionId::on_channel("made", &(at / TURNS).to_string())?,
            role: if at % 2 == 0 { Role::User } else { Role::Assistant },
            speaker: None,
            content: synthetic::memory(&mut dice),
            at: began + jiff::SignedDuration::from_mins(i64::try_from(at)?),
        });
        if turns.len() == BATCH || at + 1 == count {
            store.append_imported(&[], &turns)?;
            turns.clear();
        }
    }
    Ok(())
}

/// Vectors for everything: of the built-in embedder, or made up, which is quicker and as long to search.
fn add_vectors(store: &dyn Store, embeds: bool) -> Result<(), Failure> {
    let embed = |texts: &[String]| BuiltinEmbedder.embed(texts, EmbedFor::Storing);
    let by = MadeBy::of(&BuiltinEmbedder);
    let set = store.begin_memory_set(&by, &Baseline::of(&embed(&Baseline::texts())?))?;
    let mut dice = Dice::new(4);
    loop {
        let waiting = store.unembedded_memories(BATCH)?;
        if waiting.is_empty() {
            break;
        }
        let vectors = if embeds {
            embed(&waiting.iter().map(|memory| memory.text.clone()).collect::<Vec<_>>())?
        } else {
            waiting.iter().map(|_| made_up(&set.baseline.mean, &mut dice)).collect()
        };
        let made = |(memory, vector): (UnembeddedMemory, Vec<f32>)| (memory, Ok(Packed::of(&vector)));
        let made: Vec<MemoryVector> = waiting.into_iter().zip(vectors).map(made).collect();
        store.keep_memory_vectors(&set.id, &made)?;
    }
    if store.finish_memory_set(&set.id)? { Ok(()) } else { Err("some memories have no vector".into()) }
}

/// A vector in any direction around what texts have in common.
fn made_up(mean: &[f32], dice: &mut Dice) -> Vec<f32> {
    let spread = 1.0 / (mean.len() as f32).sqrt();
    let mut uniform = || dice.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0;
    mean.iter().map(|number| number + 1.7 * spread * uniform()).collect()
}

fn copy_dir(from: &Path, to: &Path) -> Result<(), Failure> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            std::fs::create_dir_all(&to)?;
            copy_dir(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The built-in embedder for every question.
pub(crate) struct Builtin;

impl Embedders for Builtin {
    fn for_questions(&self, _: &MadeBy) -> Option<Arc<dyn Embedder>> {
        Some(Arc::new(BuiltinEmbedder))
    }
}
