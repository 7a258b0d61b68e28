-- Memories that a person has seen: entries up to a version; lines of documents, which are named after their text, for good.
CREATE TABLE reviewed (
  memory  TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
