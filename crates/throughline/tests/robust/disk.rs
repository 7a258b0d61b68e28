//! A full disk and a read-only one, for real: a small file system of its own, mounted where nobody else sees it.

use std::process::Output;

use serde_json::Value;

use crate::common::Home;

/// Fills the disk with memories until one is refused; then makes room again. Every answer goes to a file in `$NOTES`.
const FILL: &str = r#"
padding=$(head -c 6000 /dev/zero | tr '\0' x)
"$THROUGHLINE" remember --layer identity "My name is Ada" > /dev/null || exit 3
n=0 code=0
while [ $code -eq 0 ] && [ $n -lt 900 ]; do
    n=$((n + 1))
    "$THROUGHLINE" remember "number $n $padding" > /dev/null 2> "$NOTES/refused"
    code=$?
done
echo "$((n - 1)) $code" > "$NOTES/acknowledged"
echo "- owned $padding" | "$THROUGHLINE" write user/notes > /dev/null 2> "$NOTES/document"; echo $? > "$NOTES/document.code"
"#;

/// With room again: what is there, whether it is sound, and whether it goes on.
const LOOK: &str = r#"
"$THROUGHLINE" list --limit 2000 --json > "$NOTES/list" 2> "$NOTES/list.err"
"$THROUGHLINE" doctor > "$NOTES/doctor" 2>&1; echo $? > "$NOTES/doctor.code"
"$THROUGHLINE" remember "after the flood" > /dev/null 2>&1; echo $? > "$NOTES/after.code"
cp "$THROUGHLINE_HOME/user/profile.md" "$NOTES/profile"
"#;

fn script(home: &Home, program: &[&str], script: &str) -> Output {
    let notes = home.root().join("person");
    let mut command = home.command(program[0]);
    command.args(&program[1..]).args(["sh", "-c", script]).env("THROUGHLINE", env!("CARGO_BIN_EXE_throughline"));
    command.env("NOTES", notes).env("DISK", home.path("")).output().unwrap()
}

/// How to get a private mount namespace here, if at all: as root, or with a user namespace.
fn private_mounts(home: &Home) -> Option<&'static [&'static str]> {
    std::fs::create_dir_all(home.path("")).unwrap();
    let ways: [&[&str]; 2] = [&["unshare", "-m"], &["unshare", "-rm"]];
    ways.into_iter().find(|way| {
        let mounted = script(home, way, "mount -t tmpfs -o size=1m none \"$DISK\"");
        mounted.status.success()
    })
}

fn note(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.root().join("person").join(name)).unwrap()
}

