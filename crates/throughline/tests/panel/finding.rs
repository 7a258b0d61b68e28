//! Searching as you type, filters and keys.

use serde_json::json;

use super::common::{self, Home};
use super::{ENTER, ESCAPE, Panel};

fn stocked() -> Home {
    stock(Home::new())
}

/// Searched by words alone: what is found does not depend on when vectors are made.
fn stocked_without_vectors() -> Home {
    stock(Home::with_config("config.toml", "[embeddings]\nprovider = \"none\"\n"))
}

fn stock(home: Home) -> Home {
    home.remember(&["We deploy on Fridays at noon", "--tag", "work", "--project", "harbour"]);
    home.remember(&["The deploy key is kept by Ines", "--tag", "work", "--source", "agent"]);
    home.remember(&["Gerald the heron sits on the quay in winter", "--tag", "birds"]);
    home.remember(&["Prefers window seats on trains", "--sig", "5"]);
    home
}

/// The texts of the rows, from above.
fn rows(panel: &Panel) -> Vec<String> {
    let script = "return [...document.querySelectorAll('.vrow:not([hidden])')].sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).map((row) => row.querySelector('.mem-text').textContent)";
    serde_json::from_value(panel.run(script, &[])).unwrap()
}

#[track_caller]
fn shows(panel: &Panel, texts: &[&str]) {
    let script = "const texts = [...document.querySelectorAll('.vrow:not([hidden]) .mem-text')].map((each) => each.textContent); \
                  return texts.length === arguments[0].length && arguments[0].every((text) => texts.includes(text))";
    panel.until(&format!("the list shows {texts:?}"), script, &[json!(texts)]);
}

#[test]
fn a_search_marks_the_words_says_why_and_leaves_no_trace() {
    let panel = Panel::of(stocked());
    panel.at("memories");
    shows(
        &panel,
        &[
            "We deploy on Fridays at noon",
            "The deploy key is kept by Ines",
            "Gerald the heron sits on the quay in winter",
            "Prefers window seats on trains",
        ],
    );
    panel.keys("/");
    panel.keys("deploying friday");
    panel.settled();
    shows(&panel, &["We deploy on Fridays at noon", "The deploy key is kept by Ines"]);
    assert_eq!(rows(&panel)[0], "We deploy on Fridays at noon", "the best is first");
    let marked = panel
        .run("return [...document.querySelectorAll('.vrow:not([hidden]) mark')].map((each) => each.textContent)", &[]);
    assert_eq!(marked, json!(["deploy", "Fridays", "deploy"]));
    panel.see(".vrow .score-bar i");
    panel.reads(".vrow .fit", "fits ");
    panel.reads(".result-line", "2 memories");
    panel.keys(ENTER);
    panel.keys(ENTER);
    panel.reads(".details-text", "We deploy on Fridays at noon");
    panel.reads(".details .score-features", "found by its words");
    for feature in ["its words", "recency", "source", "weight", "to begin with", "fits"] {
        panel.reads(".details .score-features", feature);
    }
    let points = "return [...document.querySelectorAll('.details .score-features tbody tr:not([data-feature=base]) .points')].map((each) => Math.abs(Number(each.textContent.replace('−', '-'))))";
    let points: Vec<f64> = serde_json::from_value(panel.run(points, &[])).unwrap();
    assert!(points.len() > 3 && points.is_sorted_by(|a, b| a >= b), "the weightiest first: {points:?}");
    panel.see(".details .score-features .is-minus");
    panel.keep("search");
    panel.settled();
    assert_eq!(panel.daemon.get("/api/recalls")["recalls"], json!([]), "looking is not recalling");
    assert_eq!(panel.home.json(&["list"])["memories"][0]["recall_count"], json!(0));
    panel.at("memories?q=zzzz");
    panel.reads(".vlist-empty", "Nothing found");
}

