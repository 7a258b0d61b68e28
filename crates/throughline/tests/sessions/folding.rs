//! Copies that an earlier version left: found, shown, and made one, as one change.

use serde_json::json;

use super::quiet;
use crate::common::{Home, string};

/// The same statement as an entry, a line of the profile and a line of another document; and two that only look alike.
fn with_copies() -> Home {
    let home = quiet();
    home.remember(&["I live in Lisbon.", "--sig", "4", "--tag", "home"]);
    home.put("user/profile.md", "# Profile\n\n- My name is Ada\n- i live in Lisbon\n");
    home.put("user/notes.md", "- I live in lisbon!\n- tabs over spaces\n");
    home.remember(&["spaces over tabs"]);
    home
}

fn saying_lisbon(home: &Home) -> Vec<String> {
    home.listed(&["--limit", "100"]).into_iter().filter(|content| content.to_lowercase().contains("lisbon")).collect()
}

#[test]
fn a_dry_run_lists_the_copies_and_changes_nothing() {
    let home = with_copies();
    let fold = home.json(&["fold", "--dry-run"]);
    let copies = fold["copies"].as_array().unwrap();
    assert_eq!((copies.len(), &fold["dry_run"], &fold["change"]), (2, &json!(true), &json!(null)), "{fold}");
    assert!(copies.iter().all(|copy| copy["kept_in"] == "user/profile"), "the profile's line stands: {fold}");
    assert_eq!(saying_lisbon(&home).len(), 3);
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("2 memories repeat another: `throughline fold`"), "{doctor:?}");
}

#[test]
fn copies_become_one_and_an_undo_brings_them_back() {
    let home = with_copies();
    let before = (home.text("user/profile.md"), home.text("user/notes.md"));
    let told = home.run(&["fold"]).done();
    assert!(told.contains("folded 2 copies"), "{told}");
    assert_eq!(saying_lisbon(&home), ["i live in Lisbon"]);
    assert_eq!(home.text("user/notes.md"), "- tabs over spaces\n");
    assert!(home.text("user/profile.md").contains("[sig:4] i live in Lisbon"), "the highest weight stays");
    assert_eq!(home.json(&["fold"])["copies"], json!([]), "idempotent");
    assert!(!home.run(&["doctor"]).stdout.contains("throughline fold"));
    let given = home.json(&["context", "--message", "where do I live?"]);
    assert!(string(&given["system_prompt"]).contains("Lisbon"), "{given}");
    home.run(&["undo"]).done();
    assert_eq!((home.text("user/profile.md"), home.text("user/notes.md")), before);
    assert_eq!(saying_lisbon(&home).len(), 3);
}
