//! Every page, reached as a person reaches it, in light and dark, on a laptop and on a phone, without a complaint.

use serde_json::json;

use super::browser::Browser;
use super::common::daemon::Daemon;
use super::common::{Home, Ran};
use super::{ESCAPE, Panel, string};

/// The pages by their addresses and their names in the navigation.
pub(crate) const PAGES: [(&str, &str); 15] = [
    ("home", "Home"),
    ("review", "Review"),
    ("memories", "Memories"),
    ("documents", "Documents"),
    ("conversations", "Conversations"),
    ("timeline", "Timeline"),
    ("tasks", "Tasks"),
    ("vault", "Vault"),
    ("reflection", "Reflection"),
    ("chat", "Chat"),
    ("sees", "What they see"),
    ("connections", "Connections"),
    ("import", "Import"),
    ("export", "Export"),
    ("settings", "Settings"),
];

/// The demo's month, ending on the day that the browser's clock shows.
pub(crate) fn demo(browser: &Browser) -> Home {
    let mut home = Home::new();
    home.set_now(&string(&browser.run("return new Date().toISOString()", &[])));
    // The demo leaves a person's own memory alone, so for a moment that is elsewhere.
    let dir = home.path("");
    let mut fill = home.throughline(&["demo", "--fill-only", dir.to_str().unwrap()]);
    Ran::of(fill.env("THROUGHLINE_HOME", home.root().join("own")).output().unwrap()).done();
    home
}

#[track_caller]
fn no_complaint(browser: &Browser, page: &str) {
    assert_eq!(browser.complaints(), Vec::<String>::new(), "{page}");
    assert_eq!(browser.run("return window.__refused", &[]), json!([]), "{page}");
    let bad = browser.run("return [...document.querySelectorAll('.toast.bad')].map((each) => each.innerText)", &[]);
    assert_eq!(bad, json!([]), "{page}");
    let wide = "return document.documentElement.scrollWidth <= window.innerWidth";
    assert_eq!(browser.run(wide, &[]), json!(true), "{page} is wider than the screen");
}

#[test]
fn a_link_opens_once_and_whoever_has_none_reads_how_to_get_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let browser = Browser::open();
    let address = format!("http://{}/", daemon.host());
    browser.go(&address);
    browser.reads("body", "This browser has not been let in");
    browser.reads("code", "throughline open");
    browser.keep("closed");
    let link = home.run(&["open"]).done();
    let link = link.split_whitespace().find(|word| word.starts_with("http")).unwrap().to_owned();
    browser.go(&link);
    browser.reads("h1", "Your memory");
    browser.go(&link);
    browser.reads("body", "This link does not open the panel any more");
    browser.reads("code", "throughline open");
    browser.keep("closed-link");
    // The browser is known all the same.
    browser.go(&address);
    browser.reads("h1", "Your memory");
    let refused = browser.complaints();
    assert!(refused.iter().all(|line| line.contains("401") || line.contains("403")), "{refused:?}");
    assert!(!browser.requested().iter().any(|url| url.contains("favicon.ico")));
}

#[test]
fn every_page_is_reached_by_the_navigation_without_a_complaint() {
    let browser = Browser::open();
    let home = demo(&browser);
    let panel = Panel::seen_with(browser, home);
    for scheme in ["light", "dark"] {
        panel.prefers(scheme);
        for (page, name) in PAGES {
            panel.click(&format!(".side a[data-page={page}]"));
            panel.see(&format!(".page-{page} h1"));
            panel.reads(".side [aria-current]", name);
            panel.settled();
            no_complaint(&panel, page);
            panel.keep(&format!("{page}-{scheme}"));
        }
    }
    panel.prefers("light");
    panel.screen(390, 844, true);
    for (page, name) in PAGES {
        let is_near = ["home", "review", "memories", "conversations"].contains(&page);
        if is_near {
            panel.click(&format!(".bottom a[data-page={page}]"));
        } else {
            panel.press("More");
            panel.click(&format!(".more-grid a[data-page={page}]"));
        }
        panel.see(&format!(".page-{page} h1"));
        panel.settled();
        no_complaint(&panel, name);
        panel.keep(&format!("{page}-phone"));
    }
}

#[test]
fn what_is_inside_the_pages_is_reached_without_a_complaint() {
    let browser = Browser::open();
    let home = demo(&browser);
    let panel = Panel::seen_with(browser, home);
    let kept = |name: &str| {
        panel.settled();
        no_complaint(&panel, name);
        panel.keep(name);
    };
    panel.at("memories");
    panel.click(".mem .mem-main");
    panel.see(".details .versions > *");
    kept("memory-details");
    panel.at("conversations");
    panel.click(".talk");
    panel.see(".turn");
    panel.run("for (const each of document.querySelectorAll('details.given')) each.open = true", &[]);
    kept("conversation");
    for (name, page) in [
        ("tasks-all", "tasks?status=all"),
        ("document-patterns", "documents/user/patterns"),
        ("settings-set", "settings?only=set"),
        ("not-found", "nowhere"),
    ] {
        panel.at(page);
        kept(name);
    }
    panel.at("sees");
    panel.fill(".sees-message", "where is Gerald?");
    panel.see(".sees-card .sees-line .muted");
    kept("sees-message");
    panel.at("vault");
    panel.fill("input.search", "battery");
    panel.see(".passage mark");
    kept("vault-search");
    panel.at("timeline");
    panel.fill("input.search", "Gerald");
    panel.see(".entry mark");
    kept("timeline-search");
    panel.keys(ESCAPE);
    panel.keys("?");
    panel.see("dialog .keys");
    kept("keys");
    panel.prefers("dark");
    panel.screen(390, 844, true);
    panel.press("Close");
    panel.at("memories");
    panel.click(".mem .mem-main");
    panel.see(".details .versions > *");
    kept("memory-details-phone-dark");
}
