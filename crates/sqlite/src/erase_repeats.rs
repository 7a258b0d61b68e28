//! Takes out what repeats an erased text: summaries, threads, earlier versions of working memory, what conversations began with,
//! and the logs. What was said and what a person wrote elsewhere stays, and is named by whoever erases.

use rusqlite::{Connection, params};
use throughline_core::lineage::{ERASED, Trace};
use throughline_core::model::{DocumentName, Entry, Thread};
use throughline_core::ports::Erasure;
use throughline_core::text::tokens;

use crate::erase;
use crate::index::turn_terms;
use crate::rows::{self, ENTRY_COLUMNS};

/// Takes texts out; gives how many versions and recalls held one.
pub(crate) fn take_out(transaction: &Connection, erasure: &Erasure) -> rusqlite::Result<(u64, u64)> {
    let traces = Trace::all_of(erasure);
    if traces.is_empty() {
        return Ok((0, 0));
    }
    let out_of = Out { traces: &traces };
    let mut versions = out_of.archive(transaction)?;
    out_of.summaries(transaction)?;
    versions += out_of.threads(transaction)?;
    versions += out_of.working(transaction)?;
    out_of.sessions(transaction)?;
    Ok((versions, out_of.logs(transaction)?))
}

struct Out<'a> {
    traces: &'a [Trace],
}

impl Out<'_> {
    fn is_in(&self, text: &str) -> bool {
        self.traces.iter().any(|trace| trace.is_in(text))
    }

    fn is_repeated_by(&self, text: &str) -> bool {
        self.traces.iter().any(|trace| trace.is_repeated_by(text))
    }

    /// The text without what repeats any of them; nothing where nothing does.
    fn of(&self, text: &str, take: impl Fn(&Trace, &str) -> Option<String>) -> Option<String> {
        let left = self.traces.iter().fold(text.to_owned(), |left, trace| take(trace, &left).unwrap_or(left));
        (left != text).then_some(left)
    }

    /// Summaries among the entries, and their history. One of which nothing is left goes.
    fn archive(&self, transaction: &Connection) -> rusqlite::Result<u64> {
        let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.layer = 'archive' AND e.kind = 'entry'");
        let entries: Vec<Entry> =
            transaction.prepare(&sql)?.query_map([], rows::entry)?.collect::<rusqlite::Result<_>>()?;
        let mut removed = 0;
        for entry in entries {
            let Some(left) = self.of(&entry.content, Trace::taken_out_of) else { continue };
            let id = entry.id.to_string();
            if left.is_empty() {
                removed += erase::remove_memory(transaction, &id)?;
                erase::forget_use(transaction, &id)?;
                continue;
            }
            let entry = Entry { content: left, ..entry };
            let sql = "UPDATE entries SET content = ?2, terms = ?3, digest = ?4, twin = ?1 WHERE id = ?1";
            let digest = entry.text_digest().map(|digest| digest.as_str().to_owned());
            transaction.execute(sql, params![id, entry.content, rows::terms(&entry), digest])?;
        }
        Ok(removed + self.entry_versions(transaction)?)
    }

    fn entry_versions(&self, transaction: &Connection) -> rusqlite::Result<u64> {
        let sql = "SELECT row, state ->> 'content' FROM entry_versions WHERE state ->> 'layer' = 'archive'";
        let kept: Vec<(i64, String)> = transaction
            .prepare(sql)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut scrubbed = 0;
        for (row, content) in kept {
            let Some(left) = self.of(&content, Trace::taken_out_of) else { continue };
            let left = if left.is_empty() { ERASED.to_owned() } else { left };
            let sql = "UPDATE entry_versions SET state = json_set(state, '$.content', ?2) WHERE row = ?1";
            transaction.execute(sql, params![row, left])?;
            scrubbed += 1;
        }
        Ok(scrubbed)
    }

    /// Summaries that stand in a conversation in the place of what was said.
    fn summaries(&self, transaction: &Connection) -> rusqlite::Result<()> {
        let kept: Vec<(i64, String)> = transaction
            .prepare("SELECT row, content FROM turns WHERE role = 'summary'")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (row, content) in kept {
            let Some(left) = self.of(&content, Trace::taken_out_of) else { continue };
            let left = if left.is_empty() { ERASED.to_owned() } else { left };
            let sql = "UPDATE turns SET content = ?2, terms = ?3, tokens = ?4 WHERE row = ?1";
            transaction.execute(sql, params![row, left, turn_terms(None, &left), tokens::estimate(&left)])?;
        }
        Ok(())
    }

    fn threads(&self, transaction: &Connection) -> rusqlite::Result<u64> {
        crate::threads::scrub_with(transaction, &|thread| self.thread(thread))
    }

    /// The thread without what repeats any of them; none if it does not. A title that does is the conversation's name.
    fn thread(&self, thread: &Thread) -> Option<Thread> {
        let working = DocumentName::working(&thread.namespace);
        let lines = |text: &str| self.of(text, |trace, text| trace.taken_out_of_lines(&working, text));
        let is_named = self.is_repeated_by(&thread.title);
        let content = lines(&thread.content);
        let rendered = thread.rendered.as_deref().and_then(lines);
        if !is_named && content.is_none() && rendered.is_none() {
            return None;
        }
        let title = if is_named { thread.session.to_string() } else { thread.title.clone() };
        let rendered = rendered.or_else(|| thread.rendered.clone()).map(|text| text.replacen(&thread.title, &title, 1));
        Some(Thread { content: content.unwrap_or_else(|| thread.content.clone()), title, rendered, ..thread.clone() })
    }

    /// Versions of working memory, which is made of threads, and its lines in the index. Its file is written anew by whoever
    /// erases.
    fn working(&self, transaction: &Connection) -> rusqlite::Result<u64> {
        let addresses: Vec<String> = transaction
            .prepare("SELECT name FROM documents WHERE name LIKE '%/working'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut scrubbed = 0;
        for address in addresses {
            let Ok(name) = address.parse::<DocumentName>() else { continue };
            let without = |text: &str| {
                let left = self.of(text, |trace, text| trace.taken_out_of_lines(&name, text));
                left.unwrap_or_else(|| text.to_owned())
            };
            scrubbed += erase::scrub_versions(transaction, &address, &without)?;
        }
        let lines = "SELECT row, content FROM entries WHERE kind = 'bullet' AND namespace LIKE '%/working'";
        let remove = "DELETE FROM entries WHERE row = ?";
        change_where(transaction, lines, &|text| self.is_repeated_by(text), remove)?;
        Ok(scrubbed)
    }

    /// What conversations are called and began with is computed anew.
    fn sessions(&self, transaction: &Connection) -> rusqlite::Result<()> {
        let openings = "SELECT row, opening FROM sessions WHERE opening IS NOT NULL";
        let anew = "UPDATE sessions SET opening = NULL WHERE row = ?";
        change_where(transaction, openings, &|text| self.is_in(text), anew)?;
        let titles = "SELECT row, title FROM sessions WHERE title IS NOT NULL";
        let untitled = "UPDATE sessions SET title = NULL WHERE row = ?";
        change_where(transaction, titles, &|text| self.is_repeated_by(text), untitled).map(drop)
    }

    /// Questions that named it, and what reflection said about it. Gives how many questions there were.
    fn logs(&self, transaction: &Connection) -> rusqlite::Result<u64> {
        let passes = "SELECT row, ifnull(reason, '') || ' ' || applied || ' ' || dropped FROM passes";
        let blank = "UPDATE passes SET reason = NULL, applied = '[]', dropped = '[]' WHERE row = ?";
        change_where(transaction, passes, &|text| self.is_in(text), blank)?;
        forget_questions(transaction, self.traces)
    }
}

