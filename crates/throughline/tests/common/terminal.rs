//! A person at a terminal: what the program shows is waited for, then something is typed. Needs
//! Python, as other tests do.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};

use super::{Home, Ran, until};

/// Runs a program at a terminal of its own, and ends as it does.
const AT_A_TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// A program that runs at a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
    /// How much of it was waited for already.
    read: usize,
}

impl Terminal {
    /// Starts the program.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command("python3");
        command.args(["-c", AT_A_TERMINAL, env!("CARGO_BIN_EXE_throughline")]).args(args);
        command.env("TERM", "xterm").stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = screen.read(&mut bytes) {
                seen.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        Self { child, keys, shown, read: 0 }
    }

    /// Everything that was shown so far.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Waits until the program shows a text that it did not show before, then types a line.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, line: &str) {
        let from = self.read;
        let to = until(|| {
            let shown = self.shown();
            assert!(shown.is_char_boundary(from));
            shown[from..].find(question).map(|at| from + at + question.len())
        });
        self.read = to;
        self.keys.write_all(format!("{line}\r").as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits for the end; gives the exit code and everything that was shown.
    pub(crate) fn end(mut self) -> Ran {
        let code = until(|| self.child.try_wait().unwrap()).code().unwrap_or(-1);
        // The last of it may still be on its way.
        drop(self.keys);
        let mut last = 0;
        until(|| {
            let length = self.shown.lock().unwrap().len();
            let is_still = Arc::strong_count(&self.shown) == 1 && length == last;
            last = length;
            is_still.then_some(())
        });
        let shown = String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned();
        Ran { stdout: shown, stderr: String::new(), code }
    }
}
