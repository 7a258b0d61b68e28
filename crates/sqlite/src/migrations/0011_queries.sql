-- What is asked often is answered by an index, without reading conversations or titles.

-- How many tokens a turn takes, as the core estimates them.
ALTER TABLE turns ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET tokens = estimated_tokens(content);

-- All that the question which sessions are due needs to know about turns: their text stays unread.
CREATE INDEX turns_due ON turns (session, position, role, tokens, at);
CREATE INDEX sessions_by_update ON sessions (updated_at);

-- The words of the titles of tasks.
CREATE TABLE task_words (
  word TEXT NOT NULL,
  task INTEGER NOT NULL REFERENCES tasks (row),
  PRIMARY KEY (word, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_words_by_task ON task_words (task);
INSERT INTO task_words (word, task) SELECT w.value, t.row FROM tasks t, json_each(distinct_words(t.title)) w;
