//! No serious finding of axe on any page: light and dark, on a laptop and on a phone.

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

struct Checked {
    panel: Panel,
    axe: String,
    found: Vec<String>,
}

impl Checked {
    fn look(&mut self, name: &str) {
        self.panel.settled();
        self.panel.run(&self.axe, &[]);
        let found = self.panel.wait(FINDINGS, &[]);
        let lines = found.as_array().unwrap().iter().map(Value::to_string);
        self.found.extend(lines.map(|line| format!("{name}: {line}")));
        let wide = "
            const main = document.querySelector('main');
            return document.documentElement.scrollWidth <= window.innerWidth && main.scrollWidth <= main.clientWidth";
        assert_eq!(self.panel.run(wide, &[]), json!(true), "{name} is wider than the screen");
    }
}

#[test]
fn no_page_has_a_serious_finding() {
    let axe = installed::node("axe", &[AXE]).join("node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(axe).unwrap();
    let browser = Browser::open();
    let home = demo(&browser);
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
    }
    assert_eq!(checked.found, Vec::<String>::new());
}
