//! The same memory in SQLite and on a PostgreSQL server over loopback: verbs in this process, a hook as a process, many clients at
//! once. Round trips are counted.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::synthetic::{self, Dice};
use throughline::world::{Durability, RandomIds, StoreOnServer, WorldClock};
use throughline_core::engine::{Engine, NewMemory, Said, Settings, StartSession, Visibility};
use throughline_core::model::{Actor, Name, Role, SessionId, Source};
use throughline_core::recall::{Filter, RecallRequest};
use throughline_testkit::postgres::Server;

use crate::homes::{self, Size};
use crate::start::program;
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

/// Calls that only warm up.
const WARM_UP: usize = 10;

#[derive(Args)]
pub(crate) struct Shared {
    /// How many memories there are
    #[arg(long, default_value_t = 100_000)]
    entries: u64,
    /// How many turns of conversations there are
    #[arg(long, default_value_t = 20_000)]
    turns: u64,
    /// How many of each verb
    #[arg(long, default_value_t = 200)]
    calls: usize,
    /// How many hooks
    #[arg(long, default_value_t = 60)]
    spawns: usize,
    /// How many clients ask at once, each with connections of its own
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Seconds for each figure with many clients
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// A verb, called with a number that nobody else has.
pub(crate) type Verb = fn(&Engine, &mut Dice, usize) -> Result<(), Failure>;

pub(crate) const VERBS: [(&str, Verb); 4] =
    [("remember", remember), ("observe", observe), ("recall", recall), ("context", context)];

fn remember(engine: &Engine, dice: &mut Dice, _: usize) -> Result<(), Failure> {
    engine.memories().remember(&NewMemory::fact(format!("{} {}", synthetic::memory(dice), dice.roll())))?;
    Ok(())
}

/// A turn of one of many conversations.
fn observe(engine: &Engine, dice: &mut Dice, nth: usize) -> Result<(), Failure> {
    let start = StartSession::new(SessionId::on_channel("bench", &format!("c{}", nth / 20))?);
    engine.sessions().observe_in(&start, &[Said::now(Role::User, synthetic::memory(dice))])?;
    Ok(())
}

fn recall(engine: &Engine, dice: &mut Dice, _: usize) -> Result<(), Failure> {
    let (limit, filter) = (engine.settings().recall_limit, Filter::recallable(engine.now()));
    engine.recall().recall(&RecallRequest { query: synthetic::question(dice), limit, filter })?;
    Ok(())
}

fn context(engine: &Engine, dice: &mut Dice, nth: usize) -> Result<(), Failure> {
    let session = SessionId::on_channel("bench", &format!("c{}", nth / 20))?;
    engine.sessions().start(&StartSession::new(session.clone()))?;
    engine.context().give(&session, &synthetic::question(dice), Visibility::Stays)?;
    Ok(())
}

/// An engine over a space of a server, and what counts its round trips.
pub(crate) struct OnServer {
    pub(crate) engine: Engine,
    pub(crate) round_trips: Arc<dyn Fn() -> u64 + Send + Sync>,
}

pub(crate) fn open(url: &str, space: &str) -> Result<OnServer, Failure> {
    let StoreOnServer { store, documents, round_trips } = StoreOnServer::open(&format!("{url}&space={space}"))?;
    let clock = Arc::new(WorldClock::from_environment()?);
    let settings = Settings { namespace: Some(Name::user_namespace("user")?), ..Settings::default() };
    let actor = Actor::new(Source::User, "bench");
    Ok(OnServer { engine: Engine::new(store, documents, clock, Arc::new(RandomIds), settings, actor), round_trips })
}

/// A server with a free port.
pub(crate) fn server() -> Result<(Server, String), Failure> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    Ok(Server::durable_on_loopback(port))
}

