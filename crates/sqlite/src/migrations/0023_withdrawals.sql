-- Statements that were taken back, so that turns, summaries, consolidation and imports do not bring them back.
CREATE TABLE withdrawn (
  row     INTEGER PRIMARY KEY,
  -- Keyed by the secret below; of the normalised statement.
  digest  BLOB NOT NULL,
  -- What it said and which memory or line it was; nothing where it was erased.
  content TEXT,
  memory  TEXT,
  session TEXT,
  why     TEXT NOT NULL CHECK (why IN ('superseded', 'forgotten', 'erased')),
  -- The memory that took its place.
  by      TEXT,
  at      INTEGER NOT NULL,
  -- The change that took it back, and the one that said it again: a change that is undone counts for nothing.
  change  INTEGER REFERENCES changes (row),
  lifted  INTEGER REFERENCES changes (row)
) STRICT;
CREATE INDEX withdrawn_by_digest ON withdrawn (digest);
CREATE INDEX withdrawn_by_session ON withdrawn (session);
CREATE INDEX withdrawn_by_memory ON withdrawn (memory);

CREATE TABLE withdrawn_turns (
  turn      TEXT NOT NULL,
  withdrawn INTEGER NOT NULL REFERENCES withdrawn (row) ON DELETE CASCADE,
  PRIMARY KEY (turn, withdrawn)
) STRICT, WITHOUT ROWID;
CREATE INDEX withdrawn_turns_of ON withdrawn_turns (withdrawn);

CREATE TABLE erased_turn_ids (turn TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE withdrawn_key (secret BLOB NOT NULL) STRICT;
INSERT INTO withdrawn_key VALUES (randomblob(32));

INSERT INTO withdrawn (digest, content, memory, session, why, by, at, change)
SELECT statement_digest(k.secret, e.content), e.content, e.id, e.session,
       CASE WHEN n.id IS NULL THEN 'forgotten' ELSE 'superseded' END, n.id, e.updated_at, v.change
FROM withdrawn_key k, entries e
JOIN entry_versions v ON v.entry = e.id AND v.version = e.version
JOIN changes c ON c.row = v.change
LEFT JOIN (SELECT j.value AS old, min(s.id) AS id FROM entries s, json_each(s.supersedes) j
           WHERE s.supersedes IS NOT NULL GROUP BY j.value) n ON n.old = e.id
WHERE e.kind = 'entry' AND e.status = 'inactive' AND e.layer <> 'archive'
  AND (c.verb IN ('forget', 'edit', 'remember') OR c.verb IN ('correct', 'consolidate', 'fill') AND n.id IS NOT NULL)
  AND statement_digest(k.secret, e.content) IS NOT NULL;
-- What stands is not withdrawn, however often it was forgotten before.
DELETE FROM withdrawn WHERE lifted IS NULL AND digest IN (
  SELECT statement_digest(k.secret, e.content) FROM withdrawn_key k, entries e WHERE e.status = 'active' AND e.layer <> 'archive'
);
INSERT INTO withdrawn_turns (turn, withdrawn)
SELECT DISTINCT j.value, w.row FROM withdrawn w JOIN entries e ON e.id = w.memory, json_each(e.provenance) j;
