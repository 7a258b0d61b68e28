-- Documents as they are now: what a file would hold on one machine. `documents` and `document_versions` are what is known of them,
-- there and here. The memory files of projects stay files.
CREATE TABLE document_texts (
  space   text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  -- The transaction that wrote it.
  written bigint NOT NULL,
  hash    text COLLATE "C" NOT NULL,
  text    text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, name)
);
ALTER TABLE document_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_texts FORCE ROW LEVEL SECURITY;
CREATE POLICY of_space ON document_texts USING (space = current_setting('throughline.space', true));
