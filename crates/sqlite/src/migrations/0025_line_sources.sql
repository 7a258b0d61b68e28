-- The turns that lines of documents came from; a line is named after its text.
CREATE TABLE line_sources (
  line TEXT NOT NULL,
  turn TEXT NOT NULL,
  PRIMARY KEY (line, turn)
) STRICT, WITHOUT ROWID;
