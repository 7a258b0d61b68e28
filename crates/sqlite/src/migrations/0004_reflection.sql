-- Reflection: the log of its passes. What a pass did is kept in words; erasing a memory that it names empties them.

CREATE TABLE passes (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  at         INTEGER NOT NULL,
  target     TEXT NOT NULL,
  -- The change that it made; NULL where it changed nothing.
  change     TEXT,
  outcome    TEXT NOT NULL CHECK (outcome IN ('changed', 'unchanged', 'failed')),
  reason     TEXT,
  applied    TEXT NOT NULL CHECK (json_valid(applied)),
  dropped    TEXT NOT NULL CHECK (json_valid(dropped)),
  -- The row of the last turn that was read.
  ingested   INTEGER NOT NULL,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL
) STRICT;
CREATE INDEX passes_by_target ON passes (target, row);
