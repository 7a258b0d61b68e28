//! `throughline` alone, and `throughline stats`

use std::borrow::Cow;

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{Overview, VaultStats};
use throughline_core::model::{Kind, Layer};
use throughline_core::ports::{Page, Spent};
use throughline_core::recall::Filter;
use throughline_core::text::frequency;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::connections::Machine;
use crate::world::World;
use crate::{daemon, health};

/// How many commands are suggested.
const SHOWN: usize = 3;

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
    text.push_str(&tries(&next_commands(&State::of(world, overview)?, question(world).as_deref())));
    Ok(Reply::new(&status, text))
}

/// Commands worth trying, each with its reason below it.
pub(super) fn tries(commands: &[Try]) -> String {
    commands.iter().map(|(command, why)| format!("  {}\n      {}\n", command.cyan(), why.dimmed())).collect()
}

pub(super) fn holds(overview: &Overview) -> String {
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

/// A command, and why it is worth trying.
pub(super) type Try = (Cow<'static, str>, &'static str);

/// What decides which commands are worth trying.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    has_profile: bool,
    has_memories: bool,
    has_conversations: bool,
    /// Whether something learnt was not looked at yet.
    has_news: bool,
    /// Whether an assistant is connected.
    is_connected: bool,
    /// Whether one is here that is not.
    can_connect: bool,
    daemon_runs: bool,
    /// Whether the setup has just been run.
    is_set_up: bool,
}

impl State {
    pub(super) fn of(world: &World, overview: &Overview) -> Result<Self, Failure> {
        let (connected, open) = Machine::here().map(|machine| machine.connected()).unwrap_or_default();
        Ok(Self {
            has_profile: overview.identity.is_some(),
            has_memories: overview.store.knowledge > 0,
            has_conversations: overview.store.sessions > 0,
            has_news: !world.engine.review().list(1, None)?.items.is_empty(),
            is_connected: !connected.is_empty(),
            can_connect: !open.is_empty(),
            daemon_runs: daemon::is_running(&world.home),
            is_set_up: false,
        })
    }

    /// The same after the setup, which may have had the daemon started.
    pub(super) fn after_setup(self, starts_daemon: bool) -> Self {
        Self { is_set_up: true, daemon_runs: self.daemon_runs || starts_daemon, ..self }
    }
}

/// What helps most depends on what is there already.
/// `question` has words of a memory that is there.
pub(super) fn next_commands(state: &State, question: Option<&str>) -> Vec<Try> {
    let setup = ("throughline setup", "connects your assistants, takes in what you have, and asks three questions");
    let demo = ("throughline demo --open", "the panel with sample data, away from your own memory");
    let connect = ("throughline connect --all", "the assistants on this machine remember from then on");
    let known = ("throughline connect", "the assistants that it works with; none of them was found on this machine");
    let about_you = (
        "throughline remember --layer identity \"My name is Ada; I like short answers\"",
        "every conversation will start knowing this",
    );
    let a_fact = ("throughline remember \"We deploy on Fridays at noon\"", "found again when it fits");
    let review = ("throughline review", "what was learnt from your conversations: keep, edit or drop it");
    let panel = ("throughline serve --open", "your memory in the browser");
    let link = ("throughline open", "a link to your memory in the browser");
    let recall = question.map(|words| format!("throughline recall \"{words}\""));
    let list = ("throughline list", "everything, newest first; `throughline undo` takes the last change back");
    let is_empty = !state.has_profile && !state.has_memories && !state.has_conversations;
    let before = [
        (is_empty && !state.is_set_up, setup),
        (!is_empty && state.can_connect, connect),
        (!is_empty && !state.can_connect && !state.is_connected, known),
        (state.has_news, review),
        (is_empty, demo),
        (!state.has_profile && !is_empty, about_you),
        (!state.has_memories, a_fact),
    ];
    let after = [(!state.daemon_runs, panel), (state.daemon_runs, link), (true, list)];
    let fitting = |tries: &[(bool, (&'static str, &'static str))]| -> Vec<Try> {
        tries.iter().filter(|(fits, _)| *fits).map(|(_, (command, why))| (Cow::Borrowed(*command), *why)).collect()
    };
    let recall = recall.map(|command| (Cow::Owned(command), "in plain words, with --why to see the reasons"));
    fitting(&before).into_iter().chain(recall).chain(fitting(&after)).take(SHOWN).collect()
}

/// So many memories are looked at for one to ask about.
const ASKED_OF: usize = 20;

/// Words that are more common than this say little, as a Zipf value.
const COMMON: f32 = 5.0;

/// So many words make a question.
const WORDS: usize = 3;

/// Words of a memory that is there, to ask for it; none where none says enough.
pub(super) fn question(world: &World) -> Option<String> {
    let filter =
        Filter { kinds: vec![Kind::Entry], layers: vec![Layer::Knowledge], ..Filter::recallable(world.engine.now()) };
    let listed = world.engine.memories().list(&filter, &Page { limit: ASKED_OF, cursor: None }).ok()?;
    listed.memories.iter().find_map(|memory| telling(&memory.entry.content))
}

/// The first words of a text that say something, of more than two without the last: that is what the answer is for.
pub(super) fn telling(text: &str) -> Option<String> {
    let first = text.lines().next()?;
    let words = first.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 1);
    let mut words: Vec<&str> = words.filter(|word| frequency::zipf(&word.to_lowercase()) < COMMON).collect();
    if words.is_empty() || words.iter().any(|word| word.chars().count() > LONGEST) {
        return None;
    }
    words.truncate((words.len() - 1).clamp(2, WORDS));
    Some(words.join(" "))
}

/// Nobody types a longer word than this, in characters.
const LONGEST: usize = 24;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(state: State, expected: [&str; 3]) {
        let commands = next_commands(&state, state.has_memories.then_some("deploy Fridays"));
        let verbs: Vec<&str> = commands.iter().map(|(command, _)| command.split(' ').nth(1).unwrap()).collect();
        assert_eq!(verbs, expected, "{state:?}");
    }

    #[test]
    fn a_question_has_the_words_of_a_memory_and_leaves_its_end_open() {
        for (text, expected) in [
            ("The rye starter is called Clint.", Some("rye starter")),
            ("We decided to deploy on Fridays at noon", Some("deploy Fridays")),
            ("\"$(rm -rf ~)\" `x` \u{1b}[31m kestrel heron", Some("rm rf 31m")),
            ("We deploy daily", Some("deploy")),
            ("I like it", None),
            ("", None),
        ] {
            assert_eq!(telling(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_commands_fit_what_is_there() {
        let new = State::default();
        check(new, ["setup", "demo", "remember"]);
        check(State { can_connect: true, ..new }, ["setup", "demo", "remember"]);
        let known = State { has_profile: true, has_memories: true, ..new };
        check(known, ["connect", "recall", "serve"]);
        check(State { is_set_up: true, ..new }, ["demo", "remember", "serve"]);
        check(State { can_connect: true, ..known }, ["connect", "recall", "serve"]);
        let used = State { is_connected: true, has_conversations: true, ..known };
        check(used, ["recall", "serve", "list"]);
        check(State { has_news: true, ..used }, ["review", "recall", "serve"]);
        check(State { has_news: true, daemon_runs: true, ..used }, ["review", "recall", "open"]);
        check(State { has_profile: false, ..used }, ["remember", "recall", "serve"]);
    }
}
