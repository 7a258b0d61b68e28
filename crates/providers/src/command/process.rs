//! One run of a program: text in, bounded output out. However it ends, none of its process group is left.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// How long output is waited for after the program ended: a process that left the group may hold the pipe open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How much of standard error is kept: its end.
const STDERR: usize = 16 << 10;

/// What a run may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) time: Duration,
    /// Bytes on standard output.
    pub(super) output: usize,
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: Vec<u8>,
    /// The end of it.
    pub(super) stderr: Vec<u8>,
    pub(super) status: ExitStatus,
}

/// Why there is no output.
#[derive(Debug)]
pub(super) enum RunError {
    NotStarted(io::Error),
    TimedOut,
    TooLong,
    Cancelled,
}

/// Runs a program until it ends, a limit is reached, or `go_on` says no.
pub(super) fn run(
    command: &mut Command,
    input: &str,
    limits: Limits,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Output, RunError> {
    let deadline = Instant::now() + limits.time;
    let mut group = Group::start(command).map_err(RunError::NotStarted)?;
    let stdout = Gathered::from(group.child.stdout.take(), Keep::First(limits.output));
    let stderr = Gathered::from(group.child.stderr.take(), Keep::Last(STDERR));
    feed(group.child.stdin.take(), input.as_bytes().to_vec());
    while !group.has_ended().map_err(RunError::NotStarted)? {
        if stdout.is_too_long() {
            return Err(RunError::TooLong);
        }
        if Instant::now() >= deadline {
            return Err(RunError::TimedOut);
        }
        if !go_on() {
            return Err(RunError::Cancelled);
        }
        thread::sleep(ASK_EVERY);
    }
    let status = group.end().map_err(RunError::NotStarted)?;
    let (stdout, stderr) = (stdout.finished()?, stderr.finished()?);
    Ok(Output { stdout, stderr, status })
}

/// Writes the prompt on a thread of its own: a program may print before it reads.
fn feed(stdin: Option<impl io::Write + Send + 'static>, input: Vec<u8>) {
    let Some(mut stdin) = stdin else { return };
    thread::spawn(move || {
        // A program that does not want its input says so by its reply.
        if let Err(error) = stdin.write_all(&input) {
            tracing::debug!(%error, "the program did not read its whole prompt");
        }
    });
}

/// Which part of an output is kept.
#[derive(Clone, Copy)]
enum Keep {
    /// At most this much; more is too long.
    First(usize),
    /// The end.
    Last(usize),
}

/// An output while it arrives.
struct Gathered {
    bytes: Arc<Mutex<Vec<u8>>>,
    keep: Keep,
    ended: Receiver<()>,
}

impl Gathered {
    fn from(pipe: Option<impl Read + Send + 'static>, keep: Keep) -> Self {
        let (end, ended) = channel();
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        if let Some(mut pipe) = pipe {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                gather(&mut pipe, &bytes, keep);
                let _ = end.send(());
            });
        }
        Self { bytes, keep, ended }
    }

    fn is_too_long(&self) -> bool {
        matches!(self.keep, Keep::First(most) if lock(&self.bytes).len() > most)
    }

    fn finished(self) -> Result<Vec<u8>, RunError> {
        if self.ended.recv_timeout(LAST_OUTPUT) == Err(RecvTimeoutError::Timeout) {
            tracing::debug!("somebody still holds the pipe of a program that ended");
        }
        if self.is_too_long() { Err(RunError::TooLong) } else { Ok(std::mem::take(&mut *lock(&self.bytes))) }
    }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads to the end, or until there is more than may be kept.
fn gather(pipe: &mut impl Read, bytes: &Mutex<Vec<u8>>, keep: Keep) {
    let mut part = [0; 8192];
    loop {
        let read = match pipe.read(&mut part) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut bytes = lock(bytes);
        bytes.extend_from_slice(&part[..read]);
        match keep {
            Keep::First(most) if bytes.len() > most => return,
            Keep::First(_) => {}
            Keep::Last(most) => {
                let over = bytes.len().saturating_sub(most);
                bytes.drain(..over);
            }
        }
    }
}

/// The groups that run at the moment, by the id of their first process.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every program that runs as a model: for a process that is about to end. They are not in its own group, so that
/// a terminal's Ctrl-C does not reach them.
pub fn kill_programs() {
    running().iter().for_each(|id| kill_group(*id));
}

#[cfg(unix)]
fn kill_group(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        // It fails where nobody is left.
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}

/// A program and all that it starts. Dropping it kills them.
struct Group {
    child: Child,
    is_over: bool,
}

impl Group {
    fn start(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn()?;
        running().insert(child.id());
        Ok(Self { child, is_over: false })
    }

    /// Whether the program ended. Its process id stays taken until [`Group::end`], so that the group which is killed
    /// there is still its own.
    #[cfg(unix)]
    fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let id = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let Some(id) = id else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        Ok(waitid(WaitId::Pid(id), options)?.is_some())
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Ends the group, and says how the program itself ended.
    fn end(mut self) -> io::Result<ExitStatus> {
        self.kill()
    }

    /// Idempotent: once the program was waited for, its id may be somebody else's.
    fn kill(&mut self) -> io::Result<ExitStatus> {
        if !self.is_over {
            self.is_over = true;
            let mut running = running();
            kill_group(self.child.id());
            let _ = self.child.kill();
            running.remove(&self.child.id());
        }
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
