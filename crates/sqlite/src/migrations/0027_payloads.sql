-- The word index keeps with each row what ranking reads of it: also when it changed last, and what a turn's speaker is called.
DROP TRIGGER entries_tail_changed;
CREATE TRIGGER entries_tail_changed AFTER UPDATE OF
  terms, kind, namespace, layer, source, status, importance, tags, session, task, project, created_at, expires_at, version,
  updated_at
ON entries WHEN
  (old.terms, old.kind, old.namespace, old.layer, old.source, old.status, old.importance, old.tags, old.session,
   old.task, old.project, old.created_at, old.expires_at, old.version, old.updated_at)
  IS NOT
  (new.terms, new.kind, new.namespace, new.layer, new.source, new.status, new.importance, new.tags, new.session,
   new.task, new.project, new.created_at, new.expires_at, new.version, new.updated_at)
BEGIN
  INSERT INTO entry_tail (item) VALUES (new.row);
END;
DROP TRIGGER turns_tail_changed;
CREATE TRIGGER turns_tail_changed AFTER UPDATE OF terms, role, at, session, speaker, position ON turns
WHEN (old.terms, old.role, old.at, old.session, old.speaker, old.position)
  IS NOT (new.terms, new.role, new.at, new.session, new.speaker, new.position) BEGIN
  INSERT INTO turn_tail (item) VALUES (new.row);
END;

-- What there is was indexed without it: the index is built anew, and searched as it is meanwhile.
UPDATE word_segments SET state = 2 WHERE state = 0;
UPDATE word_indexes SET built = 0, until = (SELECT ifnull(max(row), 0) FROM entries),
  tail = (SELECT ifnull(max(row), 0) FROM entry_tail) WHERE collection = 1;
UPDATE word_indexes SET built = 0, until = (SELECT ifnull(max(row), 0) FROM turns),
  tail = (SELECT ifnull(max(row), 0) FROM turn_tail) WHERE collection = 2;
UPDATE word_indexes SET built = 0, until = (SELECT ifnull(max(row), 0) FROM vault_chunks),
  tail = (SELECT ifnull(max(row), 0) FROM chunk_tail) WHERE collection = 3;
