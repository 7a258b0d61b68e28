//! Editing memories and documents, alone and while somebody else does.

use serde_json::json;

use super::common::{Home, string};
use super::{ENTER, Panel};

const PERSON: &str = "[memory]\nuser_namespace = \"user\"\n";

/// A panel with one memory, whose editor is open.
fn editing(text: &str) -> (Panel, String) {
    let home = Home::with_config("config.toml", PERSON);
    let id = home.remember(&[text, "--tag", "work"]);
    let panel = Panel::of(home);
    panel.at(&format!("memories?id={id}"));
    panel.press("Edit");
    panel.see(".mem-edit");
    (panel, id)
}

#[track_caller]
fn said(panel: &Panel, id: &str) -> String {
    string(&panel.home.json(&["show", id])["content"])
}

#[test]
fn content_and_tags_are_edited_and_every_surface_sees_it() {
    let (panel, id) = editing("We deploy on Fridays");
    panel.fill(".mem-edit", "We deploy on Mondays");
    panel.fill(".tag-editor input", &format!("ops{ENTER}"));
    panel.press("Save");
    panel.gone(".mem-edit");
    panel.reads(".details-text", "We deploy on Mondays");
    panel.reads(".vrow", "We deploy on Mondays");
    let shown = panel.home.json(&["show", &id]);
    assert_eq!((&shown["content"], &shown["tags"]), (&json!("We deploy on Mondays"), &json!(["work", "ops"])));
    panel.reads(".version-list", "You edited a memory");
    panel.see(".version-list del");
    panel.press("Undo");
    panel.reads(".details-text", "We deploy on Fridays");
    assert_eq!(said(&panel, &id), "We deploy on Fridays");
}

#[test]
fn a_memory_that_changed_meanwhile_is_shown_beside_ones_own_and_never_overwritten() {
    let (panel, id) = editing("We deploy on Fridays");
    panel.fill(".mem-edit", "We deploy on Mondays");
    panel.home.run(&["edit", &id, "--content", "We deploy on Sundays"]).done();
    panel.reads(".details .notice", "changed elsewhere");
    panel.press("Save");
    panel.reads("dialog .versus", "We deploy on Mondays");
    panel.reads("dialog .versus", "We deploy on Sundays");
    panel.keep("conflict-memory");
    assert_eq!(said(&panel, &id), "We deploy on Sundays", "nothing is overwritten");
    panel.press("Go on editing");
    panel.gone("dialog");
    assert_eq!(panel.run("return document.querySelector('.mem-edit').value", &[]), json!("We deploy on Mondays"));
    panel.press("Save");
    panel.press("Put mine on top");
    panel.gone(".mem-edit");
    panel.reads(".details-text", "We deploy on Mondays");
    assert_eq!(said(&panel, &id), "We deploy on Mondays");
    panel.press("Edit");
    panel.fill(".mem-edit", "We deploy at night");
    panel.home.run(&["edit", &id, "--content", "We deploy on Tuesdays"]).done();
    panel.press("Save");
    panel.press("Take theirs");
    panel.reads(".details-text", "We deploy on Tuesdays");
    assert_eq!(said(&panel, &id), "We deploy on Tuesdays");
}

/// A panel whose profile is being edited, and was changed elsewhere meanwhile.
fn torn() -> Panel {
    let home = Home::with_config("config.toml", PERSON);
    home.run_with(&["write", "user/profile"], "- Is called Ada\n- Lives in Cork\n").done();
    let panel = Panel::of(home);
    panel.at("documents/user/profile");
    panel.fill(".doc-text", "- Is called Ada\n- Lives in Cork\n- Rows at dawn\n");
    panel.home.put("user/profile.md", "- Is called Ada\n- Lives in Galway\n");
    panel.reads(".doc-editor .notice", "changed elsewhere");
    panel.press("Save");
    panel.reads("dialog .versus", "Rows at dawn");
    panel.reads("dialog .versus", "Lives in Galway");
    panel
}

#[test]
fn a_document_that_changed_meanwhile_is_settled_in_each_way() {
    let panel = torn();
    panel.keep("conflict-document");
    assert_eq!(panel.home.text("user/profile.md"), "- Is called Ada\n- Lives in Galway\n", "nothing is overwritten");
    panel.press("Go on editing");
    panel.reads(".doc-editor .notice", "changed elsewhere");
    panel.press("See both");
    panel.press("Take theirs");
    panel.gone("dialog");
    let text = || string(&panel.run("return document.querySelector('.doc-text').value", &[]));
    assert_eq!(text(), "- Is called Ada\n- Lives in Galway\n");
    assert_eq!(panel.home.text("user/profile.md"), "- Is called Ada\n- Lives in Galway\n");
    drop(panel);

    let panel = torn();
    panel.press("Put mine on top of theirs");
    panel.reads(".doc-state", "Saved");
    assert_eq!(panel.home.text("user/profile.md"), "- Is called Ada\n- Lives in Cork\n- Rows at dawn\n");
    // The other version is not lost: it is in the history.
    panel.press("History");
    panel.reads("dialog .version-list", "Lives in Galway");
    drop(panel);

    let panel = torn();
    panel.click("dialog summary");
    panel.press("Save this");
    panel.reads(".doc-state", "Saved");
    assert_eq!(panel.home.text("user/profile.md"), "- Is called Ada\n- Lives in Galway\n- Rows at dawn\n");
}

#[test]
fn the_identity_limit_is_shown_while_typing_and_holds() {
    let home = Home::with_config("config.toml", PERSON);
    home.run_with(&["write", "user/profile"], "- Is called Ada\n").done();
    let panel = Panel::of(home);
    panel.at("documents/user/profile");
    panel.reads(".doc-limits", "of 1,000 characters");
    let long = format!("- {}\n", "x".repeat(1_100));
    panel.fill(".doc-text", &long);
    panel.see(".doc-limits .bar.over");
    panel.keep("identity-over");
    panel.press("Save");
    panel.reads(".toast.bad", "1,000");
    assert_eq!(panel.home.text("user/profile.md"), "- Is called Ada\n");
    let kept = panel.run("return document.querySelector('.doc-text').value.length > 1000", &[]);
    assert_eq!(kept, json!(true), "what was typed is still there");
    panel.fill(".doc-text", "- Is called Ada Quay\n");
    panel.gone(".doc-limits .bar.over");
    panel.press("Save");
    panel.reads(".doc-state", "Saved");
    assert_eq!(panel.home.text("user/profile.md"), "- Is called Ada Quay\n");
}
