//! `throughline hook EVENT`: what an assistant's hook runs.
//!
//! A thread of its own prints what comes of the work, or an answer that changes nothing when the time is up, and then ends the
//! process: whatever is wrong with the memory, the assistant goes on. The work itself is done on the first thread, whose
//! memory the system gives out in larger pieces.

mod args;
mod heard;
mod work;

use std::io::{IsTerminal as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use clap::Args;
use throughline_clients::Client;
use throughline_clients::hooks::{Event, answer};

use super::reply::Reply;
use super::style;

pub(super) use args::parsed;

/// Answer an assistant's hook
#[derive(Args)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(super) struct Hook {
    /// session-start, prompt, pre-compact, stop or session-end
    event: String,
    /// claude-code, codex, cursor, copilot or gemini; without it, the input's shape tells
    #[arg(long, value_name = "CLIENT")]
    client: Option<String>,
    /// Milliseconds after which the answer is that there is nothing to add
    #[arg(long, value_name = "MS")]
    deadline_ms: Option<u64>,
}

/// What the working thread has to say.
enum News {
    /// Who asks.
    Client(Client),
    /// Another time limit than the usual one.
    Deadline(Duration),
    /// The answer; what is left to do may take the rest of the time. Whether it was printed is said back.
    Answer(String, Sender<()>),
}

impl Hook {
    pub(super) fn run(self) -> Reply {
        let nothing = Reply::text(String::new());
        let client = self.client.as_deref().and_then(|name| name.parse().ok());
        let Some(event) = Event::named(&self.event) else {
            tracing::error!(event = self.event, "there is no such hook");
            if std::io::stdin().is_terminal() {
                explain(&self.event);
                return nothing;
            }
            let _ = print(&answer(client.unwrap_or(Client::ClaudeCode), Event::Stop, None, None));
            return nothing;
        };
        // A message on standard error would be shown to the person, who can do nothing about it.
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "the hook failed")));
        let given = self.deadline_ms.map(Duration::from_millis);
        let (say, hear) = channel();
        let deadline = given.unwrap_or(usual_deadline(event));
        let printer = std::thread::Builder::new().name("answer".to_owned());
        match printer.spawn(move || wait(event, client, deadline, &hear)) {
            Ok(printer) => {
                work(event, client, given.is_none(), say);
                let _ = printer.join();
            }
            Err(error) => {
                tracing::warn!(%error, "the hook goes on without memory");
                let _ = print(&answer(client.unwrap_or(Client::ClaudeCode), event, None, None));
            }
        }
        nothing
    }
}

/// Tells a person what this is. An assistant's hook has no terminal to read from.
fn explain(event: &str) {
    let events = Event::ALL.map(Event::as_str).join(", ");
    let event = style::plain(event);
    let _ = writeln!(
        std::io::stderr(),
        "there is no hook `{event}`; an assistant runs this at {events}\n`throughline connect` sets that up"
    );
}

/// Does the work; whatever goes wrong there, no answer comes of it.
fn work(event: Event, client: Option<Client>, deadline_is_open: bool, say: Sender<News>) {
    let worked = catch_unwind(AssertUnwindSafe(|| work::work(event, client, deadline_is_open, &say)));
    if let Ok(Err(failure)) = worked {
        tracing::warn!(%failure, "the hook goes on without memory");
    }
}

/// Prints the answer when it comes, or one that changes nothing when the time is up; then waits for the work to end, as
/// long as there is time, and ends the process where there is none left.
fn wait(event: Event, client: Option<Client>, mut deadline: Duration, hear: &Receiver<News>) {
    let began = Instant::now();
    let mut client = client.unwrap_or(Client::ClaudeCode);
    let mut is_answered = false;
    let ended = loop {
        match hear.recv_timeout(deadline.saturating_sub(began.elapsed())) {
            Err(ended) => break ended,
            Ok(News::Client(told)) => client = told,
            Ok(News::Deadline(other)) => deadline = other,
            Ok(News::Answer(text, printed)) => {
                is_answered = true;
                if print(&text).is_ok() {
                    // A thread that is gone notes nothing anyway.
                    let _ = printed.send(());
                }
            }
        }
    };
    if !is_answered {
        // A client that does not listen is no reason to fail.
        let _ = print(&answer(client, event, None, None));
    }
    if ended == RecvTimeoutError::Timeout {
        std::process::exit(0);
    }
}

/// How long an assistant may be kept waiting. The end of a conversation is what clients wait for least.
fn usual_deadline(event: Event) -> Duration {
    Duration::from_millis(match event {
        Event::Prompt => 250,
        Event::SessionStart | Event::SessionEnd => 1000,
        Event::PreCompact | Event::Stop => 5000,
    })
}

/// Prints a line; none where there is nothing to say.
fn print(text: &str) -> std::io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush())
}

/// Whether the arguments are a hook's, whatever else is wrong with them.
pub(super) fn is_meant() -> bool {
    std::env::args_os().nth(1).is_some_and(|command| command == "hook")
}

/// Arguments that make no sense. A client takes a failure for a reason to stop: said, but no failure.
pub(super) fn misspelled(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::SUCCESS
}
