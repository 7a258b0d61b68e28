//! A month of somebody who does not exist, for whoever wants to see the memory alive before giving it anything.
//!
//! Goes in: an empty home. Comes out: the memory open on it, filled by the engine's own verbs with the clock set to the
//! times of the story. Never happens: a row written past the engine, a file outside that home, a model but the offline
//! one.

mod script;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use throughline_core::engine::Visibility;
use throughline_core::engine::{
    Consolidation, Correction, Engine, EngineError, NewMemory, NewTask, Said, StartSession, TaskEdit,
};
use throughline_core::model::{Actor, DocumentName, Name, NameError, Role, SessionId, Source};
use throughline_core::ports::ToolCall;
use throughline_core::recall::{Filter, Hit, RecallRequest};

use crate::background;
use crate::vault::{Sync, SyncError};
use crate::world::{Home, OpenError, SettableClock, World, WorldClock, private_directory};
use script::{Page, Scene, Step};

/// Files of the vault, by name.
const VAULT: [(&str, &str); 4] = [
    ("quadrat-protocol.md", include_str!("vault/quadrat-protocol.md")),
    ("field-camera.md", include_str!("vault/field-camera.md")),
    ("ferry-and-tides.md", include_str!("vault/ferry-and-tides.md")),
    ("aquarium-pump.md", include_str!("vault/aquarium-pump.md")),
];

/// How long people take to write, and an assistant to answer.
const WRITING: SignedDuration = SignedDuration::from_secs(50);
const ANSWERING: SignedDuration = SignedDuration::from_secs(20);

/// How often it is tried to note what was given: no reply waits for it here.
const ATTEMPTS: u32 = 300;

/// Silence after which a conversation is over.
const SILENCE: SignedDuration = SignedDuration::from_mins(11);

/// As many as a month teaches.
const MOST_REVIEWED: usize = 1000;

/// Why the month could not be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// The home.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A verb.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] SyncError),
    /// A file of the home.
    #[error("cannot write {}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// Somebody did not want to hear the end.
    #[error("stopped before the month was told")]
    Stopped,
    /// The story does not fit this program.
    #[error("the month that comes with this program cannot be told: {problem}")]
    Story {
        /// Why.
        problem: String,
    },
}

impl DemoError {
    /// What to try next.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Open(error) => error.hint().unwrap_or_default(),
            Self::Engine(error) => error.hint().unwrap_or("try again in an empty directory".into()).into_owned(),
            Self::Vault(_) | Self::File { .. } => "check that you may write there, and that there is room".to_owned(),
            Self::Stopped => "your own memory is as it was".to_owned(),
            Self::Story { .. } => "please report it; your own memory is as it was".to_owned(),
        }
    }

    fn story(problem: impl ToString) -> Self {
        Self::Story { problem: problem.to_string() }
    }
}

impl From<NameError> for DemoError {
    fn from(error: NameError) -> Self {
        Self::story(error)
    }
}

/// What the month is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Made {
    pub(crate) conversations: usize,
    pub(crate) channels: BTreeSet<String>,
    pub(crate) messages: u64,
    /// Facts that the consolidations found.
    pub(crate) facts: u64,
    pub(crate) corrections: u64,
    pub(crate) tasks: u64,
    pub(crate) tasks_done: u64,
    pub(crate) reflections: u64,
    pub(crate) vault_documents: u64,
}

