//! Backups that are made by themselves, proved by restoring them, pruned by name, and brought back; and a log of jobs that
//! outlives the daemon and is not impressed by a clock that jumps.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::client::Daemon;
use super::common::{Home, string, until};

const CONFIG: &str = "[memory]\nuser_namespace = \"user\"\n\n[server]\nkeep_backups = 2\n";

/// The names of all backups.
fn names(home: &Home) -> BTreeSet<String> {
    let files = std::fs::read_dir(home.path("backups")).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

fn automatic(hour: u32) -> String {
    format!("auto-2026-03-01-{hour:02}0000.db")
}

#[test]
fn backups_are_made_proved_and_pruned_and_the_log_outlives_the_daemon() {
    let mut home = Home::with_config("config.toml", CONFIG);
    home.remember(&["We deploy on Fridays"]);
    home.put("backups/auto-notes.db", "not ours");
    let mut daemon = Daemon::start(&home);
    let (outcome, what) = until(|| daemon.log("backup").into_iter().next());
    assert_eq!(outcome, "done");
    assert!(what.contains("auto-2026-03-01-120000.db and restored it on the side: 1 memory, 0 turns"), "{what}");
    assert!(what.contains("no older one is removed for 60 min"), "nothing confirms the time yet: {what}");
    // Two hours later the time is confirmed by what was done before.
    for hour in [14, 16, 18] {
        assert_eq!(daemon.stop().code, 0);
        home.set_now(&format!("2026-03-01T{hour}:00:00Z"));
        daemon = Daemon::start(&home);
        let (outcome, what) = daemon.run("backup");
        assert_eq!(outcome, "done", "{what}");
    }
    let log = daemon.log("backup");
    assert_eq!(log.len(), 4, "every run of every daemon: {log:?}");
    assert!(log[0].1.ends_with("removed 1 that was older"), "{log:?}");
    let mine = daemon.ask("POST", "/api/backup", None);
    assert_eq!(mine.0, 201);
    let mine = string(&mine.1["path"]);
    let expected =
        [automatic(16), automatic(18), "auto-notes.db".to_owned(), mine.rsplit('/').next().unwrap().to_owned()];
    assert_eq!(names(&home), expected.into(), "two of ours, and whatever is somebody's own");
    let jobs = daemon.get("/api/jobs")["jobs"].clone();
    let backup = jobs.as_array().unwrap().iter().find(|job| job["name"] == "backup").unwrap().clone();
    let told = until(|| {
        let jobs = daemon.get("/api/jobs")["jobs"].clone();
        let next = jobs.as_array().unwrap().iter().find(|job| job["name"] == "backup").unwrap()["next_run_at"].clone();
        (next == json!("2026-03-02T18:00:00Z")).then_some(next)
    });
    assert_eq!((&backup["last_run_at"], told), (&json!("2026-03-01T18:00:00Z"), json!("2026-03-02T18:00:00Z")));
}

#[test]
fn no_backup_that_is_written_meanwhile_keeps_what_is_erased_and_each_has_a_name_of_its_own() {
    let home = Home::with_config("config.toml", CONFIG);
    let words: Vec<String> = (0..3).map(|nth| format!("the code of locker {nth} is heliotrope{nth}")).collect();
    let ids: Vec<String> = words.iter().map(|words| home.remember(&[words])).collect();
    let daemon = Daemon::start(&home);
    let erased = AtomicBool::new(false);
    let paths: Vec<String> = std::thread::scope(|scope| {
        let write = || {
            let mut paths = Vec::new();
            while !erased.load(Ordering::SeqCst) {
                let (status, answer) = daemon.ask("POST", "/api/backup", None);
                assert_eq!(status, 201, "{answer}");
                paths.push(string(&answer["path"]));
            }
            paths
        };
        let writers: Vec<_> = (0..2).map(|_| scope.spawn(write)).collect();
        for id in &ids {
            assert_eq!(daemon.ask("DELETE", &format!("/api/memories/{id}?erase=true"), None).0, 200);
        }
        erased.store(true, Ordering::SeqCst);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(
        paths.iter().collect::<BTreeSet<_>>().len(),
        paths.len(),
        "all in one second, and none in another's place"
    );
    assert_eq!(daemon.stop().code, 0);
    for name in names(&home) {
        let bytes = std::fs::read(home.path("backups").join(&name)).unwrap();
        assert!(!bytes.windows(10).any(|window| window == b"heliotrope"), "{name} still holds it");
        assert!(!name.contains("partial"), "{name} was left behind");
    }
}

#[test]
fn a_clock_that_jumped_removes_nothing_and_says_so() {
    let mut home = Home::with_config("config.toml", CONFIG);
    home.run(&["session", "observe", "--session", "cli:main", "The parser is half done."]).done();
    home.run(&["session", "consolidate", "cli:main"]).done();
    let chunks = |home: &Home| {
        let listed = home.json(&["list", "--layer", "archive"]);
        let is_chunk = |memory: &&Value| memory["key"].as_str().is_some_and(|key| key.starts_with("ctx_"));
        listed["memories"].as_array().unwrap().iter().filter(is_chunk).count()
    };
    assert_eq!(chunks(&home), 1);
    for day in 1..5 {
        home.put(&format!("backups/auto-2026-02-0{day}-120000.db"), "an older one");
    }
    home.set_now("2036-03-01T12:00:00Z");
    let daemon = Daemon::start(&home);
    let (outcome, what) = until(|| daemon.log("retention").into_iter().next());
    assert_eq!(outcome, "waiting", "{what}");
    assert!(what.contains("nothing is retired for 60 min"), "{what}");
    let (outcome, what) = daemon.run("backup");
    assert_eq!(outcome, "done");
    assert!(what.contains("no older one is removed"), "{what}");
    assert_eq!((names(&home).len(), chunks(&home)), (5, 1));
    // Somebody works on; the time is confirmed after an hour, also for the next daemon.
    home.remember(&["in use again"]);
    assert_eq!(daemon.stop().code, 0);
    home.set_now("2036-03-01T13:30:00Z");
    let daemon = Daemon::start(&home);
    let what = until(|| daemon.log("retention").into_iter().find(|(outcome, _)| outcome == "done")).1;
    assert_eq!(what, "1 piece of the timeline was retired");
    assert_eq!(chunks(&home), 0);
    assert_eq!(daemon.run("backup").0, "done");
    assert_eq!(names(&home).len(), 2);
}

#[test]
fn a_backup_is_checked_and_brought_back_and_what_was_there_is_kept() {
    let home = Home::new();
    home.remember(&["the first"]);
    let copy = home.root().join("copy.db").display().to_string();
    home.run(&["backup", &copy]).done();
    home.remember(&["the second"]);
    assert_eq!(home.json(&["backup", "--check", &copy])["memories"], json!(1));
    let daemon = Daemon::start(&home);
    home.run(&["backup", "--restore", &copy]).failed(2, "a daemon runs on this memory", "stop it first");
    assert_eq!(daemon.stop().code, 0);
    let restored = home.json(&["backup", "--restore", &copy]);
    assert_eq!(home.listed(&[]), ["the first"]);
    let kept = string(&restored["kept"]);
    home.run(&["backup", "--restore", &kept]).done();
    assert_eq!(home.listed(&[]), ["the second", "the first"]);
}

#[test]
fn a_copy_that_is_not_sound_is_refused_and_a_damaged_database_is_put_aside() {
    let home = Home::new();
    home.remember(&["the first"]);
    let copy = home.root().join("copy.db").display().to_string();
    home.run(&["backup", &copy]).done();
    let bad = home.root().join("bad.db");
    std::fs::write(&bad, "this is no database").unwrap();
    let cut = home.root().join("cut.db");
    let bytes = std::fs::read(&copy).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    for bad in [&bad, &cut] {
        let bad = bad.display().to_string();
        for verb in ["--check", "--restore"] {
            let ran = home.run(&["backup", verb, &bad]);
            assert_eq!(ran.code, 2, "{verb} {bad}: {ran:?}");
        }
    }
    assert_eq!(home.listed(&[]), ["the first"], "nothing was changed");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(home.path(&format!("memory.db{end}")));
    }
    home.put("memory.db", "overwritten by something");
    assert_eq!(home.run(&["list"]).code, 2);
    let kept = string(&home.json(&["backup", "--restore", &copy])["kept"]);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "overwritten by something");
    assert_eq!(home.listed(&[]), ["the first"]);
    let left: Vec<String> = std::fs::read_dir(home.root())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("partial"))
        .collect();
    assert_eq!(left, [""; 0], "rehearsals leave nothing behind");
}
