-- The first schema. Times are Unix milliseconds; lists are JSON. Never edited: what comes later is a new file.

CREATE TABLE changes (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  who        TEXT NOT NULL CHECK (who IN ('user', 'agent', 'system')),
  via        TEXT NOT NULL,
  verb       TEXT NOT NULL,
  at         INTEGER NOT NULL,
  undoes     TEXT,
  undone_by  TEXT,
  adopted_by TEXT
) STRICT;

-- Entries, and the bullets of documents, which are derived and live here so that one search finds both.
CREATE TABLE entries (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  kind       TEXT NOT NULL CHECK (kind IN ('entry', 'bullet')),
  namespace  TEXT NOT NULL,
  layer      TEXT NOT NULL CHECK (layer IN ('identity', 'knowledge', 'archive')),
  key        TEXT,
  source     TEXT NOT NULL CHECK (source IN ('user', 'agent', 'system')),
  status     TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  importance REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
  tags       TEXT NOT NULL CHECK (json_valid(tags)),
  session    TEXT,
  task       TEXT,
  project    TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  supersedes TEXT,
  provenance TEXT NOT NULL CHECK (json_valid(provenance)),
  version    INTEGER NOT NULL,
  content    TEXT NOT NULL,
  terms      TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX entries_by_key ON entries (namespace, ifnull(project, ''), key)
  WHERE status = 'active' AND key IS NOT NULL;
CREATE INDEX entries_by_any_key ON entries (key) WHERE key IS NOT NULL;
CREATE INDEX entries_by_age ON entries (created_at, row);
CREATE INDEX entries_without_key ON entries (namespace, length(content), substr(content, 1, 64))
  WHERE status = 'active' AND key IS NULL AND kind = 'entry';
CREATE INDEX bullets_by_document ON entries (namespace) WHERE kind = 'bullet';

CREATE TABLE entry_versions (
  row     INTEGER PRIMARY KEY,
  entry   TEXT NOT NULL,
  version INTEGER NOT NULL,
  change  INTEGER NOT NULL REFERENCES changes (row),
  state   TEXT NOT NULL CHECK (json_valid(state)),
  UNIQUE (entry, version)
) STRICT;
CREATE INDEX entry_versions_by_change ON entry_versions (change);

CREATE TABLE documents (
  name    TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  hash    TEXT NOT NULL,
  stamp   TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE document_versions (
  row     INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  version INTEGER NOT NULL,
  change  INTEGER NOT NULL REFERENCES changes (row),
  hash    TEXT NOT NULL,
  text    TEXT,
  UNIQUE (name, version)
) STRICT;
CREATE INDEX document_versions_by_change ON document_versions (change);

-- What an import brought in: the versions keep the changes that made them, and undoing the import needs to know.
CREATE TABLE adopted (
  change INTEGER NOT NULL REFERENCES changes (row),
  what   TEXT NOT NULL CHECK (what IN ('entry', 'document')),
  id     TEXT NOT NULL,
  PRIMARY KEY (change, what, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE uses (
  id      TEXT PRIMARY KEY,
  count   INTEGER NOT NULL,
  last_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE recalls (
  row   INTEGER PRIMARY KEY,
  id    TEXT NOT NULL UNIQUE,
  at    INTEGER NOT NULL,
  query TEXT NOT NULL,
  hits  TEXT NOT NULL CHECK (json_valid(hits))
) STRICT;

CREATE TABLE sessions (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  project    TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
  row     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (row),
  role    TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system', 'summary')),
  speaker TEXT,
  at      INTEGER NOT NULL,
  content TEXT NOT NULL,
  terms   TEXT NOT NULL
) STRICT;
CREATE INDEX turns_by_session ON turns (session, row);

CREATE TABLE projects (
  id         TEXT PRIMARY KEY,
  directory  TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL,
  status     TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT '',
  project    TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE exports (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- One row while something was erased whose traces are still to be swept out of the file.
CREATE TABLE unswept (pending INTEGER NOT NULL) STRICT;

-- The words: full text over text that was analysed before it came here. `ascii` splits at blanks and nothing else,
-- because the analysis leaves no other separator; any SQLite can therefore write these tables.
CREATE VIRTUAL TABLE entry_words USING fts5 (terms, content = 'entries', content_rowid = 'row', tokenize = 'ascii');
INSERT INTO entry_words (entry_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER entries_added AFTER INSERT ON entries BEGIN
  INSERT INTO entry_words (rowid, terms) VALUES (new.row, new.terms);
END;
CREATE TRIGGER entries_removed AFTER DELETE ON entries BEGIN
  INSERT INTO entry_words (entry_words, rowid, terms) VALUES ('delete', old.row, old.terms);
END;
CREATE TRIGGER entries_changed AFTER UPDATE OF terms ON entries WHEN old.terms IS NOT new.terms BEGIN
  INSERT INTO entry_words (entry_words, rowid, terms) VALUES ('delete', old.row, old.terms);
  INSERT INTO entry_words (rowid, terms) VALUES (new.row, new.terms);
END;

CREATE VIRTUAL TABLE turn_words USING fts5 (terms, content = 'turns', content_rowid = 'row', tokenize = 'ascii');
INSERT INTO turn_words (turn_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER turns_added AFTER INSERT ON turns BEGIN
  INSERT INTO turn_words (rowid, terms) VALUES (new.row, new.terms);
END;
CREATE TRIGGER turns_removed AFTER DELETE ON turns BEGIN
  INSERT INTO turn_words (turn_words, rowid, terms) VALUES ('delete', old.row, old.terms);
END;
CREATE TRIGGER turns_changed AFTER UPDATE OF terms ON turns WHEN old.terms IS NOT new.terms BEGIN
  INSERT INTO turn_words (turn_words, rowid, terms) VALUES ('delete', old.row, old.terms);
  INSERT INTO turn_words (rowid, terms) VALUES (new.row, new.terms);
END;

-- For people with a SQL prompt: read-only, in the column names that they know.
CREATE VIEW memories AS
SELECT id,
       ifnull(key, id) AS key,
       content,
       CASE layer WHEN 'archive' THEN 'timeline' ELSE 'knowledge' END AS category,
       importance,
       session AS session_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
FROM entries
WHERE status = 'active' AND kind = 'entry';

CREATE VIEW memory_entries AS
SELECT entries.id,
       CASE layer WHEN 'identity' THEN 'L0' WHEN 'knowledge' THEN 'L1' ELSE 'L2' END AS layer,
       content,
       source,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at,
       task AS task_id,
       project AS project_id,
       tags,
       ifnull(uses.count, 0) AS recall_count
FROM entries LEFT JOIN uses ON uses.id = entries.id
WHERE kind = 'entry' OR layer = 'identity';
