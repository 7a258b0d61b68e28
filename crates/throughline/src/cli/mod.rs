//! The command line: one file per command. Each parses, calls one verb of the engine, and shapes the answer.

mod bench;
mod chat;
mod completions;
pub(crate) mod config;
mod connect;
mod context;
mod copy;
mod correct;
mod demo;
mod doctor;
mod edit;
mod failure;
mod filters;
mod fold;
mod forget;
mod groups;
mod history;
mod hook;
mod import;
mod keep;
mod list;
mod mcp;
mod model;
mod mute;
mod pause;
mod project;
mod read;
mod recall;
mod reflect;
mod remember;
mod reply;
mod report;
mod review;
mod section;
mod serve;
mod service;
mod session;
mod setup;
mod show;
mod status;
pub(crate) mod style;
mod task;
mod tool;
mod transfer;
mod undo;
mod uninstall;
mod vault;
mod write;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::writer::MakeWriterExt as _;

use crate::world::{Prepared, World, log_level};
use crate::{background, models, vectors};
use failure::Failure;
use reply::Reply;

/// What `--version` says; `-V` says the number alone.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nbuild     ",
    env!("THROUGHLINE_BUILD"),
    "\nstores    SQLite (built in), PostgreSQL",
    "\nembedder  built in (English)"
);

/// The memory of your AI assistants: one place that all of them share, on your own machine.
#[derive(Parser)]
#[command(name = "throughline", version, long_version = LONG_VERSION)]
#[command(after_help = "Run `throughline` alone to see where your memory is and what to try next.")]
struct Cli {
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    fn hook(hook: hook::Hook) -> Self {
        Self { json: false, command: Some(Command::Hook(hook)) }
    }
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    OnMemory(MemoryCommand),
    /// Set everything up in one short conversation
    Setup(setup::Setup),
    /// Take back what setup did, and ask about the data
    Uninstall(uninstall::Uninstall),
    /// Run the daemon: the panel, the HTTP API, and what happens in the background
    Serve(serve::Serve),
    /// Get a fresh one-time link to the panel
    Open(serve::Open),
    /// Show the panel with sample data
    Demo(demo::Demo),
    /// Serve one assistant on standard input and output (MCP)
    Mcp(mcp::Mcp),
    /// Write a verified copy of the database; list, check or restore one
    Backup(keep::Backup),
    /// Copy a whole memory to another store
    Copy(copy::Copy),
    /// Connect an assistant to the memory, or list those that are here
    Connect(connect::Connect),
    /// Take our entries out of an assistant's settings
    Disconnect(connect::Disconnect),
    /// Answer an assistant's hook: its JSON on standard input, the answer in its own shape
    Hook(hook::Hook),
    /// Check that everything is sound
    Doctor(doctor::Doctor),
    /// Show, check or change the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Choose and check models
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Measure retrieval quality or speed
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Print a completion script for your shell, which then knows your ids and names too
    Completions(completions::Completions),
    /// Read files for another process of this program
    #[command(name = crate::file_reader::FILE_READER, hide = true)]
    FileReader,
}

