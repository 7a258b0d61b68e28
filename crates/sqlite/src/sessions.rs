//! Sessions, and how far each was processed.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::model::{Position, Session, SessionId, SessionState};
use throughline_core::ports::{Among, ErasureMark, NewSession, Page, SessionPage, Sessions, StoreError};
use throughline_core::sessions::{Backlog, DueRules};

use crate::entries::parse_cursor;
use crate::error::while_doing;
use crate::rows::{parsed, time};
use crate::turns::go_on;
use crate::{SqliteStore, Stored, backlogs, erase};

/// A channel with fewer conversations is listed by their names, one with more by going through the latest of all.
const RARE: i64 = 500;

/// The conversations of a channel by their names: `;` follows `:`.
const BY_NAME: &str = "id >= ?1 || ':' AND id < ?1 || ';'";

fn is_rare(connection: &Connection, channel: &str) -> rusqlite::Result<bool> {
    let sql = format!("SELECT count(*) FROM (SELECT 1 FROM sessions WHERE {BY_NAME} LIMIT ?2)");
    connection.prepare_cached(&sql)?.query_row(params![channel, RARE], |row| Ok(row.get::<_, i64>(0)? < RARE))
}

/// A page of sessions; turns are counted for the page alone.
fn page_sql(is_rare: bool) -> String {
    let near = if is_rare { BY_NAME } else { "TRUE" };
    format!(
        "SELECT {STATE_COLUMNS}, row, (SELECT count(*) FROM turns WHERE session = sessions.row) FROM sessions \
         WHERE row IN (SELECT row FROM sessions \
           WHERE {near} AND (?1 IS NULL OR substr(id, 1, instr(id, ':') - 1) = ?1) \
             AND (?2 IS NULL OR (updated_at, row) < (?2, ?3)) ORDER BY updated_at DESC, row DESC LIMIT ?4) \
         ORDER BY updated_at DESC, row DESC"
    )
}

impl Sessions for SqliteStore {
    fn sessions(&self) -> Stored<Vec<SessionState>> {
        self.read(|connection| states(connection, "TRUE ORDER BY updated_at DESC, row DESC", []), "list sessions")
    }

    fn session(&self, id: &SessionId) -> Stored<Option<SessionState>> {
        self.read(|connection| state(connection, id), "read a session")
    }

    fn session_page(&self, channel: Option<&str>, page: &Page) -> Stored<SessionPage> {
        let before = page.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = page.limit.min(i64::MAX as usize - 1);
        let mut found: Vec<(SessionState, i64, u64)> = self.read(
            |connection| {
                let values = params![channel, before.map(|(at, _)| at), before.map(|(_, row)| row), limit as i64 + 1];
                let counted = |row: &Row<'_>| Ok((read_state(row)?, row.get(STATE_WIDTH)?, row.get(STATE_WIDTH + 1)?));
                let is_rare = channel.is_some_and(|channel| is_rare(connection, channel).unwrap_or_default());
                connection.prepare_cached(&page_sql(is_rare))?.query_map(values, counted)?.collect()
            },
            "list sessions",
        )?;
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let cursor = last.map(|(state, row, _)| format!("{}.{row}", state.session.updated_at.as_millisecond()));
        Ok(SessionPage { sessions: found.into_iter().map(|(state, _, turns)| (state, turns)).collect(), cursor })
    }

    fn open_session(&self, new: &NewSession) -> Stored<SessionState> {
        let opening = while_doing("open a session");
        self.write("open a session", |transaction| {
            upsert(transaction, new).and_then(|()| go_on(transaction, &new.id)).map_err(&opening)?;
            let found = state(transaction, &new.id).map_err(&opening)?;
            found.ok_or_else(|| StoreError::Conflict { what: new.id.to_string() })
        })
    }

    fn open_new_session(&self, new: &NewSession) -> Stored<Option<SessionState>> {
        let opening = while_doing("open a session");
        self.write("open a session", |transaction| {
            let sql = "INSERT INTO sessions (id, project, task, base_prompt, created_at, updated_at, person, title) \
                       VALUES (?1, ?2, ?3, ifnull(?4, ''), ?5, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING";
            let at = new.at.as_millisecond();
            let values = params![new.id.as_str(), new.project, new.task, new.base_prompt, at, new.person, new.title];
            let is_new = transaction.execute(sql, values).map_err(&opening)? == 1;
            if is_new { state(transaction, &new.id).map_err(&opening) } else { Ok(None) }
        })
    }

    fn set_opening(&self, id: &SessionId, opening: &str, since: &ErasureMark) -> Stored<String> {
        self.write("begin a session", |transaction| begin(transaction, id, opening, since))
    }

    fn reset_session(&self, id: &SessionId) -> Stored<()> {
        self.write("reset a session", |transaction| reset(transaction, id).map_err(while_doing("reset a session")))
    }

