-- Memories that a person has seen: entries up to a version; lines of documents, which are named after their text, for good.
CREATE TABLE reviewed (
  memory  TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was learnt before there was a review counts as seen.
INSERT INTO reviewed (memory, version, at)
SELECT e.id, e.version, e.updated_at
FROM entries e
WHERE e.layer <> 'archive'
  AND (e.source = 'system'
       OR EXISTS (SELECT 1 FROM entry_versions v JOIN changes c ON c.row = v.change WHERE v.entry = e.id AND c.who = 'system'));
