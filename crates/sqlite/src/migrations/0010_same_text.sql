-- What says the same in the same place is stored once: a unique key on a digest, for active entries without a key. Another
-- entry that came to say the same all the same, by an edit, an undo or an import, is a twin and carries its own id.

ALTER TABLE entries ADD COLUMN digest TEXT;
ALTER TABLE entries ADD COLUMN twin TEXT NOT NULL DEFAULT '';
UPDATE entries SET digest = text_digest(namespace, layer, project, content), twin = id
  WHERE kind = 'entry' AND status = 'active' AND key IS NULL;
UPDATE entries SET twin = '' WHERE row IN (SELECT min(row) FROM entries WHERE digest IS NOT NULL GROUP BY digest);
CREATE UNIQUE INDEX entries_by_digest ON entries (digest, twin) WHERE digest IS NOT NULL;
DROP INDEX entries_without_key;
