//! `throughline serve`, `throughline open`

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Serialize;
use throughline_core::engine::chain;
use throughline_server::{Daemon, Listening, ServeError, Tls};

use super::Answer;
use super::failure::Failure;
use super::reply::Reply;
use super::service::Service;
use crate::config::ServerConfig;
use crate::daemon::{Claim, Household, Running, find, fresh_link, token};
use crate::world::{Home, World, home_variable, program};

/// Run the daemon: the panel, the HTTP API, and what happens in the background
///
/// It listens on this machine alone. With --json, one line of JSON says where, once it does.
#[derive(Args)]
pub(super) struct Serve {
    /// Where to listen instead of `server.port`, which is 7077 unless set otherwise; 0 takes any port that is free
    #[arg(long)]
    port: Option<u16>,
    /// The address to listen on; one beyond this machine needs TLS, or --insecure-bind
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// A certificate in a PEM file, instead of `server.tls_cert`
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key, instead of `server.tls_key`
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen beyond this machine without TLS: whoever is on the way reads everything, the token too
    #[arg(long)]
    insecure_bind: bool,
    /// Open the panel in your browser
    #[arg(long)]
    open: bool,
    /// Print no one-time link: for services, whose output is logged
    #[arg(long, conflicts_with = "open")]
    no_link: bool,
    /// Print a file that has the system start the daemon, and do nothing else
    #[arg(long, value_name = "SYSTEM", num_args = 0..=1, require_equals = true, default_missing_value = Service::HERE)]
    print_service: Option<Service>,
    #[arg(from_global)]
    json: bool,
}

/// Threads that may block: one for each request that is served at once, and some for replies of models and for jobs. They end
/// soon after a peak. The jobs of the scheduler wake one idle thread after the other, so that a longer time would keep many.
const THREADS: usize = 96;
const KEPT: Duration = Duration::from_secs(1);

/// What a program is told once the daemon listens.
#[derive(Serialize)]
pub(super) struct Ready<'a> {
    version: &'a str,
    memory: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) link: &'a str,
    process: u32,
}

impl Serve {
    pub(super) fn run(self) -> Answer {
        if let Some(service) = self.print_service {
            let program = program().map_err(|error| Failure::io("tell where this program is", &error))?;
            return Ok(Reply::text(service.text(&program, home_variable().as_deref())?));
        }
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        crate::daemon::arenas::limit();
        let world = World::open()?;
        let listening = self.listening(&world.config.config.server, &world.home)?;
        run_on(world, &listening, |ready| self.tell(ready))?;
        Ok(Reply::new(&(), "stopped; everything that was confirmed is kept\n"))
    }

    /// Says what is there, as soon as it can be looked at.
    fn tell(&self, ready: &Ready<'_>) {
        let ready = &Ready { link: if self.no_link { "" } else { ready.link }, ..*ready };
        if self.json {
            anstream::println!("{}", serde_json::to_string(ready).unwrap_or_default());
        } else {
            anstream::println!("{} {}", "Throughline".green().bold(), ready.version);
            anstream::println!("  {}  {}", "memory".dimmed(), ready.memory);
            let (panel, once) = if self.no_link {
                (ready.url, "`throughline open` gives a link that opens it")
            } else {
                (ready.link, "opens once, within ten minutes; `throughline open` gives a new link")
            };
            anstream::println!("  {}   {}", "panel".dimmed(), panel.cyan());
            anstream::println!("          {}", once.dimmed());
            anstream::println!("  {}    Ctrl-C", "stop".dimmed());
        }
        if self.open {
            browse(ready.link);
        }
    }

    /// Where to listen, and as whom; nothing beyond this machine by accident.
    fn listening(&self, config: &ServerConfig, home: &Home) -> Result<Listening, Failure> {
        let in_config = |path: &Option<String>| path.as_ref().map(|path| home.config.join(path));
        let cert = self.tls_cert.clone().or_else(|| in_config(&config.tls_cert));
        let key = self.tls_key.clone().or_else(|| in_config(&config.tls_key));
        let tls = match (cert, key) {
            (Some(cert), Some(key)) => Some(Tls { cert, key }),
            (None, None) => None,
            _ => {
                return Err(Failure::new(
                    "a certificate needs its key",
                    "set both `server.tls_cert` and `server.tls_key`",
                ));
            }
        };
        if !self.bind.is_loopback() && tls.is_none() && !self.insecure_bind {
            let message = format!("{} can be reached from other machines, and nothing would be encrypted", self.bind);
            let hint =
                "give --tls-cert and --tls-key; or --insecure-bind, if everybody on the way may read your memory";
            return Err(Failure::new(message, hint));
        }
        let address = SocketAddr::new(self.bind, self.port.unwrap_or(config.port));
        Ok(Listening { address, hosts: config.hosts.clone(), tls })
    }
}

