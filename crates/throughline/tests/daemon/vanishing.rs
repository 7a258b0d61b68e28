//! A database that disappears under a daemon: nothing is confirmed that is not kept, everybody who asks is told, and work goes
//! on without a restart. `scripts/vanish` does the same under load, many times.

use serde_json::{Value, json};

use super::client::{Daemon, run_serve};
use super::common::{Home, string};

const CONFIG: &str = "[memory]\nuser_namespace = \"user\"\n\n[server]\nbackup_every_hours = 0\n";

/// A home with one memory in a backup and one that came later, and the backup's name.
fn lived_in() -> (Home, String) {
    let home = Home::with_config("config.toml", CONFIG);
    home.remember(&["in the backup"]);
    let path = string(&home.json(&["backup"])["path"]);
    home.remember(&["after the backup"]);
    (home, path.rsplit('/').next().unwrap().to_owned())
}

fn remember(daemon: &Daemon, content: &str) -> (u16, Value) {
    daemon.ask("POST", "/api/memories", Some(&json!({ "content": content })))
}

fn in_home(home: &Home, line: &str) {
    let mut shell = home.command("sh");
    assert!(shell.args(["-ec", line]).current_dir(home.path("")).status().unwrap().success(), "{line}");
}

/// Writes and reads are refused, and whoever asks how it is hears what happened, and how to restore the newest backup.
#[track_caller]
fn is_lost(home: &Home, daemon: &Daemon, what: &str, backup: &str) {
    for (status, answer) in [remember(daemon, "lost"), daemon.ask("GET", "/api/memories", None)] {
        let error = &answer["error"];
        assert_eq!((status, error["code"].as_str()), (503, Some("unavailable")), "{answer}");
        assert!(string(&error["message"]).contains(what), "{answer}");
        assert!(string(&error["hint"]).contains(&format!("throughline backup --restore {backup}")), "{answer}");
    }
    let (status, health) = daemon.ask("GET", "/healthz", None);
    assert_eq!((status, health["status"].as_str()), (503, Some("unavailable")), "{health}");
    assert!(string(&health["problem"]).contains(what), "{health}");
    let path = home.path("").display().to_string();
    assert!(!health.to_string().contains(&path), "anybody may ask: {health}");
    let (status, health) = daemon.ask("GET", "/api/health", None);
    assert_eq!(status, 200, "how it is can always be asked");
    assert!(string(&health["problems"][0]).contains(what) && health.to_string().contains(backup), "{health}");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{doctor:?}");
    assert!(doctor.stdout.contains(&format!("the daemon says: the memory database {what}")), "{doctor:?}");
}

#[track_caller]
fn is_back(home: &Home, daemon: &Daemon, expected: &[&str]) {
    let (status, answer) = remember(daemon, "back again");
    assert_eq!(status, 201, "{answer}");
    assert_eq!(daemon.get("/healthz")["status"], "ok");
    let mut listed = home.listed(&[]);
    listed.sort();
    assert_eq!(listed, expected);
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{doctor:?}");
}

#[test]
fn moved_away_and_back_under_a_daemon_nothing_is_lost() {
    let (home, backup) = lived_in();
    let daemon = Daemon::start(&home);
    assert_eq!(remember(&daemon, "before").0, 201);
    in_home(&home, "mv memory.db elsewhere.db");
    is_lost(&home, &daemon, "is missing", &backup);
    assert!(!home.path("memory.db").exists(), "nobody makes a new one");
    in_home(&home, "mv elsewhere.db memory.db");
    is_back(&home, &daemon, &["after the backup", "back again", "before", "in the backup"]);
}

#[test]
fn a_backup_is_restored_under_a_daemon_that_lost_its_database() {
    for (line, what) in [
        ("rm memory.db memory.db-wal memory.db-shm", "is missing"),
        (": > memory.db", "is empty"),
        ("cp other.db new.db; mv new.db memory.db", "was replaced"),
        ("cp -a old/. .", "was replaced"),
        ("dd if=/dev/urandom of=memory.db bs=4096 seek=10 count=40 conv=notrunc 2> /dev/null", "is damaged"),
    ] {
        let (home, backup) = lived_in();
        let (elsewhere, _) = lived_in();
        std::fs::copy(elsewhere.path("memory.db"), home.path("other.db")).unwrap();
        std::fs::create_dir(home.path("old")).unwrap();
        std::fs::copy(home.path("memory.db"), home.path("old/memory.db")).unwrap();
        home.remember(&["after the old home"]);
        let daemon = Daemon::start(&home);
        assert_eq!(remember(&daemon, "before").0, 201);
        home.run(&["backup", "--restore", &backup]).failed(2, "a daemon runs on this memory", "stop it first");
        in_home(&home, line);
        is_lost(&home, &daemon, what, &backup);
        home.run(&["backup", "--restore", &backup]).done();
        is_back(&home, &daemon, &["back again", "in the backup"]);
    }
}

#[test]
fn a_missing_or_empty_database_beside_backups_is_not_a_new_memory() {
    let (home, backup) = lived_in();
    for line in ["rm memory.db", ": > memory.db"] {
        in_home(&home, line);
        let what = if line.starts_with("rm") { "memory.db: the memory database is missing" } else { "is empty" };
        let hint = format!("`throughline backup --restore {backup}`");
        for args in [&["list"][..], &["remember", "x"], &["recall", "x"], &["backup"], &[]] {
            home.run(args).failed(2, what, &hint);
        }
        home.run(&["list"]).failed(2, what, "to begin a new memory instead, move `backups/`");
        run_serve(&home, &["--port", "0"]).failed(2, what, &hint);
        assert_eq!(home.path("memory.db").exists(), !line.starts_with("rm"));
        let doctor = home.run(&["doctor"]);
        assert!(doctor.code == 2 && doctor.stdout.contains(&hint), "{doctor:?}");
    }
    home.run(&["backup", "--restore", &backup]).done();
    assert_eq!(home.listed(&[]), ["in the backup"]);
    in_home(&home, "rm memory.db; mv backups kept");
    assert_eq!(home.listed(&[]), [""; 0], "begun anew, because somebody wanted to");
}