impl Shared {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let size = Size { memories: self.entries, turns: self.turns };
        let home = homes::copy(size)?;
        let (_server, url) = server()?;
        let began = Instant::now();
        let target = format!("{url}&space=bench");
        copied(home.path(), &target)?;
        let told = format!("{size}, copied to the server in {:.0} s\n\n", began.elapsed().as_secs_f64());
        let mut rows = self.verbs(home.path(), &url)?;
        for keeps in [Keeps::Transcript, Keeps::Nothing] {
            rows.push(self.hooks(home.path(), &target, keeps)?);
        }
        let head =
            ["verb", "SQLite p50 ms", "p99 ms", "server p50 ms", "p99 ms", "ratio p50", "round trips p50", "most"];
        let alone = markdown(&head, &rows);
        let head =
            ["verb", "clients", "SQLite", "p50 ms", "p99 ms", "server", "p50 ms", "p99 ms", "ratio of rates", "errors"];
        Ok(told + &alone + "\n" + &markdown(&head, &self.together(home.path(), &url)?))
    }

    fn verbs(&self, home: &Path, url: &str) -> Result<Vec<Vec<String>>, Failure> {
        let file = laboratory::open(home, Durability::Full)?;
        let OnServer { engine: shared, round_trips } = open(url, "bench")?;
        let mut rows = Vec::new();
        for (name, verb) in VERBS {
            let (mut ours, mut theirs, mut trips) = (Times::default(), Times::default(), Vec::new());
            let mut dice = [Dice::new(7), Dice::new(7)];
            for nth in 0..self.calls + WARM_UP {
                if nth == WARM_UP {
                    (ours, theirs, trips) = Default::default();
                }
                theirs.time(|| verb(&file, &mut dice[0], nth))?;
                let before = round_trips();
                ours.time(|| verb(&shared, &mut dice[1], nth))?;
                trips.push(round_trips() - before);
            }
            rows.push(row(name, &theirs, &ours, trips));
        }
        Ok(rows)
    }

    /// A message as an assistant's hook brings it, in a process of its own.
    fn hooks(&self, home: &Path, url: &str, keeps: Keeps) -> Result<Vec<String>, Failure> {
        let (program, there) = (program()?, shared_home(url)?);
        let (mut ours, mut theirs, mut trips, mut dice) =
            (Times::default(), Times::default(), Vec::new(), Dice::new(5));
        for nth in 0..self.spawns + WARM_UP {
            if nth == WARM_UP {
                (ours, theirs, trips) = Default::default();
            }
            let event = keeps.event(nth, &synthetic::question(&mut dice));
            hook(&program, home, &event, &mut theirs)?;
            trips.push(counted(&hook(&program, there.path(), &event, &mut ours)?));
        }
        Ok(row(keeps.name(), &theirs, &ours, trips))
    }

    fn together(&self, home: &Path, url: &str) -> Result<Vec<Vec<String>>, Failure> {
        let seconds = Duration::from_secs(self.seconds);
        let mut rows = Vec::new();
        for (name, verb) in [VERBS[2], VERBS[1], VERBS[0]] {
            let file = crowd(self.clients, seconds, verb, |_| laboratory::open(home, Durability::Full))?;
            let shared = crowd(self.clients, seconds, verb, |_| Ok(open(url, "bench")?.engine))?;
            rows.push(crowd_row(&format!("{name}, one memory"), self.clients, &file, &shared));
        }
        // On a server, people have memories of their own.
        let own = crowd(self.clients, seconds, VERBS[1].1, |nth| Ok(open(url, &format!("p{nth}"))?.engine))?;
        let file = crowd(self.clients, seconds, VERBS[1].1, |_| laboratory::open(home, Durability::Full))?;
        rows.push(crowd_row("observe, a memory for each client on the server", self.clients, &file, &own));
        Ok(rows)
    }
}

fn row(name: &str, theirs: &Times, ours: &Times, mut trips: Vec<u64>) -> Vec<String> {
    trips.sort_unstable();
    let p50 = trips.get(trips.len() / 2).copied().unwrap_or_default();
    let most = trips.last().copied().unwrap_or_default();
    let times = [theirs.at(0.5), theirs.at(0.99), ours.at(0.5), ours.at(0.99)].map(ms);
    let mut row = vec![name.to_owned()];
    row.extend(times);
    row.extend([ratio(ours.at(0.5), theirs.at(0.5)), p50.to_string(), most.to_string()]);
    row
}

