-- Conversations that are picked up again: what a session was given, how far it is consolidated, who is at it.

ALTER TABLE sessions ADD COLUMN task TEXT;
ALTER TABLE sessions ADD COLUMN base_prompt TEXT NOT NULL DEFAULT '';
-- The memory that the session began with; NULL means not computed yet, which is not the same as none.
ALTER TABLE sessions ADD COLUMN opening TEXT;
-- The row of the last turn that a consolidation captured, and of the first that is still sent to the model.
ALTER TABLE sessions ADD COLUMN consolidated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN ended_at INTEGER;

-- Memories that stand in the part of a conversation that is still sent: not given twice.
CREATE TABLE injected (
  session INTEGER NOT NULL REFERENCES sessions (row),
  memory  TEXT NOT NULL,
  after   INTEGER NOT NULL,
  PRIMARY KEY (session, memory)
) STRICT, WITHOUT ROWID;

-- Work that only one process does at a time. A lease that has run out, or whose holder is gone, can be taken over.
CREATE TABLE leases (
  name   TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What models cost, per day.
CREATE TABLE spending (
  day        TEXT NOT NULL,
  provider   TEXT NOT NULL,
  model      TEXT NOT NULL,
  purpose    TEXT NOT NULL,
  calls      INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  PRIMARY KEY (day, provider, model, purpose)
) STRICT, WITHOUT ROWID;
