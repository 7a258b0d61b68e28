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
    no_raw_mark(browser, page);
}

/// No mark that programs write into a text stands on the page: `[sig:3]`, or `##` in front of a heading.
#[track_caller]
fn no_raw_mark(browser: &Browser, page: &str) {
    let lines = browser.run("return document.body.innerText.split('\\n')", &[]);
    let lines: Vec<String> = serde_json::from_value(lines).unwrap();
    let raw: Vec<_> =
        lines.iter().filter(|line| line.contains("[sig:") || line.trim_start().starts_with("##")).collect();
    assert_eq!(raw, Vec::<&String>::new(), "{page}");
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
    panel.press("Edit");
    panel.see(".mem-edit");
    kept("memory-edit");
    panel.keys(ESCAPE);
    panel.at("memories?layer=archive");
    panel.click(".mem .mem-main");
    panel.see(".details .versions > *");
    kept("memory-details-archive");
    panel.at("conversations");
    panel.click(".talk");
    panel.see(".turn");
    panel.run("for (const each of document.querySelectorAll('details.given')) each.open = true", &[]);
    kept("conversation");
    // One with a summary: what memory keeps of it stands below what was said.
    panel.at("conversations?id=cli:figures");
    panel.see(".became li");
    kept("conversation-became");
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

#[test]
fn home_says_what_happened_in_sentences_that_lead_there() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    let wrong = home.remember(&["We deploy on Mondays"]);
    home.run(&["correct", "--wrong", &wrong, "We deploy on Wednesdays"]).done();
    home.run(&["project", "add", "limpet"]).done();
    home.run(&["task", "add", "Release limpet 0.5"]).done();
    home.run(&["session", "observe", "--session", "cli:walk", "I prefer the train over a bus"]).done();
    home.run(&["session", "consolidate", "cli:walk"]).done();
    let panel = Panel::of(home);
    for sentence in [
        "You remembered “We deploy on Mondays”",
        "You corrected “We deploy on Mondays” to “We deploy on Wednesdays”",
        "You set up the project limpet",
        "Throughline summed up “I prefer the train over a bus” and learnt “",
    ] {
        panel.reads(".change-list li", sentence);
    }
    let talk = ".change-list a[href^='#/conversations']";
    panel.click(talk);
    panel.reads(".conversation .turn", "I prefer the train over a bus");
    panel.at("home");
    panel.click(".change-list a[href^='#/memories']");
    panel.see(".details-text");
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

/// The first number in a text, as people write it: `1,204 memories`.
fn number(text: &str) -> u64 {
    let digits = text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(|c| c.is_ascii_digit() || *c == ',');
    digits.filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or_else(|_| panic!("no number in {text:?}"))
}

#[test]
fn home_memories_and_settings_count_alike() {
    let browser = Browser::open();
    let home = demo(&browser);
    let panel = Panel::seen_with(browser, home);
    panel.at("home");
    panel.see(".figures a[href='#/memories']");
    let memories = number(&panel.text(".figures a[href='#/memories']"));
    let conversations = number(&panel.text(".figures a[href='#/conversations']"));
    assert!(memories > 50 && conversations > 20, "{memories} {conversations}");
    panel.at("memories");
    panel.reads(".result-line", "memories");
    assert_eq!(number(&panel.text(".result-line")), memories);
    panel.at("settings");
    panel.reads(".settings-about", "conversations");
    let told = panel.text(".settings-about");
    let holds = told.lines().find(|line| line.contains("conversations")).unwrap();
    assert_eq!(number(holds), memories, "{holds}");
    assert_eq!(number(holds.rsplit(" of ").next().unwrap()), conversations, "{holds}");
}

#[test]
fn days_and_times_read_alike_and_settings_say_what_they_do() {
    let browser = Browser::open();
    let home = demo(&browser);
    let panel = Panel::seen_with(browser, home);
    panel.at("timeline");
    panel.see(".day-head h2");
    let days = panel.run("return [...document.querySelectorAll('.day-head h2')].map((each) => each.innerText)", &[]);
    let is_plain = |day: &str| day.split(' ').next().unwrap().parse::<u8>().is_ok() && !day.contains(',');
    assert!(days.as_array().unwrap().iter().all(|day| is_plain(day.as_str().unwrap())), "16 Nov 2026: {days}");
    let twice = "
        const texts = [...document.querySelectorAll('.day-entries > *')].map((each) => each.innerText.replaceAll(/\\s+/g, ' '));
        return texts.filter((text, at) => texts.indexOf(text) !== at)";
    assert_eq!(panel.run(twice, &[]), json!([]), "a part and the whole of a conversation are shown once");
    panel.at("settings");
    panel.see(".config-section tbody tr");
    let unsaid = "return [...document.querySelectorAll('.config-section tbody tr')].filter((row) => (row.querySelector('.config-about')?.innerText ?? '').length < 10).map((row) => row.innerText)";
    assert_eq!(panel.run(unsaid, &[]), json!([]), "each says what it does");
    let titles = "return [...document.querySelectorAll('.config-section')].map((each) => each.ariaLabel)";
    let titles = panel.run(titles, &[]).to_string();
    assert!(titles.contains("What is remembered and given") && !titles.contains("inject"), "plain words: {titles}");
}
