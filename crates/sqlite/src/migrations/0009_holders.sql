-- Who holds a lease: a worker of a process on a host, with the time at which the process started.

CREATE TABLE held_leases (
  name    TEXT PRIMARY KEY,
  host    TEXT NOT NULL,
  process INTEGER NOT NULL,
  started TEXT NOT NULL,
  worker  INTEGER NOT NULL,
  until   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Of a holder from before, nobody can tell whether it is gone: its leases expire.
INSERT INTO held_leases (name, host, process, started, worker, until) SELECT name, '', 0, holder, 0, until FROM leases;
DROP TABLE leases;
ALTER TABLE held_leases RENAME TO leases;
