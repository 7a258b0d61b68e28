//! Another process holds the database's write lock. Whoever reads gets an answer from what can be read.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::daemon::Daemon;
use crate::common::{Home, string, until};

/// SQLite's own timeout for a writer is 30 s: whoever answers sooner did not wait for the lock.
const FAR_SOONER: Duration = Duration::from_secs(15);

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
    assert!(daemon.get("/api/memories").to_string().contains("Porto"), "what was left is done afterwards");
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
