-- Files that gave no text, and what the file system said of them then: they are not read again until they change.
CREATE TABLE vault_unread (
  path  TEXT PRIMARY KEY,
  stamp TEXT NOT NULL,
  why   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
