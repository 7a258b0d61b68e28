//! What a conversation waits for, against a bare recall: the context of a session's start, and of a message; by words alone, and
//! with the built-in embedder.

use std::sync::Arc;

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::Visibility;
use throughline_core::engine::{Engine, StartSession};
use throughline_core::model::SessionId;
use throughline_core::recall::{Filter, RecallRequest};

use crate::homes::{self, Builtin, Size, Tier};
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

/// Rounds that only warm up.
const WARM_UP: usize = 30;

#[derive(Args)]
pub(crate) struct Context {
    #[command(flatten)]
    tier: Tier,
    /// How many messages at each size
    #[arg(long, default_value_t = 300)]
    messages: usize,
}

/// One way of searching, and what it took.
struct Contender {
    name: &'static str,
    engine: Engine,
    starts: Times,
    messages: Times,
    recalls: Times,
}

impl Context {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let rows = self.tier.sizes()?.into_iter().map(|size| self.measure(size)).collect::<Result<Vec<_>, _>>()?;
        let head = [
            "memory",
            "searched by",
            "start p50 ms",
            "message p50 ms",
            "p99 ms",
            "recall p50 ms",
            "p99 ms",
            "start, ratio",
            "message, ratio p50",
            "ratio p99",
        ];
        Ok(markdown(&head, &rows.concat()))
    }

    fn measure(&self, size: Size) -> Result<Vec<Vec<String>>, Failure> {
        let home = homes::copy(size)?;
        // As people have it: a message notes what it was given, and that waits for the disk.
        let words = laboratory::open(home.path(), Durability::Full)?;
        let meaning = laboratory::open(home.path(), Durability::Full)?.with_embedders(Arc::new(Builtin));
        let mut contenders = [Contender::new("words", words), Contender::new("words and meaning", meaning)];
        let mut dice = Dice::new(2);
        for at in 0..self.messages + WARM_UP {
            let message = synthetic::question(&mut dice);
            // Who goes first changes, so that neither always finds the caches as the other left them.
            contenders.rotate_left(1);
            for contender in &mut contenders {
                if at == WARM_UP {
                    contender.forget();
                }
                contender.round(at, &message)?;
            }
        }
        contenders.sort_by_key(|contender| contender.name.len());
        Ok(contenders.iter().map(|contender| contender.row(size)).collect())
    }
}

impl Contender {
    fn new(name: &'static str, engine: Engine) -> Self {
        Self { name, engine, starts: Times::default(), messages: Times::default(), recalls: Times::default() }
    }

    fn forget(&mut self) {
        (self.starts, self.messages, self.recalls) = (Times::default(), Times::default(), Times::default());
    }

    fn round(&mut self, at: usize, message: &str) -> Result<(), Failure> {
        let engine = &self.engine;
        let session = SessionId::on_channel("bench", &format!("{}-{at}", self.name.replace(' ', "-")))?;
        self.starts.time(|| engine.sessions().start(&StartSession::new(session.clone())))?;
        // Each is the first to read what this message touches every other time.
        if at.is_multiple_of(2) {
            self.messages.time(|| engine.context().give(&session, message, Visibility::Stays))?;
            self.recalls.time(|| recall(engine, message))?;
        } else {
            self.recalls.time(|| recall(engine, message))?;
            self.messages.time(|| engine.context().give(&session, message, Visibility::Stays))?;
        }
        Ok(())
    }

    fn row(&self, size: Size) -> Vec<String> {
        let (starts, messages, recalls) = (&self.starts, &self.messages, &self.recalls);
        let mut row = vec![size.to_string(), self.name.to_owned()];
        row.extend([starts.at(0.5), messages.at(0.5), messages.at(0.99), recalls.at(0.5), recalls.at(0.99)].map(ms));
        row.extend([starts.at(0.5), messages.at(0.5)].map(|time| ratio(time, recalls.at(0.5))));
        row.push(ratio(messages.at(0.99), recalls.at(0.99)));
        row
    }
}

fn recall(engine: &Engine, query: &str) -> Result<usize, Failure> {
    let filter = Filter::recallable(engine.now());
    let request = RecallRequest { query: query.to_owned(), limit: engine.settings().recall_limit, filter };
    Ok(engine.recall().recall(&request)?.hits.len())
}
