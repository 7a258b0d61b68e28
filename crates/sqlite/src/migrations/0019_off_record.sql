-- Times in which nothing is observed or given; no end means until somebody ends it.
CREATE TABLE pauses (
  since INTEGER PRIMARY KEY,
  until INTEGER
) STRICT;

-- Turns that were not kept, by their ids alone: a transcript that is read again must not bring them back.
CREATE TABLE unkept_turns (
  id      TEXT PRIMARY KEY,
  session TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX unkept_turns_by_session ON unkept_turns (session);

-- Sessions in which the person's latest message was not kept: the reply to it is not either.
CREATE TABLE unkept_latest (
  session TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
