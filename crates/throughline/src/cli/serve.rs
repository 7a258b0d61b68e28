//! `throughline serve`, `throughline open`

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use clap::Args;
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::chain;
use throughline_server::access::Token;
use throughline_server::{Daemon, ServeError};

use super::Answer;
use super::failure::Failure;
use super::reply::Reply;
use crate::daemon::{self, Claim, Household, Running, find, token};
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
        let world = World::open()?;
        let home = world.home.clone();
        let claim = Claim::take(&home).map_err(|error| Failure::io("tell whether a daemon runs", &error))?;
        let claim = claim.map_err(|running| already(running.as_ref()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
        runtime.block_on(self.serve(world, claim))
    }

    async fn serve(self, world: World, mut claim: Claim) -> Answer {
        let token = token(&world.home)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let household = Arc::new(Household::new(world));
        let daemon = Daemon::bind(household, address, token, &[]).await.map_err(|error| refused(&error))?;
        let url = format!("http://127.0.0.1:{}", daemon.port());
        let running = Running { process: std::process::id(), url: url.clone() };
        claim.announce(&running).map_err(|error| Failure::io("say where the daemon listens", &error))?;
        let link = daemon.link().map_err(|problem| Failure::new(problem.message, "try again"))?;
        anstream::println!("{} {}", "your memory:".green().bold(), link.cyan());
        daemon.serve(stopped()).await.map_err(|error| refused(&error))?;
        Ok(Reply::new(&json!({ "url": url }), "stopped; everything that was confirmed is kept\n"))
    }
}

/// Done when somebody asks the daemon to stop.
async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let terminated = async {
            match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
                Ok(mut signal) => {
                    signal.recv().await;
                }
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! { _ = interrupted => {}, () = terminated => {} }
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
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
        let token = token(&home)?;
        let link = ask_for_link(&running, &token)?;
        let told = format!("{}\n", link["url"].as_str().unwrap_or_default());
        Ok(Reply::new(&link, told))
    }
}

/// Asks the daemon for a link, over loopback.
fn ask_for_link(running: &Running, token: &Token) -> Result<serde_json::Value, Failure> {
    let hint = "is it still running? `throughline serve` starts it again";
    let lost = |why: String| Failure::new(format!("the daemon at {} gives no link: {why}", running.url), hint);
    let (status, body) = daemon::post(&running.url, "/api/links", token).map_err(|error| lost(error.to_string()))?;
    let body: serde_json::Value = serde_json::from_str(&body).map_err(|error| lost(error.to_string()))?;
    if status == 201 { Ok(body) } else { Err(lost(body["error"]["message"].as_str().unwrap_or_default().to_owned())) }
}