/// Fills an empty home, and gives the memory open on it; reports scenes that are told, of all, and stops where the answer
/// is no.
pub(crate) fn fill(dir: PathBuf, goes_on: &mut dyn FnMut(u64, u64) -> bool) -> Result<(World, Made), DemoError> {
    let clock = Arc::new(SettableClock::new(WorldClock::from_environment()?));
    let world = World::open_at(Home::at(dir), Arc::clone(&clock) as _)?;
    let today = world.now();
    let month = script::month(&today)?;
    let mut teller = Teller { world, clock, at: Timestamp::MIN, sessions: BTreeSet::new(), made: Made::default() };
    let total = month.scene.len() as u64;
    for (nth, scene) in month.scene.iter().enumerate() {
        teller.wait_until(scene.begins(&today).map_err(DemoError::story)?);
        if nth == 0 {
            teller.fill_vault()?;
        }
        teller.tell(scene)?;
        if !goes_on(nth as u64 + 1, total) {
            return Err(DemoError::Stopped);
        }
    }
    teller.clock.let_go();
    teller.made.conversations = teller.sessions.len();
    Ok((teller.world, teller.made))
}

/// Tells the story to the engine.
struct Teller {
    world: World,
    clock: Arc<SettableClock>,
    at: Timestamp,
    sessions: BTreeSet<SessionId>,
    made: Made,
}

impl Teller {
    /// Time never goes back.
    fn wait_until(&mut self, at: Timestamp) {
        self.at = self.at.max(at);
        self.clock.set(self.at);
    }

    fn wait(&mut self, time: SignedDuration) {
        self.wait_until(self.at.checked_add(time).unwrap_or(self.at));
    }

