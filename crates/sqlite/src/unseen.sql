-- The newest version of each entry in which a consolidation or a reflection changed what it says or what it replaces.
WITH learnt AS (
  SELECT v.entry AS id, max(v.version) AS version
  FROM changes c
  JOIN entry_versions v ON v.change = c.row
  LEFT JOIN entry_versions p ON p.entry = v.entry AND p.version = v.version - 1
  WHERE c.who = 'system' AND c.verb IN ('consolidate', 'fill', 'reflect')
    AND c.undone_by IS NULL AND c.adopted_by IS NULL
    AND (p.row IS NULL OR v.state ->> 'content' IS NOT p.state ->> 'content'
         OR v.state ->> 'supersedes' IS NOT p.state ->> 'supersedes')
  GROUP BY v.entry
),
unseen AS (
  SELECT e.row AS row, c.at AS at, c.id AS change
  FROM learnt l
  JOIN entries e ON e.id = l.id
  JOIN entry_versions v ON v.entry = l.id AND v.version = l.version
  JOIN changes c ON c.row = v.change
  WHERE e.kind = 'entry' AND e.status = 'active' AND e.layer <> 'archive'
    AND NOT EXISTS (SELECT 1 FROM entry_versions u JOIN changes w ON w.row = u.change
                    WHERE u.entry = l.id AND u.version > l.version AND w.who = 'user'
                      AND w.undone_by IS NULL AND w.verb <> 'undo')
    AND NOT EXISTS (SELECT 1 FROM reviewed r WHERE r.memory = l.id AND r.version >= l.version)
  UNION ALL
  SELECT e.row, e.created_at, NULL
  FROM entries e
  WHERE e.kind = 'bullet' AND e.source = 'system' AND e.layer <> 'archive'
    AND NOT EXISTS (SELECT 1 FROM reviewed r WHERE r.memory = e.id)
  UNION ALL
  -- What another assistant was to remember about the person, and was imported.
  SELECT e.row, c.at, c.id
  FROM entries e
  JOIN entry_versions v ON v.entry = e.id AND v.version = 1
  JOIN changes c ON c.row = v.change
  WHERE e.kind = 'entry' AND e.status = 'active' AND e.layer <> 'archive' AND e.tags LIKE '%"saved-memory"%'
    AND c.verb = 'import' AND c.adopted_by IS NULL
    AND NOT EXISTS (SELECT 1 FROM reviewed r WHERE r.memory = e.id)
)
