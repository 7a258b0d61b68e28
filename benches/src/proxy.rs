//! A streamed reply through the proxy against the same reply straight from the same server: until its first byte, until its end,
//! and how long each later piece takes. What memory itself costs is measured beside it, in this process.

mod server;
mod stream;

use std::sync::Mutex;

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::{ContextRequest, Engine, InView};
use throughline_core::model::SessionId;

use self::server::Server;
use self::stream::{Streamed, Target};
use crate::daemon::{Daemon, cpu_of_this_process};
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

/// Rounds that only warm up.
const WARM_UP: usize = 30;

#[derive(Args)]
pub(crate) struct Proxy {
    /// How many memories there are
    #[arg(long, default_value_t = 100_000)]
    entries: u64,
    /// How many replies, one after the other
    #[arg(long, default_value_t = 300)]
    replies: usize,
    /// How many streams at once, in the second part
    #[arg(long, default_value_t = 64)]
    streams: usize,
    /// How many replies on each of them
    #[arg(long, default_value_t = 5)]
    each: usize,
}

/// The times of one way to the server.
#[derive(Debug, Default, Clone)]
struct Figures {
    first: Times,
    total: Times,
    delays: Times,
}

impl Figures {
    fn push(&mut self, streamed: Streamed) {
        self.first.push(streamed.first);
        self.total.push(streamed.total);
        streamed.delays.into_iter().for_each(|delay| self.delays.push(delay));
    }

    fn join(&mut self, other: Self) {
        self.first.join(other.first);
        self.total.join(other.total);
        self.delays.join(other.delays);
    }

    fn row(&self, streams: usize, way: &str) -> Vec<String> {
        let Self { first, total, delays } = self;
        let mut row = vec![streams.to_string(), way.to_owned()];
        let times = [first.at(0.5), first.at(0.99), total.at(0.5), total.at(0.99), delays.at(0.5), delays.at(0.99)];
        row.extend(times.map(ms));
        row
    }
}

impl Proxy {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let home = tempfile::tempdir()?;
        laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, self.entries)?;
        let engine = laboratory::open(home.path(), Durability::Full)?;
        engine.documents().write(&"user/profile".parse()?, "- My name is Ada\n- I like short answers\n", None)?;
        let server = Server::start()?;
        std::fs::write(home.path().join("config.toml"), config(&server.address))?;
        let daemon = Daemon::start(home.path())?;
        let proxied = Target { address: daemon.url.replace("http://", ""), token: daemon.token.clone() };
        let straight = Target { address: server.address.clone(), token: "none".to_owned() };
        daemon.wait_until_idle()?;
        let mut told = self.one_by_one(&engine, &straight, &proxied)?;
        daemon.wait_until_idle()?;
        told.push_str(&self.at_once(&engine, &daemon, &straight, &proxied)?);
        Ok(told)
    }

    /// One stream: straight, through the proxy, and what memory alone takes, in turns.
    fn one_by_one(&self, engine: &Engine, straight: &Target, proxied: &Target) -> Result<String, Failure> {
        let (mut ways, mut contexts) = ([Figures::default(), Figures::default()], Times::default());
        let mut dice = Dice::new(2);
        let mut connections = [straight.connect()?, proxied.connect()?];
        for at in 0..self.replies + WARM_UP {
            if at == WARM_UP {
                (ways, contexts) = ([Figures::default(), Figures::default()], Times::default());
            }
            let (question, name) = (synthetic::question(&mut dice), format!("bench-{at}"));
            // Who goes first changes, so that nobody always finds the caches as another left them.
            for step in 0..3 {
                match (step + at) % 3 {
                    2 => drop(contexts.time(|| context(engine, &name, &question))?),
                    way => ways[way].push(connections[way].stream(&name, &question)?),
                }
            }
        }
        let [straight, proxied] = &ways;
        let head = ["streams", "way", "first p50 ms", "p99", "total p50", "p99", "later piece p50", "p99"];
        let mut told = markdown(&head, &[straight.row(1, "straight"), proxied.row(1, "proxy")]);
        let later = |share| proxied.first.at(share) - straight.first.at(share);
        let more = |share| later(share) - contexts.at(share);
        let rows = [0.5, 0.99].map(|share| {
            vec![format!("p{}", share * 100.0), ms(later(share)), ms(contexts.at(share)), ms(more(share))]
        });
        told.push('\n');
        told.push_str(&markdown(&["first byte", "later by ms", "context in process ms", "beyond it ms"], &rows));
        Ok(told)
    }

    /// Many streams: their times, and what each request costs the daemon in CPU.
    fn at_once(
        &self,
        engine: &Engine,
        daemon: &Daemon,
        straight: &Target,
        proxied: &Target,
    ) -> Result<String, Failure> {
        let straight = self.many(straight, "straight")?;
        let before = daemon.cpu()?;
        let proxied = self.many(proxied, "proxied")?;
        let requests = (self.streams * self.each) as f64;
        let each = (daemon.cpu()? - before).as_secs_f64() * 1000.0 / requests;
        let before = cpu_of_this_process()?;
        for at in 0..self.streams * self.each {
            let mut dice = Dice::new(7 + at as u64);
            context(engine, &format!("alone-{at}"), &synthetic::question(&mut dice))?;
        }
        let alone = (cpu_of_this_process()? - before).as_secs_f64() * 1000.0 / requests;
        let head = ["streams", "way", "first p50 ms", "p99", "total p50", "p99", "later piece p50", "p99"];
        let rows = [straight.row(self.streams, "straight"), proxied.row(self.streams, "proxy")];
        let cpu = vec![ms(each), ms(alone), ratio(each, alone)];
        let cpu = markdown(&["daemon CPU a request ms", "context in process, CPU ms", "ratio"], &[cpu]);
        Ok(format!("\n{}\n{cpu}", markdown(&head, &rows)))
    }

    fn many(&self, target: &Target, name: &str) -> Result<Figures, Failure> {
        let all = Mutex::new(Figures::default());
        std::thread::scope(|scope| {
            let work = |number: usize| -> Result<(), Failure> {
                let (mut dice, mut figures) = (Dice::new(7 + number as u64), Figures::default());
                let mut connection = target.connect()?;
                for at in 0..self.each {
                    let question = synthetic::question(&mut dice);
                    figures.push(connection.stream(&format!("{name}-{number}-{at}"), &question)?);
                }
                all.lock().map_err(|_| "a thread was lost")?.join(figures);
                Ok(())
            };
            let threads: Vec<_> = (0..self.streams).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread was lost")?)
        })?;
        Ok(all.into_inner().map_err(|_| "a thread was lost")?)
    }
}

/// What the proxy asks of memory.
fn context(engine: &Engine, name: &str, message: &str) -> Result<(), Failure> {
    let session = SessionId::on_channel("inside", name)?;
    let in_view = Some(InView::default());
    engine.context().prepare(&ContextRequest { in_view, ..ContextRequest::message(&session, message) })?;
    Ok(())
}

/// A memory that is searched by words, is never late, and does not consolidate: each request here is a conversation of its own,
/// and hundreds would be consolidated while others are measured.
fn config(server: &str) -> String {
    format!(
        "[memory]\nenabled = true\nuser_namespace = \"user\"\nidle_consolidation_minutes = 0\n[embeddings]\nprovider = \"none\"\n[proxy]\n\
         openai_base_url = \"http://{server}/v1\"\ndeadline_ms = 60000\n"
    )
}
