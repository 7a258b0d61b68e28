//! What other programs wrote, as the child reads it: the file becomes memories and turns, which go out piece by piece.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;

use serde::Serialize;
use throughline_core::transfer::formats::{self, Found, FoundMemory, FoundTurn, ImportError};

use crate::child::apart;
use crate::limits::MAX_MESSAGE;
use crate::wire::{ExportQuestion, Piece, receive, send_json};

/// How much goes into one piece, about, in bytes.
const PIECE: usize = 1 << 20;

/// A single memory or turn with more is left out: with its escapes it must fit into a message. Nothing near it is stored.
const MAX_ITEM: usize = 24 << 20;

/// Reads what another program wrote, and sends what it holds.
pub(crate) fn answer(question: &ExportQuestion, questions: &mut dyn Read, answers: &mut dyn Write) -> io::Result<()> {
    let sent = if question.path.is_none() { sent(questions)? } else { Vec::new() };
    let found = match apart(|| found(question, sent))? {
        Some(found) => found,
        None => Err(unreadable(question, "its format is damaged")),
    };
    let failed = match found {
        Ok(found) => {
            send_found(found, answers)?;
            None
        }
        Err(error) => Some(error),
    };
    send_json(answers, &Piece::End(failed))
}

/// The bytes that follow a question.
fn sent(questions: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let part = receive(questions, MAX_MESSAGE)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if part.is_empty() {
            return Ok(all);
        }
        all.extend(part);
    }
}

fn found(question: &ExportQuestion, sent: Vec<u8>) -> Result<Found, ImportError> {
    let ExportQuestion { name, path, is_archive, format, limits } = question;
    let failed = |error: io::Error| unreadable(question, &error.to_string());
    match (path, is_archive) {
        (Some(path), true) => {
            let file = plain_file(Path::new(path)).map_err(failed)?;
            formats::read_archive(name, file, *format, limits.unpacked)
        }
        (Some(path), false) => {
            let bytes = plain_file(Path::new(path)).and_then(whole).map_err(failed)?;
            formats::read(name, &bytes, *format)
        }
        (None, true) => formats::read_archive(name, Cursor::new(sent), *format, limits.unpacked),
        (None, false) => formats::read(name, &sent, *format),
    }
}

/// A pipe or a device would be read for ever.
fn plain_file(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is no plain file any more"));
    }
    File::open(path)
}

