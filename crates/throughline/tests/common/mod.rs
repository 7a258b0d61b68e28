//! A person's machine in a temporary directory: its own home, its own clock, and nothing of the real environment but
//! `PATH`. Every command runs the real binary.
#![allow(dead_code, reason = "every test file uses its own part of this")]

pub(crate) mod daemon;
pub(crate) mod installed;
#[cfg(unix)]
pub(crate) mod on_postgres;
#[cfg(unix)]
pub(crate) mod terminal;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const NOON: &str = "2026-03-01T12:00:00Z";

/// Whether this test program keeps memories on a PostgreSQL server.
pub(crate) fn is_on_postgres() -> bool {
    env!("CARGO_CRATE_NAME").ends_with("_on_postgres")
}

/// What an erasure says that it cannot reach.
pub(crate) fn beyond_erasing() -> Value {
    if is_on_postgres() { serde_json::json!([throughline_postgres::BEYOND_ERASING]) } else { serde_json::json!([]) }
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        let ran =
            Self { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) };
        assert!((0..=2).contains(&ran.code), "codes are 0, 1 and 2: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "no input is a reason to panic: {ran:?}");
        ran
    }

    /// It was done, without a word on standard error; gives what it said.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:?}");
        self.stdout
    }

    /// It failed with this code, and said why and what to try next, on standard error alone.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, error: &str, hint: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{self:?}");
        let line = |start: &str| self.stderr.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default();
        assert!(line("error: ").contains(error), "no `{error}` in the error: {self:?}");
        assert!(line("hint: ").contains(hint), "no `{hint}` in the hint: {self:?}");
    }
}

/// One person's machine.
pub(crate) struct Home {
    root: TempDir,
    now: String,
    variables: BTreeMap<&'static str, String>,
}

impl Home {
    /// A machine on which the program never ran.
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("throughline-").tempdir().unwrap();
        for directory in ["person", "tmp"] {
            std::fs::create_dir(root.path().join(directory)).unwrap();
        }
        let home = Self { root, now: NOON.to_owned(), variables: BTreeMap::new() };
        #[cfg(unix)]
        if is_on_postgres() {
            home.put("config.toml", &on_postgres::config(include_str!("../../first-run.toml")));
        }
        home
    }

    /// One with a config file, and nothing else.
    pub(crate) fn with_config(name: &str, text: &str) -> Self {
        let home = Self::new();
        #[cfg(unix)]
        if is_on_postgres() {
            assert_eq!(name, "config.toml");
            home.put(name, &on_postgres::config(text));
            return home;
        }
        home.put(name, text);
        home
    }

    /// The directory that holds everything: the home, the person's own files, the temporary ones.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// `THROUGHLINE_HOME`, or something below it.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        let home = self.root.path().join("memory");
        if below.is_empty() { home } else { home.join(below) }
    }

    /// A file below the home, as text.
    #[track_caller]
    pub(crate) fn text(&self, below: &str) -> String {
        std::fs::read_to_string(self.path(below)).unwrap()
    }

    /// Writes a file below the home, as a person would.
    pub(crate) fn put(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A document as a person writes it: in its file, or with a command where there is none.
    pub(crate) fn put_document(&self, name: &str, text: &str) {
        if is_on_postgres() {
            self.run_with(&["write", name], text).done();
        } else {
            self.put(&format!("{name}.md"), text);
        }
    }

    pub(crate) fn set_now(&mut self, now: &str) {
        self.now = now.to_owned();
    }

    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.variables.insert(name, value.to_owned());
    }

    /// Gives `program` this machine's environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let person = self.root.path().join("person");
        command.env_clear().current_dir(&person).env("PATH", search_path()).env("HOME", &person).env("TZ", "UTC");
        for (name, directory) in [("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state")] {
            command.env(format!("XDG_{name}_HOME"), person.join(directory));
        }
        command.env("THROUGHLINE_HOME", self.path("")).env("THROUGHLINE_NOW", &self.now);
        command.env("TMPDIR", self.root.path().join("tmp")).envs(&self.variables);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The program itself, not yet started.
    pub(crate) fn throughline(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_throughline"));
        command.args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.throughline(args).output().unwrap())
    }

    /// Runs it with a text on standard input.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &str) -> Ran {
        let mut child = self.throughline(args).stdin(Stdio::piped()).spawn().unwrap();
        let given = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        // A command that refuses its arguments does not wait for its input.
        assert!(given.is_ok() || !output.status.success());
        Ran::of(output)
    }

    /// Runs a line of shell in which `$THROUGHLINE` is the program.
    pub(crate) fn shell(&self, script: &str) -> Ran {
        let mut command = self.command("sh");
        Ran::of(command.args(["-c", script]).env("THROUGHLINE", env!("CARGO_BIN_EXE_throughline")).output().unwrap())
    }

    /// The answer for programs.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[&["--json"], args].concat());
        assert!(ran.code < 2 && ran.stderr.is_empty(), "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
    }

    /// Stores a memory and gives its id.
    #[track_caller]
    pub(crate) fn remember(&self, args: &[&str]) -> String {
        string(&self.json(&[&["remember"], args].concat())["id"])
    }

    /// The texts of what a query finds, best first.
    #[track_caller]
    pub(crate) fn found(&self, args: &[&str]) -> Vec<String> {
        contents(&self.json(&[&["recall"], args].concat())["hits"])
    }

    /// The texts of all active memories, newest first.
    #[track_caller]
    pub(crate) fn listed(&self, args: &[&str]) -> Vec<String> {
        contents(&self.json(&[&["list"], args].concat())["memories"])
    }
}