/// Removes questions in the log that said something or named it; gives how many there were.
pub(crate) fn forget_questions(transaction: &Connection, traces: &[Trace]) -> rusqlite::Result<u64> {
    let remove = "DELETE FROM recalls WHERE row = ?";
    let is_meant = |text: &str| traces.iter().any(|trace| trace.is_in(text));
    change_where(transaction, "SELECT row, query FROM recalls", &is_meant, remove)
}

/// Every text that a backup keeps, the words of the index aside.
const TEXTS: [&str; 11] = [
    "SELECT content FROM entries",
    "SELECT state FROM entry_versions",
    "SELECT content FROM turns",
    "SELECT text FROM document_versions WHERE text IS NOT NULL",
    "SELECT title || ' ' || content || ' ' || ifnull(rendered, '') FROM threads",
    "SELECT state FROM thread_versions",
    "SELECT title || ' ' || state FROM tasks",
    "SELECT state FROM task_versions",
    "SELECT ifnull(title, '') || ' ' || ifnull(opening, '') FROM sessions",
    "SELECT query FROM recalls",
    "SELECT content FROM vault_chunks",
];

/// Whether a word that hardly anything else has still stands in any text.
pub(crate) fn is_named_anywhere(connection: &Connection, traces: &[Trace]) -> rusqlite::Result<bool> {
    let words: Vec<String> = traces.iter().flat_map(Trace::rare_words).map(|word| word.to_lowercase()).collect();
    if words.is_empty() {
        return Ok(false);
    }
    for sql in TEXTS {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let text = row.get_ref(0)?.as_str()?.to_lowercase();
            if words.iter().any(|word| text.contains(word)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Runs `change` for each row that `select` gives with a text that is meant; gives how many there were.
fn change_where(
    transaction: &Connection,
    select: &str,
    is_meant: &dyn Fn(&str) -> bool,
    change: &str,
) -> rusqlite::Result<u64> {
    let rows: Vec<(i64, String)> = transaction
        .prepare(select)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for (row, _) in rows.iter().filter(|(_, text)| is_meant(text)) {
        transaction.execute(change, [row])?;
        changed += 1;
    }
    Ok(changed)
}
