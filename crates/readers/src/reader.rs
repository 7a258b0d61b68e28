//! The parent's end: a child process that reads files, one at a time, behind limits of time, memory and output.
//!
//! One child reads file after file. A file that breaks it, keeps it too long or makes it say too much costs that child: the
//! next file gets another.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use throughline_core::transfer::formats::{Format, Found, ImportError};

use crate::limits::{Limits, MAX_MESSAGE};
use crate::wire::{Answer, ExportQuestion, Piece, Question, receive, send, send_json};
use crate::{Contents, Skip};

/// How much of what a parent has in memory goes into one message, in bytes.
const PART: usize = 1 << 20;

/// Reads files in a child process.
#[derive(Debug)]
pub struct Reader {
    program: PathBuf,
    args: Vec<OsString>,
    running: Option<Running>,
}

/// What another program wrote.
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Where it is.
    pub source: Source<'a>,
    /// Whether it is an archive.
    pub is_archive: bool,
    /// What it is said to be.
    pub format: Option<Format>,
}

/// Where an export is.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A file: only the child opens it.
    File(&'a Path),
    /// In memory.
    Bytes(&'a [u8]),
}

impl Reader {
    /// A program that calls [`crate::serve`] when it is started with these arguments. Starts nothing yet.
    pub fn new(program: PathBuf, args: &[&str]) -> Self {
        let args = args.iter().map(Into::into).collect();
        Self { program, args, running: None }
    }

    /// Reads a file for the vault. [`Skip::Damaged`] is about the file; [`Skip::Unreadable`] may pass.
    pub fn read(&mut self, path: &str) -> Result<Contents, Skip> {
        let limits = Limits::DOCUMENT;
        let mut running = self.asked(&Question::Document { path: path.to_owned() })?;
        let answer = running.next(Instant::now() + limits.patience, &limits)?;
        let answer: Answer = parsed(&answer)?;
        self.running = Some(running);
        answer
    }

    /// Reads what another program wrote.
    pub fn export(&mut self, export: Export<'_>, limits: Limits) -> Result<Found, ImportError> {
        let Export { name, source, is_archive, format } = export;
        let (path, bytes) = match source {
            Source::File(path) => (Some(path.as_os_str().to_owned()), None),
            Source::Bytes(bytes) => (None, Some(bytes)),
        };
        let unreadable = |fault: Fault| {
            let (problem, may_pass) = (fault.to_string(), !fault.is_about_the_file());
            ImportError::Unreadable { name: name.to_owned(), problem, may_pass }
        };
        let question = ExportQuestion { name: name.to_owned(), path, is_archive, format, limits };
        let mut running = self.asked(&Question::Export(question)).map_err(unreadable)?;
        let found = running.export(bytes, &limits).map_err(unreadable)?;
        self.running = Some(running);
        found
    }

    /// A child that was asked. It is put back once it answered.
    fn asked(&mut self, question: &Question) -> Result<Running, Fault> {
        if let Some(mut running) = self.running.take()
            && send_json(&mut running.questions, question).is_ok()
        {
            return Ok(running);
        }
        // There is none, or it ended between two files.
        let mut running = Running::start(&self.program, &self.args).map_err(Fault::Unstarted)?;
        send_json(&mut running.questions, question).map_err(Fault::Unstarted)?;
        Ok(running)
    }
}

/// Why a child did not answer.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("its reader could not be started: {0}")]
    Unstarted(io::Error),
    #[error("it makes more than {} of text", size(*.0))]
    TooMuch(usize),
    #[error("reading it takes longer than {} seconds", .0.as_secs())]
    TooLong(Duration),
    #[error("reading it takes more than {0} seconds of computing")]
    TooMuchComputing(u64),
    #[error("reading it takes too much memory, or breaks its reader")]
    Broken,
    #[error("its reader ended ({0})")]
    Ended(ExitStatus),
    #[error("its reader answered nonsense: {0}")]
    Nonsense(serde_json::Error),
    #[error("its reader is lost: {0}")]
    Lost(io::Error),
}

impl Fault {
    /// Whether reading the same file again would go the same way.
    fn is_about_the_file(&self) -> bool {
        matches!(self, Self::TooMuch(_) | Self::TooLong(_) | Self::TooMuchComputing(_) | Self::Broken)
    }
}

