//! A hundred thousand memories, and five thousand conversations.

use serde_json::json;

use super::Panel;
use super::common::Home;

const MANY: usize = 100_000;

#[test]
fn a_hundred_thousand_memories_scroll_and_are_searched() {
    let home = Home::new();
    let things = ["harbour", "heron", "boat", "quay", "tide"];
    let line =
        |nth: usize| json!({ "content": format!("Note {nth} about the {}", things[nth % things.len()]) }).to_string();
    let lines: Vec<String> = (0..MANY).map(line).collect();
    std::fs::write(home.root().join("many.jsonl"), lines.join("\n")).unwrap();
    home.run(&["import", home.root().join("many.jsonl").to_str().unwrap(), "--later"]).done();
    let panel = Panel::of(home);
    panel.at("memories");
    panel.reads(".result-line", "100,000 memories");
    let rows = || panel.run("return document.querySelectorAll('.vrow').length", &[]).as_u64().unwrap();
    let whole = "return document.querySelector('.vlist').scrollHeight";
    for _ in 0..20 {
        let before = panel.run(whole, &[]);
        panel.run("const list = document.querySelector('.vlist'); list.scrollTop = list.scrollHeight", &[]);
        panel.until("more comes in", &format!("{whole} > arguments[0]"), &[before]);
        panel.settled();
        let seen = "const list = document.querySelector('.vlist').getBoundingClientRect(); \
                    return !!document.elementFromPoint(list.left + 60, list.top + list.height / 2).closest('.vrow')";
        panel.until("rows stand where somebody looks", seen, &[]);
        assert!(rows() < 300, "{} rows", rows());
    }
    panel.keep("many");
    panel.fill("input.search", "note 77777");
    panel.reads(".vrow mark", "77777");
    panel.reads(".vrow", "Note 77777 about the boat");
    panel.fill("input.search", "heron");
    panel.reads(".result-line", "The best 100");
    assert!(rows() < 300);
    assert_eq!(panel.complaints(), Vec::<String>::new());
    assert_eq!(panel.run("return document.querySelectorAll('.toast.bad').length", &[]), json!(0));
}

const TALKS: usize = 5_000;

#[test]
fn five_thousand_conversations_scroll_and_are_searched() {
    // By words alone: what is found does not depend on when vectors are made.
    let home = Home::with_config("config.toml", "[embeddings]\nprovider = \"none\"\n");
    let things = ["harbour", "heron", "boat", "quay", "tide"];
    let said = |nth: usize| {
        let thing = things[nth % things.len()];
        let at =
            format!("2026-{:02}-{:02}T{:02}:{:02}:00Z", 1 + nth / 2_500, 1 + nth / 100 % 25, nth / 60 % 24, nth % 60);
        json!({ "session": format!("talk-{nth}"), "role": "user", "content": format!("Question {nth} about the {thing}"), "at": at })
    };
    let lines: Vec<String> = (0..TALKS).map(|nth| said(nth).to_string()).collect();
    let file = home.root().join("talks.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    home.run(&["import", file.to_str().unwrap(), "--later"]).done();
    let panel = Panel::of(home);
    panel.reads(".figures", "5,000");
    panel.at("conversations");
    panel.see(".vrow .talk-name");
    let rows = || panel.run("return document.querySelectorAll('.vrow').length", &[]).as_u64().unwrap();
    let whole = "return document.querySelector('.vlist').scrollHeight";
    for _ in 0..TALKS / 200 - 1 {
        let before = panel.run(whole, &[]);
        panel.run("const list = document.querySelector('.vlist'); list.scrollTop = list.scrollHeight", &[]);
        panel.until("more comes in", &format!("{whole} > arguments[0]"), &[before]);
        panel.settled();
        assert!(rows() < 300, "{} rows", rows());
    }
    panel.run("const list = document.querySelector('.vlist'); list.scrollTop = list.scrollHeight", &[]);
    panel.reads(".talk-name", "Question 0 about the harbour");
    panel.keep("many-conversations");
    panel.fill("input.search", "question 4321");
    panel.reads(".talk-name mark", "4321");
    panel.click(".talk");
    panel.reads(".conversation .turn", "Question 4321 about the heron");
    // Its title is among those that no page has shown since.
    panel.at("home");
    panel.keys("\u{e009}k\u{e000}");
    panel.see("dialog.palette");
    panel.keys("question 1234 about");
    let first = "return document.querySelector('dialog.palette [role=group][aria-label=Conversations]')?.innerText.includes('Question 1234 about the tide') ?? false";
    panel.until("the palette has an old conversation by its title", first, &[]);
    panel.settled();
    panel.keep("many-palette");
    assert_eq!(panel.complaints(), Vec::<String>::new());
    assert_eq!(panel.run("return document.querySelectorAll('.toast.bad').length", &[]), json!(0));
}
