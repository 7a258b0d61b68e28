//! A PostgreSQL server for tests: in a temporary directory, reached by a socket there, gone with the process that started it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes a database, starts the server, says so, and waits for the end of its input; `$1` is the directory, `$2` that of the
/// programs, `$3` the addresses to listen on, `$4` the network whose machines may connect, `$5` more settings. The end comes however the
/// tests end. A person may interrupt them: this goes on until it has tidied up.
const SCRIPT: &str = r#"
trap '' INT TERM
cd "$1" || exit 1
{
  "$2/initdb" -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync &&
  printf '%s\n' "listen_addresses = '$3'" "unix_socket_directories = '$1'" 'max_connections = 300' 'fsync = off' \
    'full_page_writes = off' 'autovacuum = off' >>data/postgresql.conf &&
  printf '%s\n' "$5" >>data/postgresql.conf && printf '%s\n' "host all all $4 trust" >>data/pg_hba.conf &&
  "$2/pg_ctl" -D data -w -l log start &&
  "$2/psql" -h "$1" -U postgres -d postgres -q -c 'CREATE ROLE throughline LOGIN' &&
  "$2/createdb" -h "$1" -U postgres -O throughline throughline
} </dev/null >>start.log 2>&1 && echo ready || echo failed
cat >/dev/null
"$2/pg_ctl" -D data -m immediate stop >/dev/null 2>&1
rm -rf "$1"
"#;

/// A server that runs as long as this process does.
pub struct Server {
    directory: PathBuf,
    programs: PathBuf,
    port: u16,
    /// Its input ends with this process.
    _script: Child,
}

/// How a server is started.
struct Listening<'a> {
    port: u16,
    /// Where it can be reached over the network.
    addresses: &'a str,
    /// The machines that may connect there.
    network: &'a str,
    settings: &'a str,
    /// Files in its directory.
    files: &'a [(&'a str, &'a str)],
}

impl Default for Listening<'_> {
    fn default() -> Self {
        Self { port: 5432, addresses: "", network: "127.0.0.1/32", settings: "", files: &[] }
    }
}

impl Server {
    /// Starts one, with a database `throughline` that a role `throughline` owns, which is no superuser.
    pub fn start() -> Self {
        Self::listening(&Listening::default())
    }

    /// Starts one that can also be reached at 127.0.0.1, with further settings. These files stand in its directory.
    pub fn start_on_network(settings: &str, files: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a free port").port();
        drop(listener);
        Self::listening(&Listening { port, addresses: "127.0.0.1", settings, files, ..Listening::default() })
    }

    /// The same on every address of the network namespace that this thread is in; machines of `network` may connect.
    pub fn on_network(network: &str) -> Self {
        Self::listening(&Listening { addresses: "*", network, ..Listening::default() })
    }

    /// One that syncs what it confirms, for measurements, and its address on this port of this machine.
    pub fn durable_on_loopback(port: u16) -> (Self, String) {
        let settings = "fsync = on\nfull_page_writes = on\nautovacuum = on\nshared_buffers = 512MB\nmax_wal_size = 4GB";
        let server = Self::listening(&Listening { port, addresses: "127.0.0.1", settings, ..Listening::default() });
        (server, format!("postgres://throughline@127.0.0.1:{port}/throughline?sslmode=disable"))
    }