impl From<Fault> for Skip {
    fn from(fault: Fault) -> Self {
        if fault.is_about_the_file() { Self::Damaged(fault.to_string()) } else { Self::Unreadable(fault.to_string()) }
    }
}

fn size(bytes: usize) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MB", bytes >> 20) }
}

fn parsed<T: serde::de::DeserializeOwned>(message: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(message).map_err(Fault::Nonsense)
}

/// A child that is there. It ends with this.
#[derive(Debug)]
struct Running {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<io::Result<Vec<u8>>>,
}

impl Running {
    fn start(program: &PathBuf, args: &[OsString]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(questions), Some(mut pipe)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // A child that goes on talking waits until it is heard.
        let (sender, answers) = sync_channel(1);
        std::thread::spawn(move || {
            while let Some(answer) = receive(&mut pipe, MAX_MESSAGE).transpose() {
                let is_last = answer.is_err();
                if sender.send(answer).is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Self { child, questions, answers })
    }

    /// What an export holds, or why it holds nothing; a fault is the end of this child.
    fn export(&mut self, bytes: Option<&[u8]>, limits: &Limits) -> Result<Result<Found, ImportError>, Fault> {
        let deadline = Instant::now() + limits.patience;
        let Self { child, questions, answers } = self;
        std::thread::scope(|scope| {
            // Apart, so that a child that does not listen keeps nobody waiting.
            let sending = bytes.map(|bytes| scope.spawn(move || send_bytes(questions, bytes)));
            let mut heard = Answers { child, answers };
            let found = heard.pieces(deadline, limits);
            if found.is_err() {
                // Nobody reads what is still being sent.
                let _ = heard.child.kill();
            }
            let sent = sending.map_or(Ok(Ok(())), std::thread::ScopedJoinHandle::join);
            match sent {
                Ok(Err(error)) => found.and(Err(Fault::Lost(error))),
                _ => found,
            }
        })
    }

    fn next(&mut self, deadline: Instant, limits: &Limits) -> Result<Vec<u8>, Fault> {
        Answers { child: &mut self.child, answers: &self.answers }.next(deadline, limits)
    }
}

fn send_bytes(questions: &mut ChildStdin, bytes: &[u8]) -> io::Result<()> {
    bytes.chunks(PART).try_for_each(|part| send(questions, part))?;
    send(questions, b"")
}

/// What a child says.
struct Answers<'a> {
    child: &'a mut Child,
    answers: &'a Receiver<io::Result<Vec<u8>>>,
}

impl Answers<'_> {
    fn pieces(&mut self, deadline: Instant, limits: &Limits) -> Result<Result<Found, ImportError>, Fault> {
        let (mut found, mut room) = (Found::default(), limits.answer);
        loop {
            let piece = self.next(deadline, limits)?;
            room = room.checked_sub(piece.len()).ok_or(Fault::TooMuch(limits.answer))?;
            match parsed(&piece)? {
                Piece::Part(part) => found.join(part),
                Piece::End(None) => return Ok(Ok(found)),
                Piece::End(Some(error)) => return Ok(Err(error)),
            }
        }
    }

    /// Waits for a message; a fault is the end of this child.
    fn next(&mut self, deadline: Instant, limits: &Limits) -> Result<Vec<u8>, Fault> {
        match self.answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => Err(Fault::TooMuch(MAX_MESSAGE)),
            Err(RecvTimeoutError::Timeout) => Err(Fault::TooLong(limits.patience)),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.ended(limits)),
        }
    }

    /// What the end of the child says about the file.
    fn ended(&mut self, limits: &Limits) -> Fault {
        match self.child.wait() {
            Ok(status) if is_no_crash(status) => Fault::Ended(status),
            Ok(status) if is_out_of_time(status) => Fault::TooMuchComputing(limits.cpu_seconds),
            Ok(_) => Fault::Broken,
            Err(error) => Fault::Lost(error),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether it ended by itself, or somebody stopped it: that says nothing about the file.
#[cfg(unix)]
fn is_no_crash(status: ExitStatus) -> bool {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt as _;
    let stopped = [Signal::HUP, Signal::INT, Signal::TERM].map(Signal::as_raw);
    status.signal().is_none_or(|signal| stopped.contains(&signal))
}

#[cfg(not(unix))]
fn is_no_crash(status: ExitStatus) -> bool {
    status.success()
}

#[cfg(unix)]
fn is_out_of_time(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn is_out_of_time(_: ExitStatus) -> bool {
    false
}
