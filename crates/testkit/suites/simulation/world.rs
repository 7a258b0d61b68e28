//! Several processes over one store, and what happens to them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use tempfile::TempDir;
use throughline_core::engine::{Engine, EngineError, Settings};
use throughline_core::model::{Actor, Source};
use throughline_core::ports::{Clock, Ids, Store};
use throughline_documents::FileDocuments;
use throughline_testkit::simulated::{PlantedBug, SimulatedDocuments, SimulatedStore};
use throughline_testkit::{FixedClock, SequentialIds, StoreFixture};

use super::Outcome;
use super::moments::{Armed, Death, Meanwhile, Moments, Passed};
use super::plain::{Known, Plain, Words};
use super::steps::{PROCESSES, Step, Trouble};

/// What became of a verb.
pub(crate) enum Got<T> {
    Done(T),
    /// It failed, and nothing may be left of it.
    Undone(String),
    /// It failed after something was written: it is done, or it is not.
    Unsure(String),
}

/// The world as all processes see it.
pub(crate) struct World {
    pub(crate) plain: Mutex<Plain>,
    processes: Vec<Mutex<Option<Engine>>>,
    /// A look at the store that nothing happens around.
    pub(crate) judge: Arc<dyn Store>,
    pub(crate) moments: Arc<Moments>,
    pub(crate) clock: Arc<FixedClock>,
    ids: Arc<SequentialIds>,
    pub(crate) bug: Option<PlantedBug>,
    /// The first thing that was found to be wrong in the middle of an act.
    wrong: Mutex<Option<String>>,
    fixture: Box<dyn StoreFixture>,
    directory: TempDir,
}

impl World {
    pub(crate) fn new(bug: Option<PlantedBug>) -> Arc<Self> {
        let (fixture, directory) = (Box::new(crate::fixture()), tempfile::tempdir().unwrap());
        let world = Self {
            plain: Mutex::default(),
            processes: (0..PROCESSES).map(|_| Mutex::new(None)).collect(),
            judge: fixture.open(),
            moments: Arc::default(),
            clock: Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap())),
            ids: Arc::default(),
            bug,
            wrong: Mutex::default(),
            fixture,
            directory,
        };
        (0..PROCESSES).for_each(|process| world.reopen(process));
        Arc::new(world)
    }

    /// Ends a process, and starts it again.
    pub(crate) fn reopen(&self, process: usize) {
        *self.processes[process].lock().unwrap() = None;
        let around = || Arc::clone(&self.moments) as Arc<_>;
        let files = Arc::new(FileDocuments::open(&self.directory.path().join("documents")).unwrap());
        let engine = Engine::new(
            Arc::new(SimulatedStore::new(self.fixture.open(), around(), self.bug)),
            Arc::new(SimulatedDocuments::new(files, around(), self.bug)),
            Arc::clone(&self.clock) as Arc<dyn Clock>,
            Arc::clone(&self.ids) as Arc<dyn Ids>,
            Settings { namespace: Some("user".parse().unwrap()), ..Settings::default() },
            Actor::new(Source::User, &format!("process {process}")),
        );
        *self.processes[process].lock().unwrap() = Some(engine);
    }

    pub(crate) fn engine(&self, process: usize) -> Engine {
        self.processes[process].lock().unwrap().clone().expect("a process that runs")
    }

    /// Does the steps; after each, everything is compared.
    pub(crate) fn run(self: &Arc<Self>, steps: &[Step]) -> Outcome {
        let mut told = Vec::new();
        for (nth, step) in steps.iter().enumerate() {
            let done = catch_unwind(AssertUnwindSafe(|| self.step(step)));
            let line = done.unwrap_or_else(|panic| Err(text(&*panic))).map_err(|why| format!("step {nth}: {why}"))?;
            told.push(line);
        }
        (0..PROCESSES).for_each(|process| self.reopen(process));
        catch_unwind(AssertUnwindSafe(|| self.check_all())).unwrap_or_else(|panic| Err(text(&*panic)))?;
        Ok(told)
    }

    fn step(self: &Arc<Self>, step: &Step) -> Result<String, String> {
        self.clock.advance(SignedDuration::from_secs(1));
        self.moments.arm(step.trouble.as_ref().map(|trouble| self.armed(trouble)));
        let told = self.act(step.process, &step.act, true);
        self.moments.disarm();
        if let Some(wrong) = self.wrong.lock().unwrap().take() {
            return Err(wrong);
        }
        self.check()?;
        Ok(told)
    }

    fn armed(self: &Arc<Self>, trouble: &Trouble) -> Armed {
        let world = Arc::clone(self);
        match trouble.clone() {
            Trouble::Refused { at, how } => Armed::Refused(at, how),
            Trouble::Unconfirmed { at } => Armed::Unconfirmed(at),
            Trouble::Dies { at } => Armed::Dies(at),
            Trouble::Meanwhile { at, process, act } => {
                let act: Meanwhile = Box::new(move || drop(world.act(process, &act, false)));
                Armed::Meanwhile(at, act)
            }
            Trouble::Saved => Armed::Saved(Box::new(move || world.save())),
        }
    }

    /// Something is not as it must be.
    pub(crate) fn wrong(&self, why: String) {
        self.wrong.lock().unwrap().get_or_insert(why);
    }

    /// Calls a verb. `is_first`: it is not called in the middle of another one.
    pub(crate) fn verb<T>(
        &self,
        process: usize,
        is_first: bool,
        verb: impl FnOnce(&Engine) -> Result<T, EngineError>,
    ) -> Got<T> {
        let engine = self.engine(process);
        let done = catch_unwind(AssertUnwindSafe(|| verb(&engine)));
        drop(engine);
        let passed = self.moments.passed();
        match done {
            Ok(Ok(done)) => Got::Done(done),
            Ok(Err(error)) => {
                if is_first && !passed.happened {
                    self.wrong(format!("a verb fails although nothing goes wrong: {error:?}"));
                }
                failed(passed, format!("{error}"))
            }
            Err(panic) if panic.is::<Death>() => {
                self.reopen(process);
                failed(passed, "died".to_owned())
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    pub(crate) fn profile(&self) -> PathBuf {
        self.directory.path().join("documents/user/profile.md")
    }

    /// The person adds a line to the profile, as an editor saves it.
    pub(crate) fn save(&self) {
        let line = self.plain.lock().unwrap().new_text(false);
        let path = self.profile();
        let saving = path.with_extension("saving");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&saving, format!("{before}- {line}\n")).unwrap();
        std::fs::rename(&saving, &path).unwrap();
        self.plain.lock().unwrap().lines.push(Words { text: line, is_kept: Known::Yes });
    }
}

fn failed<T>(passed: Passed, why: String) -> Got<T> {
    if passed.wrote { Got::Unsure(why) } else { Got::Undone(why) }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    format!("a panic: {}", text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?"))
}
