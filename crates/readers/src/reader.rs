//! The parent's end: a child process that reads files, one at a time, behind limits of time, memory and output.
//!
//! One child reads file after file. A file that breaks it, keeps it too long or makes it say too much costs that child: the
//! next file gets another.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::child::{Answer, receive, send};
use crate::limits::{CPU_SECONDS, MAX_ANSWER, PATIENCE};
use crate::{Contents, Skip};

/// Reads files in a child process.
#[derive(Debug)]
pub struct Reader {
    program: PathBuf,
    args: Vec<OsString>,
    patience: Duration,
    running: Option<Running>,
}

impl Reader {
    /// A program that calls [`crate::serve`] when it is started with these arguments. Starts nothing yet.
    pub fn new(program: PathBuf, args: &[&str]) -> Self {
        let args = args.iter().map(Into::into).collect();
        Self { program, args, patience: PATIENCE, running: None }
    }

    /// Reads a file. [`Skip::Damaged`] is about the file; [`Skip::Unreadable`] may pass.
    pub fn read(&mut self, path: &str) -> Result<Contents, Skip> {
        let unstarted = |error: io::Error| Skip::Unreadable(format!("its reader could not be started: {error}"));
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.program, &self.args).map_err(unstarted)?,
        };
        if running.ask(path).is_err() {
            // It ended between two files.
            running = Running::start(&self.program, &self.args).map_err(unstarted)?;
            running.ask(path).map_err(unstarted)?;
        }
        let answer = running.answer(self.patience)?;
        self.running = Some(running);
        answer
    }
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
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            while let Some(answer) = receive(&mut pipe, MAX_ANSWER).transpose() {
                let is_last = answer.is_err();
                if sender.send(answer).is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Self { child, questions, answers })
    }

    fn ask(&mut self, path: &str) -> io::Result<()> {
        send(&mut self.questions, path.as_bytes())
    }

    /// Waits for the answer; an error is the end of this child.
    fn answer(&mut self, patience: Duration) -> Result<Answer, Skip> {
        let answer = match self.answers.recv_timeout(patience) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(Skip::Damaged(format!("it makes more than {} MB of text", MAX_ANSWER >> 20)));
            }
            Err(RecvTimeoutError::Timeout) => {
                return Err(Skip::Damaged(format!("reading it takes longer than {} seconds", patience.as_secs())));
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
        };
        serde_json::from_slice(&answer)
            .map_err(|error| Skip::Unreadable(format!("its reader answered nonsense: {error}")))
    }

    /// What the end of the child says about the file.
    fn ended(&mut self) -> Skip {
        match self.child.wait() {
            Ok(status) if is_no_crash(status) => Skip::Unreadable(format!("its reader ended ({status})")),
            Ok(status) if is_out_of_time(status) => {
                Skip::Damaged(format!("reading it takes more than {CPU_SECONDS} seconds of computing"))
            }
            Ok(_) => Skip::Damaged("reading it takes too much memory, or breaks its reader".to_owned()),
            Err(error) => Skip::Unreadable(error.to_string()),
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