    fn fill_vault(&mut self) -> Result<(), DemoError> {
        let folder = self.world.home.vault();
        private_directory(&folder)?;
        for (name, text) in VAULT {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|source| DemoError::File { path, source })?;
        }
        let sync = Sync { engine: &self.world.engine, home: &self.world.home, collection: "home".parse()? };
        self.made.vault_documents = sync.run(&folder, &mut |_, _| {})?.indexed;
        Ok(())
    }

    fn tell(&mut self, scene: &Scene) -> Result<(), DemoError> {
        let Some(id) = &scene.session else {
            return scene.steps.iter().try_for_each(|step| self.act(step));
        };
        let id = SessionId::on_channel("cli", id)?;
        let channel = id.as_str().split(':').next().unwrap_or_default().to_owned();
        let engine = self.world.engine.acting(Actor::new(Source::User, &channel));
        let (project, task) = (scene.project.clone(), scene.task.clone());
        engine.sessions().start(&StartSession { project, task, ..StartSession::new(id.clone()) })?;
        for step in &scene.steps {
            match step {
                Step::Me(text) => {
                    self.wait(WRITING);
                    engine.context().trying(ATTEMPTS).give(&id, text, Visibility::Stays)?;
                    self.say(&engine, &id, Role::User, text)?;
                }
                Step::It(text) => {
                    self.wait(ANSWERING);
                    self.say(&engine, &id, Role::Assistant, text)?;
                }
                Step::Call { tool, with } => call(&engine, &id, tool, with)?,
                other => self.act(other)?,
            }
        }
        self.wait(SILENCE);
        if !scene.open {
            self.count(&background::end(&self.world, &id)?.consolidation);
        } else if engine.sessions().due(&id)?.is_some() {
            self.count(&background::consolidate(&self.world, &id, None)?);
        }
        self.made.channels.insert(channel);
        self.sessions.insert(id);
        Ok(())
    }

    fn say(&mut self, engine: &Engine, id: &SessionId, role: Role, text: &str) -> Result<(), DemoError> {
        let observed = engine.sessions().observe(id, &[Said::now(role, text)])?;
        self.made.messages += observed.kept as u64;
        // As on any channel, the reply comes first.
        if role == Role::Assistant && observed.due.is_some() {
            self.count(&background::consolidate(&self.world, id, None)?);
        }
        Ok(())
    }

    fn count(&mut self, consolidation: &Consolidation) {
        if let Consolidation::Done(done) = consolidation {
            self.made.facts += done.facts.len() as u64;
        }
    }

    /// What the person does by themselves, at the terminal.
    fn act(&mut self, step: &Step) -> Result<(), DemoError> {
        self.wait(ANSWERING);
        let engine = &self.world.engine;
        match step {
            Step::Me(_) | Step::It(_) | Step::Call { .. } => {
                return Err(DemoError::story("somebody speaks outside a conversation"));
            }
            Step::Ask(query) => {
                engine.recall().recall(&self.question(query))?;
            }
            Step::Review(verdict) => {
                for item in engine.review().list(MOST_REVIEWED, None)?.items {
                    engine.review().decide(item.memory.entry.id.as_str(), *verdict, None)?;
                }
            }
            Step::Remember { text, tags } => {
                engine.memories().remember(&NewMemory { tags: tags.clone(), ..NewMemory::fact(text) })?;
            }
            Step::Correct { wrong, right } => {
                let hits = engine.memories().wrong_about(wrong)?;
                let says = |hit: &&Hit| hit.memory.entry.content == *wrong;
                let meant = hits.iter().find(says).ok_or_else(|| DemoError::story(format!("nobody said `{wrong}`")))?;
                engine.memories().correct(meant.memory.entry.id.as_str(), &Correction::by_person(right))?;
                self.made.corrections += 1;
            }
            Step::Task { title, state, project } => {
                let (title, state, project) = (title.clone(), state.clone(), project.clone());
                engine.tasks().add(&NewTask { title, state, project })?;
                self.made.tasks += 1;
            }
            Step::Progress { task, state } => {
                engine.tasks().update(task, &TaskEdit { state: Some(state.clone()), ..TaskEdit::default() })?;
            }
            Step::Done { task, conclusion } => {
                engine.tasks().finish(task, Some(conclusion))?;
                self.made.tasks_done += 1;
            }
            Step::Write { document, text } => {
                engine.documents().write(&self.page(*document)?, text, None)?;
            }
            Step::Reflect { project } => {
                self.made.reflections +=
                    u64::from(background::reflect(&self.world, project.as_deref(), false)?.is_some());
            }
            Step::Project(_) | Step::Record { .. } | Step::Complete { .. } => self.work(step)?,
        }
        Ok(())
    }

    /// What the person does in a project's directory.
    fn work(&self, step: &Step) -> Result<(), DemoError> {
        let engine = &self.world.engine;
        match step {
            Step::Project(name) => {
                let dir = self.world.home.data.join("work").join(name);
                private_directory(&dir)?;
                // A project is found by its directory's real name.
                let dir = dir.canonicalize().map_err(|source| DemoError::File { path: dir, source })?;
                engine.projects().add(name, dir.to_str())?;
            }
            Step::Record { project, section, significance, facts } => {
                let facts: Vec<_> = facts.iter().map(|fact| (fact.clone(), *significance)).collect();
                engine.memories().record(&project_file(project)?, &facts, *section)?;
            }
            Step::Complete { project, fact } => {
                engine.documents().complete(&project_file(project)?, fact)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn question(&self, query: &str) -> RecallRequest {
        let engine = &self.world.engine;
        let limit = engine.settings().recall_limit;
        RecallRequest { query: query.to_owned(), limit, filter: Filter::recallable(engine.now()) }
    }

    fn page(&self, page: Page) -> Result<DocumentName, DemoError> {
        let namespace = self.world.engine.settings().namespace.as_ref();
        let namespace = namespace.ok_or_else(|| DemoError::story("the home has no namespace"))?;
        Ok(match page {
            Page::Profile => DocumentName::profile(namespace),
            Page::Patterns => DocumentName::patterns(namespace),
        })
    }
}

fn project_file(project: &str) -> Result<DocumentName, DemoError> {
    Ok(DocumentName::project(&project.parse::<Name>()?))
}

/// The assistant calls a tool; one that refuses would leave a hole in the story.
fn call(engine: &Engine, id: &SessionId, tool: &str, with: &serde_json::Value) -> Result<(), DemoError> {
    let call = ToolCall { id: "demo".to_owned(), name: tool.to_owned(), arguments: with.to_string() };
    let answer = engine.tools().call(id, &call);
    if answer.is_error { Err(DemoError::story(answer.summary)) } else { Ok(()) }
}
