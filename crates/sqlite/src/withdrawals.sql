-- The withdrawals of entries that were superseded or forgotten before they came here.
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
  AND statement_digest(k.secret, e.content) IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM withdrawn w WHERE w.memory = e.id);
-- What stands is not withdrawn, however often it was forgotten before.
DELETE FROM withdrawn WHERE lifted IS NULL AND digest IN (
  SELECT statement_digest(k.secret, e.content) FROM withdrawn_key k, entries e WHERE e.status = 'active' AND e.layer <> 'archive'
);
INSERT OR IGNORE INTO withdrawn_turns (turn, withdrawn)
SELECT DISTINCT j.value, w.row FROM withdrawn w JOIN entries e ON e.id = w.memory, json_each(e.provenance) j;
