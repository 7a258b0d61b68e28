//! The child's end: questions come in on standard input, what the files say goes out on standard output.
//!
//! A file that breaks this process is answered by its end.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use crate::limits::{Limits, MAX_MESSAGE, limit_this_process, limit_to};
use crate::wire::{Answer, Question, receive, send_json};
use crate::{Skip, export, read};

/// Formats that nest are read by functions that do.
const STACK: usize = 64 * 1024 * 1024;

/// Reads files for the process that started this one, until it closes the pipe. Call it before anything else: it limits
/// this process for good.
pub fn serve() -> ExitCode {
    limit_this_process();
    // A panic is an answer.
    std::panic::set_hook(Box::new(|_| {}));
    match answer_all(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer_all(questions: &mut dyn Read, answers: &mut dyn Write) -> io::Result<()> {
    while let Some(question) = receive(questions, MAX_MESSAGE)? {
        match serde_json::from_slice(&question)? {
            Question::Document { path } => {
                limit_to(&Limits::DOCUMENT);
                send_json(answers, &answer(&path))?;
            }
            Question::Export(question) => {
                limit_to(&question.limits);
                export::answer(&question, questions, answers)?;
            }
        }
    }
    Ok(())
}

fn answer(path: &str) -> Answer {
    let damaged = || Err(Skip::Damaged("its format is damaged".to_owned()));
    match apart(|| read(Path::new(path))) {
        Ok(answer) => answer.unwrap_or_else(damaged),
        Err(error) => Err(Skip::Unreadable(error.to_string())),
    }
}

/// Reads on a thread with a large stack; `None` if it panics.
pub(crate) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<Option<T>> {
    let work = || catch_unwind(AssertUnwindSafe(work)).ok();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().ok().flatten())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::send;

    #[test]
    fn questions_are_answered_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "tea").unwrap();
        let mut questions = Vec::new();
        for path in [path.to_str().unwrap(), "/nowhere/at/all"] {
            send_json(&mut questions, &Question::Document { path: path.to_owned() }).unwrap();
        }
        let mut answers = Vec::new();
        answer_all(&mut &questions[..], &mut answers).unwrap();
        let mut answers = &answers[..];
        let mut next = || serde_json::from_slice::<Answer>(&receive(&mut answers, 9999).unwrap().unwrap()).unwrap();
        assert_eq!(next(), read(&path));
        assert!(matches!(next(), Err(Skip::Unreadable(_))));
        send(&mut questions, b"what?").unwrap();
        assert!(answer_all(&mut &questions[..], &mut Vec::new()).is_err(), "what is no question ends the child");
    }
}
