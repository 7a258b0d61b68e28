//! Candidates for a recall: the word index, and letters that stand for themselves.

mod letters;
mod retrieve;

use std::collections::{HashMap, HashSet};

use throughline_core::model::{EntryId, Kind};
use throughline_core::ports::{Candidates, Search};
use throughline_core::recall::{CandidateMark, Filter, FoundBy, Pool, Retrieved, Terms};
use throughline_core::vault::Passage;
use throughline_stores::words::{Collection, Found, Searched, add_turns, is_found};

use crate::connection::Connection;
use crate::error::Sql;
use crate::values::{texts, values};
use crate::words::{Rows, searched};
use crate::{PostgresStore, Stored, vault};

impl Candidates for PostgresStore {
    fn search(&self, search: &Search) -> Stored<Pool> {
        self.snapshot("search", |connection| {
            let mut pool = Pool::default();
            if search.filter.wants(Kind::Entry) || search.filter.wants(Kind::Bullet) {
                self.add_entries(connection, search, &mut pool)?;
            }
            if search.filter.wants(Kind::Turn) {
                let rows = Rows { connection, collection: Collection::Turns };
                let searched = searched(&rows, &self.words, &search.filter)?;
                let found = found_rows(connection, &searched, Collection::Turns, search)?;
                add_turns(&rows, &mut searched.lookup()?, &found, &mut pool)?;
            }
            if search.filter.wants(Kind::Chunk) {
                let rows = Rows { connection, collection: Collection::Chunks };
                let searched = searched(&rows, &self.words, &search.filter)?;
                let mut lookup = searched.lookup()?;
                for (number, _) in ranked(&searched, &search.terms, search.limit)? {
                    let found = lookup.candidate(number, FoundBy::Words)?;
                    pool.candidates.extend(found.map(|(candidate, _)| candidate));
                }
            }
            Ok(pool)
        })
    }

    fn fetch(&self, marks: &[CandidateMark]) -> Stored<Vec<Option<Retrieved>>> {
        self.snapshot("read what was found", |connection| retrieve::by_marks(connection, marks))
    }

    fn marks(&self, ids: &[EntryId]) -> Stored<Vec<Option<CandidateMark>>> {
        self.snapshot("look memories up", |connection| retrieve::marks(connection, ids))
    }

    fn texts(&self, ids: &[EntryId]) -> Stored<Vec<String>> {
        let sql = "SELECT coalesce(t.content, e.content) FROM unnest($2::text[]) WITH ORDINALITY AS asked (id, nth) \
                   LEFT JOIN turns t ON t.space = $1 AND t.id = asked.id \
                   LEFT JOIN entries e ON e.space = $1 AND e.id = asked.id \
                   WHERE t.id IS NOT NULL OR e.id IS NOT NULL ORDER BY asked.nth";
        self.read("read what memories say", |connection| {
            if let Some(known) = connection.answers().texts(ids) {
                return Ok(known);
            }
            connection.all(sql, &values![texts(ids.iter().map(EntryId::as_str))], |row| row.text(0))
        })
    }

    fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Retrieved>> {
        if needles.is_empty() {
            return Ok(Vec::new());
        }
        self.snapshot("search", |connection| letters::containing(connection, needles, filter, limit))
    }

    fn search_passages(&self, terms: &Terms, limit: usize) -> Stored<Vec<(Passage, f64)>> {
        let any = Filter { kinds: vec![Kind::Chunk], ..Filter::default() };
        self.snapshot("search the vault", |connection| {
            let rows = Rows { connection, collection: Collection::Chunks };
            let searched = searched(&rows, &self.words, &any)?;
            vault::passages(connection, &ranked(&searched, terms.as_slice(), limit)?)
        })
    }
}

impl PostgresStore {
    fn add_entries(&self, connection: &Connection, search: &Search, pool: &mut Pool) -> Sql<()> {
        let rows = Rows { connection, collection: Collection::Entries };
        let searched = searched(&rows, &self.words, &search.filter)?;
        let mut lookup = searched.lookup()?;
        let rows = found_rows(connection, &searched, Collection::Entries, search)?;
        lookup.expect(&rows.iter().map(|(number, _)| *number).collect::<Vec<_>>())?;
        for (number, found_by) in rows {
            let found = lookup.candidate(number, found_by)?.map(|(candidate, _)| candidate);
            pool.candidates.extend(found.filter(is_found));
        }
        Ok(())
    }
}

/// The rows that fit best by their words, and those that are wanted anyway, in order.
fn found_rows(
    connection: &Connection,
    searched: &Searched<'_>,
    collection: Collection,
    search: &Search,
) -> Sql<Vec<Found>> {
    let limit = if collection == Collection::Turns { search.turns } else { search.limit };
    let ranked = ranked(searched, &search.terms, limit)?;
    let mut found: Vec<Found> = ranked.into_iter().map(|(number, _)| (number, FoundBy::Words)).collect();
    if !search.also.is_empty() {
        let known: HashSet<i64> = found.iter().map(|(number, _)| *number).collect();
        let also = numbers(connection, collection, &search.also)?.into_values();
        found.extend(also.filter(|number| !known.contains(number)).map(|number| (number, FoundBy::Meaning)));
    }
    // In the order of the index, which is read fastest so.
    found.sort_unstable_by_key(|(number, _)| *number);
    Ok(found)
}

/// The numbers of rows, by their ids.
fn numbers(connection: &Connection, collection: Collection, ids: &[EntryId]) -> Sql<HashMap<String, i64>> {
    let sql = format!("SELECT id, number FROM {} WHERE space = $1 AND id = ANY($2)", collection.table());
    let ids = texts(ids.iter().map(EntryId::as_str));
    Ok(connection.all(&sql, &values![ids], |row| Ok((row.text(0)?, row.int(1)?)))?.into_iter().collect())
}

/// The rows that fit best and that the filter admits, with how well they fit.
fn ranked(searched: &Searched<'_>, terms: &[String], limit: usize) -> Sql<Vec<(i64, f64)>> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    Ok(searched.search(terms, limit)?.unwrap_or_default())
}
