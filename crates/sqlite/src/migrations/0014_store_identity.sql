-- Which database this is and how far it is, so that a process notices when another one, or an older copy, is put in its
-- place. One row, on a page of its own that every write changes.
CREATE TABLE store_identity (
  one         INTEGER PRIMARY KEY CHECK (one = 1),
  id          TEXT NOT NULL,
  -- Transactions so far. Never goes back, except by restoring a copy.
  writes      INTEGER NOT NULL,
  -- What `writes` was in the database file itself, without the write-ahead log, when the last transaction began. A file that
  -- says less is not the one that the log belongs to.
  base        INTEGER NOT NULL,
  -- When a copy was last restored, in milliseconds; 0 is never.
  restored_at INTEGER NOT NULL
) STRICT;
INSERT INTO store_identity VALUES (1, lower(hex(randomblob(16))), 1, 0, 0);
