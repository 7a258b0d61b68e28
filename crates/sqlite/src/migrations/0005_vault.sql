-- The vault: files that were added, in passages. All of it is derived from the files, and can be made again.

CREATE TABLE vault_documents (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  path       TEXT NOT NULL UNIQUE,
  root       TEXT NOT NULL,
  collection TEXT NOT NULL,
  title      TEXT NOT NULL,
  hash       TEXT NOT NULL,
  stamp      TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- A chunk stands on a page, or in lines. Rows are never given twice, so that no vector finds another chunk's text.
CREATE TABLE vault_chunks (
  row        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  document   INTEGER NOT NULL REFERENCES vault_documents (row),
  nth        INTEGER NOT NULL,
  titles     TEXT NOT NULL CHECK (json_valid(titles)),
  page       INTEGER,
  first_line INTEGER,
  last_line  INTEGER,
  content    TEXT NOT NULL,
  terms      TEXT NOT NULL
) STRICT;
CREATE INDEX vault_chunks_by_document ON vault_chunks (document);

CREATE VIRTUAL TABLE chunk_words USING fts5 (terms, content = 'vault_chunks', content_rowid = 'row', tokenize = 'ascii');
INSERT INTO chunk_words (chunk_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER chunks_added AFTER INSERT ON vault_chunks BEGIN
  INSERT INTO chunk_words (rowid, terms) VALUES (new.row, new.terms);
END;
CREATE TRIGGER chunks_removed AFTER DELETE ON vault_chunks BEGIN
  INSERT INTO chunk_words (chunk_words, rowid, terms) VALUES ('delete', old.row, old.terms);
END;
CREATE TRIGGER chunks_changed AFTER UPDATE OF terms ON vault_chunks WHEN old.terms IS NOT new.terms BEGIN
  INSERT INTO chunk_words (chunk_words, rowid, terms) VALUES ('delete', old.row, old.terms);
  INSERT INTO chunk_words (rowid, terms) VALUES (new.row, new.terms);
END;

-- The vectors of one model. One set serves; another may be on its way.
CREATE TABLE vector_sets (
  row       INTEGER PRIMARY KEY AUTOINCREMENT,
  model     TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL,
  serving   INTEGER NOT NULL CHECK (serving IN (0, 1))
) STRICT;

-- Signs apart from bytes: a search looks through all of the former and few of the latter. Signs stand in blocks of 256
-- chunks, because a row for each would cost more than comparing them; `present` has a bit for each that is there.
CREATE TABLE vector_blocks (
  vector_set INTEGER NOT NULL REFERENCES vector_sets (row),
  block      INTEGER NOT NULL,
  present    BLOB NOT NULL,
  bits       BLOB NOT NULL,
  PRIMARY KEY (vector_set, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE vector_bytes (
  chunk      INTEGER NOT NULL REFERENCES vault_chunks (row) ON DELETE CASCADE,
  vector_set INTEGER NOT NULL REFERENCES vector_sets (row),
  scale      REAL NOT NULL,
  bytes      BLOB NOT NULL,
  PRIMARY KEY (chunk, vector_set)
) STRICT, WITHOUT ROWID;
