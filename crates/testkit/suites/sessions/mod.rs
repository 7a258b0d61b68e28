//! Sessions through the engine, over any store: what they begin with, what goes to the model, consolidation.
//!
//! Whatever a test does to a session, every turn must still be there when the test ends: each [`Home`] checks it when it is
//! dropped.

mod compaction;
mod ending;
mod erased_meanwhile;
mod facts;
mod failing;
mod meddling;
mod observing;
mod opening;
mod places;
mod recalling;
mod speakers;
mod threads;
mod together;
mod triggers;

use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use tempfile::TempDir;
use throughline_core::engine::{Compaction, Consolidation, Engine, Observed, Said, Settings, StartSession, Worker};
use throughline_core::model::{
    Actor, ContentHash, DocumentName, Entry, Layer, Position, Role, SessionId, SessionState, Source, Status, TurnId,
};
use throughline_core::ports::{Documents, Erasure, Model, Page, Store};
use throughline_core::recall::{Filter, Scope};
use throughline_documents::FileDocuments;
use throughline_testkit::{FixedClock, Fresh, ScriptedModel, SequentialIds};

/// What a good model says of a conversation.
const SUMMARY: &str = "## Working on\n- the parser and its errors";
/// What working memory then says.
const THREAD: &str = "## the parser and its errors\n\n### Working on\n- the parser and its errors";
/// What a good model answers where no fact is worth keeping.
const NO_FACTS: &str = r#"{"facts": []}"#;

/// One store and a directory with documents; as many engines over them as a test wants.
struct Home {
    documents: Arc<dyn Documents>,
    clock: Arc<FixedClock>,
    ids: Arc<SequentialIds>,
    settings: Settings,
    /// An engine of a person with the namespace `user`, unless it was adjusted.
    engine: Engine,
    store: Arc<dyn Store>,
    said: Mutex<Vec<(SessionId, TurnId, String)>>,
    fresh: Fresh,
    directory: TempDir,
}

