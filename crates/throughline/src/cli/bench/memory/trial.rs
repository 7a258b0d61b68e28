//! A temporary home with the daemon's routes over it, into which the conversations of a corpus are fed.
//!
//! Every turn comes over `POST /api/sessions/{id}/turns` at its own time. What a daemon would do by itself is done when it
//! is due: conversations are consolidated after so many messages or after a silence, and vectors are made at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_core::clock_trust::Trust;
use throughline_core::engine::Engine;
use throughline_core::model::SessionId;
use throughline_core::ports::Job;
use throughline_server::{Chores as _, Host as _, InProcess, Problem};
use tokio::runtime::Runtime;

use super::cast::Cast;
use crate::cli::bench::SetClock;
use crate::cli::bench::cached::{CachedEmbedder, VectorCache};
use crate::cli::bench::dataset::Doc;
use crate::cli::failure::Failure;
use crate::config;
use crate::daemon::Household;
use crate::world::{Home, World};

/// Conversations are fed on this channel; questions come from another.
const CHANNEL: &str = "bench";

/// How long after the last turn the questions come that have no time of their own.
const AFTERWARDS: SignedDuration = SignedDuration::from_hours(1);

/// What all trials have in common.
pub(super) struct Workshop {
    pub(super) runtime: Runtime,
    settings: Value,
    keys: Vec<PathBuf>,
    vectors: Option<Arc<VectorCache>>,
}

impl Workshop {
    /// Takes over the person's settings; nothing else of their home is read.
    pub(super) fn new(vectors: Option<&Path>) -> Result<Self, Failure> {
        let own = Home::find()?.config;
        let loaded = config::load(&own)?;
        let has_vectors = loaded.config.embeddings.provider != config::EmbeddingsProvider::None;
        let open = |path| VectorCache::open(path).map(Arc::new);
        let vectors = vectors.filter(|_| has_vectors).map(open).transpose();
        let vectors = vectors.map_err(|error| Failure::io("open the vector cache", &error))?;
        Ok(Self { keys: key_files(&own), vectors, ..Self::with(&loaded.config)? })
    }

    /// After how long an assistant goes on without the answer of a hook.
    pub(super) fn prompt_deadline_ms(&self) -> u32 {
        self.settings["hooks"]["prompt_deadline_ms"].as_u64().and_then(|ms| ms.try_into().ok()).unwrap_or(u32::MAX)
    }

    /// With these settings, and no keys.
    pub(super) fn with(config: &config::Config) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
        Ok(Self { runtime, settings: settings(config), keys: Vec::new(), vectors: None })
    }
}

/// The settings of a trial: the person's own, except where their documents are, and always on.
fn settings(own: &config::Config) -> Value {
    let all = serde_json::to_value(own).unwrap_or_default();
    let mut chosen = serde_json::Map::new();
    for table in ["memory", "model", "embeddings", "inject", "hooks"] {
        let given = all[table].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        chosen.insert(table.to_owned(), given.map(|(key, value)| (key.clone(), value.clone())).collect());
    }
    if let Some(memory) = chosen.get_mut("memory").and_then(Value::as_object_mut) {
        memory.remove("user_dir");
        memory.insert("enabled".to_owned(), json!(true));
        memory.entry("user_namespace").or_insert_with(|| json!("user"));
    }
    Value::Object(chosen)
}

fn key_files(dir: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.extension().is_some_and(|end| end == "key")).collect()
}

/// A key file of the person's, for a trial: a link where the system has them.
fn lend(key: &Path, home: &Path) -> std::io::Result<()> {
    let Some(name) = key.file_name() else { return Ok(()) };
    #[cfg(unix)]
    return std::os::unix::fs::symlink(key, home.join(name));
    #[cfg(not(unix))]
    std::fs::copy(key, home.join(name)).map(drop)
}

/// A memory of its own, gone when it is dropped.
pub(super) struct Trial<'w> {
    workshop: &'w Workshop,
    http: InProcess,
    household: Arc<Household>,
    clock: Arc<SetClock>,
    /// The time of the latest turn.
    last: Timestamp,
    directory: TempDir,
}

impl<'w> Trial<'w> {
    pub(super) fn open(workshop: &'w Workshop) -> Result<Self, Failure> {
        let directory = tempfile::Builder::new().prefix("throughline-bench-").tempdir();
        let directory = directory.map_err(|error| Failure::io("make a temporary home", &error))?;
        furnish(directory.path(), workshop).map_err(|error| Failure::io("furnish a temporary home", &error))?;
        let clock = Arc::new(SetClock::default());
        let mut world = World::open_trial(Home::at(home_in(directory.path())), Arc::clone(&clock) as _)?;
        if let Some(cache) = workshop.vectors.clone() {
            let wrap = move |embedder| Arc::new(CachedEmbedder::new(embedder, Arc::clone(&cache))) as _;
            world.wrap_embedder = Some(Arc::new(wrap));
        }
        let household = Arc::new(Household::new(world));
        let http = workshop.runtime.block_on(async { InProcess::new(Arc::clone(&household) as _) }).map_err(failed)?;
        Ok(Self { workshop, http, household, clock, last: Timestamp::UNIX_EPOCH, directory })
    }

