-- Tasks and projects with a history of their own, searching conversations for gaps, and models that are left alone.

-- The row of the last turn that was searched for what should have been stored.
ALTER TABLE sessions ADD COLUMN filled INTEGER NOT NULL DEFAULT 0;

-- The row of the last turn that was imported before anything was said here: up to there, nothing is due by itself.
ALTER TABLE sessions ADD COLUMN imported_to INTEGER NOT NULL DEFAULT 0;

-- The conversation whose message asked; NULL where none did.
ALTER TABLE recalls ADD COLUMN session TEXT;
ALTER TABLE recalls ADD COLUMN asked_by TEXT NOT NULL DEFAULT 'person';
CREATE INDEX recalls_by_session ON recalls (session) WHERE session IS NOT NULL;

-- An entry may replace several: the column is a list now. NULL still means none, so that few rows are written anew.
UPDATE entries SET supersedes = json_array(supersedes) WHERE supersedes IS NOT NULL;

-- No release ever wrote to the tables of these names in the first schema.
DROP TABLE tasks;
CREATE TABLE tasks (
  row        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  version    INTEGER NOT NULL,
  title      TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('open', 'done', 'removed')),
  state      TEXT NOT NULL,
  project    TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  done_at    INTEGER,
  archive    TEXT
) STRICT;

CREATE TABLE task_versions (
  row     INTEGER PRIMARY KEY,
  task    TEXT NOT NULL,
  version INTEGER NOT NULL,
  change  INTEGER NOT NULL REFERENCES changes (row),
  state   TEXT NOT NULL CHECK (json_valid(state)),
  UNIQUE (task, version)
) STRICT;
CREATE INDEX task_versions_by_change ON task_versions (change);

DROP TABLE projects;
CREATE TABLE projects (
  row        INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  version    INTEGER NOT NULL,
  dir        TEXT,
  status     TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE project_versions (
  row     INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  version INTEGER NOT NULL,
  change  INTEGER NOT NULL REFERENCES changes (row),
  state   TEXT NOT NULL CHECK (json_valid(state)),
  UNIQUE (project, version)
) STRICT;
CREATE INDEX project_versions_by_change ON project_versions (change);

-- Imports bring tasks and projects too.
CREATE TABLE adopted_work (
  change INTEGER NOT NULL REFERENCES changes (row),
  what   TEXT NOT NULL CHECK (what IN ('entry', 'document', 'task', 'project')),
  id     TEXT NOT NULL,
  PRIMARY KEY (change, what, id)
) STRICT, WITHOUT ROWID;
INSERT INTO adopted_work (change, what, id) SELECT change, what, id FROM adopted;
DROP TABLE adopted;
ALTER TABLE adopted_work RENAME TO adopted;

-- How providers fared lately, for all processes.
CREATE TABLE breakers (
  provider   TEXT PRIMARY KEY,
  failures   INTEGER NOT NULL,
  open_until INTEGER
) STRICT, WITHOUT ROWID;

-- The highest row that a turn had when turns were last erased: a place in a conversation is never given twice, or a
-- pointer that stands there would take what is said next for done.
CREATE TABLE erased_turns (highest INTEGER NOT NULL) STRICT;
INSERT INTO erased_turns (highest) VALUES (0);