#[test]
fn filters_narrow_the_list_and_the_search_and_live_in_the_address() {
    let panel = Panel::of(stocked());
    panel.at("memories");
    let pick = |label: &str, value: &str| {
        let ready = "return [...document.querySelectorAll(`select[aria-label=\"${arguments[0]}\"] option`)].some((option) => option.value === arguments[1])";
        panel.until(&format!("{label} offers {value}"), ready, &[json!(label), json!(value)]);
        let script = "const field = document.querySelector(`select[aria-label=\"${arguments[0]}\"]`); field.value = arguments[1]; field.dispatchEvent(new Event('change', { bubbles: true }))";
        panel.run(script, &[json!(label), json!(value)]);
    };
    pick("Any tag", "work");
    shows(&panel, &["We deploy on Fridays at noon", "The deploy key is kept by Ines"]);
    pick("Source", "agent");
    shows(&panel, &["The deploy key is kept by Ines"]);
    panel.fill("input.search", "deploy");
    panel.see(".vrow mark");
    shows(&panel, &["The deploy key is kept by Ines"]);
    panel.settled();
    let address = panel.run("return location.hash", &[]);
    assert_eq!(address, json!("#/memories?tag=work&source=agent&q=deploy"));
    panel.press("Clear filters");
    shows(&panel, &["We deploy on Fridays at noon", "The deploy key is kept by Ines"]);
    pick("Any project", "harbour");
    shows(&panel, &["We deploy on Fridays at noon"]);
    panel.press("Clear filters");
    panel.fill("input.search", ESCAPE);
    panel.press("Identity");
    panel.reads(".vlist-empty", "Nothing fits these filters");
    panel.press("All");
    // Dates that are being picked stay while new tags come in.
    pick("Time", "custom");
    panel.see(".between input");
    panel.run("document.activeElement.blur()", &[]);
    panel.home.remember(&["A new thing with a new tag", "--tag", "fresh"]);
    panel.reads(".vrow", "A new thing with a new tag");
    panel.settled();
    panel.see(".between input");
    let date = "const field = document.querySelector('.between input'); field.value = '2026-03-02'; field.dispatchEvent(new Event('change', { bubbles: true }))";
    panel.run(date, &[]);
    panel.reads(".vlist-empty", "Nothing fits these filters");
}

