//! What a conversation waits for, against a bare recall: the context of a session's start, and of a message.

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::Visibility;
use throughline_core::engine::{Engine, StartSession};
use throughline_core::model::SessionId;
use throughline_core::recall::{Filter, RecallRequest};

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

/// Rounds that only warm up.
const WARM_UP: usize = 30;

#[derive(Args)]
pub(crate) struct Context {
    /// How many memories, one table row each
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
    sizes: Vec<u64>,
    /// How many messages at each size
    #[arg(long, default_value_t = 300)]
    messages: usize,
}

impl Context {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let rows = self.sizes.iter().map(|&size| self.measure(size)).collect::<Result<Vec<_>, _>>()?;
        let head = ["memories", "start p50 ms", "message p50 ms", "p99 ms", "recall p50 ms", "start", "message"];
        Ok(markdown(&head, &rows))
    }

    fn measure(&self, size: u64) -> Result<Vec<String>, Failure> {
        let home = tempfile::tempdir()?;
        laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, size)?;
        // As people have it: a message notes what it was given, and that waits for the disk.
        let engine = laboratory::open(home.path(), Durability::Full)?;
        engine.documents().write(&"user/profile".parse()?, "- My name is Ada\n- I like short answers\n", None)?;
        engine.documents().write(&"user/working".parse()?, "## Working on\n- the parser in src/parse.rs\n", None)?;
        let mut dice = Dice::new(2);
        let (mut starts, mut messages, mut recalls) = (Times::default(), Times::default(), Times::default());
        for at in 0..self.messages + WARM_UP {
            if at == WARM_UP {
                (starts, messages, recalls) = (Times::default(), Times::default(), Times::default());
            }
            let session = SessionId::on_channel("bench", &at.to_string())?;
            let message = synthetic::question(&mut dice);
            starts.time(|| engine.sessions().start(&StartSession::new(session.clone())))?;
            messages.time(|| engine.context().give(&session, &message, Visibility::Stays))?;
            recalls.time(|| recall(&engine, &message))?;
        }
        let mut row = vec![size.to_string()];
        row.extend([starts.at(0.5), messages.at(0.5), messages.at(0.99), recalls.at(0.5)].map(ms));
        row.extend([starts.at(0.5), messages.at(0.5)].map(|time| ratio(time, recalls.at(0.5))));
        Ok(row)
    }
}

fn recall(engine: &Engine, query: &str) -> Result<usize, Failure> {
    let filter = Filter::recallable(engine.now());
    let request = RecallRequest { query: query.to_owned(), limit: engine.settings().recall_limit, filter };
    Ok(engine.recall().recall(&request)?.hits.len())
}
