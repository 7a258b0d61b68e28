//! `throughline vault add|search|list|remove`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::{Embedded, chain};
use throughline_core::model::Name;
use throughline_core::vault::{EmbeddingProgress, PassageHit, VaultAnswer, VaultDocument};
use throughline_server::Synced;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, keep, style};
use crate::vault::{self, AddError, SyncError};
use crate::vectors::{self, Effort, Embedding, Of};
use crate::world::World;

/// How much of a passage is shown on a terminal.
const SHOWN_LINES: usize = 8;

/// Search whole files: notes, manuals, code
#[derive(Subcommand)]
pub(super) enum VaultCommand {
    /// Add files or folders, or bring them up to date
    Add(Add),
    /// Find passages by plain words and, with an embedder, by meaning
    Search(Search),
    /// List the documents of the vault
    List(List),
    /// Take documents out; the files stay where they are
    Remove(Remove),
    /// Give every passage a vector of the configured embedder
    Reembed(Reembed),
}

impl VaultCommand {
    pub(super) fn run(self, world: &World) -> Answer {
        match self {
            Self::Add(command) => command.run(world),
            Self::Search(command) => command.run(world),
            Self::List(command) => command.run(world),
            Self::Remove(command) => command.run(world),
            Self::Reembed(command) => command.run(world),
        }
    }
}

/// Add files or folders, or bring them up to date
#[derive(Args)]
pub(super) struct Add {
    /// What to add; without it, `vault.txt` and whatever else is in the memory's own vault folder
    paths: Vec<PathBuf>,
    /// The collection that they belong to
    #[arg(long, value_name = "NAME")]
    into: Option<Name>,
}

impl Add {
    pub(super) fn run(self, world: &World) -> Answer {
        let (reading, embedding) = (bytes_bar(), keep::bar("passages"));
        let added = vault::add(world, &self.paths, self.into.as_ref(), &mut follow(&reading), &mut follow(&embedding));
        reading.finish_and_clear();
        embedding.finish_and_clear();
        let added = added.map_err(refused)?;
        let synced = &added.synced;
        let told = told(world, &self.paths, synced, added.embeddings.as_ref());
        let nothing = synced.indexed + synced.unchanged + synced.dropped == 0;
        Ok(Reply::new(&added, told).or_nothing(nothing))
    }
}

fn refused(error: AddError) -> Failure {
    match error {
        AddError::Engine(error) | AddError::Sync(SyncError::Engine(error)) => error.into(),
        AddError::Folder(error) => error.into(),
        other => Failure::new(chain(&other), other.hint()),
    }
}

/// Shows on a bar how far something is.
fn follow(bar: &ProgressBar) -> impl FnMut(u64, u64) {
    |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    }
}

/// A progress bar in bytes, with a rate.
fn bytes_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:32.cyan} {bytes}/{total_bytes} {bytes_per_sec} {eta}") {
        bar.set_style(style);
    }
    bar
}

fn told(world: &World, paths: &[PathBuf], synced: &Synced, embeddings: Option<&Embedded>) -> String {
    if synced.indexed + synced.unchanged + synced.dropped == 0 && paths.is_empty() {
        let place = world.home.vault();
        return format!(
            "nothing to add: put files into {}, or name some\n",
            style::plain(&place.display().to_string())
        );
    }
    let mut told = format!("indexed {}", style::count(synced.indexed, "document", "documents"));
    for (count, what) in [(synced.unchanged, "unchanged"), (synced.dropped, "dropped")] {
        if count > 0 {
            told.push_str(&format!("; {count} {what}"));
        }
    }
    told.push('\n');
    let skipped = &synced.skipped;
    let reasons = [
        (skipped.binary, "not text"),
        (skipped.too_large, "larger than 5 MB"),
        (skipped.empty, "empty"),
        (skipped.private, "part of the memory itself"),
        (skipped.left_out, "taken out before"),
    ];
    let reasons: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    if !reasons.is_empty() {
        told.push_str(&format!("skipped: {}\n", reasons.join(", ")));
    }
    for file in &synced.unreadable {
        told.push_str(&format!("skipped {}: {}\n", style::plain(&file.path), style::plain(&file.why)));
    }
    told + &about_embeddings(embeddings)
}

fn about_embeddings(embeddings: Option<&Embedded>) -> String {
    match embeddings {
        None => "searched by words; `throughline model embed builtin` adds meaning\n".to_owned(),
        Some(Embedded { problem: Some(problem), missing, .. }) => {
            let left = if *missing > 0 { style::count(*missing, "passage", "passages") } else { "them".to_owned() };
            format!("no vectors for {left} yet, words find all the same: {}\n", style::plain(problem))
        }
        Some(done) => {
            let refused = match done.refused {
                0 => String::new(),
                refused => format!(", {refused} refused by the model and searched by words alone"),
            };
            let (model, count) = (style::plain(&done.model), style::count(done.embedded, "passage", "passages"));
            format!("searched by words and by meaning ({model}); {count} embedded{refused}\n")
        }
    }
}

/// Find passages by plain words and, with an embedder, by meaning
#[derive(Args)]
pub(super) struct Search {
    /// What to look for, in plain words: no character has a special meaning
    #[arg(required = true)]
    query: Vec<OsString>,
    /// How many at most
    #[arg(long, default_value_t = 5)]
    limit: usize,
    /// Show how each score came about
    #[arg(long)]
    why: bool,
}