/// What was acknowledged before the disk was full is all there, and nothing else.
fn nothing_is_lost(home: &Home, output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let acknowledged = note(home, "acknowledged");
    let (count, code) = acknowledged.trim().split_once(' ').unwrap();
    let count: usize = count.parse().unwrap();
    assert_eq!(code, "2", "the disk did get full: {acknowledged}, {}", note(home, "refused"));
    assert!(count > 3, "only {count} fitted");
    assert!(note(home, "refused").starts_with("error: "), "{}", note(home, "refused"));
    assert_eq!(note(home, "document.code"), "2\n", "{}", note(home, "document"));
    assert!(note(home, "document").starts_with("error: "), "{}", note(home, "document"));

    let list: Value = serde_json::from_str(&note(home, "list")).unwrap();
    let memories = list["memories"].as_array().unwrap();
    let numbers = memories.iter().filter_map(|memory| memory["content"].as_str()?.strip_prefix("number "));
    let mut numbers: Vec<usize> = numbers.map(|text| text.split(' ').next().unwrap().parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>(), "exactly what was acknowledged is there");
    assert_eq!(note(home, "profile"), "- My name is Ada\n");
    assert_eq!(note(home, "doctor.code"), "0\n", "{}", note(home, "doctor"));
    assert_eq!(note(home, "after.code"), "0\n");
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let home = Home::new();
    let Some(way) = private_mounts(&home) else {
        println!("SKIPPED: no private mount namespace here; the limit on file sizes stands in for a full disk");
        return;
    };
    let mount = "mount -t tmpfs -o size=2m none \"$DISK\" || exit 4";
    let room = "mount -o remount,size=64m \"$DISK\" || exit 5";
    let output = script(&home, way, &[mount, FILL, room, LOOK].join("\n"));
    nothing_is_lost(&home, &output);
    let refused = note(&home, "refused");
    assert!(refused.contains("full") && refused.contains("hint: nothing that was confirmed is lost"), "{refused}");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_loses_nothing() {
    let home = Home::new();
    let limited = format!("(trap '' XFSZ; ulimit -f 1200; {FILL}) || exit 4");
    let output = script(&home, &["env"], &[&limited, LOOK].join("\n"));
    nothing_is_lost(&home, &output);
}

/// A full disk, and what is done on it; every answer goes to a file in `$NOTES`.
const ON_A_FULL_DISK: &str = r#"
for n in 1 2 3 4; do "$THROUGHLINE" remember "fact number $n about herons" --key "fact$n" > /dev/null || exit 5; done
"$THROUGHLINE" remember --layer identity "My name is Ada" > /dev/null || exit 5
head -c 100000000 /dev/zero > "$DISK/ballast" 2> /dev/null
padding=$(head -c 60000 /dev/zero | tr '\0' x)
n=0
while [ $n -lt 200 ] && "$THROUGHLINE" remember "$n $padding" > /dev/null 2> "$NOTES/refused"; do n=$((n + 1)); done
head -c 100000000 /dev/zero > "$DISK/ballast2" 2> /dev/null
run() { name=$1; shift; "$THROUGHLINE" "$@" > "$NOTES/$name" 2> "$NOTES/$name.err"; echo $? > "$NOTES/$name.code"; }
run recall recall herons
run doctor doctor
run forget forget fact1
run erase forget fact2 --erase --yes
run line forget "$("$THROUGHLINE" list --layer identity --json | grep -o '"id": *"[^"]*"' | head -1 | cut -d'"' -f4)"
run list list --json
rm "$DISK/ballast" "$DISK/ballast2"
run after remember "after the flood"
run healthy doctor --repair
"#;

#[test]
fn forgetting_and_erasing_work_on_a_full_disk() {
    let home = Home::new();
    let Some(way) = private_mounts(&home) else {
        println!("SKIPPED: no private mount namespace here");
        return;
    };
    for size in ["48m", "20m"] {
        forgets_and_erases(&home, way, size);
    }
}

/// On a disk of this size, whether it had much room when the memory began or little.
fn forgets_and_erases(home: &Home, way: &[&str], size: &str) {
    let mount = format!("mount -t tmpfs -o size={size} none \"$DISK\" || exit 4");
    let output = script(home, way, &[&mount, ON_A_FULL_DISK].join("\n"));
    assert!(output.status.success(), "{size}: {:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    let note = |name: &str| note(home, name);
    let refused = note("refused");
    assert!(refused.contains("full"), "the disk did get full: {refused}");
    for name in ["recall", "forget", "erase", "line", "list", "after", "healthy"] {
        let (out, err) = (note(name), note(&format!("{name}.err")));
        assert_eq!(note(&format!("{name}.code")), "0\n", "{size}, {name}: {out}{err}");
    }
    assert!(note("recall").contains("about herons"), "{}", note("recall"));
    assert!(note("doctor").contains("the disk"), "the doctor says so: {}", note("doctor"));
    let list = note("list");
    for (fact, is_there) in [("number 1", false), ("number 2", false), ("number 3", true), ("My name is Ada", false)] {
        assert_eq!(list.contains(fact), is_there, "{fact}");
    }
}

#[test]
fn the_doctor_tells_a_full_disk_from_damage() {
    let home = Home::new();
    let Some(way) = private_mounts(&home) else {
        println!("SKIPPED: no private mount namespace here");
        return;
    };
    // Too small for any room to be kept: once it is full, not even the memory can be opened.
    let fill = "mount -t tmpfs -o size=4m none \"$DISK\" || exit 4\n\
                \"$THROUGHLINE\" remember 'a fact about herons' > /dev/null || exit 5\n\
                head -c 100000000 /dev/zero > \"$DISK/ballast\" 2> /dev/null\n\
                \"$THROUGHLINE\" doctor > \"$NOTES/doctor\" 2>&1\n\
                rm \"$DISK/ballast\"\n\
                \"$THROUGHLINE\" doctor > \"$NOTES/after\" 2>&1; echo $? > \"$NOTES/after.code\"";
    let output = script(&home, way, fill);
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    let told = note(&home, "doctor");
    assert!(told.contains("full") && !told.contains("damaged"), "{told}");
    assert_eq!(note(&home, "after.code"), "0\n", "{}", note(&home, "after"));
}

#[test]
fn a_read_only_home_is_readable() {
    let home = crate::lived_in();
    let id = home.remember(&["The printer is on the second floor"]);
    let Some(way) = private_mounts(&home) else {
        println!("SKIPPED: no private mount namespace here");
        return;
    };
    // With the log that the last command left, and without one.
    for is_clean in [false, true] {
        if is_clean {
            rusqlite::Connection::open(home.path("memory.db"))
                .unwrap()
                .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
                .unwrap();
            assert!(!home.path("memory.db-wal").exists(), "the last to close removes the log");
        }
        let before = crate::data(&home);
        let read_only = "mount --bind \"$DISK\" \"$DISK\" && mount -o remount,bind,ro \"$DISK\" || exit 4";
        let run = |args: &str| {
            let output = script(&home, way, &format!("{read_only}\nexec \"$THROUGHLINE\" {args}"));
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            (output.status.code(), text(output.stdout), text(output.stderr))
        };
        for (args, said) in [
            ("recall deploy".to_owned(), "Fridays at noon"),
            ("list".to_owned(), "second floor"),
            (format!("show {id}"), "second floor"),
            ("context --message 'when do we deploy?'".to_owned(), "Fridays at noon"),
            ("read user/notes".to_owned(), "line number 7"),
            ("export".to_owned(), "second floor"),
            ("stats".to_owned(), ""),
            ("doctor".to_owned(), "can only be read: its directory is read-only"),
        ] {
            let (code, out, err) = run(&args);
            assert!(code == Some(0) && out.contains(said), "{args}: {code:?} {out} {err}");
        }
        for args in ["remember x", "forget deploy", "forget deploy --erase --yes", "undo", "reindex"] {
            let (code, out, err) = run(args);
            let is_told = err.contains("error: ") && err.contains("read-only") && err.contains("hint: ");
            assert!(code == Some(2) && is_told, "{args}: {code:?} {out} {err}");
        }
        assert!(crate::data(&home) == before, "nothing was changed");
    }
    home.run(&["remember", "writable again"]).done();
}
