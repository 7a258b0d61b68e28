-- Memories that are not given: in sessions of a project, or, with an empty name, anywhere. Kept by id beside the entries, because
-- lines of documents are derived and made anew.
CREATE TABLE mutes (
  memory  TEXT NOT NULL,
  project TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (memory, project)
) STRICT, WITHOUT ROWID;
