-- Threads: what each conversation left to go on from. Working memory is rendered from them.
CREATE TABLE threads (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  version    INTEGER NOT NULL,
  namespace  TEXT NOT NULL,
  session    TEXT NOT NULL,
  title      TEXT NOT NULL,
  project    TEXT,
  task       TEXT,
  content    TEXT NOT NULL,
  rendered   TEXT,
  status     TEXT NOT NULL CHECK (status IN ('open', 'closed')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (namespace, session)
) STRICT;
CREATE INDEX threads_open ON threads (namespace, updated_at) WHERE status = 'open';

CREATE TABLE thread_versions (
  row     INTEGER PRIMARY KEY,
  thread  TEXT NOT NULL,
  version INTEGER NOT NULL,
  change  INTEGER NOT NULL REFERENCES changes (row),
  state   TEXT NOT NULL CHECK (json_valid(state)),
  machine TEXT NOT NULL DEFAULT '',
  UNIQUE (thread, version)
) STRICT;
CREATE INDEX thread_versions_by_change ON thread_versions (change);

-- Imports bring threads too.
CREATE TABLE adopted_all (
  change INTEGER NOT NULL REFERENCES changes (row),
  what   TEXT NOT NULL CHECK (what IN ('entry', 'document', 'task', 'thread', 'project')),
  id     TEXT NOT NULL,
  PRIMARY KEY (change, what, id)
) STRICT, WITHOUT ROWID;
INSERT INTO adopted_all (change, what, id) SELECT change, what, id FROM adopted;
DROP TABLE adopted;
ALTER TABLE adopted_all RENAME TO adopted;

-- There is one pointer: how far a conversation is consolidated.
ALTER TABLE sessions DROP COLUMN filled;
