-- The first schema. Never edited: what comes later is a new file.
--
-- Every row belongs to a space, one person's memory, which leads every key and index. Times are Unix milliseconds. Texts are compared
-- byte by byte. No sequence, trigger or extension: numbers are given by whoever holds the lock on the row of its space, so that
-- they grow in the order of commits.

CREATE TABLE spaces (
  space         text COLLATE "C" PRIMARY KEY,
  -- Transactions so far.
  writes        bigint NOT NULL DEFAULT 0,
  -- The numbers that were given last: of entries, turns, passages, segments of the word index, and of all other rows together.
  last_entry    bigint NOT NULL DEFAULT 0,
  last_turn     bigint NOT NULL DEFAULT 0,
  last_chunk    bigint NOT NULL DEFAULT 0,
  last_segment  bigint NOT NULL DEFAULT 0,
  last_row      bigint NOT NULL DEFAULT 0,
  -- Counts of what no row tells by its number.
  erasures      bigint NOT NULL DEFAULT 0,
  endings       bigint NOT NULL DEFAULT 0,
  vault         bigint NOT NULL DEFAULT 0,
  -- Keys the digests of statements that were taken back.
  secret        bytea NOT NULL
);

-- The latest transactions: whether one was committed whose outcome was lost with the connection.
CREATE TABLE commits (
  space  text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  token  text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, number)
);

CREATE TABLE changes (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  who        text COLLATE "C" NOT NULL CHECK (who IN ('user', 'agent', 'system')),
  via        text COLLATE "C" NOT NULL,
  verb       text COLLATE "C" NOT NULL,
  at         bigint NOT NULL,
  undoes     text COLLATE "C",
  undone_by  text COLLATE "C",
  adopted_by text COLLATE "C",
  PRIMARY KEY (space, number),
  UNIQUE (space, id)
);
CREATE INDEX changes_by_time ON changes (space, at);

-- Entries, and the bullets of documents, which are derived and live here so that one search finds both.
CREATE TABLE entries (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  kind       text COLLATE "C" NOT NULL CHECK (kind IN ('entry', 'bullet')),
  namespace  text COLLATE "C" NOT NULL,
  layer      text COLLATE "C" NOT NULL CHECK (layer IN ('identity', 'knowledge', 'archive')),
  key        text COLLATE "C",
  source     text COLLATE "C" NOT NULL CHECK (source IN ('user', 'agent', 'system')),
  status     text COLLATE "C" NOT NULL CHECK (status IN ('active', 'inactive')),
  importance double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
  tags       text[] NOT NULL,
  session    text COLLATE "C",
  task       text COLLATE "C",
  project    text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint,
  supersedes text[] NOT NULL,
  provenance text[] NOT NULL,
  version    bigint NOT NULL,
  content    text COLLATE "C" NOT NULL,
  terms      text COLLATE "C" NOT NULL,
  -- What says the same in the same place is stored once. Another entry that came to say the same all the same, by an edit, an
  -- undo or an import, is a twin and carries its own id.
  digest     text COLLATE "C",
  twin       text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (space, number),
  UNIQUE (space, id)
);
CREATE UNIQUE INDEX entries_by_key ON entries (space, namespace, coalesce(project, ''), key)
  WHERE status = 'active' AND key IS NOT NULL;
CREATE UNIQUE INDEX entries_by_digest ON entries (space, digest, twin) WHERE digest IS NOT NULL;
CREATE INDEX entries_by_any_key ON entries (space, key) WHERE key IS NOT NULL;
CREATE INDEX entries_by_age ON entries (space, created_at, number);
CREATE INDEX bullets_by_document ON entries (space, namespace) WHERE kind = 'bullet';
CREATE INDEX entries_by_project ON entries (space, project) WHERE project IS NOT NULL;

CREATE TABLE entry_versions (
  space   text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  entry   text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  change  bigint NOT NULL,
  -- JSON, as text: bytes that come back as they were.
  state   text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, entry, version),
  FOREIGN KEY (space, change) REFERENCES changes (space, number)
);
CREATE INDEX entry_versions_by_number ON entry_versions (space, number);
CREATE INDEX entry_versions_by_change ON entry_versions (space, change);

CREATE TABLE documents (
  space   text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  hash    text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, name)
);

