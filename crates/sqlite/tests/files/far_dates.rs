//! A database that holds times which no calendar has, as earlier versions wrote them, is read like any other.

use std::sync::Arc;

use rusqlite::Connection;
use throughline_core::engine::{NewMemory, Said};
use throughline_core::model::{Role, SessionId};
use throughline_core::ports::Page;
use throughline_core::recall::{Filter, RecallRequest};
use throughline_testkit::World;

use super::{home, open};

/// The last second of the year 9999, in milliseconds: later than the last time of our calendar.
const LAST_SECOND: i64 = 253_402_300_799_000;

#[test]
fn a_memory_of_the_year_9999_opens_lists_exports_and_recalls() {
    for (at, shown) in [(LAST_SECOND, "9999-12-30"), (i64::MAX, "9999-12-30"), (i64::MIN, "-009999-01-02")] {
        let (_home, path) = home();
        let world = World::around(Arc::new(open(&path).unwrap()));
        let session = SessionId::on_channel("cli", "one").unwrap();
        world.engine.memories().remember(&NewMemory::fact("Tea is served at four")).unwrap();
        world.engine.sessions().observe(&session, &[Said::now(Role::User, "When is supper?")]).unwrap();
        drop(world);
        let sql = format!(
            "UPDATE entries SET created_at = {at}, updated_at = {at}; UPDATE turns SET at = {at};
             UPDATE sessions SET created_at = {at}, updated_at = {at};"
        );
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();

        let World { engine, .. } = World::around(Arc::new(open(&path).unwrap()));
        let listed = engine.memories().list(&Filter::default(), &Page { limit: 10, cursor: None }).unwrap();
        let dates: Vec<String> = listed.memories.iter().map(|memory| memory.entry.created_at.to_string()).collect();
        assert!(dates.len() == 1 && dates[0].starts_with(shown), "{at}: {dates:?}");
        assert_eq!(engine.sessions().page(None, 10, None).unwrap().sessions.len(), 1, "{at}");
        assert_eq!(engine.sessions().show(&session, None, 10).unwrap().turns.len(), 1, "{at}");
        let export = engine.transfer().export().unwrap();
        assert_eq!((export.bundle.memories.len(), export.bundle.turns.len()), (1, 1), "{at}");
        for words in ["when is tea served", "supper"] {
            let request = RecallRequest { query: words.to_owned(), limit: 5, filter: Filter::recallable(engine.now()) };
            assert_eq!(engine.recall().recall(&request).unwrap().hits.len(), 1, "{at}: {words}");
        }
    }
}
