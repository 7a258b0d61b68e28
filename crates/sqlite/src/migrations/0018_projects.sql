-- Directories that are projects by themselves: what each is called on this machine.
CREATE TABLE project_roots (
  machine TEXT NOT NULL,
  dir     TEXT NOT NULL,
  project TEXT NOT NULL,
  PRIMARY KEY (machine, dir),
  UNIQUE (machine, project)
) STRICT, WITHOUT ROWID;

-- Lines of memory files that the person accepted or this memory wrote. Files that were registered before are accepted.
CREATE TABLE accepted_lines (
  project TEXT NOT NULL,
  line    TEXT NOT NULL,
  PRIMARY KEY (project, line)
) STRICT, WITHOUT ROWID;
INSERT INTO accepted_lines (project, line) SELECT DISTINCT project, id FROM entries
  WHERE kind = 'bullet' AND namespace >= 'projects/' AND namespace < 'projects0' AND project IS NOT NULL;

CREATE INDEX entries_by_project ON entries (project) WHERE project IS NOT NULL;