CREATE TABLE document_versions (
  space   text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  change  bigint NOT NULL,
  hash    text COLLATE "C" NOT NULL,
  text    text COLLATE "C",
  PRIMARY KEY (space, name, version),
  FOREIGN KEY (space, change) REFERENCES changes (space, number)
);
CREATE INDEX document_versions_by_number ON document_versions (space, number);
CREATE INDEX document_versions_by_change ON document_versions (space, change);

-- What is true on one machine only is kept by machine.
CREATE TABLE document_stamps (
  space   text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  stamp   text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, name, machine)
);

-- The turns that lines of documents came from; a line is named after its text.
CREATE TABLE line_sources (
  space text COLLATE "C" NOT NULL,
  line  text COLLATE "C" NOT NULL,
  turn  text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, line, turn)
);
CREATE INDEX line_sources_by_turn ON line_sources (space, turn);

-- What an import brought in: the versions keep the changes that made them, and undoing the import needs to know.
CREATE TABLE adopted (
  space  text COLLATE "C" NOT NULL,
  change bigint NOT NULL,
  what   text COLLATE "C" NOT NULL CHECK (what IN ('entry', 'document', 'task', 'thread', 'project')),
  id     text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, change, what, id),
  FOREIGN KEY (space, change) REFERENCES changes (space, number)
);

CREATE TABLE uses (
  space   text COLLATE "C" NOT NULL,
  id      text COLLATE "C" NOT NULL,
  count   bigint NOT NULL,
  last_at bigint,
  PRIMARY KEY (space, id)
);

CREATE TABLE recalls (
  space    text COLLATE "C" NOT NULL,
  number   bigint NOT NULL,
  id       text COLLATE "C" NOT NULL,
  at       bigint NOT NULL,
  session  text COLLATE "C",
  asked_by text COLLATE "C" NOT NULL,
  query    text COLLATE "C" NOT NULL,
  -- JSON, and the ids in it.
  hits     text COLLATE "C" NOT NULL,
  hit_ids  text[] NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, id)
);
CREATE INDEX recalls_by_session ON recalls (space, session, number) WHERE session IS NOT NULL;
CREATE INDEX recalls_by_time ON recalls (space, at);

CREATE TABLE sessions (
  space         text COLLATE "C" NOT NULL,
  number        bigint NOT NULL,
  id            text COLLATE "C" NOT NULL,
  title         text COLLATE "C",
  project       text COLLATE "C",
  task          text COLLATE "C",
  person        text COLLATE "C",
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL,
  ended_at      bigint,
  base_prompt   text COLLATE "C" NOT NULL DEFAULT '',
  -- The memory that the session began with; NULL means not computed yet, which is not the same as none.
  opening       text COLLATE "C",
  -- Positions: of the last turn that was consolidated, of the first that is still sent, of the last that was imported.
  consolidated  bigint NOT NULL DEFAULT 0,
  kept_from     bigint NOT NULL DEFAULT 0,
  imported_to   bigint NOT NULL DEFAULT 0,
  -- The position that was given last: never given twice, whatever is erased.
  last_position bigint NOT NULL DEFAULT 0,
  failures      bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (space, number),
  UNIQUE (space, id)
);
CREATE INDEX sessions_by_update ON sessions (space, updated_at, number);
CREATE INDEX sessions_waiting ON sessions (space, updated_at) WHERE last_position > consolidated AND last_position > imported_to;

CREATE TABLE turns (
  space    text COLLATE "C" NOT NULL,
  number   bigint NOT NULL,
  id       text COLLATE "C" NOT NULL,
  session  bigint NOT NULL,
  position bigint NOT NULL,
  role     text COLLATE "C" NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system', 'summary')),
  speaker  text COLLATE "C",
  at       bigint NOT NULL,
  content  text COLLATE "C" NOT NULL,
  terms    text COLLATE "C" NOT NULL,
  tokens   bigint NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, id),
  UNIQUE (space, session, position),
  FOREIGN KEY (space, session) REFERENCES sessions (space, number)
);
-- All that the question which sessions are due needs to know about turns: their text stays unread.
CREATE INDEX turns_due ON turns (space, session, position, role, tokens, at);
CREATE INDEX turns_by_time ON turns (space, at);

-- Memories that stand in the part of a conversation that is still sent: not given twice, unless their text changed.
CREATE TABLE injected (
  space   text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  memory  text COLLATE "C" NOT NULL,
  after   bigint NOT NULL,
  version bigint,
  PRIMARY KEY (space, session, memory),
  FOREIGN KEY (space, session) REFERENCES sessions (space, number)
);

