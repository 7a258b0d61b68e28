-- What a daemon does by itself: the last runs of each job. What a run did is told in counts, never in the words of memories.

CREATE TABLE job_runs (
  row        INTEGER PRIMARY KEY AUTOINCREMENT,
  job        TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  outcome    TEXT NOT NULL CHECK (outcome IN ('done', 'waiting', 'failed')),
  what       TEXT NOT NULL
) STRICT;
CREATE INDEX job_runs_by_job ON job_runs (job, row);

-- Whoever waits for conversations to end looks often.
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;
