//! `edit` through the person's own editor.

use std::path::PathBuf;

use crate::common::{Home, string};

/// A machine with one memory, `note`, and an editor that runs this script on the file `$1`.
fn with_editor(script: &str) -> Home {
    let mut home = Home::new();
    home.remember(&["The first wording", "--key", "note"]);
    let path = home.root().join("person/my editor.sh");
    std::fs::write(&path, script).unwrap();
    home.set("EDITOR", &format!("sh '{}'", path.display()));
    home
}

fn note(home: &Home) -> String {
    string(&home.json(&["show", "note"])["content"])
}

fn left_behind(home: &Home) -> Vec<PathBuf> {
    std::fs::read_dir(home.root().join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_editor_is_given_the_text_and_what_it_saves_is_stored() {
    let home = with_editor("grep -q 'first wording' \"$1\" && printf 'The second wording\\n\\nwith more' > \"$1\"");
    assert!(home.run(&["edit", "note"]).done().starts_with("updated\n"));
    assert_eq!(note(&home), "The second wording\n\nwith more");
    assert!(left_behind(&home).is_empty());
    home.run(&["undo"]).done();
    assert_eq!(note(&home), "The first wording");
}

#[test]
fn the_file_to_edit_is_private_and_says_that_it_is_markdown() {
    let home = with_editor("case $1 in *.md) stat -c %a \"$1\" > \"$HOME/mode\";; esac");
    assert!(home.run(&["edit", "note"]).done().starts_with("already known\n"), "nothing was changed");
    assert_eq!(std::fs::read_to_string(home.root().join("person/mode")).unwrap(), "600\n");
}

#[test]
fn an_editor_that_saves_by_renaming_is_understood() {
    let home = with_editor("printf 'Renamed into place' > \"$1.new\" && mv \"$1.new\" \"$1\"");
    home.run(&["edit", "note"]).done();
    assert_eq!(note(&home), "Renamed into place");
    assert!(left_behind(&home).is_empty());
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let home = with_editor("printf 'half a wor' > \"$1\"; exit 3");
    home.run(&["edit", "note"]).failed(2, "ended with exit status: 3", "nothing was changed");
    assert_eq!(note(&home), "The first wording");
    assert!(left_behind(&home).is_empty());
}

#[test]
fn an_editor_that_leaves_nothing_stores_nothing() {
    for script in ["rm \"$1\"", ": > \"$1\"", "printf '\\377\\376' > \"$1\""] {
        let home = with_editor(script);
        let ran = home.run(&["edit", "note"]);
        assert_eq!(ran.code, 2, "{script}: {ran:?}");
        assert_eq!(note(&home), "The first wording", "{script}");
    }
}

#[test]
fn an_editor_that_does_not_exist_is_named() {
    let mut home = with_editor("");
    home.set("EDITOR", "no-such-editor --wait");
    let ran = home.run(&["edit", "note"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("no-such-editor --wait"), "{ran:?}");
    home.set("EDITOR", "");
    home.run(&["edit", "note"]).failed(2, "no editor is set", "--content TEXT");
}

#[test]
fn visual_comes_before_editor() {
    let mut home = with_editor("printf 'by EDITOR' > \"$1\"");
    home.set("VISUAL", "printf 'by VISUAL' | tee");
    home.run(&["edit", "note"]);
    assert_eq!(note(&home), "by VISUAL");
}

#[test]
fn options_change_only_what_they_name() {
    let home = with_editor("exit 9");
    home.run(&["edit", "note", "--tag", "a", "--tag", "b", "--project", "apollo", "--importance", "0.9"]).done();
    let edited = home.json(&["show", "note"]);
    assert_eq!(edited["content"], "The first wording");
    assert_eq!((&edited["importance"], &edited["significance"]), (&0.9.into(), &5.into()));
    assert_eq!((&edited["tags"], &edited["project"]), (&serde_json::json!(["a", "b"]), &"apollo".into()));
    home.run(&["edit", "note", "--tag", "", "--project", ""]).done();
    let edited = home.json(&["show", "note"]);
    assert_eq!((&edited["tags"], &edited["project"]), (&serde_json::json!([]), &serde_json::Value::Null));
    home.run(&["edit", "note", "--key", "renamed"]).done();
    assert_eq!(home.run(&["show", "note"]).code, 1);
    assert_eq!(home.json(&["history", "renamed"])["versions"].as_array().unwrap().len(), 4);
}

#[test]
fn a_line_of_the_profile_is_edited_in_its_file() {
    let mut home = with_editor("printf '# Me\\n\\n- My name is Grace\\n' > \"$1\"");
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let id = home.json(&["recall", "name"])["hits"][0]["id"].clone();
    home.run(&["edit", &string(&id), "--content", "My name is Ada Lovelace", "--sig", "5"]).done();
    assert_eq!(home.text("user/profile.md"), "- [sig:5] My name is Ada Lovelace\n");
    home.run(&["profile", "--edit"]).done();
    assert_eq!(home.text("user/profile.md"), "# Me\n\n- My name is Grace\n");
    home.set("EDITOR", "false");
    home.run(&["profile", "--edit"]).failed(2, "ended with", "nothing was changed");
    assert_eq!(home.found(&["name"]), ["My name is Grace"]);
}