#[test]
fn a_search_finds_what_was_said_and_leads_to_the_conversation() {
    let home = stocked_without_vectors();
    let said = |text: &str| home.run(&["session", "observe", "--session", "harbour-walk", text]).done();
    said("Gerald the heron caught an eel this morning");
    said("Ines saw the heron, too");
    let panel = Panel::of(home);
    panel.at("memories?q=heron");
    let gerald = "Gerald the heron sits on the quay in winter";
    let turns = ["Gerald the heron caught an eel this morning", "Ines saw the heron, too"];
    shows(&panel, &[gerald, turns[0], turns[1]]);
    panel.reads(".result-line", "1 memory and 2 turns");
    panel.reads(".vrow[data-kind=turn] .mem-meta", "you");
    panel.see(".vrow[data-kind=turn] .mem-meta time");
    let pick = |kind: &str| {
        let script = "const field = document.querySelector('select[aria-label=Kind]'); field.value = arguments[0]; field.dispatchEvent(new Event('change', { bubbles: true }))";
        panel.run(script, &[json!(kind)]);
    };
    pick("memories");
    shows(&panel, &[gerald]);
    pick("conversations");
    shows(&panel, &turns);
    panel.settled();
    panel.keep("search-conversations");
    panel.click(".vrow[data-kind=turn] .mem-text");
    panel.reads(".details-head", "Said in a conversation");
    panel.reads(".details", "Why it was found");
    panel.keep("search-turn");
    panel.click(".vrow[data-kind=turn] .mem-talk");
    panel.reads(".conversation .turn", "caught an eel");
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

/// The titles come with the search, however the page was opened.
#[test]
fn conversations_are_searched_by_what_fits_with_their_titles_and_channels() {
    let home = Home::new();
    let said = |session: &str, text: &str| home.run(&["session", "observe", "--session", session, text]).done();
    said("web:one", "We walked along the harbour until it was dark, and there at the very end stood Gerald the heron");
    said("web:two", "The ferry to the island leaves at nine");
    said("codex:three", "The tide is high at noon");
    let panel = Panel::of(home);
    let start = json!({ "channel": "web", "session": "one", "title": "The long walk" });
    panel.daemon.post("/api/sessions", &start);
    // Asked for turns alone, a recall answers with the nearest, however far.
    let nearest = json!({ "query": "zzqqxx", "kinds": ["turn"], "peek": true });
    let far = common::until(|| {
        let hits = panel.daemon.post("/api/recall", &nearest)["hits"].as_array().unwrap().len();
        (hits > 0).then_some(hits)
    });
    assert!(far > 0);
    panel.at("conversations?q=zzqqxx");
    panel.reads(".page-conversations .vlist-empty", "Nothing found");
    panel.reads(".page-conversations .result-line", "Nothing found");
    panel.reads(".page-conversations .segmented", "Codex");
    panel.at("memories?q=zzqqxx&kind=conversations");
    panel.reads(".vlist-empty", "Nothing found");

    panel.at("conversations?q=heron");
    panel.reads(".page-conversations .result-line", "1 turn in 1 conversation");
    panel.reads(".page-conversations .segmented", "Codex");
    panel.reads(".talk .talk-title", "The long walk");
    panel.reads(".talk .talk-name", "…");
    panel.reads(".talk .talk-name mark", "heron");
    panel.settled();
    panel.keep("conversations-search");
    let seen = "const row = document.querySelector('.talk .talk-name'); \
                return row.querySelector('mark').getBoundingClientRect().right <= row.getBoundingClientRect().right";
    assert_eq!(panel.run(seen, &[]), json!(true), "the word is in sight: {}", panel.text(".talk .talk-name"));
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

#[test]
fn the_keyboard_is_enough() {
    let panel = Panel::of(stocked());
    panel.see(".page-home");
    panel.keys_until("gm", ".page-memories .vrow");
    panel.settled();
    let all = rows(&panel);
    let current = |at: usize| panel.reads(".vrow.current", &all[at]);
    panel.keys("j");
    current(0);
    panel.keys("jj");
    current(2);
    panel.keys("k");
    current(1);
    panel.keys(ENTER);
    panel.reads(".details-text", &all[1]);
    panel.keys("e");
    panel.see(".mem-edit");
    panel.keys(ESCAPE);
    panel.gone(".mem-edit");
    panel.keys(ESCAPE);
    panel.gone(".details-text");
    panel.keys("x");
    panel.reads(".picked-bar", "1 selected");
    panel.keys(ESCAPE);
    panel.keys("?");
    panel.reads("dialog", "Keys");
    panel.reads("dialog", "next");
    panel.keys(ESCAPE);
    panel.gone("dialog");
    panel.keys("/");
    let field = panel.run("return document.activeElement.type", &[]);
    assert_eq!(field, json!("search"));
    panel.keys(ESCAPE);
    panel.keys_until("gd", ".page-documents h1");
}

#[test]
fn ctrl_k_finds_a_title_the_text_of_a_document_and_an_action() {
    const NAMED: &str = "[memory]\nuser_namespace = \"user\"\n[embeddings]\nprovider = \"none\"\n";
    let home = Home::with_config("config.toml", NAMED);
    std::fs::create_dir_all(home.path("user")).unwrap();
    std::fs::write(home.path("user/profile.md"), "- My name is Ada\n- [sig:4] Keeps bees on the roof\n").unwrap();
    let panel = Panel::of(home);
    // Nothing was said in it: only its title can be found.
    let start = json!({ "channel": "cli", "session": "old", "title": "The lighthouse and its keeper" });
    panel.daemon.post("/api/sessions", &start);
    let find = |words: &str, group: &str, option: &str| {
        panel.keys("\u{e009}k\u{e000}");
        panel.see("dialog.palette");
        panel.keys(words);
        let there = "return [...document.querySelectorAll('dialog.palette [role=group]')].some((group) => \
                     group.ariaLabel === arguments[0] && group.innerText.includes(arguments[1]))";
        panel.until(&format!("{group} has `{option}`"), there, &[json!(group), json!(option)]);
        panel.settled();
        panel.keep(&format!("palette-{}", group.to_lowercase().replace(' ', "-")));
    };
    find("keeper lighthouse", "Conversations", "The lighthouse and its keeper");
    panel.keys(ENTER);
    panel.reads(".conversation-title", "The lighthouse and its keeper");
    panel.run("document.activeElement.blur()", &[]);
    find("bees roof", "Documents", "Keeps bees on the roof");
    assert!(!panel.text("dialog.palette").contains("[sig:"));
    panel.click("dialog.palette [aria-label=Documents] .palette-option");
    panel.see(".page-documents h1");
    panel.run("document.activeElement.blur()", &[]);
    find("settings", "Go to", "Settings");
    panel.keys(ENTER);
    panel.see(".page-settings h1");
    assert_eq!(panel.complaints(), Vec::<String>::new());
}
