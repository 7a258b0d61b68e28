-- The newest version of each entry in which a consolidation or a reflection changed what it says or what it replaces.
WITH learnt AS (
  SELECT v.entry AS id, max(v.version) AS version
  FROM changes c
  JOIN entry_versions v ON v.space = c.space AND v.change = c.number
  LEFT JOIN entry_versions p ON p.space = v.space AND p.entry = v.entry AND p.version = v.version - 1
  WHERE c.space = $1 AND c.who = 'system' AND c.verb IN ('consolidate', 'fill', 'reflect')
    AND c.undone_by IS NULL AND c.adopted_by IS NULL
    AND (p.entry IS NULL OR v.state::json ->> 'content' IS DISTINCT FROM p.state::json ->> 'content'
         OR v.state::json ->> 'supersedes' IS DISTINCT FROM p.state::json ->> 'supersedes')
  GROUP BY v.entry
),
unseen AS (
  SELECT e.number AS number, c.at AS at, c.id AS change
  FROM learnt l
  JOIN entries e ON e.space = $1 AND e.id = l.id
  JOIN entry_versions v ON v.space = $1 AND v.entry = l.id AND v.version = l.version
  JOIN changes c ON c.space = $1 AND c.number = v.change
  WHERE e.kind = 'entry' AND e.status = 'active' AND e.layer <> 'archive'
    AND NOT EXISTS (SELECT 1 FROM entry_versions u JOIN changes w ON w.space = u.space AND w.number = u.change
                    WHERE u.space = $1 AND u.entry = l.id AND u.version > l.version AND w.who = 'user'
                      AND w.undone_by IS NULL AND w.verb <> 'undo')
    AND NOT EXISTS (SELECT 1 FROM reviewed r WHERE r.space = $1 AND r.memory = l.id AND r.version >= l.version)
  UNION ALL
  SELECT e.number, e.created_at, NULL
  FROM entries e
  WHERE e.space = $1 AND e.kind = 'bullet' AND e.source = 'system' AND e.layer <> 'archive'
    AND NOT EXISTS (SELECT 1 FROM reviewed r WHERE r.space = $1 AND r.memory = e.id)
  UNION ALL
  -- What another assistant was to remember about the person, and was imported.
  SELECT e.number, c.at, c.id
  FROM entries e
  JOIN entry_versions v ON v.space = $1 AND v.entry = e.id AND v.version = 1
  JOIN changes c ON c.space = $1 AND c.number = v.change
  WHERE e.space = $1 AND e.kind = 'entry' AND e.status = 'active' AND e.layer <> 'archive'
    AND e.tags @> ARRAY['saved-memory'] AND c.verb = 'import' AND c.adopted_by IS NULL
    AND NOT EXISTS (SELECT 1 FROM reviewed r WHERE r.space = $1 AND r.memory = e.id)
)