-- Work that only one worker does at a time: of a process on a host, with the time at which the process started.
CREATE TABLE leases (
  space   text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  host    text COLLATE "C" NOT NULL,
  process bigint NOT NULL,
  started text COLLATE "C" NOT NULL,
  worker  bigint NOT NULL,
  until   bigint NOT NULL,
  PRIMARY KEY (space, name)
);

-- What models cost, per day.
CREATE TABLE spending (
  space      text COLLATE "C" NOT NULL,
  day        text COLLATE "C" NOT NULL,
  provider   text COLLATE "C" NOT NULL,
  model      text COLLATE "C" NOT NULL,
  purpose    text COLLATE "C" NOT NULL,
  calls      bigint NOT NULL,
  failures   bigint NOT NULL,
  tokens_in  bigint NOT NULL,
  tokens_out bigint NOT NULL,
  PRIMARY KEY (space, day, provider, model, purpose)
);

CREATE TABLE breakers (
  space      text COLLATE "C" NOT NULL,
  provider   text COLLATE "C" NOT NULL,
  failures   bigint NOT NULL,
  open_until bigint,
  PRIMARY KEY (space, provider)
);

CREATE TABLE passes (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  at         bigint NOT NULL,
  target     text COLLATE "C" NOT NULL,
  change     text COLLATE "C",
  outcome    text COLLATE "C" NOT NULL CHECK (outcome IN ('changed', 'unchanged', 'failed')),
  reason     text COLLATE "C",
  -- JSON.
  applied    text COLLATE "C" NOT NULL,
  dropped    text COLLATE "C" NOT NULL,
  -- The number of the last turn that was read.
  ingested   bigint NOT NULL,
  tokens_in  bigint NOT NULL,
  tokens_out bigint NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, id)
);
CREATE INDEX passes_by_target ON passes (space, target, number);

CREATE TABLE job_runs (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  job        text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  ended_at   bigint NOT NULL,
  outcome    text COLLATE "C" NOT NULL CHECK (outcome IN ('done', 'waiting', 'failed')),
  what       text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, number)
);
CREATE INDEX job_runs_by_job ON job_runs (space, job, number);

CREATE TABLE tasks (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  version    bigint NOT NULL,
  title      text COLLATE "C" NOT NULL,
  status     text COLLATE "C" NOT NULL CHECK (status IN ('open', 'done', 'removed')),
  state      text COLLATE "C" NOT NULL,
  project    text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  done_at    bigint,
  archive    text COLLATE "C",
  PRIMARY KEY (space, number),
  UNIQUE (space, id)
);

CREATE TABLE task_versions (
  space   text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  task    text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  change  bigint NOT NULL,
  state   text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, task, version),
  FOREIGN KEY (space, change) REFERENCES changes (space, number)
);
CREATE INDEX task_versions_by_number ON task_versions (space, number);
CREATE INDEX task_versions_by_change ON task_versions (space, change);

-- The words of the titles of tasks.
CREATE TABLE task_words (
  space text COLLATE "C" NOT NULL,
  word  text COLLATE "C" NOT NULL,
  task  text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, word, task)
);
CREATE INDEX task_words_by_task ON task_words (space, task);

CREATE TABLE threads (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  version    bigint NOT NULL,
  namespace  text COLLATE "C" NOT NULL,
  session    text COLLATE "C" NOT NULL,
  title      text COLLATE "C" NOT NULL,
  project    text COLLATE "C",
  task       text COLLATE "C",
  content    text COLLATE "C" NOT NULL,
  rendered   text COLLATE "C",
  status     text COLLATE "C" NOT NULL CHECK (status IN ('open', 'closed')),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, id),
  UNIQUE (space, namespace, session)
);
CREATE INDEX threads_open ON threads (space, namespace, updated_at) WHERE status = 'open';

CREATE TABLE thread_versions (
  space   text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  thread  text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  change  bigint NOT NULL,
  state   text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, thread, version),
  FOREIGN KEY (space, change) REFERENCES changes (space, number)
);
CREATE INDEX thread_versions_by_number ON thread_versions (space, number);
CREATE INDEX thread_versions_by_change ON thread_versions (space, change);

CREATE TABLE projects (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  name       text COLLATE "C" NOT NULL,
  version    bigint NOT NULL,
  status     text COLLATE "C" NOT NULL CHECK (status IN ('active', 'inactive')),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, name)
);

