//! `throughline demo`

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::chain;
use throughline_server::Listening;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, keep, serve, style};
use crate::demo::{self, DemoError, Made};
use crate::world::{Home, World};

/// Where the panel is, unless something else is there.
const PORT: u16 = 7078;

/// Show the panel with sample data
///
/// Fills a temporary home with a month of invented conversations in a terminal, an editor and a chat app, and runs the
/// daemon on it. Your own memory is not opened. The temporary home is removed when the demo stops.
#[derive(Args)]
pub(super) struct Demo {
    /// Where to listen; without it 7078, or any port that is free
    #[arg(long)]
    port: Option<u16>,
    /// Open the panel in your browser
    #[arg(long)]
    open: bool,
    /// Keep the temporary home when the demo stops
    #[arg(long)]
    keep: bool,
    /// Fill this directory, which must be empty or not there yet, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "open", "keep"])]
    fill_only: Option<PathBuf>,
}

impl Demo {
    pub(super) fn run(self, json: bool) -> Answer {
        if let Some(dir) = &self.fill_only {
            let dir = std::path::absolute(dir).map_err(|error| Failure::io("tell where that is", &error))?;
            check_free(&dir)?;
            let (_world, made) = fill(&dir, &AtomicBool::new(false))?;
            let text = format!("{}\n{}", told(&made), commands(&dir));
            return Ok(Reply::new(&json!({ "home": dir, "made": made }), text));
        }
        let stopped = noticed_interrupt();
        let temporary = private(tempfile::Builder::new().prefix("throughline-demo-")).tempdir();
        let mut temporary = temporary.map_err(|error| Failure::io("make a temporary home", &error))?;
        temporary.disable_cleanup(self.keep);
        let home = temporary.path().to_owned();
        let (world, made) = fill(&home, &stopped)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port.unwrap_or_else(free_port)));
        let listening = Listening { address, hosts: Vec::new(), tls: None };
        let url = serve::run_on(world, &listening, |ready| self.tell(ready.link, &home, &made, json))?;
        let fate = if self.keep { format!("stopped; {} is kept\n", home.display()) } else { removed(temporary)? };
        Ok(Reply::new(&json!({ "url": url, "home": home, "kept": self.keep }), fate))
    }

    /// Says what is there, as soon as it can be looked at.
    fn tell(&self, link: &str, home: &Path, made: &Made, json: bool) {
        if json {
            anstream::println!("{}", json!({ "link": link, "home": home, "made": made }));
        } else {
            let stop = if self.keep {
                format!("Ctrl-C stops it; {} stays", home.display())
            } else {
                format!("Ctrl-C stops it and removes {}", home.display())
            };
            let look = format!("{} {}", "look at it:".green().bold(), link.cyan());
            anstream::println!("{}\n{look}\n\n{}\n{stop}", told(made), commands(home));
        }
        if self.open {
            serve::browse(link);
        }
    }
}

/// For its owner's eyes only, as every home is.
fn private<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder
}

fn fill(dir: &Path, stopped: &AtomicBool) -> Result<(World, Made), Failure> {
    let bar = keep::bar("scenes");
    let filled = demo::fill(dir.to_owned(), &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        !stopped.load(Ordering::SeqCst)
    });
    bar.finish_and_clear();
    filled.map_err(|error: DemoError| Failure::new(chain(&error), error.hint()))
}

/// Refuses whatever is somebody's: a directory with something in it, and the real home.
fn check_free(dir: &Path) -> Result<(), Failure> {
    let is_home = |home: Home| [home.data, home.config].iter().any(|own| own == dir);
    if Home::find().is_ok_and(is_home) {
        let problem = format!("{} is where your own memory is kept", dir.display());
        return Err(Failure::new(problem, "choose another directory; nothing was changed"));
    }
    match std::fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Ok(true) => {
            let problem = format!("{} is not empty", dir.display());
            Err(Failure::new(problem, "choose a directory that is empty, or not there yet; nothing was changed"))
        }
        Err(error) => Err(Failure::io("look at that directory", &error)),
    }
}

/// Set by Ctrl-C: whoever stops the demo while it is being filled leaves nothing behind either. The daemon's own handler
/// comes on top of this one.
fn noticed_interrupt() -> Arc<AtomicBool> {
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    if let Err(error) = ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst)) {
        tracing::warn!(%error, "Ctrl-C will end the program and leave the temporary home");
    }
    stopped
}

fn free_port() -> u16 {
    if TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).is_ok() { PORT } else { 0 }
}

fn removed(temporary: tempfile::TempDir) -> Result<String, Failure> {
    let home = temporary.path().display().to_string();
    temporary.close().map_err(|error| Failure::io(&format!("remove {home}"), &error))?;
    Ok(format!("stopped; {home} is removed\n"))
}

fn told(made: &Made) -> String {
    let count = |n: u64, one, many| style::count(n, one, many);
    format!(
        "a month of somebody who does not exist: {} on {} channels, {}, {}, {}, {}, {}\n",
        count(made.conversations as u64, "conversation", "conversations"),
        made.channels.len(),
        count(made.messages, "message", "messages"),
        count(made.facts, "fact", "facts"),
        count(made.corrections, "correction", "corrections"),
        count(made.tasks, "task", "tasks"),
        count(made.vault_documents, "file in the vault", "files in the vault"),
    )
}

/// How to look at this home with the command line.
fn commands(home: &Path) -> String {
    let home = home.display().to_string();
    let home = if home.contains([' ', '\'', '"', '$']) { format!("'{}'", home.replace('\'', r"'\''")) } else { home };
    let tries = [
        "recall where is Gerald",
        "recall when is the lab meeting --why",
        "session list",
        "report --weekly --since \"last month\"",
        "vault search how long does the battery last",
    ];
    let lines: String = tries.iter().map(|line| format!("  THROUGHLINE_HOME={home} throughline {line}\n")).collect();
    format!("with the command line:\n{lines}")
}