impl Search {
    pub(super) fn run(self, world: &World) -> Answer {
        let words: Vec<_> = self.query.iter().map(|word| word.to_string_lossy()).collect();
        let answer = vault::search(world, &words.join(" "), self.limit)?;
        let nothing = answer.hits.is_empty();
        let text = shown(&answer, self.why);
        Ok(Reply::new(&answer, text).or_nothing(nothing))
    }
}

fn shown(answer: &VaultAnswer, why: bool) -> String {
    let mut text: String = answer.hits.iter().map(|hit| passage(hit, why)).collect();
    if answer.hits.is_empty() {
        text.push_str("nothing found\n");
    }
    let how = match (&answer.remark, &answer.model) {
        (Some(remark), _) => format!("searched by words alone: {remark}"),
        (None, Some(model)) => format!("searched by words and by meaning ({model})"),
        (None, None) if answer.hits.is_empty() => String::new(),
        (None, None) => "searched by words alone: no embedder is set up".to_owned(),
    };
    for line in [how].into_iter().chain(answer.embedding.iter().map(under_way)).filter(|line| !line.is_empty()) {
        text.push_str(&format!("{}\n", style::plain(&line).dimmed()));
    }
    text
}

/// How far a model is that is not done.
fn under_way(progress: &EmbeddingProgress) -> String {
    let EmbeddingProgress { model, embedded, refused, of } = progress;
    let refused = if *refused > 0 { format!(", {refused} refused") } else { String::new() };
    format!("vectors of {model} are being made: {embedded} of {of} passages{refused}")
}

fn passage(hit: &PassageHit, why: bool) -> String {
    let above = if hit.titles.is_empty() { hit.title.clone() } else { hit.titles.join(" > ") };
    let mut text = format!("{}  {}\n", style::plain(&hit.citation).yellow(), style::plain(&above).dimmed());
    let lines: Vec<&str> = hit.content.lines().collect();
    for line in lines.iter().take(SHOWN_LINES) {
        text.push_str(&format!("  {}\n", style::plain(line)));
    }
    if lines.len() > SHOWN_LINES {
        text.push_str(&format!("  {}\n", format!("… {} more lines", lines.len() - SHOWN_LINES).dimmed()));
    }
    if why {
        let meaning = hit.why.similarity.map_or(String::new(), |cosine| format!(", meaning {cosine:.3}"));
        let formula = format!("score {:.3}: words {:.3}{meaning}", hit.score, hit.why.bm25);
        text.push_str(&format!("  {}\n", formula.cyan()));
    }
    text + "\n"
}

/// List the documents of the vault
#[derive(Args)]
pub(super) struct List {}

impl List {
    pub(super) fn run(self, world: &World) -> Answer {
        let listing = vault::listing(world)?;
        let documents = &listing.documents;
        let now = world.now();
        let row = |document: &VaultDocument| {
            vec![
                style::short(document.id.as_str()),
                style::plain(&document.path),
                style::one_line(&document.title, 40),
                document.chunks.to_string(),
                style::date(document.updated_at, &now),
            ]
        };
        let mut text = if documents.is_empty() {
            "the vault is empty: `throughline vault add PATH`\n".to_owned()
        } else {
            style::table(&["id", "file", "title", "passages", "indexed"], documents.iter().map(row).collect())
        };
        for path in &listing.left_out {
            text.push_str(&format!("{}\n", format!("left out: {}", style::plain(path)).dimmed()));
        }
        if let Some(progress) = &listing.embedding {
            text.push_str(&format!("{}\n", style::plain(&under_way(progress)).dimmed()));
        }
        let nothing = documents.is_empty();
        Ok(Reply::new(&listing, text).or_nothing(nothing))
    }
}

/// Take documents out; the files stay where they are
#[derive(Args)]
pub(super) struct Remove {
    /// A file, a folder, an id, or `vault/NAME` for a whole collection
    #[arg(required = true)]
    what: Vec<String>,
}

impl Remove {
    pub(super) fn run(self, world: &World) -> Answer {
        let removed = vault::remove(world, &self.what)?;
        let mut told = format!("took out {}\n", style::count(removed.removed, "document", "documents"));
        for path in &removed.left_out {
            let path = style::plain(path);
            told.push_str(&format!("stays out although it is in the vault folder: {path}\n"));
        }
        if !removed.left_out.is_empty() {
            told.push_str("`throughline vault add PATH` takes it in again\n");
        }
        Ok(Reply::new(&removed, told))
    }
}

/// Give every passage a vector of the configured embedder
#[derive(Args)]
pub(super) struct Reembed {}

impl Reembed {
    pub(super) fn run(self, world: &World) -> Answer {
        let bar = keep::bar("passages");
        let mut follow = follow(&bar);
        let done = vectors::embed(world, Of::Passages, Effort::WHOLE, &mut |done, total| {
            follow(done, total);
            true
        });
        bar.finish_and_clear();
        let Some(done) = done?.map(Embedding::told) else {
            let hint = "`throughline model embed builtin` sets one up";
            return Err(Failure::new("no embedder is configured", hint));
        };
        let failed = done.problem.is_some();
        let told = about_embeddings(Some(&done));
        Ok(Reply::new(&json!({ "embeddings": done }), told).or_failed(failed))
    }
}
