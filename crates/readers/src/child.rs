//! The child's end: paths come in on standard input, what the files say goes out on standard output.
//!
//! Each message is its length in four bytes and then JSON. A file that breaks this process is answered by its end.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use crate::limits::{MAX_ANSWER, limit_computing, limit_this_process};
use crate::{Contents, Skip, read};

/// Formats that nest are read by functions that do.
const STACK: usize = 64 * 1024 * 1024;

/// What a file says, or why that is not known.
pub(crate) type Answer = Result<Contents, Skip>;

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
    while let Some(path) = receive(questions, MAX_ANSWER)? {
        let path = String::from_utf8(path).map_err(io::Error::other)?;
        limit_computing();
        send(answers, &serde_json::to_vec(&answer(&path))?)?;
    }
    Ok(())
}

/// Reads a file on a thread with room to nest.
fn answer(path: &str) -> Answer {
    let work = || {
        let read = || read(Path::new(path));
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(Skip::Damaged("its format is damaged".to_owned())))
    };
    let failed = |error: io::Error| Skip::Unreadable(error.to_string());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map_err(failed)?;
        thread.join().unwrap_or_else(|_| Err(Skip::Damaged("its format is damaged".to_owned())))
    })
}

/// Writes a message.
pub(crate) fn send(to: &mut dyn Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(message)?;
    to.flush()
}

/// Reads a message of at most `most` bytes; none at the end.
pub(crate) fn receive(from: &mut dyn Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    let mut message = Vec::new();
    from.take(length as u64).read_to_end(&mut message)?;
    if message.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some(message)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_or_an_error() {
        let mut wire = Vec::new();
        send(&mut wire, b"one").unwrap();
        send(&mut wire, b"").unwrap();
        let mut whole = &wire[..];
        assert_eq!(receive(&mut whole, 9).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(receive(&mut whole, 9).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(receive(&mut whole, 9).unwrap(), None);
        assert!(receive(&mut &wire[..5], 9).is_err(), "cut off");
        assert_eq!(receive(&mut &wire[..], 2).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn paths_are_answered_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "tea").unwrap();
        let mut questions = Vec::new();
        send(&mut questions, path.to_str().unwrap().as_bytes()).unwrap();
        send(&mut questions, b"/nowhere/at/all").unwrap();
        let mut answers = Vec::new();
        answer_all(&mut &questions[..], &mut answers).unwrap();
        let mut answers = &answers[..];
        let mut next = || serde_json::from_slice::<Answer>(&receive(&mut answers, 9999).unwrap().unwrap()).unwrap();
        assert_eq!(next(), read(&path));
        assert!(matches!(next(), Err(Skip::Unreadable(_))));
    }
}
