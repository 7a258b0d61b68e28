//! Reflection through the engine, over any store: what a pass does, what it never does, and that it can be undone.

mod entries;
mod erased_meanwhile;
mod hostile;
mod log;
mod passes;
mod persons;
mod tiers;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::SignedDuration;
use tempfile::TempDir;
use throughline_core::engine::{Engine, Reflection, Said, Settings, StartSession, Worker};
use throughline_core::model::{Actor, ContentHash, DocumentName, Role, Source};
use throughline_core::ports::{Brief, Cost, Documents, Model, ModelError, ReflectBrief, Reply, Store, SummaryOf};
use throughline_documents::{FileDocuments, SplitDocuments};
use throughline_testkit::{FixedClock, Fresh, SequentialIds};

/// What a model answers where nothing is to be done.
const NOTHING: &str = r#"{"operations": []}"#;

/// A model that answers by a function of what it is shown.
struct Answering<F>(F);

impl<F: Fn(&ReflectBrief) -> String + Send + Sync> Model for Answering<F> {
    fn provider(&self) -> &'static str {
        "answering"
    }

    fn name(&self) -> &str {
        "test"
    }

    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        false
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, _: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        let Brief::Reflect(brief) = brief else { return Err(ModelError::CannotChat) };
        Ok(Reply { tokens_in: 10, tokens_out: 5, ..Reply::said((self.0)(brief)) })
    }
}

/// The name of a document of the person.
fn own(name: &str) -> DocumentName {
    format!("user/{name}").parse().unwrap()
}

/// A person's machine: a store, documents, and the project `stall` in a directory of its own.
struct Home {
    clock: Arc<FixedClock>,
    store: Arc<dyn Store>,
    documents: Arc<dyn Documents>,
    engine: Engine,
    /// The place of the store: dropped after every handle to it.
    _fresh: Fresh,
    directory: TempDir,
}

impl Home {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = Settings { namespace: Some("user".parse().unwrap()), ..Settings::default() };
        settings.reflection.max_share = 1.0;
        adjust(&mut settings);
        let fresh = Fresh::new(crate::fixture());
        let (store, places) = (fresh.store(), fresh.store());
        let files = FileDocuments::open(&directory.path().join("documents"))
            .unwrap()
            .with_projects(move |name| places.project(name).ok().flatten()?.dir.map(PathBuf::from));
        let documents: Arc<dyn Documents> = match fresh.documents() {
            Some(others) => Arc::new(SplitDocuments::new(files, others)),
            None => Arc::new(files),
        };
        let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
        let engine = Engine::new(
            Arc::clone(&store),
            Arc::clone(&documents),
            clock.clone(),
            Arc::new(SequentialIds::default()),
            settings,
            Actor::new(Source::User, "test"),
        );
        let stall = directory.path().join("stall");
        std::fs::create_dir(&stall).unwrap();
        engine.projects().add("stall", stall.to_str()).unwrap();
        Self { clock, store, documents, engine, _fresh: fresh, directory }
    }

    /// The project's memory file.
    fn file(&self) -> PathBuf {
        self.directory.path().join("stall/memory.md")
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap_or_default()
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// A person saves the project's memory file.
    fn save(&self, text: impl AsRef<[u8]>) {
        std::fs::write(self.file(), text).unwrap();
    }

    /// A person saves a document of their own.
    fn save_own(&self, name: &str, text: &str) {
        let name = own(name);
        let before = self.documents.read(&name).unwrap().map_or_else(ContentHash::missing, |before| before.hash);
        self.documents.write(&name, text, &before).unwrap();
    }

    fn own(&self, name: &str) -> String {
        self.documents.read(&own(name)).unwrap().map(|document| document.text).unwrap_or_default()
    }

    fn say(&self, session: &str, project: Option<&str>, text: &str) {
        let id: throughline_core::model::SessionId = session.parse().unwrap();
        let start = StartSession { project: project.map(str::to_owned), ..StartSession::new(id.clone()) };
        self.engine.sessions().start(&start).unwrap();
        self.engine.sessions().observe(&id, &[Said::now(Role::User, text)]).unwrap();
    }

    fn pass(&self, project: Option<&str>, answer: &str) -> Reflection {
        self.ask(project, false, |_| answer.to_owned())
    }

    fn ask(
        &self,
        project: Option<&str>,
        dry: bool,
        answer: impl Fn(&ReflectBrief) -> String + Send + Sync,
    ) -> Reflection {
        let worker = Worker { holder: throughline_testkit::stores::holder("test"), is_gone: &|_| false };
        self.engine.reflection().run(project, &Answering(answer), &worker, dry).unwrap().unwrap()
    }

    fn later(&self, hours: i64) {
        self.clock.advance(SignedDuration::from_hours(hours));
    }
}

fn ops(operations: &str) -> String {
    format!("{{\"operations\": [{operations}]}}")
}