    fn listening(Listening { port, addresses, network, settings, files }: &Listening<'_>) -> Self {
        let programs = programs();
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let nth = STARTED.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("throughline-postgres-{}-{nth}", std::process::id()));
        std::fs::create_dir(&directory).expect("a directory for the server");
        for (name, text) in *files {
            let mut options = std::fs::OpenOptions::new();
            let file = std::os::unix::fs::OpenOptionsExt::mode(options.write(true).create_new(true), 0o600);
            let written = file.open(directory.join(name)).and_then(|mut file| file.write_all(text.as_bytes()));
            written.expect("a file of the server");
        }
        let mut command = as_other_user(&directory);
        command.args(["sh", "-c", SCRIPT, "sh"]).arg(&directory).arg(&programs).args([addresses, network, settings]);
        command.env("PGPORT", port.to_string());
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        let mut said = String::new();
        let output = script.stdout.take().expect("the output of the shell");
        BufReader::new(output).read_line(&mut said).expect("the output of the shell");
        let log = || std::fs::read_to_string(directory.join("start.log")).unwrap_or_default();
        assert_eq!(said.trim(), "ready", "PostgreSQL does not start: {}", log());
        Self { directory, programs, port: *port, _script: script }
    }

    /// Ends it at once, as a loss of power would.
    pub fn stop(&self) {
        self.control(&["-m", "immediate", "stop"]);
    }

    /// Starts it again after [`stop`](Self::stop).
    pub fn start_again(&self) {
        self.control(&["-w", "-l", "log", "start"]);
    }

    /// Stops all of its processes where they are, as a machine that hangs does, until what this gives is dropped: connections
    /// stay, and nobody answers.
    pub fn hang(&self) -> Hanging {
        let first = self.first_process();
        // The first one begins no others from here on.
        let mut processes = vec![first];
        signal("STOP", &processes);
        processes.extend(children(first));
        signal("STOP", &processes);
        Hanging { processes }
    }

    /// Processor time of all of its processes so far, those that have ended included, as Linux tells.
    pub fn processor_time(&self) -> std::time::Duration {
        const TICKS_A_SECOND: u64 = 100;
        let first = self.first_process();
        let own = |process: u32, fields: usize| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let after_name = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            after_name.skip(11).take(fields).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>()
        };
        // Of the first one also what those took that it waited for.
        let ticks = own(first, 4) + children(first).into_iter().map(|child| own(child, 2)).sum::<u64>();
        std::time::Duration::from_millis(ticks * 1000 / TICKS_A_SECOND)
    }

    fn first_process(&self) -> u32 {
        let file = std::fs::read_to_string(self.directory.join("data/postmaster.pid")).expect("the server runs");
        file.lines().next().and_then(|line| line.trim().parse().ok()).expect("its process")
    }

    fn control(&self, args: &[&str]) {
        let mut command = as_other_user(&self.directory);
        command.env("PGPORT", self.port.to_string());
        command.arg(self.programs.join("pg_ctl")).args(["-D", "data"]).args(args).current_dir(&self.directory);
        // Its output stays open as long as the server runs: nothing may wait for its end.
        let done = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(done.is_ok_and(|status| status.success()), "pg_ctl {args:?}");
    }

    /// Where it can be reached, if it can over the network.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it can be reached on this machine.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(format!(".s.PGSQL.{}", self.port))
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        self.url_of("throughline")
    }

    /// Makes another database; gives its address.
    pub fn create_database(&self, name: &str) -> String {
        self.run(&format!("CREATE DATABASE {name} OWNER throughline"));
        self.url_of(name)
    }

    fn url_of(&self, database: &str) -> String {
        let socket = self.directory.to_string_lossy().replace('/', "%2F");
        format!("postgres://throughline@{socket}:{}/{database}", self.port)
    }

    /// Runs SQL as a superuser; gives what it prints.
    pub fn run(&self, sql: &str) -> String {
        self.run_as("postgres", "throughline", sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs SQL as a role in a database; gives what it prints, or why it failed.
    pub fn run_as(&self, role: &str, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.arg("-h").arg(&self.directory).args([
            "-U",
            role,
            "-d",
            database,
            "-qAtX",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            sql,
        ]);
        psql.env("PGPORT", self.port.to_string());
        let output = psql.stdin(Stdio::null()).output().expect("psql");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

/// A server that hangs, until this is dropped.
pub struct Hanging {
    processes: Vec<u32>,
}

impl Drop for Hanging {
    fn drop(&mut self) {
        signal("CONT", &self.processes);
    }
}

/// Those that a process began, as Linux tells.
fn children(process: u32) -> Vec<u32> {
    let parent = |stat: &str| stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    all.filter(|child| {
        std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| parent(&stat) == Some(process))
    })
    .collect()
}

fn signal(name: &str, processes: &[u32]) {
    let ids = processes.iter().map(u32::to_string);
    // One that has ended meanwhile needs no signal.
    let _ = Command::new("kill").arg(format!("-{name}")).args(ids).stderr(Stdio::null()).status();
}

/// Where the programs of the newest PostgreSQL on this machine are.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .filter(|(_, programs)| programs.join("postgres").exists())
        .collect();
    found.sort();
    let newest = found.pop().map(|(_, programs)| programs);
    newest.expect("these tests need a PostgreSQL server: `apt-get install postgresql`, or run `scripts/test`")
}

/// PostgreSQL refuses to run as root: then another user gets the directory.
fn as_other_user(directory: &Path) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root {
        return Command::new("env");
    }
    let has = |user: &str| Command::new("id").arg(user).output().is_ok_and(|known| known.status.success());
    let user = if has("postgres") { "postgres" } else { "nobody" };
    let given = Command::new("chown").arg("-R").arg(user).arg(directory).status();
    assert!(given.is_ok_and(|status| status.success()), "the directory cannot be given to {user}");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", "nogroup", "--clear-groups", "--"]);
    command
}