/// What works on an open memory.
#[derive(Subcommand)]
enum MemoryCommand {
    /// Store a memory
    Remember(remember::Remember),
    /// Find memories by plain words
    Recall(recall::Recall),
    /// Make memories inactive, or erase them for good
    Forget(forget::Forget),
    /// List memories, newest first
    List(list::List),
    /// Show one memory
    Show(show::Show),
    /// Change a memory, in your editor or by options
    Edit(edit::Edit),
    /// Put what is right in the place of what is wrong
    Correct(correct::Correct),
    /// Make one memory of several that say the same
    Merge(correct::Merge),
    /// Make one of memories and lines that say the same
    Fold(fold::Fold),
    /// Never give a memory to an assistant; it can still be searched for
    Mute(mute::Mute),
    /// Show every version of a memory or document, or the latest changes
    History(history::History),
    /// Bring an earlier version back
    Restore(history::Restore),
    /// Revert the last change
    Undo(undo::Undo),
    /// Print any part of memory as Markdown
    Read(read::Read),
    /// Replace a document with what is on standard input
    Write(write::Write),
    /// Who the assistants think you are
    Profile(read::Profile),
    /// What has been going on lately
    Working(read::Working),
    /// Show what an assistant would be given, and why
    Context(context::Context),
    /// Talk to the configured model, with memory
    Chat(chat::Chat),
    /// Go off the record: nothing is observed and nothing is given
    Pause(pause::Pause),
    /// Go on the record again
    Resume(pause::Resume),
    /// Follow conversations: what was said, and what became of it
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Keep track of what you mean to get done
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Register the places where you work
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Look back on memory: distil, weigh, merge, prune
    Reflect(reflect::Reflect),
    /// Look through what was learnt and not seen yet: keep, edit, drop, make it a rule
    Review(review::Review),
    /// What was done, day by day or week by week
    Report(report::Report),
    /// See and try the tools that assistants are offered
    #[command(subcommand)]
    Tool(tool::ToolCommand),
    /// Search whole files: notes, manuals, code
    #[command(subcommand)]
    Vault(vault::VaultCommand),
    /// Print everything, as JSON or Markdown
    Export(transfer::Export),
    /// Take in an export, another assistant's memory, or notes
    Import(import::Import),
    /// Count what the memory holds
    Stats(status::Stats),
    /// Rebuild the search index
    Reindex(keep::Reindex),
}

type Answer = Result<Reply, Failure>;

/// Runs the program with the arguments it was given.
pub fn main() -> ExitCode {
    main_with(std::env::args_os())
}

/// Runs the program with these arguments, the name of the program first.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let hook = hook::parsed(&args);
    if hook.is_none()
        && let Some(code) = completions::answer(&args)
    {
        return code;
    }
    let cli = match hook.map_or_else(|| parsed(args), |hook| Ok(Cli::hook(hook))) {
        Ok(cli) => cli,
        // An assistant takes a hook's failure for a reason to stop.
        Err(error) if hook::is_meant() => return hook::misspelled(&error),
        Err(error) => return failure::usage(&error),
    };
    if matches!(cli.command, Some(Command::FileReader)) {
        return throughline_readers::serve();
    }
    let is_hook = matches!(cli.command, Some(Command::Hook(_)));
    let unasked = if is_hook { LevelFilter::OFF } else { LevelFilter::WARN };
    let level = log_level().map_or(unasked, LevelFilter::from_level);
    // Nobody has to be set up where nothing is shown.
    if level != LevelFilter::OFF {
        show_log(level);
    }
    // What a hook answers is JSON of its client's own.
    let json = cli.json && !is_hook;
    match run(cli.command, json) {
        Ok((reply, world)) => {
            let code = reply.print(json);
            // The answer is out: only now may the log of this recall take its time.
            drop(world);
            code
        }
        Err(failure) => failure.print(json),
    }
}

/// Shows on standard error what is logged.
fn show_log(level: LevelFilter) {
    // The library that speaks MCP shows whole messages at `debug`; memory text belongs to `trace` alone.
    let is_shown = move |event: &tracing::Metadata<'_>| {
        level == LevelFilter::TRACE || *event.level() != tracing::Level::DEBUG || !event.target().starts_with("rmcp")
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr.with_filter(is_shown))
        .without_time()
        .init();
}

