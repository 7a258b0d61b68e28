//! Memories that conversations were given.

use rusqlite::{Connection, Row};
use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::{Injections, NewlyGiven};

use crate::error::while_doing;
use crate::pool::{Effort, Sharing};
use crate::sessions::{begin, reset, upsert};
use crate::turns::go_on;
use crate::{SqliteStore, Stored};

impl Injections for SqliteStore {
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>> {
        // An entry whose text is another than that of the version that was given is not in view. Texts of the same version are
        // not compared: that would parse the version.
        let sql = "SELECT memory FROM injected i JOIN sessions s ON s.row = i.session \
                   WHERE s.id = ? AND i.after >= s.kept_from AND NOT EXISTS ( \
                     SELECT 1 FROM entries e JOIN entry_versions v ON v.entry = e.id AND v.version = i.version \
                     WHERE e.id = i.memory AND e.version <> i.version AND v.state ->> 'content' <> e.content) ORDER BY memory";
        let id = |row: &Row<'_>| Ok(EntryId::new(row.get::<_, String>(0)?));
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([session.as_str()], id)?.collect(),
            "read what was injected",
        )
    }

    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()> {
        // Not worth a sync: what is not noted is given again.
        let effort = Effort::Log(self.effort.patience());
        self.pool.write("note what was injected", (effort, Sharing::Alone), |transaction| {
            note(transaction, session, memories).map_err(while_doing("note what was injected"))
        })
    }

    fn note_given(&self, given: &NewlyGiven<'_>) -> Stored<Option<String>> {
        let NewlyGiven { session, forgets, opens, opening, memories } = *given;
        if !forgets && opens.is_none() && opening.is_none() {
            return self.note_injected(session, memories).map(|()| None);
        }
        let noting = while_doing("note what was given");
        self.write("note what was given", |transaction| {
            if forgets {
                reset(transaction, session).map_err(&noting)?;
            }
            if let Some(new) = opens {
                upsert(transaction, new).and_then(|()| go_on(transaction, session)).map_err(&noting)?;
            }
            let opening = opening.map(|(text, since)| begin(transaction, session, text, since)).transpose()?;
            note(transaction, session, memories).map_err(&noting)?;
            Ok(opening)
        })
    }
}

fn note(transaction: &Connection, session: &SessionId, memories: &[EntryId]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO injected (session, memory, after, version) \
               SELECT row, ?2, last_position, (SELECT version FROM entries WHERE id = ?2) FROM sessions WHERE id = ?1 \
               ON CONFLICT (session, memory) DO UPDATE SET after = excluded.after, version = excluded.version";
    memories
        .iter()
        .try_for_each(|memory| transaction.prepare_cached(sql)?.execute([session.as_str(), memory.as_str()]).map(drop))
}