CREATE TABLE project_versions (
  space   text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  project text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  change  bigint NOT NULL,
  state   text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, project, version),
  FOREIGN KEY (space, change) REFERENCES changes (space, number)
);
CREATE INDEX project_versions_by_number ON project_versions (space, number);
CREATE INDEX project_versions_by_change ON project_versions (space, change);

CREATE TABLE project_dirs (
  space   text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  dir     text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, project, machine)
);

-- Directories that are projects by themselves: what each is called on its machine.
CREATE TABLE project_roots (
  space   text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  dir     text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, machine, dir),
  UNIQUE (space, machine, project)
);

CREATE TABLE accepted_lines (
  space   text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  line    text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, project, line)
);

CREATE TABLE exports (
  space text COLLATE "C" NOT NULL,
  path  text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, path)
);

-- Times in which nothing is observed or given; no end means until somebody ends it.
CREATE TABLE pauses (
  space text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  until bigint,
  PRIMARY KEY (space, since)
);

-- Turns that were not kept, by their ids alone, and sessions in which the person's latest message is one of them.
CREATE TABLE unkept_turns (
  space   text COLLATE "C" NOT NULL,
  id      text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, id)
);
CREATE INDEX unkept_turns_by_session ON unkept_turns (space, session);
CREATE TABLE unkept_latest (
  space   text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, session)
);

-- Memories that are not given: in sessions of a project, or, with an empty name, anywhere.
CREATE TABLE mutes (
  space   text COLLATE "C" NOT NULL,
  memory  text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (space, memory, project)
);

-- Memories that a person has seen: entries up to a version; lines of documents for good.
CREATE TABLE reviewed (
  space   text COLLATE "C" NOT NULL,
  memory  text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (space, memory)
);

-- Statements that were taken back, so that turns, summaries, consolidation and imports do not bring them back.
CREATE TABLE withdrawn (
  space   text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  digest  bytea NOT NULL,
  -- What it said and which memory or line it was; nothing where it was erased.
  content text COLLATE "C",
  memory  text COLLATE "C",
  session text COLLATE "C",
  why     text COLLATE "C" NOT NULL CHECK (why IN ('superseded', 'forgotten', 'erased')),
  by      text COLLATE "C",
  at      bigint NOT NULL,
  -- The change that took it back, and the one that said it again: a change that is undone counts for nothing.
  change  bigint,
  lifted  bigint,
  turns   text[] NOT NULL,
  PRIMARY KEY (space, number)
);
CREATE INDEX withdrawn_by_digest ON withdrawn (space, digest);
CREATE INDEX withdrawn_by_session ON withdrawn (space, session);
CREATE INDEX withdrawn_by_memory ON withdrawn (space, memory);

CREATE TABLE erased_turn_ids (
  space text COLLATE "C" NOT NULL,
  turn  text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, turn)
);

-- The vault: files that were added, in passages. All of it is derived from the files.
CREATE TABLE vault_documents (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  path       text COLLATE "C" NOT NULL,
  root       text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  title      text COLLATE "C" NOT NULL,
  hash       text COLLATE "C" NOT NULL,
  stamp      text COLLATE "C" NOT NULL,
  bytes      bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, id),
  UNIQUE (space, path)
);

CREATE TABLE vault_chunks (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  document   bigint NOT NULL,
  nth        bigint NOT NULL,
  titles     text[] NOT NULL,
  page       bigint,
  first_line bigint,
  last_line  bigint,
  content    text COLLATE "C" NOT NULL,
  terms      text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, id),
  FOREIGN KEY (space, document) REFERENCES vault_documents (space, number)
);
CREATE INDEX vault_chunks_by_document ON vault_chunks (space, document);

CREATE TABLE vault_left_out (
  space text COLLATE "C" NOT NULL,
  path  text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, path)
);

CREATE TABLE vault_unread (
  space text COLLATE "C" NOT NULL,
  path  text COLLATE "C" NOT NULL,
  stamp text COLLATE "C" NOT NULL,
  why   text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, path)
);

