//! No serious finding of axe on any page: light and dark, on a laptop and on a phone.

use std::path::Path;

use serde_json::{Value, json};

use super::browser::Browser;
use super::common::installed;
use super::pages::{PAGES, demo};
use super::{ESCAPE, Panel};

const AXE: &str = "axe-core@4.10.3";

/// What axe finds on the page as it is: each finding that matters, with where it is.
const FINDINGS: &str = "
    const done = arguments[0];
    const serious = ({ impact }) => impact === 'serious' || impact === 'critical';
    const told = ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 4).map((node) => `${node.target} ${node.failureSummary ?? ''}`).join(' | ')}`;
    axe.run(document, { resultTypes: ['violations'] })
      .then(({ violations }) => done(violations.filter(serious).map(told)))
      .catch((error) => done([`axe: ${error}`]))";

/// Ends every transition that has an end.
const AT_REST: &str = "
    document.getAnimations()
      .filter((each) => each.effect?.getComputedTiming().endTime !== Infinity)
      .forEach((each) => each.finish())";

struct Checked {
    panel: Panel,
    axe: String,
    found: Vec<String>,
}

impl Checked {
    fn look(&mut self, name: &str) {
        self.panel.settled();
        // What fades in is pale for a moment.
        self.panel.run(AT_REST, &[]);
        self.panel.run(&self.axe, &[]);
        let found = self.panel.wait(FINDINGS, &[]);
        let lines = found.as_array().unwrap().iter().map(Value::to_string);
        self.found.extend(lines.map(|line| format!("{name}: {line}")));
        let wide = "
            const main = document.querySelector('main');
            return document.documentElement.scrollWidth <= window.innerWidth && main.scrollWidth <= main.clientWidth";
        assert_eq!(self.panel.run(wide, &[]), json!(true), "{name} is wider than the screen");
    }

    /// What opens on top of the pages, the report of an import, and what is given to a message.
    fn look_at_dialogs(&mut self, file: &Path, how: &str, is_phone: bool) {
        self.panel.at("review");
        self.panel.keys_until("e", "dialog[open] textarea");
        self.look_and_close(&format!("edit {how}"));
        self.panel.at("memories");
        self.panel.run("document.activeElement.blur()", &[]);
        self.panel.keys_until("?", "dialog[open] .keys");
        self.look_and_close(&format!("keys {how}"));
        self.panel.at("connections");
        self.panel.click(".connection[data-client=gemini] button");
        self.panel.reads("dialog", "settings.json");
        self.look_and_close(&format!("connect {how}"));
        if is_phone {
            self.panel.press("More");
            self.panel.see("dialog .more-grid");
            self.look_and_close(&format!("more {how}"));
        }
        self.panel.at("import");
        self.panel.choose("#import-file", file);
        self.panel.reads(".import-report", "The boat is painted blue");
        self.look(&format!("an import {how}"));
        self.panel.at("sees?message=When%20is%20the%20lab%20meeting%3F");
        self.panel.see(".sees-card .sees-line");
        self.look(&format!("what is given to a message {how}"));
    }

    fn look_and_close(&mut self, name: &str) {
        self.look(name);
        self.panel.keys(ESCAPE);
        self.panel.gone("dialog[open]");
    }
}

#[test]
fn no_page_has_a_serious_finding() {
    let axe = installed::node("axe", &[AXE]).join("node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(axe).unwrap();
    let browser = Browser::open();
    let home = demo(&browser);
    let file = home.root().join("notes.md");
    std::fs::write(&file, "# Notes\n\n- The boat is painted blue\n").unwrap();
    std::fs::create_dir_all(home.root().join("person/.gemini")).unwrap();
    let mut checked = Checked { panel: Panel::seen_with(browser, home), axe, found: Vec::new() };
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
        checked.panel.prefers(scheme);
        checked.panel.screen(width, 844, width == 390);
        for (page, _) in PAGES {
            checked.panel.at(page);
            checked.look(&format!("{page} {scheme} {width}"));
        }
        checked.panel.at("memories");
        checked.panel.click(".mem .mem-main");
        checked.panel.see(".details .versions > *");
        checked.look(&format!("details {scheme} {width}"));
        checked.panel.at("conversations");
        checked.panel.click(".talk");
        checked.panel.see(".turn");
        checked.look(&format!("a conversation {scheme} {width}"));
        let open = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))";
        checked.panel.run(open, &[]);
        checked.panel.see("dialog.palette .palette-option");
        checked.look(&format!("palette {scheme} {width}"));
        checked.panel.keys(ESCAPE);
        checked.panel.gone("dialog[open]");
        checked.look_at_dialogs(&file, &format!("{scheme} {width}"), width == 390);
    }
    assert_eq!(checked.found, Vec::<String>::new());
}