    fn end_session(&self, id: &SessionId, at: Timestamp) -> Stored<()> {
        self.write("end a session", |transaction| {
            let sql = "UPDATE sessions SET ended_at = ?2 WHERE id = ?1";
            transaction
                .execute(sql, params![id.as_str(), at.as_millisecond()])
                .and_then(|_| transaction.execute("UPDATE revisions SET endings = endings + 1", []))
                .map(drop)
                .map_err(while_doing("end a session"))
        })
    }
    fn due_sessions(&self, rules: &DueRules, among: &Among) -> Stored<Vec<Backlog>> {
        let mut backlogs = self.read(|connection| backlogs::read(connection, among), "look which sessions are due")?;
        backlogs.retain(|backlog| rules.trigger(backlog).is_some());
        Ok(backlogs)
    }

    fn note_failure(&self, session: &SessionId) -> Stored<u32> {
        let sql = "UPDATE sessions SET failures = failures + 1 WHERE id = ? RETURNING failures";
        self.write("count a failure", |transaction| {
            let counted = transaction.query_row(sql, [session.as_str()], |row| row.get(0));
            counted.map_err(while_doing("count a failure"))
        })
    }
}

/// Keeps what a session begins with, unless it has begun; gives it as it stands.
pub(crate) fn begin(connection: &Connection, id: &SessionId, opening: &str, since: &ErasureMark) -> Stored<String> {
    erase::check_unerased(connection, since)?;
    let sql = "UPDATE sessions SET opening = ifnull(opening, ?2) WHERE id = ?1 RETURNING opening";
    connection.query_row(sql, params![id.as_str(), opening], |row| row.get(0)).map_err(while_doing("begin a session"))
}

/// Forgets what a session was given.
pub(crate) fn reset(connection: &Connection, id: &SessionId) -> rusqlite::Result<()> {
    let forget = "DELETE FROM injected WHERE session = (SELECT row FROM sessions WHERE id = ?)";
    connection.execute("UPDATE sessions SET opening = NULL WHERE id = ?", [id.as_str()])?;
    connection.execute(forget, [id.as_str()]).map(drop)
}

/// Inserts a session, or tells the one that is there what it is about; what is not given stays.
pub(crate) fn upsert(connection: &Connection, new: &NewSession) -> rusqlite::Result<()> {
    let sql = "INSERT INTO sessions (id, project, task, base_prompt, created_at, updated_at, person, title) \
               VALUES (?1, ?2, ?3, ifnull(?4, ''), ?5, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET \
                 project = ifnull(?2, project), task = ifnull(?3, task), base_prompt = ifnull(?4, base_prompt), \
                 person = ifnull(?6, person), title = ifnull(?7, title)";
    let at = new.at.as_millisecond();
    let values = params![new.id.as_str(), new.project, new.task, new.base_prompt, at, new.person, new.title];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

const STATE_COLUMNS: &str = "id, project, task, created_at, updated_at, ended_at, base_prompt, opening, consolidated, \
     kept_from, failures, imported_to, person, title";

/// How many columns those are.
const STATE_WIDTH: usize = 14;

fn state(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<SessionState>> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM sessions WHERE id = ?");
    connection.prepare_cached(&sql)?.query_row([id.as_str()], read_state).optional()
}

/// Sessions that pass a condition, which also says in which order.
pub(crate) fn states(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<SessionState>> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM sessions WHERE {condition}");
    connection.prepare_cached(&sql)?.query_map(values, read_state)?.collect()
}

fn read_state(row: &Row<'_>) -> rusqlite::Result<SessionState> {
    let session = Session {
        id: parsed(row, 0)?,
        title: row.get(13)?,
        project: row.get(1)?,
        task: row.get(2)?,
        person: row.get(12)?,
        created_at: time(row.get(3)?)?,
        updated_at: time(row.get(4)?)?,
        ended_at: row.get::<_, Option<i64>>(5)?.map(time).transpose()?,
    };
    Ok(SessionState {
        session,
        base_prompt: row.get(6)?,
        opening: row.get(7)?,
        consolidated: Position::new(row.get(8)?),
        kept_from: Position::new(row.get(9)?),
        failures: row.get(10)?,
        imported_to: Position::new(row.get(11)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{self, Durability};

    #[test]
    fn a_channel_with_few_conversations_is_listed_without_looking_at_those_of_others() {
        let home = tempfile::tempdir().unwrap();
        let mut connection =
            open::connect(&home.path().join("memory.db"), Durability::Process, open::Make::New).unwrap();
        open::migrate(&mut connection, &open::MIGRATIONS, None).unwrap();
        let steps = |is_rare: bool| -> String {
            let sql = format!("EXPLAIN QUERY PLAN {}", page_sql(is_rare));
            let mut statement = connection.prepare(&sql).unwrap();
            let values = params!["rare", None::<i64>, None::<i64>, 9];
            let steps = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
            steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
        };
        assert!(steps(true).contains("(id>? AND id<?)") && !steps(true).contains("SCAN"), "{}", steps(true));
        assert!(steps(false).contains("SCAN sessions USING INDEX sessions_by_update"), "{}", steps(false));
        let add = "INSERT INTO sessions (id, created_at, updated_at) VALUES (?1, 0, 0)";
        for nth in 0..RARE {
            connection.execute(add, [format!("common:{nth}")]).unwrap();
        }
        connection.execute(add, ["rare:1"]).unwrap();
        let rare = ["rare", "common", "commo", "common:1"].map(|channel| is_rare(&connection, channel).unwrap());
        assert_eq!(rare, [true, false, true, true]);
    }
}