fn whole(file: File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len().min(formats::MAX_FILE);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(formats::MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > formats::MAX_FILE { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

fn unreadable(question: &ExportQuestion, problem: &str) -> ImportError {
    ImportError::Unreadable { name: question.name.clone(), problem: problem.to_owned(), may_pass: false }
}

/// Sends everything, in pieces of bounded size.
fn send_found(found: Found, answers: &mut dyn Write) -> io::Result<()> {
    let Found { files, memories, sessions, turns, skipped, adjusted } = found;
    let first = Found { files, skipped, adjusted, ..Found::default() };
    let mut pieces = Pieces { part: first, size: 0, answers };
    for memory in memories {
        let size = size_of_memory(&memory);
        if let Some(part) = pieces.with_room_for(size, &memory.place)? {
            part.memories.push(memory);
        }
    }
    for session in sessions {
        let size = session.title.as_ref().map_or(0, String::len) + session.project.as_ref().map_or(0, String::len);
        if let Some(part) = pieces.with_room_for(size, session.id.as_str())? {
            part.sessions.push(session);
        }
    }
    for turn in turns {
        let size = size_of_turn(&turn);
        if let Some(part) = pieces.with_room_for(size, &turn.place)? {
            part.turns.push(turn);
        }
    }
    pieces.send()
}

fn size_of_memory(memory: &FoundMemory) -> usize {
    let FoundMemory { id, place, content, key, tags, project, .. } = memory;
    let optional = [key, project].into_iter().flatten().map(String::len).sum::<usize>();
    id.len() + place.len() + content.len() + optional + tags.iter().map(String::len).sum::<usize>()
}

fn size_of_turn(turn: &FoundTurn) -> usize {
    turn.name.len() + turn.place.len() + turn.content.len()
}

/// What was found, as far as it is not sent yet.
struct Pieces<'a> {
    part: Found,
    size: usize,
    answers: &'a mut dyn Write,
}

impl Pieces<'_> {
    /// The part that something of this size goes into; `None` if it is larger than any message.
    fn with_room_for(&mut self, size: usize, place: &str) -> io::Result<Option<&mut Found>> {
        if size > MAX_ITEM {
            self.part.skip(place, "is far too large to be kept");
            return Ok(None);
        }
        if self.size + size > PIECE {
            self.send()?;
        }
        // Each costs something, even if it says nothing.
        self.size += size + 100;
        Ok(Some(&mut self.part))
    }

    fn send(&mut self) -> io::Result<()> {
        self.size = 0;
        let part = std::mem::take(&mut self.part);
        send_json(self.answers, &Sent::Part(&part))
    }
}

/// A [`Piece`] that is not owned.
#[derive(Serialize)]
enum Sent<'a> {
    Part(&'a Found),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::wire::send;

    fn asked(name: &str, text: &[u8]) -> (Result<Found, ImportError>, usize) {
        let limits = Limits::DAEMON;
        let question = ExportQuestion { name: name.to_owned(), path: None, is_archive: false, format: None, limits };
        let mut sent = Vec::new();
        for part in text.chunks(1000).chain([&b""[..]]) {
            send(&mut sent, part).unwrap();
        }
        let mut answers = Vec::new();
        answer(&question, &mut &sent[..], &mut answers).unwrap();
        let (mut answers, mut whole, mut pieces) = (&answers[..], Found::default(), 0);
        loop {
            let piece = receive(&mut answers, MAX_MESSAGE).unwrap().unwrap();
            match serde_json::from_slice(&piece).unwrap() {
                Piece::Part(part) => whole.join(part),
                Piece::End(None) => return (Ok(whole), pieces),
                Piece::End(Some(error)) => return (Err(error), pieces),
            }
            pieces += 1;
        }
    }

    /// The pieces together are what reading gives in one process, to the last digit.
    #[test]
    fn what_goes_over_the_pipe_is_what_was_read() {
        let line = |n: usize| {
            format!(
                "{{\"content\": \"memory {n} {}\", \"importance\": 0.{n}, \"created_at\": \"2025-01-31T10:00:00.{n}Z\"}}\n\
                 {{\"role\": \"user\", \"content\": \"turn \\\"{n}\\\"\", \"session\": \"s{n}\", \"at\": \"soon\"}}\nbroken {n}\n",
                "\u{fffd}é ".repeat(100)
            )
        };
        let text: String = (1..10_000).map(line).collect();
        let (found, pieces) = asked("all.jsonl", text.as_bytes());
        assert_eq!(found, formats::read("all.jsonl", text.as_bytes(), None));
        assert!(pieces > 2, "{pieces}");
        let text = r#"[{"id": "c", "title": "Tea", "mapping": {"n": {"message": {"author": {"role": "user"}, "content": {"parts": ["Hi"]}}}}}]"#;
        assert_eq!(asked("c.json", text.as_bytes()).0, formats::read("c.json", text.as_bytes(), None));
        for (name, bytes) in
            [("a.bin", &b"\xff\xfe"[..]), ("a.json", br#"{"version": 1, "memories": []}"#), ("a", b"PK\x03\x04")]
        {
            let error = formats::read(name, bytes, None).unwrap_err();
            assert_eq!(asked(name, bytes).0, Err(error), "{name}");
        }
    }

    #[test]
    fn what_fits_into_no_message_is_left_out_and_said() {
        let long = "x".repeat(MAX_ITEM + 1);
        let text = format!("{{\"content\": \"{long}\"}}\n{{\"content\": \"tea\"}}\n");
        let found = asked("all.jsonl", text.as_bytes()).0.unwrap();
        assert_eq!((found.memories.len(), found.skipped[0].places[0].as_str()), (1, "line 1"));
    }
}
