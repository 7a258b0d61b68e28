//! What a memory is made of, in the order in which rows refer to each other.
//!
//! Left out is what is made again (the word index, words of titles, queues), what is true of one running program or one machine's
//! files (leases, stamps), and what a store knows about itself (its identity, its transactions).

/// What a column holds; any may have no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// Other numbers.
    Real,
    /// Yes or no.
    Flag,
    /// Texts.
    Text,
    /// Bytes.
    Bytes,
    /// Lists of texts.
    Texts,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// So many columns, the first ones, are its key.
    pub key: usize,
    /// Its columns.
    pub columns: &'static [Column],
}

impl Table {
    /// The columns of its key.
    pub fn key_columns(&self) -> &'static [Column] {
        self.columns.get(..self.key).unwrap_or(self.columns)
    }

    /// Where a column stands in its rows.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }
}

macro_rules! tables {
    ($($name:literal [$key:literal] { $($column:ident: $kind:ident),+ $(,)? })+) => {
        /// Every table that is copied.
        pub const TABLES: &[Table] = &[$(Table {
            name: $name,
            key: $key,
            columns: &[$(Column { name: stringify!($column), kind: Kind::$kind }),+],
        }),+];
    };
}

tables! {
    // One row: counts that no row tells by its number, and the key of the digests of what was taken back.
    "memory" [1] { one: Int, erasures: Int, endings: Int, vault: Int, last_turn: Int, secret: Bytes }
    "changes" [1] {
        number: Int, id: Text, who: Text, via: Text, verb: Text, at: Int, undoes: Text, undone_by: Text, adopted_by: Text,
    }
    "entries" [1] {
        number: Int, id: Text, kind: Text, namespace: Text, layer: Text, key: Text, source: Text, status: Text,
        importance: Real, tags: Texts, session: Text, task: Text, project: Text, created_at: Int, updated_at: Int,
        expires_at: Int, supersedes: Texts, provenance: Texts, version: Int, content: Text, terms: Text, digest: Text,
        twin: Text,
    }
    "entry_versions" [1] { number: Int, entry: Text, version: Int, change: Int, state: Text }
    "documents" [1] { name: Text, version: Int, hash: Text }
    "document_versions" [1] { number: Int, name: Text, version: Int, change: Int, hash: Text, text: Text }
    "document_texts" [1] { name: Text, text: Text }
    "line_sources" [2] { line: Text, turn: Text }
    "adopted" [3] { change: Int, what: Text, id: Text }
    "uses" [1] { id: Text, count: Int, last_at: Int }
    "recalls" [1] { number: Int, id: Text, at: Int, session: Text, asked_by: Text, query: Text, hits: Text }
    "sessions" [1] {
        number: Int, id: Text, title: Text, project: Text, task: Text, person: Text, created_at: Int, updated_at: Int,
        ended_at: Int, base_prompt: Text, opening: Text, consolidated: Int, kept_from: Int, imported_to: Int,
        last_position: Int, failures: Int,
    }
    "turns" [1] {
        number: Int, id: Text, session: Int, position: Int, role: Text, speaker: Text, at: Int, content: Text, terms: Text,
        tokens: Int,
    }
    "injected" [2] { session: Int, memory: Text, after: Int, version: Int }
    "spending" [4] {
        day: Text, provider: Text, model: Text, purpose: Text, calls: Int, failures: Int, tokens_in: Int, tokens_out: Int,
    }
    "breakers" [1] { provider: Text, failures: Int, open_until: Int }
    "passes" [1] {
        number: Int, id: Text, at: Int, target: Text, change: Text, outcome: Text, reason: Text, applied: Text,
        dropped: Text, ingested: Int, tokens_in: Int, tokens_out: Int,
    }
    "job_runs" [1] { number: Int, job: Text, started_at: Int, ended_at: Int, outcome: Text, what: Text }
    "tasks" [1] {
        number: Int, id: Text, version: Int, title: Text, status: Text, state: Text, project: Text, created_at: Int,
        updated_at: Int, done_at: Int, archive: Text,
    }
    "task_versions" [1] { number: Int, task: Text, version: Int, change: Int, state: Text, machine: Text }
    "threads" [1] {
        number: Int, id: Text, version: Int, namespace: Text, session: Text, title: Text, project: Text, task: Text,
        content: Text, rendered: Text, status: Text, created_at: Int, updated_at: Int, expires_at: Int,
    }
    "thread_versions" [1] { number: Int, thread: Text, version: Int, change: Int, state: Text, machine: Text }
    "projects" [1] { number: Int, name: Text, version: Int, status: Text, created_at: Int, updated_at: Int }
    "project_versions" [1] { number: Int, project: Text, version: Int, change: Int, state: Text, machine: Text }
    "project_dirs" [2] { project: Text, machine: Text, dir: Text }
    "project_roots" [2] { machine: Text, dir: Text, project: Text }
    "accepted_lines" [2] { project: Text, line: Text }
    "exports" [1] { path: Text }
    "pauses" [1] { since: Int, until: Int }
    "unkept_turns" [1] { id: Text, session: Text }
    "unkept_latest" [1] { session: Text }
    "mutes" [2] { memory: Text, project: Text, at: Int }
    "reviewed" [1] { memory: Text, version: Int, at: Int }
    "withdrawn" [1] {
        number: Int, digest: Bytes, content: Text, memory: Text, session: Text, why: Text, by: Text, at: Int, change: Int,
        lifted: Int, turns: Texts,
    }
    "erased_turn_ids" [1] { turn: Text }
    "vault_documents" [1] {
        number: Int, id: Text, path: Text, root: Text, collection: Text, title: Text, hash: Text, stamp: Text, bytes: Int,
        updated_at: Int,
    }
    "vault_chunks" [1] {
        number: Int, id: Text, document: Int, nth: Int, titles: Texts, page: Int, first_line: Int, last_line: Int,
        content: Text, terms: Text,
    }
    "vault_left_out" [1] { path: Text }
    "vault_unread" [1] { path: Text, stamp: Text, why: Text }
    "vector_sets" [1] { number: Int, provider: Text, model: Text, dimension: Int, base_url: Text, serving: Flag }
    "vector_blocks" [2] { vector_set: Int, block: Int, present: Bytes, bits: Bytes }
    "vector_bytes" [2] { vector_set: Int, item: Int, scale: Real, bytes: Bytes }
    "vector_refusals" [3] { item: Int, provider: Text, model: Text, why: Text }
    "memory_vector_sets" [1] {
        number: Int, provider: Text, model: Text, dimension: Int, base_url: Text, mean: Bytes, deviation: Real, working: Flag,
    }
    "memory_vector_blocks" [2] { vector_set: Int, block: Int, present: Bytes, bits: Bytes }
    "memory_vectors" [2] { vector_set: Int, item: Int, scale: Real, bytes: Bytes }
    "memory_vector_refusals" [2] { vector_set: Int, item: Int, why: Text }
}
