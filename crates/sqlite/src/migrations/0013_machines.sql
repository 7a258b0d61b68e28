-- What is true on one machine only is kept by machine: when a file was last read, and where a project is. What was there
-- before belongs to the machine without a name, which is the only one as long as nobody says otherwise.

CREATE TABLE document_stamps (
  name    TEXT NOT NULL,
  machine TEXT NOT NULL,
  stamp   TEXT NOT NULL,
  PRIMARY KEY (name, machine)
) STRICT, WITHOUT ROWID;
INSERT INTO document_stamps (name, machine, stamp) SELECT name, '', stamp FROM documents WHERE stamp IS NOT NULL;
ALTER TABLE documents DROP COLUMN stamp;

CREATE TABLE project_dirs (
  project TEXT NOT NULL,
  machine TEXT NOT NULL,
  dir     TEXT NOT NULL,
  PRIMARY KEY (project, machine)
) STRICT, WITHOUT ROWID;
INSERT INTO project_dirs (project, machine, dir) SELECT name, '', dir FROM projects WHERE dir IS NOT NULL;
ALTER TABLE projects DROP COLUMN dir;

-- The machine whose directory a version names.
ALTER TABLE project_versions ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE task_versions ADD COLUMN machine TEXT NOT NULL DEFAULT '';
