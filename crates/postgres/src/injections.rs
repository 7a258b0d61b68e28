//! Memories that conversations were given.

use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::{Injections, NewlyGiven};

use crate::connection::Connection;
use crate::error::Sql;
use crate::pool::{Between, Effort};
use crate::transaction::Transaction;
use crate::turns::go_on;
use crate::values::{texts, values};
use crate::{PostgresStore, Stored, ahead, erase, sessions};

impl Injections for PostgresStore {
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>> {
        // An entry whose text is another than that of the version that was given is not in view.
        let sql = "SELECT i.memory, coalesce(t.content, m.content) FROM injected i \
                   JOIN sessions s ON s.space = $1 AND s.number = i.session \
                   LEFT JOIN turns t ON t.space = $1 AND t.id = i.memory \
                   LEFT JOIN entries m ON m.space = $1 AND m.id = i.memory WHERE i.space = $1 AND s.id = $2 AND i.after >= s.kept_from AND NOT EXISTS ( \
                     SELECT 1 FROM entries e \
                     JOIN entry_versions v ON v.space = $1 AND v.entry = e.id AND v.version = i.version \
                     WHERE e.space = $1 AND e.id = i.memory AND v.state::json ->> 'content' <> e.content) ORDER BY i.memory";
        self.read("read what was injected", |connection| {
            connection.all(sql, &values![session.as_str()], |row| {
                let id = row.text(0)?;
                if let Some(text) = row.maybe_text(1)? {
                    connection.answers().note_text(id.clone(), text);
                }
                Ok(EntryId::new(id))
            })
        })
    }

    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()> {
        self.write_with(self.noting(), "note what was injected", |transaction| note(transaction, session, memories))
    }

    fn note_given(&self, given: &NewlyGiven<'_>) -> Stored<Option<String>> {
        let NewlyGiven { session, forgets, opens, opening, memories } = *given;
        let is_all = forgets || opens.is_some() || opening.is_some();
        let first = |connection: &Connection| {
            let _ = sessions::known(connection, session);
            let _ = erase::erasures(connection);
        };
        let next = |connection: &Connection| ahead::ask_for_session(connection, &self.machine, session);
        let between = Between { first: &first, next: &next };
        let effort = if is_all { self.effort } else { self.noting() };
        self.write_between(effort, "note what was given", &between, |transaction| {
            let mut known = sessions::known(transaction, session)?;
            if forgets {
                sessions::reset(transaction, session)?;
                known.iter_mut().for_each(|known| known.state.opening = None);
            }
            if let Some(new) = opens {
                known = Some(sessions::upsert(transaction, new, known)?);
                go_on(transaction, session)?;
            }
            let begin = |(text, since)| sessions::begin(transaction, (session, known), text, since);
            let opening = opening.map(begin).transpose()?;
            note(transaction, session, memories)?;
            Ok(opening)
        })
    }
}

impl PostgresStore {
    /// Not worth a sync: what is not noted is given again.
    fn noting(&self) -> Effort {
        if self.effort == Effort::Brief { Effort::Brief } else { Effort::Log }
    }
}

fn note(transaction: &Transaction<'_>, session: &SessionId, memories: &[EntryId]) -> Sql<()> {
    if memories.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO injected (space, session, memory, after, version) \
               SELECT $1, s.number, m.id, s.last_position, e.version FROM sessions s \
               CROSS JOIN (SELECT DISTINCT id FROM unnest($3::text[]) AS given (id)) m \
               LEFT JOIN entries e ON e.space = $1 AND e.id = m.id WHERE s.space = $1 AND s.id = $2 \
               ON CONFLICT (space, session, memory) DO UPDATE SET after = excluded.after, version = excluded.version";
    transaction.post(sql, &values![session.as_str(), texts(memories.iter().map(EntryId::as_str))])
}
