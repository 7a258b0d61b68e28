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
  -- How often the log was copied into the file.
  epoch       INTEGER NOT NULL,
  -- When a copy was last restored, in milliseconds; 0 is never.
  restored_at INTEGER NOT NULL
) STRICT;
INSERT INTO store_identity VALUES (1, lower(hex(randomblob(16))), 1, 0, 1, 0);

-- The last even and the last odd epoch, each on a page of its own. The first transaction of an epoch writes one of them, so that
-- the other is never in the log that is copied next: if an older file is put in place while a log is being copied, its own mark
-- stays, and does not fit the new row above.
CREATE TABLE store_epoch_even (epoch INTEGER NOT NULL) STRICT;
INSERT INTO store_epoch_even VALUES (0);
CREATE TABLE store_epoch_odd (epoch INTEGER NOT NULL) STRICT;
INSERT INTO store_epoch_odd VALUES (1);