/// Longer than anything takes that is bound to happen.
const BOUND_TO_HAPPEN: Duration = Duration::from_secs(120);

/// Waits for something that is bound to happen.
#[track_caller]
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < BOUND_TO_HAPPEN, "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

fn contents(memories: &Value) -> Vec<String> {
    memories.as_array().unwrap().iter().map(|memory| string(&memory["content"])).collect()
}

#[allow(clippy::disallowed_methods, reason = "shells and editors must be found; nothing else is taken over")]
fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Every file below a directory with its bytes, every directory and link without; by path.
pub(crate) fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                todo.push(entry.path());
            }
            let bytes = if kind.is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
            found.insert(entry.path(), bytes);
        }
    }
    found
}

/// Who may do what with a file: the last nine bits of its mode.
#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A transcript: what a person typed, read and got back.
pub(crate) struct Story<'a> {
    home: &'a Home,
    text: String,
}

impl<'a> Story<'a> {
    pub(crate) fn of(home: &'a Home) -> Self {
        Self { home, text: String::new() }
    }

    pub(crate) fn step(&mut self, args: &[&str]) {
        let ran = self.home.run(args);
        self.note(args, &ran);
    }

    pub(crate) fn step_with(&mut self, args: &[&str], stdin: &str) {
        let ran = self.home.run_with(args, stdin);
        self.note(args, &ran);
    }

    fn note(&mut self, args: &[&str], ran: &Ran) {
        let quoted = |arg: &&str| if arg.contains(' ') { format!("\"{arg}\"") } else { (*arg).to_owned() };
        let line: String = args.iter().map(|arg| format!(" {}", quoted(arg))).collect();
        self.text.push_str(&format!("$ throughline{line}\n{}", ran.stdout));
        for line in ran.stderr.lines() {
            self.text.push_str(&format!("! {line}\n"));
        }
        self.text.push_str(&format!("[exit {}]\n\n", ran.code));
    }

    /// The transcript, with what differs from run to run left out, and from fit to fit: how much a weight is.
    pub(crate) fn told(self) -> String {
        let mut text = self.text.replace(&*self.home.path("").to_string_lossy(), "[home]");
        for memory in self.home.json(&["list", "--status", "any"])["memories"].as_array().unwrap() {
            let id = string(&memory["id"]);
            text = text.replace(&id, "[id]").replace(&id[..8], "[id]    ").replace(&id[..6], "[id]");
        }
        text.lines().map(|line| unweighed(line) + "\n").collect()
    }
}

/// `fits 83 %, by its words: own +2.10, base -1.20` without its numbers and features, and so `score 0.83`.
fn unweighed(line: &str) -> String {
    if let Some((before, score)) = line.split_once("score ") {
        let rest = score.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        return format!("{before}score [share]{rest}");
    }
    let Some((before, fits)) = line.split_once("fits ") else { return line.to_owned() };
    let Some((_, rest)) = fits.split_once(" %") else { return line.to_owned() };
    let how = rest.split(": ").next().unwrap_or(rest);
    let points = if how.len() < rest.len() { ": [points]" } else { "" };
    format!("{before}fits [share] %{how}{points}")
}

/// An archive of these files.
pub(crate) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
