//! Speed, as a ratio to something that everybody has: raw FTS5, a bare `INSERT`, `/bin/true`.
//!
//! What is compared takes turns within one run, because the figures of a shared machine change from minute to minute
//! and their ratios hardly do. Nothing here is a test, and no test asserts on speed.

#![allow(clippy::print_stdout, reason = "it prints tables")]

mod context;
mod daemon;
mod homes;
mod hooks;
mod insert;
mod laboratory;
mod load;
mod mcp;
mod plot;
mod proxy;
mod recall;
mod scale;
mod shared;
mod start;
mod summarise;
mod table;
mod vault;

use std::process::ExitCode;

use clap::Parser;

/// Whatever went wrong.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Measure throughline against something that everybody has
#[derive(Parser)]
enum Bench {
    /// `Engine::recall` against raw FTS5
    Recall(recall::Recall),
    /// A durable `Engine::remember` against a bare `INSERT`
    Insert(insert::Insert),
    /// The context of a session's start and of a message against a bare recall
    Context(context::Context),
    /// The offline model, in megabytes a second
    Summarise(summarise::Summarise),
    /// A cold process against `/bin/true`
    Start(start::Start),
    /// A cold MCP server against `/bin/true`
    Mcp(mcp::Mcp),
    /// The hooks of assistants against `/bin/true`
    Hooks(hooks::Hooks),
    /// Indexing files, and packed vectors against a scan of 32-bit numbers
    Vault(vault::Vault),
    /// Latency against size, as pictures
    Plot(plot::Plot),
    /// A streamed reply through the proxy, against the same straight from its server
    Proxy(proxy::Proxy),
    /// The same memory on a PostgreSQL server over loopback, against SQLite
    Shared(shared::Shared),
    /// What people do in a day costs a server; a model of many, checked against a measured run
    Scale(scale::Scale),
    /// The daemon under load, against the same verbs in this process
    Load(load::Load),
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == throughline::file_reader::FILE_READER) {
        return throughline_readers::serve();
    }
    let outcome = match Bench::parse() {
        Bench::Recall(bench) => bench.run(),
        Bench::Insert(bench) => bench.run(),
        Bench::Context(bench) => bench.run(),
        Bench::Summarise(bench) => bench.run(),
        Bench::Start(bench) => bench.run(),
        Bench::Mcp(bench) => bench.run(),
        Bench::Hooks(bench) => bench.run(),
        Bench::Vault(bench) => bench.run(),
        Bench::Plot(bench) => bench.run(),
        Bench::Proxy(bench) => bench.run(),
        Bench::Load(bench) => bench.run(),
        Bench::Shared(bench) => bench.run(),
        Bench::Scale(bench) => bench.run(),
    };
    match outcome {
        Ok(tables) => {
            println!("{tables}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
