-- The word index: segments of `crates/index` as rows, and which rows changed since they were made. All of it is derived.
--
-- Triggers note that a row changed and nothing else, so that any SQLite can write the file. What is noted counts before
-- what segments say. The collections: 1 entries and bullets, 2 turns, 3 passages of the vault.

CREATE TABLE word_indexes (
  collection INTEGER PRIMARY KEY CHECK (collection IN (1, 2, 3)),
  -- Whether searches use it; before that, they use FTS5.
  is_ready   INTEGER NOT NULL CHECK (is_ready IN (0, 1)),
  -- While it is built: rows up to `built` are in segments that are not served yet, of rows up to `until`. Nothing is
  -- being built where the two are equal.
  built      INTEGER NOT NULL,
  until      INTEGER NOT NULL,
  -- Rows of the tail up to this one are in what is built, too, and go when it is complete.
  tail       INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO word_indexes (collection, is_ready, built, until)
  SELECT 1, count(*) = 0, 0, ifnull(max(row), 0) FROM entries;
INSERT INTO word_indexes (collection, is_ready, built, until)
  SELECT 2, count(*) = 0, 0, ifnull(max(row), 0) FROM turns;
INSERT INTO word_indexes (collection, is_ready, built, until)
  SELECT 3, count(*) = 0, 0, ifnull(max(row), 0) FROM vault_chunks;

-- A number is never given twice. The mark tells a segment from one of another copy of this memory that has its number.
CREATE TABLE word_segments (
  row        INTEGER PRIMARY KEY AUTOINCREMENT,
  collection INTEGER NOT NULL REFERENCES word_indexes (collection),
  -- 0: built to take the place of others, 1: searched, 2: to be removed.
  state      INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
  mark       INTEGER NOT NULL DEFAULT (random())
) STRICT;

-- Key of a part: segment * 2^32 + part.
CREATE TABLE word_parts (
  key   INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

-- Rows that were written, changed or removed since they were last put into a segment.
CREATE TABLE entry_tail (
  row  INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL,
  mark INTEGER NOT NULL DEFAULT (random())
) STRICT;
CREATE TABLE turn_tail (
  row  INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL,
  mark INTEGER NOT NULL DEFAULT (random())
) STRICT;
CREATE TABLE chunk_tail (
  row  INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL,
  mark INTEGER NOT NULL DEFAULT (random())
) STRICT;

CREATE TRIGGER entries_tail_added AFTER INSERT ON entries BEGIN
  INSERT INTO entry_tail (item) VALUES (new.row);
END;
CREATE TRIGGER entries_tail_removed AFTER DELETE ON entries BEGIN
  INSERT INTO entry_tail (item) VALUES (old.row);
END;
CREATE TRIGGER entries_tail_changed AFTER UPDATE OF
  terms, kind, namespace, layer, source, status, importance, tags, session, task, project, created_at, expires_at
ON entries WHEN
  (old.terms, old.kind, old.namespace, old.layer, old.source, old.status, old.importance, old.tags, old.session,
   old.task, old.project, old.created_at, old.expires_at)
  IS NOT
  (new.terms, new.kind, new.namespace, new.layer, new.source, new.status, new.importance, new.tags, new.session,
   new.task, new.project, new.created_at, new.expires_at)
BEGIN
  INSERT INTO entry_tail (item) VALUES (new.row);
END;

CREATE TRIGGER turns_tail_added AFTER INSERT ON turns BEGIN
  INSERT INTO turn_tail (item) VALUES (new.row);
END;
CREATE TRIGGER turns_tail_removed AFTER DELETE ON turns BEGIN
  INSERT INTO turn_tail (item) VALUES (old.row);
END;
CREATE TRIGGER turns_tail_changed AFTER UPDATE OF terms, role, at, session ON turns
WHEN (old.terms, old.role, old.at, old.session) IS NOT (new.terms, new.role, new.at, new.session) BEGIN
  INSERT INTO turn_tail (item) VALUES (new.row);
END;
CREATE TRIGGER sessions_tail_changed AFTER UPDATE OF id, project ON sessions
WHEN (old.id, old.project) IS NOT (new.id, new.project) BEGIN
  INSERT INTO turn_tail (item) SELECT row FROM turns WHERE session = new.row;
END;

CREATE TRIGGER chunks_tail_added AFTER INSERT ON vault_chunks BEGIN
  INSERT INTO chunk_tail (item) VALUES (new.row);
END;
CREATE TRIGGER chunks_tail_removed AFTER DELETE ON vault_chunks BEGIN
  INSERT INTO chunk_tail (item) VALUES (old.row);
END;
CREATE TRIGGER chunks_tail_changed AFTER UPDATE OF terms, document ON vault_chunks
WHEN (old.terms, old.document) IS NOT (new.terms, new.document) BEGIN
  INSERT INTO chunk_tail (item) VALUES (new.row);
END;
CREATE TRIGGER vault_documents_tail_changed AFTER UPDATE OF collection, updated_at ON vault_documents
WHEN (old.collection, old.updated_at) IS NOT (new.collection, new.updated_at) BEGIN
  INSERT INTO chunk_tail (item) SELECT row FROM vault_chunks WHERE document = new.row;
END;