fn parsed(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = groups::grouped(Cli::command());
    let mut matches = command.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Runs one command; gives its answer, and the world that must outlive the printing.
fn run(command: Option<Command>, json: bool) -> Result<(Reply, Option<World>), Failure> {
    let command = match command {
        Some(Command::Completions(command)) => return Ok((command.run()?, None)),
        Some(Command::Config(command)) => return Ok((command.run()?, None)),
        Some(Command::Model(command)) => return Ok((command.run()?, None)),
        Some(Command::Bench(command)) => return Ok((command.run()?, None)),
        Some(Command::Setup(command)) => return Ok((command.run()?, None)),
        Some(Command::Uninstall(command)) => return Ok((command.run()?, None)),
        Some(Command::Serve(command)) => return Ok((command.run()?, None)),
        Some(Command::Open(command)) => return Ok((command.run()?, None)),
        Some(Command::Demo(command)) => return Ok((command.run(json)?, None)),
        Some(Command::Mcp(command)) => return Ok((command.run()?, None)),
        Some(Command::Backup(command)) => return Ok((command.run()?, None)),
        Some(Command::Copy(command)) => return Ok((command.run()?, None)),
        Some(Command::Connect(command)) => return Ok((command.run()?, None)),
        Some(Command::Disconnect(command)) => return Ok((command.run()?, None)),
        Some(Command::Hook(command)) => return Ok((command.run(), None)),
        Some(Command::Doctor(command)) => return Ok((command.run()?, None)),
        Some(Command::OnMemory(command)) => Some(command),
        Some(Command::FileReader) | None => None,
    };
    let prepared = Prepared::find()?;
    let world = match prepared.clone().open() {
        Ok(world) => world.here(),
        Err(error) => match command {
            Some(MemoryCommand::Session(session::SessionCommand::Observe(observe))) if error.is_away() => {
                return Ok((observe.wait(&prepared)?, None));
            }
            _ => return Err(error.into()),
        },
    };
    world.deliver_waiting();
    let Some(command) = command else {
        let reply = status::run(&world)?;
        background::start_waiting(&world, None);
        return Ok((reply, Some(world)));
    };
    if command.waits_for_a_model() {
        models::command::end_with_this_process();
    }
    let (pile, is_work) = (command.pile(), command.consolidates());
    let reply = command.run(&world).map_err(|failure| failure.or_turn(&world))?;
    if !is_work {
        background::start_waiting(&world, None);
    }
    if let Some(pile) = pile {
        vectors::start_memories(&world, pile);
        background::start_upkeep(&world);
    }
    Ok((reply, Some(world)))
}

impl MemoryCommand {
    /// How many memories without a vector are embedded in the background after this command. What was said is embedded
    /// to the last word once a conversation is summarised.
    fn pile(&self) -> Option<u64> {
        match self {
            Self::Reindex(_) => None,
            Self::Session(session::SessionCommand::Consolidate(_) | session::SessionCommand::End(_)) => Some(1),
            _ => Some(vectors::PILE),
        }
    }

    /// Whether it consolidates by itself, or starts what does.
    fn consolidates(&self) -> bool {
        matches!(self, Self::Session(_) | Self::Chat(_) | Self::Reflect(_) | Self::Reindex(_))
    }

    /// Whether it may wait for a model here and now. A chat has its own use for Ctrl-C.
    fn waits_for_a_model(&self) -> bool {
        matches!(self, Self::Session(_) | Self::Reflect(_) | Self::Tool(_))
    }

    fn run(self, world: &World) -> Answer {
        match self {
            Self::Remember(command) => command.run(world),
            Self::Recall(command) => command.run(world),
            Self::Forget(command) => command.run(world),
            Self::List(command) => command.run(world),
            Self::Show(command) => command.run(world),
            Self::Edit(command) => command.run(world),
            Self::Correct(command) => command.run(world),
            Self::Merge(command) => command.run(world),
            Self::Fold(command) => command.run(world),
            Self::Mute(command) => command.run(world),
            Self::History(command) => command.run(world),
            Self::Restore(command) => command.run(world),
            Self::Undo(command) => command.run(world),
            Self::Read(command) => command.run(world),
            Self::Write(command) => command.run(world),
            Self::Profile(command) => command.run(world),
            Self::Working(command) => command.run(world),
            Self::Context(command) => command.run(world),
            Self::Chat(command) => command.run(world),
            Self::Pause(command) => command.run(world),
            Self::Resume(command) => command.run(world),
            Self::Session(command) => command.run(world),
            Self::Task(command) => command.run(world),
            Self::Project(command) => command.run(world),
            Self::Reflect(command) => command.run(world),
            Self::Review(command) => command.run(world),
            Self::Report(command) => command.run(world),
            Self::Tool(command) => command.run(world),
            Self::Vault(command) => command.run(world),
            Self::Export(command) => command.run(world),
            Self::Import(command) => command.run(world),
            Self::Stats(command) => command.run(world),
            Self::Reindex(command) => command.run(world),
        }
    }
}
