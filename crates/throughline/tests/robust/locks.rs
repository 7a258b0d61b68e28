//! Another process holds the database's write lock. Whoever reads gets an answer from what can be read.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::daemon::Daemon;
use crate::common::{Home, string, until};

/// SQLite's own timeout for a writer is 30 s: an answer that comes sooner did not wait for the lock.
const FAR_SOONER: Duration = Duration::from_secs(25);

const QUESTION: &str = "when do we deploy?";

/// A memory with something to find, and a document that nobody has noticed yet.
fn furnished() -> Home {
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon"]);
    home.put("user/profile.md", "- My name is Ada.\n");
    home
}

/// Does something while this process holds the write lock, and sees to it that it did not wait.
#[track_caller]
fn locked<T>(home: &Home, work: impl FnOnce() -> T) -> T {
    let holder = Connection::open(home.path("memory.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let done = work();
    assert!(began.elapsed() < FAR_SOONER, "it waited for the lock: {:?}", began.elapsed());
    holder.execute_batch("ROLLBACK").unwrap();
    done
}

#[test]
fn commands_answer_while_another_process_holds_the_lock() {
    let home = furnished();
    let (context, recall) =
        locked(&home, || (home.run(&["context", "--message", QUESTION]), home.run(&["recall", "deploy"])));
    assert_eq!((context.code, recall.code), (0, 0), "{context:?} {recall:?}");
    assert!(context.stdout.contains("My name is Ada."), "the file is read as it is: {context:?}");
    assert!(context.stdout.contains("Fridays at noon") && recall.stdout.contains("Fridays at noon"));
    assert_eq!(home.found(&["Ada"]), ["My name is Ada."], "what was left is done afterwards");
}

#[test]
fn the_daemon_answers_while_another_process_holds_the_lock() {
    let home = furnished();
    let daemon = Daemon::start(&home);
    let session = string(&daemon.post("/api/sessions", &json!({ "channel": "web" }))["session"]);
    home.put("user/profile.md", "- My name is Ada.\n- I live in Porto.\n");
    let target = format!("/api/sessions/{session}/context");
    let (context, recall) = locked(&home, || {
        let context = daemon.post(&target, &json!({ "message": QUESTION }));
        (context, daemon.post("/api/recall", &json!({ "query": "deploy" })))
    });
    assert!(string(&context["message"]).contains("Fridays at noon"), "{context}");
    assert_eq!(recall["hits"][0]["content"], "We deploy on Fridays at noon", "{recall}");
    // What was given could not be noted: it comes again, and is noted then.
    let again = daemon.post(&target, &json!({ "message": QUESTION }));
    assert!(string(&again["message"]).contains("Fridays at noon"), "{again}");
    let noted = daemon.post(&target, &json!({ "message": QUESTION }));
    assert!(!string(&noted["message"]).contains("Fridays at noon"), "{noted}");
}

#[test]
fn list_and_show_answer_while_another_process_holds_the_lock() {
    let home = furnished();
    let id = home.remember(&["The printer is on the second floor"]);
    let (list, show) = locked(&home, || (home.run(&["list"]), home.run(&["show", &id])));
    assert_eq!((list.code, show.code), (0, 0), "{list:?} {show:?}");
    assert!(list.stdout.contains("Fridays at noon") && show.stdout.contains("second floor"), "{list:?} {show:?}");
    let daemon = Daemon::start(&home);
    home.put("user/profile.md", "- My name is Ada.\n- I live in Porto.\n");
    let (list, show) = locked(&home, || (daemon.get("/api/memories"), daemon.get(&format!("/api/memories/{id}"))));
    assert!(list.to_string().contains("Fridays at noon"), "{list}");
    assert_eq!(show["content"], "The printer is on the second floor");
    // What was left is done afterwards, unless somebody else writes in that moment.
    until(|| daemon.get("/api/memories").to_string().contains("Porto").then_some(()));
}

#[test]
fn a_session_begins_while_another_process_holds_the_lock() {
    let home = furnished();
    home.remember(&["We use pnpm here", "--project", "apollo", "--sig", "4"]);
    let daemon = Daemon::start(&home);
    let start = json!({ "channel": "web", "project": "apollo", "system_prompt": "Be kind." });
    let (started, context) = locked(&home, || {
        let started = daemon.post("/api/sessions", &start);
        let target = format!("/api/sessions/{}/context", string(&started["session"]));
        (started, daemon.post(&target, &json!({ "message": QUESTION })))
    });
    let prompt = string(&started["system_prompt"]);
    assert!(
        prompt.starts_with("Be kind.") && prompt.contains("My name is Ada.") && prompt.contains("pnpm"),
        "{prompt}"
    );
    assert!(string(&context["message"]).contains("Fridays at noon"), "{context}");
    assert_eq!(context["system_prompt"], started["system_prompt"]);
    let target = format!("/api/sessions/{}", string(&started["session"]));
    let noted =
        until(|| Some(daemon.send(&daemon.request("GET", &target))).filter(|answer| answer.status == 200)).json();
    assert_eq!(noted["session"]["project"], "apollo", "it is noted afterwards: {noted}");
}

#[test]
fn hooks_answer_while_another_process_holds_the_lock() {
    let home = furnished();
    let event = |name: &str, more: Value| {
        // With a transcript, the prompt itself is not kept: that would wait for the lock until the deadline.
        let transcript = home.root().join("one.jsonl");
        let mut event = json!({ "session_id": "one", "cwd": home.root(), "hook_event_name": name,
                                "transcript_path": transcript });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event.to_string()
    };
    let deadline = FAR_SOONER.as_millis().to_string();
    let answer = |name: &str, event: &str| {
        home.run_with(&["hook", name, "--client", "claude-code", "--deadline-ms", &deadline], event).done()
    };
    let (start, prompt, cleared) = locked(&home, || {
        let start = answer("session-start", &event("SessionStart", json!({ "source": "startup" })));
        let prompt = answer("prompt", &event("UserPromptSubmit", json!({ "prompt": QUESTION })));
        (start, prompt, answer("session-start", &event("SessionStart", json!({ "source": "clear" }))))
    });
    assert!(start.contains("My name is Ada.") && cleared.contains("My name is Ada."), "{start} {cleared}");
    assert!(prompt.contains("Fridays at noon"), "{prompt}");
}

#[test]
fn what_a_hook_gave_is_noted_once_a_short_writer_is_done() {
    let home = furnished();
    let event = json!({ "session_id": "one", "cwd": home.root(), "hook_event_name": "SessionStart",
                        "source": "startup" })
    .to_string();
    let deadline = FAR_SOONER.as_millis().to_string();
    let args = ["hook", "session-start", "--client", "claude-code", "--deadline-ms", &deadline];
    let holder = Connection::open(home.path("memory.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut hook = home.throughline(&args).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    let mut said = String::new();
    BufReader::new(hook.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("My name is Ada."), "{said}");
    holder.execute_batch("ROLLBACK").unwrap();
    assert!(hook.wait().unwrap().success());
    let again = home.run_with(&args, &event).done();
    assert!(!again.contains("My name is Ada."), "it was noted, and is not given again: {again}");
}

#[test]
fn what_was_erased_is_not_swept_up_before_a_reply_while_another_process_holds_the_lock() {
    let home = furnished();
    let connection = Connection::open(home.path("memory.db")).unwrap();
    connection.execute_batch("INSERT INTO unswept (pending) VALUES (1)").unwrap();
    drop(connection);
    let recall = locked(&home, || home.run(&["recall", "deploy"]));
    assert!(recall.code == 0 && recall.stdout.contains("Fridays at noon"), "{recall:?}");
    home.run(&["list"]).done();
    let connection = Connection::open(home.path("memory.db")).unwrap();
    let unswept: i64 = connection.query_row("SELECT count(*) FROM unswept", [], |row| row.get(0)).unwrap();
    assert_eq!(unswept, 0, "the next command does it");
}

#[test]
fn the_doctor_names_the_process_that_holds_the_lock() {
    let home = furnished();
    let doctor = locked(&home, || home.run(&["doctor"]));
    assert_eq!(doctor.code, 0, "{doctor:?}");
    assert!(doctor.stdout.contains("holds the write lock"), "{doctor:?}");
    #[cfg(target_os = "linux")]
    assert!(doctor.stdout.contains(&format!("the process {}", std::process::id())), "{doctor:?}");
    assert!(!home.run(&["doctor"]).stdout.contains("write lock"));
}

/// The length of the log that a database begins to copy, and that is left of a longer one.
const USUAL_LOG: u64 = 20 << 20;

#[test]
fn a_log_that_a_sleeping_reader_makes_long_is_said_and_shortened_afterwards() {
    let home = furnished();
    let reader = Connection::open(home.path("memory.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    let writer = Connection::open(home.path("memory.db")).unwrap();
    writer.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF").unwrap();
    for n in 0..48 {
        let row = "INSERT INTO recalls (id, at, query, hits) VALUES (?, 0, hex(zeroblob(500000)), '[]')";
        writer.execute(row, [format!("r{n}")]).unwrap();
    }
    let length = || std::fs::metadata(home.path("memory.db-wal")).map_or(0, |log| log.len());
    assert!(length() > 2 * USUAL_LOG, "{}", length());
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("the write-ahead log takes"), "{doctor:?}");
    #[cfg(target_os = "linux")]
    assert!(doctor.stdout.contains(&format!("the process {} reads an old state", std::process::id())), "{doctor:?}");
    reader.execute_batch("COMMIT").unwrap();
    home.remember(&["The first write afterwards copies the log"]);
    home.remember(&["The second begins it anew"]);
    assert!(length() <= USUAL_LOG, "{}", length());
    assert!(!home.run(&["doctor"]).stdout.contains("write-ahead log"));
    drop((reader, writer));
}

/// The length of a log beside a sleeping reader from which nothing is stored any more.
const LONGEST_LOG: u64 = 512 << 20;

/// Makes the log so long, beside somebody who reads an old state.
fn lengthen(home: &Home, until: u64) -> Connection {
    let writer = Connection::open(home.path("memory.db")).unwrap();
    writer.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF").unwrap();
    let row = "INSERT INTO recalls (id, at, query, hits) VALUES ('large', 0, '', '[]')";
    writer.execute(row, []).unwrap();
    for more in 0..64 {
        if length_of_log(home) >= until {
            break;
        }
        let sql = "UPDATE recalls SET query = hex(zeroblob(16000000 + ?)) WHERE id = 'large'";
        writer.execute(sql, [more]).unwrap();
    }
    writer.execute("DELETE FROM recalls WHERE id = 'large'", []).unwrap();
    assert!(length_of_log(home) >= until, "{}", length_of_log(home));
    writer
}

fn length_of_log(home: &Home) -> u64 {
    std::fs::metadata(home.path("memory.db-wal")).map_or(0, |log| log.len())
}

#[test]
fn beside_a_sleeping_reader_a_long_log_is_said_refuses_what_is_new_and_ends_with_the_reader() {
    let home = furnished();
    let (forgotten, erased) = (home.remember(&["The printer hums"]), home.remember(&["The locker has code 4711"]));
    let daemon = Daemon::start(&home);
    let reader = Connection::open(home.path("memory.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    let writer = lengthen(&home, LONGEST_LOG);
    let long = length_of_log(&home);

    let refused = home.run(&["remember", "The kettle is new"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    for said in ["nothing can be stored", "cannot be shortened", "hint: nothing was changed; end that process"] {
        assert!(refused.stderr.contains(said), "{said}: {refused:?}");
    }
    #[cfg(target_os = "linux")]
    assert!(refused.stderr.contains(&std::process::id().to_string()), "{refused:?}");
    let new = daemon.request("POST", "/api/memories").json(&json!({ "content": "The kettle is new" }));
    let new = daemon.send(&new);
    assert!(new.status == 429 && new.json().to_string().contains("cannot be shortened"), "{new:?}");
    let recall = daemon.post("/api/recall", &json!({ "query": "deploy" }));
    assert_eq!(recall["hits"][0]["content"], "We deploy on Fridays at noon", "reading goes on: {recall}");
    let health = daemon.get("/api/health").to_string();
    assert!(health.contains("nothing is stored"), "{health}");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("nothing is stored"), "{doctor:?}");
    let now = length_of_log(&home);
    assert!(now < long + (1 << 20), "nothing of that was written: {long} and {now} bytes");

    home.run(&["forget", &forgotten]).done();
    home.run(&["forget", "--erase", "--yes", &erased]).done();
    assert!(length_of_log(&home) < long + USUAL_LOG, "{}", length_of_log(&home));
    for gone in ["printer hums", "locker code"] {
        let found = home.run(&["recall", gone]);
        assert!(found.code == 1 && found.stdout.contains("nothing found"), "{found:?}");
    }

    reader.execute_batch("COMMIT").unwrap();
    drop((reader, writer));
    home.remember(&["The first write afterwards copies the log"]);
    home.remember(&["The second begins it anew"]);
    assert!(length_of_log(&home) <= USUAL_LOG, "{}", length_of_log(&home));
    assert!(!daemon.get("/api/health").to_string().contains("write-ahead log"));
    assert_eq!(home.found(&["first write afterwards"]).len(), 1);
}

#[cfg(unix)]
#[test]
fn the_doctor_repairs_what_can_be_repaired() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = furnished();
    let connection = Connection::open(home.path("memory.db")).unwrap();
    connection.execute_batch("DELETE FROM entry_tail; DELETE FROM word_parts; DELETE FROM word_segments").unwrap();
    drop(connection);
    std::fs::set_permissions(home.path("memory.db"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(home.run(&["doctor"]).code, 2);
    let repaired = home.run(&["doctor", "--repair"]);
    assert_eq!(repaired.code, 0, "{repaired:?}");
    for said in ["repaired: the index was made anew", "memory.db can be read by nobody else now", "healthy:"] {
        assert!(repaired.stdout.contains(said), "{said}: {repaired:?}");
    }
    assert_eq!(crate::common::mode(&home.path("memory.db")), 0o600);
    assert_eq!(home.found(&["deploys"]), ["We deploy on Fridays at noon"]);
}
