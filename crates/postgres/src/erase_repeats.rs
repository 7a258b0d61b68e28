//! Takes out what repeats an erased text: summaries, threads, earlier versions of working memory, what conversations began with,
//! and the logs. What was said and what a person wrote elsewhere stays, and is named by whoever erases.

use throughline_core::lineage::{ERASED, Trace};
use throughline_core::model::{DocumentName, Entry, Thread};
use throughline_core::ports::Erasure;
use throughline_core::text::tokens;
use throughline_stores::words::Collection;

use crate::error::Sql;
use crate::index::turn_terms;
use crate::rows::{self, ENTRY_COLUMNS};
use crate::transaction::Transaction;
use crate::values::{from_json, to_json, values};
use crate::{erase, threads};

/// Takes texts out; gives how many versions and recalls held one.
pub(crate) fn take_out(transaction: &Transaction<'_>, erasure: &Erasure) -> Sql<(u64, u64)> {
    let traces = Trace::all_of(erasure);
    if traces.is_empty() {
        return Ok((0, 0));
    }
    let out_of = Out { transaction, traces: &traces };
    let mut versions = out_of.archive()?;
    out_of.summaries()?;
    versions += threads::scrub_with(transaction, &|thread| out_of.thread(thread))?;
    versions += out_of.working()?;
    out_of.sessions()?;
    Ok((versions, out_of.logs()?))
}

struct Out<'a> {
    transaction: &'a Transaction<'a>,
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
    fn archive(&self) -> Sql<u64> {
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, e.number FROM entries e WHERE e.space = $1 AND e.layer = 'archive' AND e.kind = 'entry'"
        );
        let mut removed = 0;
        for row in self.transaction.rows(&sql, &[])? {
            let entry = rows::entry(&row)?;
            let Some(left) = self.of(&entry.content, Trace::taken_out_of) else { continue };
            if left.is_empty() {
                removed += erase::remove_memory(self.transaction, entry.id.as_str())?;
                erase::forget_use(self.transaction, entry.id.as_str())?;
                continue;
            }
            let entry = Entry { content: left, ..entry };
            let sql =
                "UPDATE entries SET content = $3, terms = $4, digest = $5, twin = $2 WHERE space = $1 AND id = $2";
            let digest = entry.text_digest().map(|digest| digest.as_str().to_owned());
            let bound = values![entry.id.as_str(), &entry.content, rows::terms(&entry), digest];
            self.transaction.post(sql, &bound)?;
            self.transaction.rewritten(Collection::Entries, row.int(rows::ENTRY_WIDTH)?);
        }
        Ok(removed + self.entry_versions()?)
    }

    fn entry_versions(&self) -> Sql<u64> {
        let sql =
            "SELECT entry, version, state FROM entry_versions WHERE space = $1 AND state::json ->> 'layer' = 'archive'";
        let mut scrubbed = 0;
        for row in self.transaction.rows(sql, &[])? {
            let mut state: serde_json::Value = from_json(&row.text(2)?)?;
            let content = state["content"].as_str().unwrap_or_default();
            let Some(left) = self.of(content, Trace::taken_out_of) else { continue };
            state["content"] = if left.is_empty() { ERASED.into() } else { left.into() };
            let sql = "UPDATE entry_versions SET state = $4 WHERE space = $1 AND entry = $2 AND version = $3";
            self.transaction.post(sql, &values![row.text(0)?, row.int(1)?, to_json(&state)?])?;
            scrubbed += 1;
        }
        Ok(scrubbed)
    }

    /// Summaries that stand in a conversation in the place of what was said.
    fn summaries(&self) -> Sql<()> {
        let sql = "SELECT number, content FROM turns WHERE space = $1 AND role = 'summary'";
        for (number, content) in self.transaction.all(sql, &[], |row| Ok((row.int(0)?, row.text(1)?)))? {
            let Some(left) = self.of(&content, Trace::taken_out_of) else { continue };
            let left = if left.is_empty() { ERASED.to_owned() } else { left };
            let sql = "UPDATE turns SET content = $3, terms = $4, tokens = $5 WHERE space = $1 AND number = $2";
            let bound = values![number, &left, turn_terms(None, &left), tokens::estimate(&left)];
            self.transaction.post(sql, &bound)?;
            self.transaction.changed(Collection::Turns, number);
        }
        Ok(())
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
    fn working(&self) -> Sql<u64> {
        let sql = "SELECT name FROM documents WHERE space = $1 AND name LIKE '%/working'";
        let mut scrubbed = 0;
        for address in self.transaction.all(sql, &[], |row| row.text(0))? {
            let Ok(name) = address.parse::<DocumentName>() else { continue };
            let without = |text: &str| {
                let left = self.of(text, |trace, text| trace.taken_out_of_lines(&name, text));
                left.unwrap_or_else(|| text.to_owned())
            };
            scrubbed += erase::scrub_versions(self.transaction, &address, &without)?;
        }
        let lines =
            "SELECT number, content FROM entries WHERE space = $1 AND kind = 'bullet' AND namespace LIKE '%/working'";
        let repeating = self.numbers(lines, |text| self.is_repeated_by(text))?;
        let remove = "DELETE FROM entries WHERE space = $1 AND number = ANY($2) RETURNING number";
        self.transaction.remove(Collection::Entries, remove, &values![repeating])?;
        Ok(scrubbed)
    }

    /// What conversations are called and began with is computed anew.
    fn sessions(&self) -> Sql<()> {
        let openings = "SELECT number, opening FROM sessions WHERE space = $1 AND opening IS NOT NULL";
        let opened = self.numbers(openings, |text| self.is_in(text))?;
        let anew = "UPDATE sessions SET opening = NULL WHERE space = $1 AND number = ANY($2)";
        self.transaction.post(anew, &values![opened])?;
        let titles = "SELECT number, title FROM sessions WHERE space = $1 AND title IS NOT NULL";
        let titled = self.numbers(titles, |text| self.is_repeated_by(text))?;
        let untitled = "UPDATE sessions SET title = NULL WHERE space = $1 AND number = ANY($2)";
        self.transaction.post(untitled, &values![titled])
    }

    /// Questions that named it, and what reflection said about it. Gives how many questions there were.
    fn logs(&self) -> Sql<u64> {
        let passes =
            "SELECT number, coalesce(reason, '') || ' ' || applied || ' ' || dropped FROM passes WHERE space = $1";
        let naming = self.numbers(passes, |text| self.is_in(text))?;
        let blank =
            "UPDATE passes SET reason = NULL, applied = '[]', dropped = '[]' WHERE space = $1 AND number = ANY($2)";
        self.transaction.post(blank, &values![naming])?;
        let asking = self.numbers("SELECT number, query FROM recalls WHERE space = $1", |text| self.is_in(text))?;
        self.transaction.execute("DELETE FROM recalls WHERE space = $1 AND number = ANY($2)", &values![asking])
    }

    /// The numbers of those rows that `select` gives with a text that is meant.
    fn numbers(&self, select: &str, is_meant: impl Fn(&str) -> bool) -> Sql<Vec<i64>> {
        let found = self.transaction.all(select, &[], |row| Ok((row.int(0)?, row.text(1)?)))?;
        Ok(found.into_iter().filter(|(_, text)| is_meant(text)).map(|(number, _)| number).collect())
    }
}
