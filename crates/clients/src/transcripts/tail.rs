//! The end of a file that grows: read back as far as something that is known already.
//!
//! Nothing is kept about how far a file was read: what is stored is always a beginning of the conversation, and rows have
//! names. A file that was cut, moved or written anew is no special case.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom};

use serde_json::Value;

use throughline_core::model::Role;

use super::rows::{self, Row};
use super::{News, Spoken, Summary, bounded_json};
use crate::Client;

/// How much of the end is read: as little as will do, and never more than the last.
const WINDOWS: [u64; 3] = [1 << 20, 16 << 20, 128 << 20];

/// A longer row is passed over: it holds pictures or whole files.
const LONGEST_ROW: u64 = 16 << 20;

/// A file that is one JSON document cannot be read in part.
const LARGEST_DOCUMENT: u64 = 64 << 20;

/// No conversation has more turns: of more rows, the last are taken.
const MOST_ROWS: usize = 100_000;

/// How a file is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A JSON value on every line.
    Lines,
    /// One JSON value, its messages in a list.
    Document,
}

/// What is new at the end of a transcript of `length` bytes. What was said before the first thing that is known may be
/// given again.
pub fn read(
    client: Client,
    session: &str,
    source: impl Read + Seek,
    length: u64,
    is_known: &dyn Fn(&Spoken) -> bool,
) -> Result<News> {
    let mut source = BufReader::with_capacity(256 * 1024, source);
    let rows = match shape(&mut source)? {
        Shape::Document => document(client, session, source, length)?,
        Shape::Lines => lines(client, session, &mut source, length, is_known)?,
    };
    let (spoken, summary) = told_apart(rows, is_known);
    Ok(News { said: new_ones(spoken, is_known), summary })
}

/// What was said, and the last summary, where nothing behind it is known already.
fn told_apart(rows: VecDeque<Row>, is_known: &dyn Fn(&Spoken) -> bool) -> (Vec<Spoken>, Option<Summary>) {
    let (mut spoken, mut summary) = (Vec::<Spoken>::new(), None);
    for row in rows {
        match row {
            Row::Said(said) => {
                summary = summary.filter(|_| !is_known(&said));
                spoken.push(said);
            }
            // Codex has its model say the summary as a reply, and notes behind it that it was one.
            Row::Summary(made) => {
                spoken.pop_if(|last| last.role == Role::Assistant && made.text.ends_with(last.text.trim()));
                summary = Some(made);
            }
        }
    }
    (spoken, summary)
}

/// Those that are not known, each once.
fn new_ones(spoken: Vec<Spoken>, is_known: &dyn Fn(&Spoken) -> bool) -> Vec<Spoken> {
    let mut new: Vec<Spoken> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for said in spoken.into_iter().filter(|said| !is_known(said)) {
        // A row that is written again, with more in it, takes the place of what it was.
        match places.get(&said.id).and_then(|place| new.get_mut(*place)) {
            Some(other) => *other = said,
            None => {
                places.insert(said.id.clone(), new.len());
                new.push(said);
            }
        }
    }
    new
}

/// A document spreads over lines or has a list of messages; everything else is rows.
fn shape(source: &mut (impl BufRead + Seek)) -> Result<Shape> {
    source.seek(SeekFrom::Start(0))?;
    let mut first = Vec::new();
    source.by_ref().take(LONGEST_ROW).read_until(b'\n', &mut first)?;
    let is_document = match bounded_json(&first) {
        Some(row) => row.get("messages").is_some_and(Value::is_array),
        None => first.trim_ascii() == b"{",
    };
    Ok(if is_document { Shape::Document } else { Shape::Lines })
}

fn document(client: Client, session: &str, mut source: impl BufRead + Seek, length: u64) -> Result<VecDeque<Row>> {
    if length > LARGEST_DOCUMENT {
        return Ok(VecDeque::new());
    }
    source.seek(SeekFrom::Start(0))?;
    // Half a document is none: the next event finds it whole.
    let mut bytes = Vec::new();
    source.take(length).read_to_end(&mut bytes)?;
    let document = bounded_json(&bytes).unwrap_or_default();
    let messages = document.get("messages").and_then(Value::as_array);
    let mut rows = VecDeque::new();
    for (row, place) in messages.into_iter().flatten().zip(0..) {
        keep(&mut rows, rows::read(client, session, row, place));
    }
    Ok(rows)
}

/// Adds a row; of too many, the first goes.
fn keep(rows: &mut VecDeque<Row>, row: Option<Row>) {
    rows.extend(row);
    if rows.len() > MOST_ROWS {
        rows.pop_front();
    }
}

fn lines(
    client: Client,
    session: &str,
    source: &mut (impl BufRead + Seek),
    length: u64,
    is_known: &dyn Fn(&Spoken) -> bool,
) -> Result<VecDeque<Row>> {
    let is_known = |row: &Row| matches!(row, Row::Said(said) if is_known(said));
    let mut rows = VecDeque::new();
    for window in WINDOWS {
        rows = lines_from(client, session, source, length.saturating_sub(window), length)?;
        if window >= length || rows.iter().any(is_known) {
            break;
        }
    }
    Ok(rows)
}

/// The rows between two places. The first is passed over where it may begin before; the last may be half written, and
/// then it is no JSON and waits.
fn lines_from(
    client: Client,
    session: &str,
    source: &mut (impl BufRead + Seek),
    from: u64,
    to: u64,
) -> Result<VecDeque<Row>> {
    source.seek(SeekFrom::Start(from))?;
    let mut rows = VecDeque::new();
    let (mut place, mut row) = (from, Vec::new());
    let mut is_whole = from == 0;
    while place < to {
        row.clear();
        let read = source.by_ref().take(LONGEST_ROW.min(to - place)).read_until(b'\n', &mut row)? as u64;
        if read == 0 {
            break;
        }
        let ends = row.last() == Some(&b'\n');
        if is_whole && let Some(value) = bounded_json(&row) {
            keep(&mut rows, rows::read(client, session, &value, place));
        }
        is_whole = ends;
        place += read;
    }
    Ok(rows)
}
