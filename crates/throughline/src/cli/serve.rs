//! `throughline serve`, `throughline open`

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use clap::Args;
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::chain;
use throughline_server::{Daemon, ServeError};

use super::Answer;
use super::failure::Failure;
use super::reply::Reply;
use crate::daemon::{Claim, Household, Running, find, token};
use crate::world::{Home, World};

/// Run the daemon: the panel, the HTTP API, and what happens in the background
#[derive(Args)]
pub(super) struct Serve {
    /// Where to listen, on this machine alone
    #[arg(long, default_value_t = 7077)]
    port: u16,
}

impl Serve {
    pub(super) fn run(self) -> Answer {
        let tell = |link: &str| anstream::println!("{} {}", "your memory:".green().bold(), link.cyan());
        let url = run_on(World::open()?, self.port, tell)?;
        Ok(Reply::new(&json!({ "url": url }), "stopped; everything that was confirmed is kept\n"))
    }
}

/// Runs the daemon on an open memory until somebody asks it to stop; `tell` gets the one-time link as soon as it
/// listens. Gives where it listened.
pub(super) fn run_on(world: World, port: u16, tell: impl FnOnce(&str)) -> Result<String, Failure> {
    let claim = Claim::take(&world.home).map_err(|error| Failure::io("tell whether a daemon runs", &error))?;
    let claim = claim.map_err(|running| already(running.as_ref()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
    runtime.block_on(serve(world, port, claim, tell))
}

async fn serve(world: World, port: u16, mut claim: Claim, tell: impl FnOnce(&str)) -> Result<String, Failure> {
    let token = token(&world.home)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let household = Arc::new(Household::new(world));
    let daemon = Daemon::bind(household, address, token, &[]).await.map_err(|error| refused(&error))?;
    let url = format!("http://127.0.0.1:{}", daemon.port());
    let running = Running { process: std::process::id(), url: url.clone() };
    claim.announce(&running).map_err(|error| Failure::io("say where the daemon listens", &error))?;
    let link = daemon.link().map_err(|problem| Failure::new(problem.message, "try again"))?;
    // Whoever knows the link may stop it at once.
    let stopped = stopped();
    tell(&link);
    daemon.serve(stopped).await.map_err(|error| refused(&error))?;
    Ok(url)
}

/// Done when somebody asks the daemon to stop; heard from the moment of this call.
#[cfg(unix)]
pub(super) fn stopped() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let heard = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [interrupted, terminated] = heard.map(|signal| async {
            match signal {
                Ok(mut signal) => {
                    signal.recv().await;
                }
                Err(_) => std::future::pending().await,
            }
        });
        tokio::select! { () = interrupted => {}, () = terminated => {} }
    }
}

/// Done when somebody asks the daemon to stop.
#[cfg(not(unix))]
pub(super) async fn stopped() {
    let _ = tokio::signal::ctrl_c().await;
}

fn already(running: Option<&Running>) -> Failure {
    let place = running.map_or_else(String::new, |running| format!(" at {}", running.url));
    Failure::new(format!("a daemon already runs on this memory{place}"), "`throughline open` gives a link to its panel")
}

fn refused(error: &ServeError) -> Failure {
    Failure::new(chain(error), "choose another port with --port")
}

/// Get a fresh one-time link to the panel
#[derive(Args)]
pub(super) struct Open {}

impl Open {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let running = find(&home)
            .ok_or_else(|| Failure::new("no daemon runs on this memory", "start it: `throughline serve`"))?;
        Ok(Reply::new(&running, format!("{}\n", running.url)))
    }
}
