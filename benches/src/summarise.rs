//! The offline model, in megabytes a second.

use std::time::Instant;

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline_core::model::{Role, SessionId, Turn, TurnId};
use throughline_core::ports::{Brief, ExtractBrief, Model as _, SummaryBrief};
use throughline_offline::Offline;

use crate::Failure;
use crate::table::markdown;

#[derive(Args)]
pub(crate) struct Summarise {
    /// How long the conversation is, in kilobytes
    #[arg(long, default_value_t = 1000)]
    kilobytes: usize,
}

impl Summarise {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let turns = conversation(self.kilobytes * 1000)?;
        let megabytes = turns.iter().map(|turn| turn.content.len()).sum::<usize>() as f64 / 1e6;
        let summary = SummaryBrief {
            person: Default::default(),
            personal: true,
            turns: turns.clone(),
            previous: None,
            knowledge: Vec::new(),
            max_tokens: 1000,
        };
        let briefs = [
            ("summary", Brief::Summarise(summary)),
            ("facts", Brief::Extract(ExtractBrief { before: Vec::new(), turns, known: Vec::new() })),
        ];
        let mut rows = Vec::new();
        for (name, brief) in &briefs {
            let start = Instant::now();
            Offline.complete(brief, &mut |_| true)?;
            rows.push(vec![(*name).to_owned(), format!("{:.1}", megabytes / start.elapsed().as_secs_f64())]);
        }
        Ok(markdown(&["brief", "MB/s"], &rows))
    }
}

/// A made-up conversation in which every tenth message says something worth keeping.
fn conversation(bytes: usize) -> Result<Vec<Turn>, Failure> {
    let session = SessionId::on_channel("bench", "1")?;
    let (mut dice, mut turns, mut length) = (Dice::new(3), Vec::new(), 0);
    while length < bytes {
        let nth = turns.len();
        let opening = if nth % 10 == 0 { "I prefer" } else { "so" };
        let content = format!("{opening} {}. {}?", synthetic::memory(&mut dice), synthetic::memory(&mut dice));
        length += content.len();
        let role = if nth % 2 == 0 { Role::User } else { Role::Assistant };
        let id = TurnId::new(nth.to_string());
        turns.push(Turn {
            id,
            session: session.clone(),
            role,
            speaker: None,
            content,
            at: jiff::Timestamp::UNIX_EPOCH,
        });
    }
    Ok(turns)
}
