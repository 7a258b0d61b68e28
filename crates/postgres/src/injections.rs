//! Memories that conversations were given.

use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::Injections;

use crate::pool::Effort;
use crate::values::{texts, values};
use crate::{PostgresStore, Stored};

impl Injections for PostgresStore {
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>> {
        // An entry whose text is another than that of the version that was given is not in view.
        let sql = "SELECT i.memory FROM injected i JOIN sessions s ON s.space = $1 AND s.number = i.session \
                   WHERE i.space = $1 AND s.id = $2 AND i.after >= s.kept_from AND NOT EXISTS ( \
                     SELECT 1 FROM entries e \
                     JOIN entry_versions v ON v.space = $1 AND v.entry = e.id AND v.version = i.version \
                     WHERE e.space = $1 AND e.id = i.memory AND v.state::json ->> 'content' <> e.content) ORDER BY i.memory";
        self.read("read what was injected", |connection| {
            connection.all(sql, &values![session.as_str()], |row| Ok(EntryId::new(row.text(0)?)))
        })
    }

    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()> {
        let sql = "INSERT INTO injected (space, session, memory, after, version) \
                   SELECT $1, s.number, m.id, s.last_position, e.version FROM sessions s \
                   CROSS JOIN (SELECT DISTINCT id FROM unnest($3::text[]) AS given (id)) m \
                   LEFT JOIN entries e ON e.space = $1 AND e.id = m.id WHERE s.space = $1 AND s.id = $2 \
                   ON CONFLICT (space, session, memory) DO UPDATE SET after = excluded.after, version = excluded.version";
        // Not worth a sync: what is not noted is given again.
        let effort = if self.effort == Effort::Brief { Effort::Brief } else { Effort::Log };
        self.write_with(effort, "note what was injected", |transaction| {
            let memories = texts(memories.iter().map(EntryId::as_str));
            transaction.execute(sql, &values![session.as_str(), memories]).map(drop)
        })
    }
}
