//! Forgetting, erasing, correcting, and the way back.

use std::path::Path;

use serde_json::json;

use super::common::{Home, string, tree};
use super::{ENTER, Panel};

#[track_caller]
fn status(panel: &Panel, id: &str) -> String {
    string(&panel.home.json(&["show", id])["status"])
}

/// The files below a directory that hold these bytes.
fn holding(directory: &Path, needle: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
    tree(directory).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path.display().to_string()).collect()
}

#[test]
fn what_is_forgotten_comes_back_by_the_toast() {
    let home = Home::new();
    let id = home.remember(&["Gerald the heron"]);
    let panel = Panel::of(home);
    panel.at(&format!("memories?id={id}"));
    panel.press("Forget");
    panel.reads(".toast", "Forgotten");
    panel.reads(".details", "inactive");
    assert_eq!(status(&panel, &id), "inactive");
    panel.press("Undo");
    panel.reads(".toast", "Undone: 1 memory");
    panel.see(".vrow .mem-text");
    assert_eq!(status(&panel, &id), "active");
}

#[test]
fn an_erasure_says_first_what_it_removes_and_leaves_no_byte() {
    let home = Home::new();
    let id = home.remember(&["The safe opens with Barnacle-Quay-4821x"]);
    home.run(&["edit", &id, "--content", "The safe opens with Limpet-Mole-7719x"]).done();
    home.found(&["safe"]);
    let panel = Panel::of(home);
    panel.at(&format!("memories?id={id}"));
    panel.press("Erase…");
    panel.reads("dialog", "Limpet-Mole-7719x");
    panel.reads("dialog", "all 2 versions that are kept");
    panel.reads("dialog", "1 recall");
    panel.keep("erase");
    let is_off = "return document.querySelector('dialog button.danger').disabled";
    assert_eq!(panel.run(is_off, &[]), json!(true), "not before the word is typed");
    panel.fill("dialog input[type=text]", "eras");
    assert_eq!(panel.run(is_off, &[]), json!(true));
    panel.keys(&format!("e{ENTER}"));
    panel.reads(".toast", "Erased");
    panel.gone(".details-text");
    panel.reads(".vlist-empty", "Nothing is remembered yet");
    assert_eq!(panel.home.run(&["show", &id]).code, 1);
    let Panel { browser, daemon, home } = panel;
    drop(browser);
    daemon.stop();
    for gone in ["Barnacle-Quay", "Limpet-Mole", "7719x", "4821x"] {
        assert_eq!(holding(&home.path(""), gone), Vec::<String>::new(), "{gone}");
    }
}

#[test]
fn an_earlier_version_is_restored_and_a_wrong_memory_is_corrected() {
    let home = Home::new();
    let id = home.remember(&["We deploy on Fridays"]);
    home.run(&["edit", &id, "--content", "We deploy on Mondays"]).done();
    let panel = Panel::of(home);
    panel.at(&format!("memories?id={id}"));
    panel.press("Restore this version");
    panel.reads(".toast", "Version 1 is back");
    panel.reads(".details-text", "We deploy on Fridays");
    assert_eq!(string(&panel.home.json(&["show", &id])["content"]), "We deploy on Fridays");
    panel.press("Correct");
    panel.fill("dialog textarea", "We deploy on Tuesdays");
    panel.click("dialog button.primary");
    panel.reads(".toast", "Corrected");
    panel.reads(".details-text", "We deploy on Tuesdays");
    panel.reads(".details", "Replaces");
    assert_eq!(panel.home.listed(&[]), ["We deploy on Tuesdays"]);
    assert_eq!(status(&panel, &id), "inactive");
    panel.run("[...document.querySelectorAll('.toast')].at(-1).querySelector('.toast-action').click()", &[]);
    panel.reads(".toast", "Undone");
    panel.reads(".vrow", "We deploy on Fridays");
    assert_eq!(panel.home.listed(&[]), ["We deploy on Fridays"]);
}

#[test]
fn many_are_forgotten_at_once_and_come_back_at_once() {
    // By words alone: a quay is near to a heron in meaning.
    let home = Home::with_config("config.toml", "[embeddings]\nprovider = \"none\"\n");
    for nth in 1..=5 {
        home.remember(&[&format!("Heron number {nth}")]);
    }
    home.remember(&["A quay"]);
    let panel = Panel::of(home);
    panel.at("memories?q=heron");
    panel.see(".vrow mark");
    let pick =
        "[...document.querySelectorAll('.vrow:not([hidden]) input[type=checkbox]')].forEach((box) => box.click())";
    panel.run(pick, &[]);
    panel.reads(".picked-bar", "5 selected");
    panel.keep("bulk");
    panel.press("Forget");
    panel.reads(".toast", "Forgot 5 memories");
    panel.reads(".vlist-empty", "Nothing found");
    assert_eq!(panel.home.listed(&[]), ["A quay"]);
    panel.press("Undo");
    panel.reads(".toast", "Undone: 5 memories");
    panel.see(".vrow mark");
    assert_eq!(panel.home.listed(&[]).len(), 6);
}
