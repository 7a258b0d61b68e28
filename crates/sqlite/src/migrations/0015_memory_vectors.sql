-- Vectors of memories: entries, bullets of documents and turns. All of it is derived, and can be made again.
--
-- Item: the row of an entry or bullet, or 2^40 (1099511627776) plus the row of a turn.
-- Key of a vector: set * 2^42 (4398046511104) + item. One integer, because rows of 400 bytes under a composite key make a
-- deep tree. `key / 64` is the key of the block of signs that the vector stands in, `key % 64` its slot there.

CREATE TABLE memory_vector_sets (
  row       INTEGER PRIMARY KEY AUTOINCREMENT,
  provider  TEXT NOT NULL,
  model     TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  -- NULL is the provider's usual address.
  base_url  TEXT,
  -- The mean of the vectors of background sentences (32-bit floats, little-endian), and how much their cosines vary.
  mean      BLOB NOT NULL,
  deviation REAL NOT NULL,
  -- The one set that new memories are embedded for.
  working   INTEGER NOT NULL CHECK (working IN (0, 1)),
  UNIQUE (provider, model, dimension)
) STRICT;

-- Signs, 64 to a row: a search reads all of them, and a row of 384 numbers each fits on a page, which stays in the cache;
-- longer rows are read from the file every time. `present` has a bit for each slot that is used.
CREATE TABLE memory_vector_blocks (
  key     INTEGER PRIMARY KEY,
  present BLOB NOT NULL,
  bits    BLOB NOT NULL
) STRICT;

-- One byte for each number: a search reads the few that the signs chose.
CREATE TABLE memory_vectors (
  key   INTEGER PRIMARY KEY,
  scale REAL NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- Memories that a model refused: they are not tried again.
CREATE TABLE memory_vector_refusals (
  key INTEGER PRIMARY KEY,
  why TEXT NOT NULL
) STRICT;

-- Items without a vector in the working set, or all of them while there is none.
CREATE TABLE memory_vector_queue (item INTEGER PRIMARY KEY) STRICT;
INSERT INTO memory_vector_queue (item) SELECT row FROM entries;
INSERT INTO memory_vector_queue (item)
  SELECT row + 1099511627776 FROM turns WHERE role IN ('user', 'assistant') AND content <> '';

-- The signs of a vector that goes are overwritten: bit and slot become zero.
CREATE TRIGGER memory_vectors_removed AFTER DELETE ON memory_vectors BEGIN
  UPDATE memory_vector_blocks SET
    present = CAST(substr(present, 1, (old.key & 63) / 8)
      || unhex(printf('%02X', ~(1 << (old.key & 7))
        & (16 * instr('123456789ABCDEF', substr(hex(substr(present, (old.key & 63) / 8 + 1, 1)), 1, 1))
           + instr('123456789ABCDEF', substr(hex(substr(present, (old.key & 63) / 8 + 1, 1)), 2, 1)))))
      || substr(present, (old.key & 63) / 8 + 2) AS BLOB),
    bits = CAST(substr(bits, 1, (old.key & 63) * (length(bits) / 64))
      || zeroblob(length(bits) / 64)
      || substr(bits, ((old.key & 63) + 1) * (length(bits) / 64) + 1) AS BLOB)
  WHERE key = old.key >> 6;
END;

-- A vector goes with its memory, and when the text changes; then the memory is embedded again.
CREATE TRIGGER entries_vectors_added AFTER INSERT ON entries BEGIN
  INSERT INTO memory_vector_queue (item) VALUES (new.row) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER entries_vectors_removed AFTER DELETE ON entries BEGIN
  DELETE FROM memory_vector_queue WHERE item = old.row;
  DELETE FROM memory_vectors WHERE key IN (SELECT (row << 42) + old.row FROM memory_vector_sets);
  DELETE FROM memory_vector_refusals WHERE key IN (SELECT (row << 42) + old.row FROM memory_vector_sets);
END;
CREATE TRIGGER entries_vectors_changed AFTER UPDATE OF content ON entries WHEN old.content IS NOT new.content BEGIN
  DELETE FROM memory_vectors WHERE key IN (SELECT (row << 42) + old.row FROM memory_vector_sets);
  DELETE FROM memory_vector_refusals WHERE key IN (SELECT (row << 42) + old.row FROM memory_vector_sets);
  INSERT INTO memory_vector_queue (item) VALUES (new.row) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER turns_vectors_added AFTER INSERT ON turns
WHEN new.role IN ('user', 'assistant') AND new.content <> '' BEGIN
  INSERT INTO memory_vector_queue (item) VALUES (new.row + 1099511627776) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER turns_vectors_removed AFTER DELETE ON turns BEGIN
  DELETE FROM memory_vector_queue WHERE item = old.row + 1099511627776;
  DELETE FROM memory_vectors
    WHERE key IN (SELECT (row << 42) + old.row + 1099511627776 FROM memory_vector_sets);
  DELETE FROM memory_vector_refusals
    WHERE key IN (SELECT (row << 42) + old.row + 1099511627776 FROM memory_vector_sets);
END;