-- Vectors of passages: signs in blocks of 256 passages, apart from bytes.
CREATE TABLE vector_sets (
  space     text COLLATE "C" NOT NULL,
  number    bigint NOT NULL,
  provider  text COLLATE "C" NOT NULL,
  model     text COLLATE "C" NOT NULL,
  dimension bigint NOT NULL,
  base_url  text COLLATE "C",
  serving   boolean NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, provider, model, dimension)
);
CREATE TABLE vector_blocks (
  space      text COLLATE "C" NOT NULL,
  vector_set bigint NOT NULL,
  block      bigint NOT NULL,
  present    bytea NOT NULL,
  bits       bytea NOT NULL,
  PRIMARY KEY (space, vector_set, block)
);
CREATE TABLE vector_bytes (
  space      text COLLATE "C" NOT NULL,
  vector_set bigint NOT NULL,
  item       bigint NOT NULL,
  scale      double precision NOT NULL,
  bytes      bytea NOT NULL,
  PRIMARY KEY (space, vector_set, item)
);
CREATE TABLE vector_refusals (
  space    text COLLATE "C" NOT NULL,
  item     bigint NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model    text COLLATE "C" NOT NULL,
  why      text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, item, provider, model)
);

-- Vectors of memories. Item: the number of an entry or bullet, or 2^40 plus the number of a turn.
CREATE TABLE memory_vector_sets (
  space     text COLLATE "C" NOT NULL,
  number    bigint NOT NULL,
  provider  text COLLATE "C" NOT NULL,
  model     text COLLATE "C" NOT NULL,
  dimension bigint NOT NULL,
  base_url  text COLLATE "C",
  mean      bytea NOT NULL,
  deviation double precision NOT NULL,
  working   boolean NOT NULL,
  PRIMARY KEY (space, number),
  UNIQUE (space, provider, model, dimension)
);
CREATE TABLE memory_vector_blocks (
  space      text COLLATE "C" NOT NULL,
  vector_set bigint NOT NULL,
  block      bigint NOT NULL,
  present    bytea NOT NULL,
  bits       bytea NOT NULL,
  PRIMARY KEY (space, vector_set, block)
);
CREATE TABLE memory_vectors (
  space      text COLLATE "C" NOT NULL,
  vector_set bigint NOT NULL,
  item       bigint NOT NULL,
  scale      double precision NOT NULL,
  bytes      bytea NOT NULL,
  PRIMARY KEY (space, vector_set, item)
);
CREATE TABLE memory_vector_refusals (
  space      text COLLATE "C" NOT NULL,
  vector_set bigint NOT NULL,
  item       bigint NOT NULL,
  why        text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, vector_set, item)
);
-- Items without a vector in the working set, or all of them while there is none.
CREATE TABLE memory_vector_queue (
  space text COLLATE "C" NOT NULL,
  item  bigint NOT NULL,
  PRIMARY KEY (space, item)
);

-- The word index: segments of `crates/index` as rows. The collections: 1 entries and bullets, 2 turns, 3 passages of the vault.
CREATE TABLE word_indexes (
  space      text COLLATE "C" NOT NULL,
  collection bigint NOT NULL CHECK (collection IN (1, 2, 3)),
  -- While it is built anew: rows up to `built` are in segments that are not served yet, of rows up to `until`. Nothing is being
  -- built where the two are equal.
  built      bigint NOT NULL,
  until      bigint NOT NULL,
  -- What the tail had up to this transaction is in what is built, too, and goes when it is complete.
  tail       bigint NOT NULL,
  PRIMARY KEY (space, collection)
);

-- A number is never given twice. The mark tells a segment from one of another copy of this memory that has its number.
CREATE TABLE word_segments (
  space      text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  collection bigint NOT NULL,
  -- 0: built to take the place of others, 1: searched, 2: to be removed.
  state      bigint NOT NULL CHECK (state IN (0, 1, 2)),
  mark       bigint NOT NULL,
  PRIMARY KEY (space, number)
);

CREATE TABLE word_parts (
  space   text COLLATE "C" NOT NULL,
  segment bigint NOT NULL,
  part    bigint NOT NULL,
  bytes   bytea NOT NULL,
  PRIMARY KEY (space, segment, part)
);

-- Rows that were written, changed or removed since they were last put into a segment, and by which transaction. What is noted
-- counts before what segments say.
CREATE TABLE word_tail (
  space      text COLLATE "C" NOT NULL,
  collection bigint NOT NULL,
  item       bigint NOT NULL,
  written    bigint NOT NULL,
  mark       bigint NOT NULL,
  PRIMARY KEY (space, collection, item)
);
