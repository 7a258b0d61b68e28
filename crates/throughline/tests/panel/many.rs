//! A hundred thousand memories.

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
