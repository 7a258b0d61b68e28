//! `throughline forget ID…`

use std::io::IsTerminal as _;

use clap::{ArgGroup, Args};
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::{About, ErasedMemory, ErasedScope, ScopePreview};
use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::{Erased, ErasureScope};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::exports;
use crate::world::World;

/// Make memories inactive, or erase them for good
#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true))]
pub(super) struct Forget {
    /// Ids, the first six characters of one, or keys
    #[arg(group = "what", value_name = "ID|KEY")]
    ids: Vec<String>,
    /// Everything that has all words of a topic: shows it and asks
    #[arg(long, group = "what", value_name = "TOPIC")]
    about: Option<String>,
    /// With --erase: a conversation, and what was made of it
    #[arg(long, group = "what", requires = "erase", value_name = "ID")]
    session: Option<String>,
    /// With --erase: a project with its conversations, memories and tasks; its memory file stays
    #[arg(long, group = "what", requires = "erase", value_name = "NAME")]
    project: Option<String>,
    /// With --erase: everything, documents, backups and exports included
    #[arg(long, group = "what", requires = "erase")]
    everything: bool,
    /// Leave no byte of it: in the database, its history, the index, the logs, backups and exports
    #[arg(long)]
    erase: bool,
    /// With --erase: also erase the turns of conversations that it came from
    #[arg(long, requires = "erase", conflicts_with_all = ["session", "project", "everything"])]
    with_sources: bool,
    /// Do not ask. Without it, and without a terminal, only a single memory is forgotten, which `undo` brings back
    #[arg(long)]
    yes: bool,
}

/// What a person types to agree, and what was not done where they do not.
#[derive(Clone, Copy)]
struct Word {
    typed: &'static str,
    nothing: &'static str,
}

const FORGET: Word = Word { typed: "forget", nothing: "nothing was forgotten" };
const ERASE: Word = Word { typed: "erase", nothing: "nothing was erased" };

impl Forget {
    pub(super) fn run(self, world: &World) -> Answer {
        if let Some(topic) = &self.about {
            return self.about(world, topic);
        }
        if let Some(scope) = self.scope()? {
            return self.erase_scope(world, &scope);
        }
        match (&self.ids[..], self.erase) {
            ([id], false) => forget(world, id),
            ([id], true) => self.erase_one(world, id),
            (ids, false) => self.forget_many(world, ids),
            (ids, true) => self.erase_many(world, ids),
        }
    }

    fn scope(&self) -> Result<Option<ErasureScope>, Failure> {
        let session = self.session.as_deref().map(|id| SessionId::on_channel("cli", id)).transpose()?;
        let project = self.project.clone().map(ErasureScope::Project);
        let everything = self.everything.then_some(ErasureScope::Everything);
        Ok(session.map(ErasureScope::Session).or(project).or(everything))
    }

    fn erase_one(&self, world: &World, id: &str) -> Answer {
        if !self.yes {
            let preview = world.engine.memories().preview_erase(id)?;
            let versions = style::count(preview.versions, "version", "versions");
            let shown = contents(world, &[id])?;
            self.agreed(
                &format!("{shown}{versions} and every copy go for good, and no undo brings them back. "),
                ERASE,
            )?;
        }
        let erased = exports::erase(world, id, self.with_sources)?;
        Ok(Reply::new(&erased, told(&erased, self.with_sources)))
    }

    fn erase_many(&self, world: &World, ids: &[String]) -> Answer {
        self.agreed(&contents(world, ids)?, ERASE)?;
        let erased: Vec<ErasedMemory> =
            ids.iter().map(|id| exports::erase(world, id, self.with_sources)).collect::<Result<_, _>>()?;
        let text: String = erased.iter().map(|erased| told(erased, self.with_sources)).collect();
        Ok(Reply::new(&json!({ "erased": erased }), text))
    }

    /// Shows what is about a topic; forgets or erases it where that is agreed to.
    fn about(&self, world: &World, topic: &str) -> Answer {
        let about = world.engine.memories().about(topic)?;
        let shown = self.shown(&about, world);
        let nothing = about.memories.is_empty() && !self.erase;
        if nothing {
            return Ok(Reply::new(&about, shown).or_nothing(true));
        }
        if !self.yes && !std::io::stdin().is_terminal() {
            return Ok(Reply::new(&about, format!("{shown}nothing was changed; --yes does it\n")));
        }
        self.agreed(&shown, if self.erase { ERASE } else { FORGET })?;
        if self.erase {
            return self.erase_about(world, topic, &about);
        }
        let about = world.engine.memories().forget_about(topic)?;
        let memories = style::count(about.memories.len() as u64, "memory", "memories");
        let text = format!("forgot {memories} about {}; `throughline undo` brings them back\n", style::plain(topic));
        Ok(Reply::new(&about, text))
    }

    fn erase_about(&self, world: &World, topic: &str, about: &About) -> Answer {
        let ids: Vec<String> = about.memories.iter().map(|memory| memory.entry.id.to_string()).collect();
        let mut text = String::new();
        for id in &ids {
            text.push_str(&told(&exports::erase(world, id, self.with_sources)?, self.with_sources));
        }
        let turns = if self.with_sources { &about.turns[..] } else { &[] };
        let erased = exports::erase_topic(world, topic, turns)?;
        text.push_str(&format!("erased {}, and what repeated it\n", style::count(erased.turns, "turn", "turns")));
        text.push_str(&unreached(&erased));
        Ok(Reply::new(
            &json!({ "dry_run": false, "memories": about.memories, "turns": about.turns, "erased": erased }),
            text,
        ))
    }