impl Home {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let (fresh, directory) = (Fresh::new(crate::fixture()), tempfile::tempdir().unwrap());
        let files = FileDocuments::open(&directory.path().join("documents")).unwrap();
        let documents = fresh.documents_or(|| Arc::new(files));
        Self::build(fresh, directory, documents, adjust)
    }

    fn over(documents: Arc<dyn Documents>, adjust: impl FnOnce(&mut Settings)) -> Self {
        Self::build(Fresh::new(crate::fixture()), tempfile::tempdir().unwrap(), documents, adjust)
    }

    fn build(
        fresh: Fresh,
        directory: TempDir,
        documents: Arc<dyn Documents>,
        adjust: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut settings = Settings { namespace: Some("user".parse().unwrap()), ..Settings::default() };
        adjust(&mut settings);
        let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
        let ids = Arc::new(SequentialIds::default());
        let store = fresh.store();
        let engine = Engine::new(
            Arc::clone(&store),
            Arc::clone(&documents),
            clock.clone(),
            ids.clone(),
            settings.clone(),
            Actor::new(Source::User, "test"),
        );
        Self { documents, clock, ids, settings, engine, store, said: Mutex::default(), fresh, directory }
    }

    /// Another process over the same store and documents.
    fn restarted(&self) -> Engine {
        Engine::new(
            self.fresh.again(),
            Arc::clone(&self.documents),
            self.clock.clone(),
            self.ids.clone(),
            self.settings.clone(),
            Actor::new(Source::User, "restarted"),
        )
    }

    fn observe(&self, id: &str, role: Role, text: &str) -> Observed {
        let observed = self.engine.sessions().observe(&session(id), &[Said::now(role, text)]).unwrap();
        let turns = observed.turns.iter().map(|turn| (turn.session.clone(), turn.id.clone(), turn.content.clone()));
        self.said.lock().unwrap().extend(turns);
        observed
    }

    fn say(&self, id: &str, text: &str) -> Observed {
        self.observe(id, Role::User, text)
    }

    /// The person says something, and is answered.
    fn exchange(&self, id: &str, text: &str) {
        self.say(id, text);
        self.observe(id, Role::Assistant, "I see.");
    }

    fn start(&self, id: &str) -> String {
        let start = StartSession { system_prompt: Some("Be kind.".to_owned()), ..StartSession::new(session(id)) };
        self.engine.sessions().start(&start).unwrap().system_prompt
    }

    fn consolidate(&self, id: &str, model: &dyn Model) -> Consolidation {
        consolidate(&self.engine, id, model)
    }

    /// Consolidates with a good model.
    fn compact(&self, id: &str) -> Compaction {
        done(self.consolidate(id, &ScriptedModel::saying([SUMMARY, NO_FACTS])))
    }

    /// Consolidates with a model, and shortens what is sent.
    fn shorten(&self, id: &str, model: &dyn Model) -> Compaction {
        done(self.engine.consolidation().compact(&session(id), model, None, &worker("worker")).unwrap())
    }

    fn state(&self, id: &str) -> SessionState {
        self.store.session(&session(id)).unwrap().unwrap()
    }

    fn entries(&self, filter: Filter) -> Vec<Entry> {
        let page = Page { limit: usize::MAX, cursor: None };
        let filter = Filter { kinds: vec![throughline_core::model::Kind::Entry], ..filter };
        let mut all: Vec<_> = self.store.list(&filter, &page).unwrap().memories.into_iter().map(|m| m.entry).collect();
        all.reverse();
        all
    }

    fn archive(&self) -> Vec<Entry> {
        self.entries(Filter { layers: vec![Layer::Archive], status: Some(Status::Active), ..Filter::default() })
    }

    /// The active timeline, oldest first.
    fn timeline(&self) -> Vec<Entry> {
        self.archive().into_iter().filter(|entry| entry.tags != ["session"]).collect()
    }

    /// The summaries of conversations in the archive.
    fn summaries(&self) -> Vec<Entry> {
        self.archive().into_iter().filter(|entry| entry.tags == ["session"]).collect()
    }

    /// Active knowledge at an address, oldest first.
    fn knowledge(&self, address: &str) -> Vec<Entry> {
        self.entries(Filter {
            scope: Scope::Only(address.parse().unwrap()),
            layers: vec![Layer::Knowledge],
            status: Some(Status::Active),
            ..Filter::default()
        })
    }

    fn text_of(&self, name: &str) -> Option<String> {
        self.documents.read(&document(name)).unwrap().map(|document| document.text)
    }

    fn working(&self) -> Option<String> {
        self.engine.documents().working().unwrap().map(|working| working.content)
    }

    /// A person saves a file with an editor of their own.
    fn save(&self, name: &str, text: &str) {
        save(&*self.documents, name, text);
    }

    /// The texts of a document's versions, oldest first, each with the hand that wrote it.
    fn versions(&self, name: &str) -> Vec<(String, String)> {
        let versions = self.store.document_versions(&document(name)).unwrap();
        versions.into_iter().map(|version| (version.change.actor.via, version.text.unwrap_or_default())).collect()
    }

    fn pass(&self, minutes: i64) {
        self.clock.advance(SignedDuration::from_mins(minutes));
    }
}

impl Drop for Home {
    /// The conversation is never lost: every raw turn is there, once, in its order.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let said = self.said.get_mut().unwrap();
        for state in self.store.sessions().unwrap() {
            let id = state.session.id;
            let kept = self.store.turns_after(&id, Position::default()).unwrap();
            let mut raw = kept.iter().filter(|(_, turn)| turn.role != Role::Summary);
            for (_, turn, content) in said.iter().filter(|(session, ..)| *session == id) {
                let found = raw.find(|(_, kept)| kept.id == *turn).expect("a turn was lost, or its order");
                assert_eq!(found.1.content, *content, "a turn was changed");
            }
        }
        assert_eq!(self.store.check().unwrap(), Vec::<String>::new());
    }
}

fn worker(name: &str) -> Worker<'static> {
    Worker { holder: throughline_testkit::stores::holder(name), is_gone: &|_| false }
}

fn consolidate(engine: &Engine, id: &str, model: &dyn Model) -> Consolidation {
    engine.consolidation().run(&session(id), model, None, &worker("worker")).unwrap()
}

fn done(outcome: Consolidation) -> Compaction {
    match outcome {
        Consolidation::Done(compaction) => compaction,
        other => panic!("it should be done, and is {other:?}"),
    }
}

fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

fn document(name: &str) -> DocumentName {
    name.parse().unwrap()
}

fn save(documents: &dyn Documents, name: &str, text: &str) {
    let before = documents.read(&document(name)).unwrap().map_or_else(ContentHash::missing, |found| found.hash);
    documents.write(&document(name), text, &before).unwrap();
}

/// The file of working memory that was written at 12:00 on the first of March.
fn working_file(content: &str) -> String {
    format!("# Working Memory\nUpdated: 2026-03-01T12:00:00Z\nExpires: 2026-03-15T12:00:00Z\n\n{content}\n")
}

fn contents(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.content.as_str()).collect()
}
