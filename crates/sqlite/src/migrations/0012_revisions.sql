-- Counts of what no row tells by its number: erasures, sessions that ended, changes of the vault.
CREATE TABLE revisions (
  erasures INTEGER NOT NULL,
  endings  INTEGER NOT NULL,
  vault    INTEGER NOT NULL
) STRICT;
INSERT INTO revisions (erasures, endings, vault) VALUES (0, 0, 0);
-- Was read to tell when a session ended.
DROP INDEX sessions_by_end;
