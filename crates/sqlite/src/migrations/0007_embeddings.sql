-- A set of vectors knows who made it, so that queries can go on being embedded by the same model while another one's
-- vectors are on their way. Never a key, and no address with a password in it.

CREATE TABLE next_vector_sets (
  row       INTEGER PRIMARY KEY AUTOINCREMENT,
  provider  TEXT NOT NULL,
  model     TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  -- NULL is the provider's usual address.
  base_url  TEXT,
  serving   INTEGER NOT NULL CHECK (serving IN (0, 1)),
  UNIQUE (provider, model, dimension)
) STRICT;
INSERT INTO next_vector_sets (row, provider, model, dimension, serving)
  SELECT row, substr(model, 1, instr(model, '/') - 1), substr(model, instr(model, '/') + 1), dimension, serving
  FROM vector_sets;

CREATE TABLE next_vector_blocks (
  vector_set INTEGER NOT NULL REFERENCES next_vector_sets (row),
  block      INTEGER NOT NULL,
  present    BLOB NOT NULL,
  bits       BLOB NOT NULL,
  PRIMARY KEY (vector_set, block)
) STRICT, WITHOUT ROWID;
INSERT INTO next_vector_blocks SELECT vector_set, block, present, bits FROM vector_blocks;

CREATE TABLE next_vector_bytes (
  chunk      INTEGER NOT NULL REFERENCES vault_chunks (row) ON DELETE CASCADE,
  vector_set INTEGER NOT NULL REFERENCES next_vector_sets (row),
  scale      REAL NOT NULL,
  bytes      BLOB NOT NULL,
  PRIMARY KEY (chunk, vector_set)
) STRICT, WITHOUT ROWID;
INSERT INTO next_vector_bytes SELECT chunk, vector_set, scale, bytes FROM vector_bytes;

DROP TABLE vector_bytes;
DROP TABLE vector_blocks;
DROP TABLE vector_sets;
ALTER TABLE next_vector_sets RENAME TO vector_sets;
ALTER TABLE next_vector_blocks RENAME TO vector_blocks;
ALTER TABLE next_vector_bytes RENAME TO vector_bytes;

-- Passages that a model refused: they have no vector of it, and are not tried again.
CREATE TABLE vector_refusals (
  chunk    INTEGER NOT NULL REFERENCES vault_chunks (row) ON DELETE CASCADE,
  provider TEXT NOT NULL,
  model    TEXT NOT NULL,
  why      TEXT NOT NULL,
  PRIMARY KEY (chunk, provider, model)
) STRICT, WITHOUT ROWID;

-- Files of the memory's own vault folder that a person took out: they stay out until they are added by their path.
CREATE TABLE vault_left_out (
  path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