fn crowd_row(name: &str, clients: usize, file: &Crowd, shared: &Crowd) -> Vec<String> {
    let each = |crowd: &Crowd| [format!("{:.0}/s", crowd.rate), ms(crowd.times.at(0.5)), ms(crowd.times.at(0.99))];
    let mut row = vec![name.to_owned(), clients.to_string()];
    row.extend(each(file).into_iter().chain(each(shared)));
    row.extend([ratio(shared.rate, file.rate), format!("{} and {}", file.errors, shared.errors)]);
    row
}

/// What came of some seconds with many clients.
pub(crate) struct Crowd {
    pub(crate) rate: f64,
    pub(crate) times: Times,
    pub(crate) errors: usize,
}

/// Many clients, each with an engine of its own, for some time.
pub(crate) fn crowd(
    clients: usize,
    lasting: Duration,
    verb: Verb,
    open: impl Fn(usize) -> Result<Engine, Failure>,
) -> Result<Crowd, Failure> {
    let engines = (0..clients).map(open).collect::<Result<Vec<_>, _>>()?;
    let (all, began) = (Mutex::new((Times::default(), 0)), Instant::now());
    std::thread::scope(|scope| {
        for (nth, engine) in engines.iter().enumerate() {
            let all = &all;
            scope.spawn(move || {
                let (mut dice, mut times, mut errors, mut at) = (Dice::new(100 + nth as u64), Times::default(), 0, 0);
                while began.elapsed() < lasting {
                    at += 1;
                    errors += usize::from(times.time(|| verb(engine, &mut dice, nth * 1_000_000 + at)).is_err());
                }
                if let Ok(mut all) = all.lock() {
                    all.0.join(times);
                    all.1 += errors;
                }
            });
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let (times, errors) = all.into_inner().map_err(|_| "a client was lost")?;
    Ok(Crowd { rate: times.len() as f64 / seconds, times, errors })
}

/// A home whose memory is on the server.
fn shared_home(url: &str) -> Result<TempDir, Failure> {
    let home = tempfile::tempdir()?;
    let config = format!("[memory]\nuser_namespace = \"user\"\n\n[store]\nurl = \"{url}\"\n");
    std::fs::write(home.path().join("config.toml"), config)?;
    Ok(home)
}

/// The whole memory of a home, as `throughline copy` brings it there.
fn copied(home: &Path, url: &str) -> Result<(), Failure> {
    let from = format!("sqlite://{}", home.join("memory.db").display());
    let mut command = Command::new(program()?);
    let output = command.args(["copy", "--from", &from, "--to", url]).env("THROUGHLINE_HOME", home).output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned().into()) }
}

/// What a client keeps of a conversation: without a transcript of its own, the hook keeps the message too.
#[derive(Debug, Clone, Copy)]
enum Keeps {
    Transcript,
    Nothing,
}

impl Keeps {
    fn name(self) -> &'static str {
        match self {
            Self::Transcript => "hook prompt, with a transcript",
            Self::Nothing => "hook prompt, without a transcript",
        }
    }

    /// A message of a conversation with twenty of them.
    fn event(self, nth: usize, question: &str) -> Value {
        let session = format!("{self:?}{}", nth / 20);
        match self {
            Self::Transcript => {
                json!({ "session_id": session, "prompt": question, "transcript_path": "/nowhere/none.jsonl" })
            }
            Self::Nothing => json!({ "session_id": session, "prompt": question }),
        }
    }
}

/// Runs a hook to its end; gives what it logged.
fn hook(program: &Path, home: &Path, event: &Value, times: &mut Times) -> Result<String, Failure> {
    let input = home.join("event.json");
    std::fs::write(&input, event.to_string())?;
    let mut command = Command::new(program);
    // The limit would hide how long it takes.
    command.args(["hook", "prompt", "--client", "claude-code", "--deadline-ms", "60000"]).env("THROUGHLINE_HOME", home);
    command.env("THROUGHLINE_LOG", "debug").stdin(std::fs::File::open(&input)?);
    let output = times.time(|| command.output())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    } else {
        Err("a hook failed".into())
    }
}

/// The round trips that a process says it took.
fn counted(log: &str) -> u64 {
    let plain: String = log.replace("\u{1b}[0m", "").replace("\u{1b}[2m", "").replace("\u{1b}[3m", "");
    let numbers = plain.split("round_trips=").skip(1);
    let digits = numbers.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.filter_map(|digits| digits.parse::<u64>().ok()).max().unwrap_or_default()
}