    /// The home of this memory.
    pub(super) fn home(&self) -> PathBuf {
        home_in(self.directory.path())
    }

    /// A directory beside the home in which nothing is kept.
    pub(super) fn elsewhere(&self) -> PathBuf {
        self.directory.path().join("elsewhere")
    }

    pub(super) fn engine(&self) -> &Engine {
        self.household.engine()
    }

    pub(super) fn set_time(&self, at: Timestamp) {
        self.clock.set(at);
    }

    /// When questions come that have no time of their own.
    pub(super) fn afterwards(&self) -> Timestamp {
        self.last.checked_add(AFTERWARDS).unwrap_or(self.last)
    }

    /// What a route answers, which must be a success.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let (status, answer) = self.workshop.runtime.block_on(self.http.post(path, body)).map_err(failed)?;
        if status < 300 {
            return Ok(answer);
        }
        let error = &answer["error"];
        let said = |what: &str| error[what].as_str().unwrap_or_default().to_owned();
        Err(Failure::new(format!("{path} answers {status}: {}", said("message")), said("hint")))
    }

    /// Feeds every conversation, in the order in which they began.
    pub(super) fn feed(&mut self, docs: &[&Doc], cast: &Cast, bar: &ProgressBar) -> Result<(), Failure> {
        for (nth, session) in sessions(docs).iter().enumerate() {
            self.feed_session(&session_id(nth)?, session, cast)?;
            bar.inc(session.len() as u64);
        }
        // Vectors are made in portions; one that makes none is the last.
        while self.work(Job::Embedding)? {}
        Ok(())
    }

    fn feed_session(&mut self, id: &SessionId, docs: &[&Doc], cast: &Cast) -> Result<(), Failure> {
        let Some(first) = docs.first() else { return Ok(()) };
        self.set_time(first.at());
        self.post("/api/sessions", &json!({ "channel": CHANNEL, "session": id, "person": cast.person() }))?;
        for exchange in cast.exchanges(docs) {
            self.be_silent_until(exchange[0].at())?;
            self.last = exchange.iter().map(|doc| doc.at()).max().unwrap_or(self.last);
            self.set_time(self.last);
            let turns: Vec<Value> = exchange.iter().map(|doc| turn(doc, cast)).collect();
            let observed = self.post(&format!("/api/sessions/{id}/turns"), &json!({ "turns": turns }))?;
            if !observed["due"].is_null() {
                self.work(Job::Consolidation)?;
            }
        }
        self.post(&format!("/api/sessions/{id}/end"), &json!({}))?;
        Ok(())
    }

    /// Lets the time pass to the next turn: after some silence a conversation is consolidated.
    fn be_silent_until(&self, next: Timestamp) -> Result<(), Failure> {
        let minutes = self.engine().settings().policy.idle_minutes;
        let silence = Duration::from_secs(60 * u64::from(minutes) + 1);
        let noticed = self.last.checked_add(silence).unwrap_or(next);
        if minutes > 0 && noticed < next {
            self.set_time(noticed);
            self.work(Job::Consolidation)?;
        }
        Ok(())
    }

    /// Does a job of the daemon; says whether there was anything to do.
    fn work(&self, job: Job) -> Result<bool, Failure> {
        let worked = self.household.work(job, Trust::Trusted, &|| false).map_err(failed)?;
        let failure = worked.as_ref().filter(|worked| worked.outcome == throughline_core::ports::RunOutcome::Failed);
        match failure {
            Some(worked) => Err(Failure::new(worked.what.clone(), "check `[model]` and `[embeddings]` in your config")),
            None => Ok(worked.is_some()),
        }
    }
}

/// The conversation that is fed as the `nth`.
pub(super) fn session_id(nth: usize) -> Result<SessionId, Failure> {
    Ok(SessionId::on_channel(CHANNEL, &nth.to_string())?)
}

/// The turns of each conversation, the earliest conversation first. Blank turns cannot be said.
pub(super) fn sessions<'d>(docs: &[&'d Doc]) -> Vec<Vec<&'d Doc>> {
    let mut sessions: Vec<Vec<&Doc>> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for doc in docs.iter().filter(|doc| !doc.text.trim().is_empty()) {
        let at = *known.entry(&doc.session_id).or_insert_with(|| {
            sessions.push(Vec::new());
            sessions.len() - 1
        });
        sessions[at].push(doc);
    }
    sessions.sort_by_key(|session| session.first().map(|doc| doc.at()));
    sessions
}

fn turn(doc: &Doc, cast: &Cast) -> Value {
    let (role, speaker, at) = (cast.role(doc), cast.speaker(doc), doc.at().to_string());
    json!({ "id": doc.id, "role": role, "speaker": speaker, "content": doc.text, "at": at })
}

fn home_in(directory: &Path) -> PathBuf {
    directory.join("home")
}

fn furnish(directory: &Path, workshop: &Workshop) -> std::io::Result<()> {
    let home = home_in(directory);
    std::fs::create_dir(&home)?;
    std::fs::create_dir(directory.join("elsewhere"))?;
    std::fs::write(home.join("config.json"), workshop.settings.to_string())?;
    workshop.keys.iter().try_for_each(|key| lend(key, &home))
}

fn failed(problem: Problem) -> Failure {
    Failure::new(problem.message, problem.hint.unwrap_or_default())
}
