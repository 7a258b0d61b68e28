//! `throughline` alone, and `throughline stats`

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{Overview, VaultStats};
use throughline_core::ports::Spent;

use super::reply::Reply;
use super::{Answer, style};
use crate::health;
use crate::world::World;

/// Where the memory is, what it holds, and the next three commands worth trying.
pub(super) fn run(world: &World) -> Answer {
    let status = health::status(world)?;
    let overview = &status.stats;
    let mut text = String::new();
    if world.is_new {
        text.push_str(&format!("{}\n\n", "A new memory was made for you.".green()));
    }
    let mut line = |name: &str, value: String| text.push_str(&format!("{} {value}\n", format!("{name:>8}").dimmed()));
    line("memory", world.home.data.display().to_string());
    line("config", world.config.path.as_ref().map_or("defaults".to_owned(), |path| path.display().to_string()));
    if status.pause.paused {
        let until = status.pause.until.map(|until| format!("until {}", style::date(until, &world.now())));
        line(
            "paused",
            format!("{}: nothing is observed or given", until.unwrap_or("until `throughline resume`".to_owned())),
        );
    }
    line("holds", holds(overview));
    line("profile", overview.identity.map_or("empty".to_owned(), |usage| usage.to_string()));
    let recent = overview.working_expires_at.map(|at| format!("expires {}", style::date(at, &world.now())));
    line("recent", recent.unwrap_or("nothing yet".to_owned()));
    text.push_str("\nTry next:\n");
    for (command, why) in next_commands(overview) {
        text.push_str(&format!("  {}\n      {}\n", command.cyan(), why.dimmed()));
    }
    Ok(Reply::new(&status, text))
}

fn holds(overview: &Overview) -> String {
    let store = &overview.store;
    let mut parts = vec![style::count(store.knowledge, "memory", "memories")];
    for (n, one, many) in [
        (store.archive, "archived", "archived"),
        (store.bullets, "line in documents", "lines in documents"),
        (store.sessions, "conversation", "conversations"),
        (store.inactive, "forgotten", "forgotten"),
        (overview.vault.documents, "file in the vault", "files in the vault"),
    ] {
        if n > 0 {
            parts.push(style::count(n, one, many));
        }
    }
    parts.join(", ")
}

/// What helps most depends on what is there already.
fn next_commands(overview: &Overview) -> [(&'static str, &'static str); 3] {
    let about_you = (
        "throughline remember --layer identity \"My name is Ada; I like short answers\"",
        "every conversation will start knowing this",
    );
    let a_fact = ("throughline remember \"We deploy on Fridays at noon\"", "found again when it fits");
    let recall = ("throughline recall \"when do we deploy?\"", "in plain words, with --why to see the reasons");
    let context = ("throughline context --message \"when do we deploy?\"", "exactly what an assistant would be given");
    let connect = ("throughline connect", "the assistants on this machine; connect one, and it remembers");
    let panel = ("throughline serve --open", "your memory in the browser");
    let list = ("throughline list", "everything, newest first; `throughline undo` takes the last change back");
    match (overview.identity.is_some(), overview.store.knowledge > 0) {
        (false, false) => [about_you, a_fact, recall],
        (false, true) => [about_you, recall, context],
        (true, false) => [a_fact, recall, context],
        (true, true) if overview.store.sessions == 0 => [connect, panel, recall],
        (true, true) => [panel, recall, list],
    }
}

/// Count what the memory holds
#[derive(Args)]
pub(super) struct Stats {}

impl Stats {
    pub(super) fn run(self, world: &World) -> Answer {
        let stats = world.engine.health().stats()?;
        let (overview, store) = (&stats.overview, &stats.overview.store);
        let rows = [
            ("knowledge", store.knowledge.to_string()),
            ("archive", store.archive.to_string()),
            ("lines in documents", store.bullets.to_string()),
            ("forgotten", store.inactive.to_string()),
            ("conversations", store.sessions.to_string()),
            ("turns", store.turns.to_string()),
            ("changes", store.changes.to_string()),
            ("recalls in the log", store.recalls.to_string()),
            ("profile", overview.identity.map_or("empty".to_owned(), |usage| usage.to_string())),
            ("vectors", overview.embeddings.as_ref().map_or("none".to_owned(), style::embedded)),
            ("vault", vault(&overview.vault)),
            ("database", format!("{:.1} MB", store.bytes as f64 / 1e6)),
        ];
        let mut text: String =
            rows.iter().map(|(name, value)| format!("{} {value}\n", format!("{name:>18}").dimmed())).collect();
        if !stats.spending.is_empty() {
            text.push_str(&format!("\nModels, the last seven days\n{}", ledger(&stats.spending)));
        }
        Ok(Reply::new(&stats, text))
    }
}

fn vault(vault: &VaultStats) -> String {
    if vault.documents == 0 {
        return "empty".to_owned();
    }
    let documents = style::count(vault.documents, "file", "files");
    let passages = style::count(vault.passages, "passage", "passages");
    let vectors = vault.model.as_ref().map(|model| format!(", {} vectors of {}", vault.vectors, style::plain(model)));
    let refused = if vault.refused > 0 { format!(", {} refused", vault.refused) } else { String::new() };
    format!("{documents}, {passages}{}{refused}", vectors.unwrap_or_default())
}

/// What models cost, a line for each day and purpose.
fn ledger(spending: &[Spent]) -> String {
    let row = |spent: &Spent| {
        vec![
            spent.day.clone(),
            format!("{} {}", spent.provider, style::plain(&spent.model)),
            spent.purpose.to_string(),
            spent.calls.to_string(),
            spent.failures.to_string(),
            spent.tokens_in.to_string(),
            spent.tokens_out.to_string(),
        ]
    };
    let headings = ["day", "model", "for", "calls", "failed", "tokens in", "tokens out"];
    style::table(&headings, spending.iter().map(row).collect())
}