    fn shown(&self, about: &About, world: &World) -> String {
        let now = world.now();
        let mut text: String = about.memories.iter().map(|memory| style::memory(memory, &now)).collect();
        if about.memories.is_empty() {
            text.push_str("no memory has all words of that\n");
        }
        if !about.turns.is_empty() {
            let turns = style::count(about.turns.len() as u64, "turn", "turns");
            let stays = if self.with_sources { "" } else { "; `--erase --with-sources` erases what was said, too" };
            text.push_str(&format!("{}\n", format!("{turns} of conversations mention it{stays}").dimmed()));
        }
        text
    }

    fn erase_scope(&self, world: &World, scope: &ErasureScope) -> Answer {
        let preview = world.engine.memories().preview_scope(scope)?;
        let counts = counted(&preview);
        if !self.yes && !std::io::stdin().is_terminal() {
            let text = format!("{counts} would go for good; nothing was changed; --yes does it\n");
            return Ok(Reply::new(&json!({ "dry_run": true, "preview": preview }), text));
        }
        self.agreed(&format!("{counts}, and every copy\n"), ERASE)?;
        let erased = exports::erase_scope(world, scope)?;
        Ok(Reply::new(&erased, told_scope(&erased)))
    }

    /// Several as one change: all of them, or none where one cannot be found or the person does not agree.
    fn forget_many(&self, world: &World, ids: &[String]) -> Answer {
        let memories = world.engine.memories();
        let shown = contents(world, ids)?;
        let found = ids.iter().map(|id| Ok(memories.show(id)?.entry.id)).collect::<Result<Vec<EntryId>, Failure>>()?;
        self.agreed(&shown, FORGET)?;
        let count = memories.forget_all(&found)?;
        let told = style::count(count as u64, "memory", "memories");
        let text = format!("forgot {told}; `throughline undo` brings them back\n");
        Ok(Reply::new(&json!({ "forgotten": found, "count": count }), text))
    }

    /// Goes on where the person agrees: with `--yes`, or by typing the word at a terminal, where what would go is shown.
    fn agreed(&self, shown: &str, word: Word) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        let Word { typed, nothing } = word;
        if !std::io::stdin().is_terminal() {
            let why = format!("{nothing}: there is no terminal to ask on");
            return Err(Failure::new(why, "`--yes` does it without asking"));
        }
        anstream::eprint!("{shown}Type `{typed}` to agree: ");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map_err(|error| Failure::io("read your answer", &error))?;
        let refused = || Failure::new(nothing, format!("type `{typed}` to agree, or give --yes"));
        if line.trim() == typed { Ok(()) } else { Err(refused()) }
    }
}

/// A line for each memory.
fn contents(world: &World, ids: &[impl AsRef<str>]) -> Result<String, Failure> {
    let line = |id: &str| {
        let content = world.engine.memories().show(id)?.entry.content;
        Ok(format!("{}\n", style::one_line(&content, style::width())))
    };
    ids.iter().map(|id| line(id.as_ref())).collect()
}

fn forget(world: &World, id: &str) -> Answer {
    let forgotten = world.engine.memories().forget(id)?;
    let id = style::short(forgotten.id.as_str());
    let text = if forgotten.already {
        format!("{id} was forgotten before\n")
    } else {
        format!("forgot {id}; `throughline undo` brings it back\n")
    };
    Ok(Reply::new(&forgotten, text))
}

fn counted(preview: &ScopePreview) -> String {
    let ScopePreview { sessions, turns, memories, lines, tasks, .. } = preview;
    [
        style::count(*sessions, "conversation", "conversations"),
        style::count(*turns, "turn", "turns"),
        style::count(*memories, "memory", "memories"),
        style::count(*lines, "line", "lines"),
        style::count(*tasks, "task", "tasks"),
    ]
    .join(", ")
}

fn told_scope(receipt: &ErasedScope) -> String {
    let mut text = format!("erased for good: {}\n", counted(&receipt.preview));
    text.push_str(&unreached(&receipt.erased));
    text
}

fn unreached(erased: &Erased) -> String {
    erased.unreached.iter().map(|place| format!("not reached: {}\n", style::plain(place))).collect()
}

fn told(receipt: &ErasedMemory, with_sources: bool) -> String {
    let erased = &receipt.erased;
    let mut text = format!(
        "erased {} for good: {}, {}, {}\n",
        style::short(receipt.id.as_str()),
        style::count(erased.versions, "version", "versions"),
        style::count(erased.recalls, "recall in the log", "recalls in the log"),
        style::count(erased.turns, "turn", "turns"),
    );
    if !with_sources && !receipt.sources.is_empty() {
        let ids = receipt.sources.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        text.push_str(&format!("it came from turns that are still there: {ids} (--with-sources erases them too)\n"));
    }
    text.push_str(&unreached(erased));
    text
}
