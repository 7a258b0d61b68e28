//! Writers of one process: who shares a transaction, and what becomes of it when one of them fails.

use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;
use crate::identity;

const SHARED: (Effort, Sharing) = (Effort::Confirmed, Sharing::Shared);

fn pool() -> (tempfile::TempDir, Pool) {
    let home = tempfile::tempdir().unwrap();
    let pool = Pool::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    pool.write("make a table", SHARED, |connection| {
        connection.execute_batch("CREATE TABLE kept (name TEXT PRIMARY KEY)").map_err(while_doing("make a table"))
    })
    .unwrap();
    (home, pool)
}

fn keep(connection: &Connection, name: &str) -> Stored<()> {
    let kept = connection.execute("INSERT INTO kept VALUES (?)", [name]);
    kept.map(drop).map_err(while_doing("keep"))
}

fn kept(pool: &Pool) -> Vec<String> {
    let names = |connection: &Connection| {
        connection.prepare("SELECT name FROM kept ORDER BY name")?.query_map([], |row| row.get(0))?.collect()
    };
    pool.read(names, "look").unwrap()
}

fn transactions(pool: &Pool) -> i64 {
    pool.read(identity::read, "look").unwrap().writes
}

/// Runs `works` while a first writer is in: all of them wait by the time it is done. Gives what came of them, the first last.
fn together(pool: &Pool, sharing: Sharing, works: Vec<fn(&Connection) -> Stored<()>>) -> Vec<Option<Stored<()>>> {
    let (begun, is_begun) = channel();
    let count = works.len();
    std::thread::scope(|scope| {
        let first = scope.spawn(move || {
            pool.write("first", (Effort::Confirmed, sharing), |connection| {
                begun.send(()).unwrap();
                while pool.writing.waiting() < count {
                    std::thread::sleep(Duration::from_millis(1));
                }
                keep(connection, "first")
            })
        });
        is_begun.recv().unwrap();
        let mut others = Vec::new();
        for (nth, work) in works.into_iter().enumerate() {
            others.push(scope.spawn(move || pool.write("another", SHARED, work)));
            while pool.writing.waiting() <= nth && !first.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let outcomes = others.into_iter().map(|other| other.join().ok());
        outcomes.chain([first.join().ok()]).collect()
    })
}

#[test]
fn writers_that_wait_share_one_transaction() {
    let (_home, pool) = pool();
    let before = transactions(&pool);
    let works: Vec<fn(&Connection) -> Stored<()>> =
        vec![|it| keep(it, "a"), |it| keep(it, "b"), |it| keep(it, "c"), |it| keep(it, "d")];
    let outcomes = together(&pool, Sharing::Shared, works);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Some(Ok(())))), "{outcomes:?}");
    assert_eq!(kept(&pool), ["a", "b", "c", "d", "first"]);
    assert_eq!(transactions(&pool), before + 1);
}

#[test]
fn one_that_is_alone_shares_with_nobody() {
    let (_home, pool) = pool();
    let before = transactions(&pool);
    let works: Vec<fn(&Connection) -> Stored<()>> = vec![|it| keep(it, "a"), |it| keep(it, "b")];
    together(&pool, Sharing::Alone, works);
    assert_eq!(kept(&pool), ["a", "b", "first"]);
    assert_eq!(transactions(&pool), before + 2, "the first has one, and the others share one");
}

#[test]
fn what_one_fails_at_leaves_the_others_alone() {
    let (_home, pool) = pool();
    let works: Vec<fn(&Connection) -> Stored<()>> = vec![
        |it| keep(it, "a"),
        |it| keep(it, "half").and_then(|()| keep(it, "a")),
        |it| keep(it, "left").and(Err(StoreError::TakenBack)),
        |it| keep(it, "b"),
    ];
    let outcomes = together(&pool, Sharing::Shared, works);
    let is_ok: Vec<bool> = outcomes.iter().map(|outcome| matches!(outcome, Some(Ok(())))).collect();
    assert_eq!(is_ok, [true, false, false, true, true], "{outcomes:?}");
    assert!(matches!(outcomes[2], Some(Err(StoreError::TakenBack))));
    assert_eq!(kept(&pool), ["a", "b", "first"]);
}

#[test]
fn nothing_is_confirmed_of_a_transaction_that_somebody_broke_off() {
    let (_home, pool) = pool();
    let works: Vec<fn(&Connection) -> Stored<()>> =
        vec![|it| keep(it, "a"), |_| panic!("in the middle"), |it| keep(it, "b")];
    let outcomes = together(&pool, Sharing::Shared, works);
    assert!(matches!(outcomes[0], Some(Err(_))) && outcomes[1].is_none(), "{outcomes:?}");
    assert!(matches!((&outcomes[2], &outcomes[3]), (Some(Ok(())), Some(Err(_)))), "{outcomes:?}");
    assert_eq!(kept(&pool), ["b"]);
    pool.write("go on", SHARED, |it| keep(it, "c")).unwrap();
    assert_eq!(kept(&pool), ["b", "c"]);
}

/// How many connections are open and not in use.
fn idle(pool: &Pool) -> usize {
    match &*pool.state() {
        State::Sound { idle, .. } => idle.len(),
        State::Lost(_) | State::Reading => 0,
    }
}

fn read_within(pool: &Pool, depth: u32) {
    let deeper = |_: &Connection| {
        if depth > 1 {
            read_within(pool, depth - 1);
        }
        Ok(())
    };
    pool.read(deeper, "look").unwrap();
}

#[test]
fn connections_that_were_not_used_are_closed() {
    let (_home, pool) = pool();
    read_within(&pool, 3);
    assert_eq!(idle(&pool), 3);
    pool.trim();
    assert_eq!(idle(&pool), 3, "all of them were used");
    read_within(&pool, 2);
    pool.trim();
    assert_eq!(idle(&pool), 2, "one was not");
    pool.trim();
    pool.trim();
    assert_eq!(idle(&pool), 1, "one stays open");
    read_within(&pool, 2);
    assert_eq!(idle(&pool), 2);
}