/// Runs the daemon on an open memory until somebody asks it to stop; `tell` hears of it as soon as it listens. Gives where
/// it listened.
pub(super) fn run_on(world: World, listening: &Listening, tell: impl FnOnce(&Ready<'_>)) -> Result<String, Failure> {
    let claim = Claim::take(&world.home).map_err(|error| Failure::io("tell whether a daemon runs", &error))?;
    let claim = claim.map_err(|running| already(&world.home, running.as_ref()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .thread_keep_alive(KEPT)
        .build();
    let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
    let served = runtime.block_on(serve(world, listening, &claim, tell));
    // Whatever still runs was waited for long enough.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

async fn serve(
    world: World,
    listening: &Listening,
    claim: &Claim,
    tell: impl FnOnce(&Ready<'_>),
) -> Result<String, Failure> {
    take_all_files();
    let token = token(&world.home)?;
    let memory = world.home.data.display().to_string();
    // Whoever knows the link may stop it at once.
    let stop = signals().map_err(|error| Failure::io("listen for the signal to stop", &error))?;
    let household = Arc::new(Household::new(world));
    let daemon = Daemon::bind(household, listening, token).await.map_err(|error| refused(&error))?;
    let url = daemon.url();
    let (address, certificate) = (Some(daemon.address()), daemon.certificate().map(str::to_owned));
    let running = Running { process: std::process::id(), url: url.clone(), address, certificate };
    claim.announce(&running).map_err(|error| Failure::io("say where the daemon listens", &error))?;
    let link = daemon.link().map_err(|problem| Failure::new(problem.message, "try again"))?;
    let version = env!("CARGO_PKG_VERSION");
    tell(&Ready { version, memory: &memory, url: &url, link: &link, process: running.process });
    daemon.serve(stop).await.map_err(|error| refused(&error))?;
    Ok(url)
}

/// Done when somebody asks the daemon to stop; a signal is heard from here on.
#[cfg(unix)]
pub(super) fn signals() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupted, mut terminated) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! { _ = interrupted.recv() => {}, _ = terminated.recv() => {} }
    })
}

/// Done when somebody asks the daemon to stop.
#[cfg(not(unix))]
pub(super) fn signals() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// As many open files as the system allows: every connection is one, and idle ones are not kept for ever.
fn take_all_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
    }
}

/// Opens a link in the person's browser, or says that nobody took it.
pub(super) fn browse(link: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.spawn().is_err() {
        anstream::eprintln!("{} no browser could be opened: open the link yourself", "note:".yellow().bold());
    }
}

fn already(home: &Home, running: Option<&Running>) -> Failure {
    let Some(running) = running else {
        return Failure::new("a daemon is starting or stopping on this memory", "try again in a moment");
    };
    let message = format!("a daemon already runs on this memory at {}", running.url);
    let link = token(home).ok().and_then(|token| fresh_link(running, &token).ok());
    match link {
        Some(link) => Failure::new(message, format!("open its panel: {}", link.url)),
        None => Failure::new(message, "`throughline open` gives a link to its panel"),
    }
}

fn refused(error: &ServeError) -> Failure {
    if let ServeError::Bind { address, .. } = error
        && error.is_taken()
    {
        let port = address.port();
        let hint = "choose another with --port, or --port 0 for any that is free";
        return Failure::new(format!("the port {port} belongs to another program"), hint);
    }
    let hint = match error {
        ServeError::Bind { .. } => "choose another address or port with --bind and --port",
        ServeError::Tls { .. } => "both must be PEM files that you may read, and the key must be the certificate's",
        ServeError::Host(_) | ServeError::Serve(_) => "`throughline doctor` looks for the cause",
    };
    Failure::new(chain(error), hint)
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
        let hint = "is it still running? `throughline serve` starts it again";
        let lost =
            |why: std::io::Error| Failure::new(format!("the daemon at {} gives no link: {why}", running.url), hint);
        let link = fresh_link(&running, &token).map_err(lost)?;
        let told = format!("{}\n", link.url);
        Ok(Reply::new(&link, told))
    }
}
