//! A memory inside your own assistant: open it, begin a conversation, get context, keep what was said, consolidate.
//!
//! `cargo run --example embed` tells the story in a temporary directory. The model is a stand-in: put yours in `reply`.
#![allow(clippy::print_stdout, reason = "an example speaks to whoever runs it")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use throughline::world::{RandomIds, WorldClock};
use throughline_core::engine::{Consolidation, Engine, Said, Settings, StartSession, Visibility, Worker};
use throughline_core::model::{Actor, Name, Role, SessionId, Source};
use throughline_documents::FileDocuments;
use throughline_offline::Offline;
use throughline_sqlite::{Durability, SqliteStore};

fn main() -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    println!("{}", story(home.path())?);
    Ok(())
}

/// Two conversations: what is said in the first one is known in the second.
pub(crate) fn story(home: &Path) -> Result<String, Box<dyn Error>> {
    let engine = open(home)?;
    let mut told = String::new();

    let monday = SessionId::on_channel("embedded", "monday")?;
    engine.sessions().start(&StartSession::new(monday.clone()))?;
    for message in ["My name is Ada and I live in Lisbon.", "We deploy on Fridays at noon.", "I prefer short answers."]
    {
        say(&engine, &monday, message, &mut told)?;
    }

    let tuesday = SessionId::on_channel("embedded", "tuesday")?;
    let started = engine.sessions().start(&StartSession::new(tuesday.clone()))?;
    writeln!(told, "\nthe next conversation begins with:\n{}\n", started.context)?;
    say(&engine, &tuesday, "When do we deploy?", &mut told)?;
    Ok(told)
}

/// A memory in a directory: a database and documents.
fn open(home: &Path) -> Result<Engine, Box<dyn Error>> {
    let store = Arc::new(SqliteStore::open(&home.join("assistant.db"), &home.join("backups"), Durability::Full)?);
    let documents = Arc::new(FileDocuments::open(home)?);
    let settings = Settings { namespace: Some(Name::user_namespace("user")?), ..Settings::default() };
    let assistant = Actor::new(Source::Agent, "embedded");
    Ok(Engine::new(store, documents, Arc::new(WorldClock::real()), Arc::new(RandomIds), settings, assistant))
}

/// One turn: the message goes to the model with what memory has to say about it; then both are kept.
fn say(engine: &Engine, session: &SessionId, message: &str, told: &mut String) -> Result<(), Box<dyn Error>> {
    let context = engine.context().give(session, message, Visibility::Stays)?;
    let answer = reply(&context.system_prompt, context.message.as_deref().unwrap_or(message));
    writeln!(told, "you: {message}\nassistant: {answer}")?;
    let observed =
        engine.sessions().observe(session, &[Said::now(Role::User, message), Said::now(Role::Assistant, answer)])?;
    if observed.due.is_some() {
        // Yours may well do this on another thread: nobody needs to wait for it.
        let worker = Worker { holder: throughline::processes::holder(), is_gone: &|_| false };
        if let Consolidation::Done(done) = engine.consolidation().run(session, &Offline, None, &worker)? {
            writeln!(told, "(consolidated: {} turns)", done.compacted)?;
        }
    }
    Ok(())
}

/// The place of a model: it only says which notes it was given.
fn reply(system_prompt: &str, message: &str) -> String {
    let notes: Vec<&str> = system_prompt.lines().chain(message.lines()).filter(|line| line.starts_with("- ")).collect();
    if notes.is_empty() { "noted.".to_owned() } else { format!("according to earlier records: {}", notes.join(" ")) }
}
