//! Review and muting, by the keyboard alone.

use serde_json::json;

use super::common::{Home, string};
use super::{ENTER, ESCAPE, Panel};

const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\nconsolidation_provider = \"offline\"\n";

/// The key that moves the focus on.
const TAB: &str = "\u{e004}";

/// A conversation that is over: what was said in it was made into memories.
fn learn(home: &Home, session: &str, said: &[&str]) {
    for text in said {
        home.run(&["session", "observe", "--session", session, text]).done();
    }
    home.run(&["session", "end", session]).done();
}

/// How many things are new.
fn new(panel: &Panel) -> u64 {
    panel.daemon.get("/api/review")["count"].as_u64().unwrap()
}

#[test]
fn what_was_learnt_is_looked_through_by_one_key_each() {
    let home = Home::with_config("config.toml", QUIET);
    learn(
        &home,
        "web:1",
        &[
            "We decided to use PostgreSQL for the billing service.",
            "We decided to deploy the shop on Mondays.",
            "We decided to keep the parser in Rust.",
            "We decided to rent the small boat in May.",
        ],
    );
    let panel = Panel::of(home);
    let all = new(&panel);
    assert!(all >= 4, "{all}");
    panel.reads(".side .nav-count", &all.to_string());
    panel.keys_until("gw", ".page-review h1");
    panel.see(".review-item.is-current");
    panel.reads(".review-quote", "We decided to");
    panel.keep("review-item");
    let current = || panel.text(".review-item.is-current .review-text");
    let first = current();
    panel.keys("j");
    assert_ne!(current(), first, "the next one");
    panel.keys("\u{e013}");
    assert_eq!(current(), first);

    panel.keys("k");
    panel.until("it is kept", "return !document.body.innerText.includes(arguments[0])", &[json!(first)]);
    panel.reads(".side .nav-count", &(all - 1).to_string());
    panel.settled();
    let dropped = current();
    panel.keys("d");
    panel.reads(".toast", "Dropped");
    panel.reads(".side .nav-count", &(all - 2).to_string());
    panel.settled();
    assert!(!panel.home.listed(&[]).contains(&dropped));
    panel.keys("u");
    panel.reads(".review-item.is-current .review-text", &dropped);
    panel.reads(".side .nav-count", &(all - 1).to_string());
    panel.settled();
    assert!(panel.home.listed(&[]).contains(&dropped), "it stands again");

    panel.keys("e");
    panel.see("dialog textarea");
    panel.fill("dialog textarea", "The billing service runs on PostgreSQL 17");
    panel.keys(TAB);
    panel.keys_until(TAB, "dialog button.primary:focus");
    panel.keys(ENTER);
    panel.gone("dialog[open]");
    panel.reads(".toast", "Changed");
    panel.settled();
    assert!(panel.home.listed(&[]).contains(&"The billing service runs on PostgreSQL 17".to_owned()));
    panel.keys("r");
    panel.reads(".toast", "A rule from now on");
    panel.settled();
    assert_eq!(new(&panel), all - 3);
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

#[test]
fn a_line_that_is_given_is_muted_by_keyboard_and_comes_back() {
    let home = Home::with_config("config.toml", QUIET);
    home.remember(&["We deploy on Fridays at noon"]);
    home.put("user/profile.md", "- My name is Ada\n- I like short answers\n");
    let panel = Panel::of(home);
    let recalls = panel.daemon.get("/api/stats")["recalls"].clone();
    panel.keys_until("ga", ".page-sees h1");
    panel.reads(".sees-block", "I like short answers");
    panel.reads(".sees-cost", "words");
    panel.keys_until(TAB, ".sees-message:focus");
    panel.keys("When do we deploy?");
    panel.reads(".sees-card .sees-line", "We deploy on Fridays at noon");
    panel.keep("sees-line");
    // What is shown is what the command line shows.
    let shown = panel.home.json(&["context", "--message", "When do we deploy?"]);
    assert_eq!(panel.daemon.post("/api/context/preview", &json!({ "message": "When do we deploy?" })), shown);
    assert_eq!(string(&shown["lines"][0]["text"]), "- My name is Ada");
    assert!(string(&shown["given"][0]["text"]).ends_with("We deploy on Fridays at noon"), "{shown}");

    panel.keys_until(TAB, "button[aria-label*='We deploy on Fridays']:focus");
    panel.keys(ENTER);
    panel.reads(".toast", "Never given any more");
    panel.reads(".sees-card", "No memory fits it closely enough");
    panel.settled();
    panel.reads(".sees-line.is-muted", "We deploy on Fridays at noon");
    panel.see("button[aria-label='Give again: We deploy on Fridays at noon']:focus");
    let preview = panel.daemon.post("/api/context/preview", &json!({ "message": "When do we deploy?" }));
    assert_eq!(preview.get("given"), None, "{preview}");
    panel.keys_until(TAB, ".toast-action:focus");
    panel.keys(ENTER);
    panel.reads(".sees-card .sees-line", "We deploy on Fridays at noon");
    panel.gone(".sees-line.is-muted");
    // It can also be given again where it was.
    panel.click("button[aria-label*='Mute: I like short answers']");
    panel.reads(".sees-block .sees-line.is-muted", "I like short answers");
    panel.keep("sees-muted");
    panel.click("button[aria-label='Give again: I like short answers']");
    panel.gone(".sees-line.is-muted");
    panel.see("button[aria-label*='Mute: I like short answers']");
    assert_eq!(panel.daemon.get("/api/stats")["recalls"], recalls, "looking leaves no trace");
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

/// A memory that is muted says so however it was found, and can be given again from there.
#[test]
fn what_is_muted_says_so_wherever_it_is_opened() {
    let home = Home::with_config("config.toml", QUIET);
    let id = home.remember(&["We deploy on Fridays at noon"]);
    let panel = Panel::of(home);
    panel.at(&format!("memories?id={id}"));
    panel.press("Mute");
    panel.reads(".details-head .chip", "muted");
    panel.see("button[data-action=mute]:focus");
    panel.press("Give again");
    panel.gone(".details-head .chip");
    panel.press("Mute");
    panel.reads(".vrow .chip", "muted");
    panel.settled();
    // A search knows less of what it finds.
    panel.at("home");
    panel.at("memories?q=deploy");
    panel.click(".vrow .mem-text");
    panel.reads(".details-head .chip", "muted");
    panel.reads(".details", "Why it was found");
    panel.press("Give again");
    panel.gone(".details-head .chip");
    assert_eq!(panel.daemon.get(&format!("/api/memories/{id}")).get("muted"), None);
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

/// Home names what it would take back, and asks where that is more than one's own step.
#[test]
fn the_last_change_is_named_before_it_is_taken_back() {
    let home = Home::with_config("config.toml", QUIET);
    let said = [
        "We decided to plant beans in the garden.",
        "We decided to water the garden on Mondays.",
        "We decided to paint the garden shed.",
        "We decided to sell the lawn mower.",
    ];
    learn(&home, "web:garden", &said);
    let panel = Panel::of(home);
    let known = panel.home.listed(&[]).len();
    assert!(known >= 2, "{known}");
    panel.reads(".undo-last", "Undo: summed up “");
    panel.click(".undo-last");
    panel.reads("dialog", "summed up");
    panel.reads("dialog", "plant beans");
    panel.keep("home-undo");
    panel.press("Cancel");
    panel.settled();
    assert_eq!(panel.home.listed(&[]).len(), known, "nothing was taken back");

    // Verdicts in a row are one line, and the button names the last of them.
    panel.at("review");
    panel.see(".review-item.is-current");
    let all = new(&panel);
    for (key, left) in [("d", all - 1), ("k", all - 2), ("k", all - 3)] {
        panel.keys(key);
        panel.reads(".side .nav-count", &left.to_string());
        panel.settled();
    }
    panel.at("home");
    panel.reads(".change-list", "You reviewed 2 things");
    panel.reads(".undo-last", "Undo: reviewed “We decided to");
    panel.keep("home-reviewed");
    let lines = panel.text(".change-list");
    assert!(!lines.contains("something"), "{lines}");

    panel.home.remember(&["Gerald sits on the quay"]);
    panel.reads(".undo-last", "Undo: remembered “Gerald sits on the quay”");
    panel.click(".undo-last");
    panel.reads(".toast", "Undone: 1 memory");
    panel.gone("dialog");
    panel.settled();
    assert!(!panel.home.listed(&[]).contains(&"Gerald sits on the quay".to_owned()));
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

#[test]
fn everything_is_found_with_ctrl_k_and_a_turn_is_shown_where_it_was_said() {
    let home = Home::with_config("config.toml", QUIET);
    home.remember(&["We deploy on Fridays at noon"]);
    for nth in 0..30 {
        home.run(&["session", "observe", "--session", "web:1", &format!("About the harbour, part {nth}")]).done();
    }
    home.run(&["session", "observe", "--session", "web:1", "Gerald the heron sits on the quay"]).done();
    let panel = Panel::of(home);
    let open = "\u{e009}k\u{e000}";
    panel.keys(open);
    panel.see("dialog.palette");
    panel.keys("deploy");
    panel.reads(".palette-option", "We deploy on Fridays at noon");
    panel.keep("palette");
    panel.keys(ESCAPE);
    panel.gone("dialog.palette");
    panel.keys(open);
    panel.see("dialog.palette");
    panel.keys("heron");
    panel.reads(".palette-option", "Gerald the heron");
    panel.settled();
    let is_chosen = ".palette-option[aria-selected=true] mark";
    panel.see(is_chosen);
    panel.keys(ENTER);
    panel.see(".page-conversations .turn.is-found");
    panel.reads(".turn.is-found", "Gerald the heron sits on the quay");
    // The same from the page itself.
    panel.at("conversations");
    panel.fill("input.search", "heron quay");
    panel.reads(".talk .talk-name", "Gerald the heron");
    panel.keys(ENTER);
    assert_eq!(panel.complaints(), Vec::<String>::new());
}
