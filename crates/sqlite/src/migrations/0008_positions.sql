-- A turn has a position in its session: 1, 2, 3 and so on. Pointers of sessions are positions from here on; until now they
-- were rows of turns, which number all sessions together.

ALTER TABLE turns ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET position = numbered.position
  FROM (SELECT row, row_number() OVER (PARTITION BY session ORDER BY row) AS position FROM turns) AS numbered
  WHERE numbered.row = turns.row;

-- The position that was given last. It stays when that turn is erased: a position is never given twice, or a pointer that
-- stands there would take what is said next for processed.
ALTER TABLE sessions ADD COLUMN last_position INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET last_position = (SELECT count(*) FROM turns t WHERE t.session = sessions.row);

-- A pointer at a row becomes the position of the last turn up to that row.
UPDATE sessions SET
  consolidated = ifnull((SELECT t.position FROM turns t WHERE t.session = sessions.row AND t.row <= consolidated
                         ORDER BY t.row DESC LIMIT 1), 0),
  kept_from = ifnull((SELECT t.position FROM turns t WHERE t.session = sessions.row AND t.row <= kept_from
                      ORDER BY t.row DESC LIMIT 1), 0),
  filled = ifnull((SELECT t.position FROM turns t WHERE t.session = sessions.row AND t.row <= filled
                   ORDER BY t.row DESC LIMIT 1), 0),
  imported_to = ifnull((SELECT t.position FROM turns t WHERE t.session = sessions.row AND t.row <= imported_to
                        ORDER BY t.row DESC LIMIT 1), 0);
UPDATE injected SET
  after = ifnull((SELECT t.position FROM turns t WHERE t.session = injected.session AND t.row <= after
                  ORDER BY t.row DESC LIMIT 1), 0);

DROP INDEX turns_by_session;
CREATE UNIQUE INDEX turns_by_position ON turns (session, position);
