//! The panel in a real Chromium, used as a person uses it. Pictures of every page are left in the target directory, below
//! `tmp/panel`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

#[path = "panel/accessible.rs"]
mod accessible;
#[path = "panel/bringing.rs"]
mod bringing;
#[path = "panel/browser.rs"]
mod browser;
#[path = "panel/changing.rs"]
mod changing;
#[path = "panel/finding.rs"]
mod finding;
#[path = "panel/hostile.rs"]
mod hostile;
#[path = "panel/live.rs"]
mod live;
#[path = "panel/many.rs"]
mod many;
#[path = "panel/pages.rs"]
mod pages;
#[path = "panel/passes.rs"]
mod passes;
#[path = "panel/payloads.rs"]
mod payloads;
#[path = "panel/removing.rs"]
mod removing;
#[path = "panel/reviewing.rs"]
mod reviewing;
#[path = "panel/talking.rs"]
mod talking;

use std::ops::Deref;

use common::daemon::Daemon;
use common::{Home, string};
use serde_json::json;

use browser::Browser;

/// Keys, as WebDriver writes them.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

/// A person's panel: their browser, let in by a link, and the daemon of their home.
struct Panel {
    browser: Browser,
    daemon: Daemon,
    home: Home,
}

impl Panel {
    /// Opens the panel of a home.
    #[track_caller]
    fn of(home: Home) -> Self {
        Self::seen_with(Browser::open(), home)
    }

    #[track_caller]
    fn seen_with(browser: Browser, home: Home) -> Self {
        let daemon = Daemon::start(&home);
        let panel = Self { browser, daemon, home };
        panel.go(&string(&panel.daemon.post("/api/links", &json!({}))["url"]));
        panel.see("main h1");
        panel
    }

    /// Goes to a page by its address and waits until it is there.
    #[track_caller]
    fn at(&self, page: &str) {
        self.hash(&format!("#/{page}"));
        let name = page.split(['/', '?']).next().unwrap();
        self.see(&format!(".page-{name} h1"));
        self.settled();
    }

    /// Types until something is seen: two keys that belong together are two keys where a machine is slow between them.
    #[track_caller]
    fn keys_until(&self, keys: &str, selector: &str) {
        let is_there = "return !!document.querySelector(arguments[0])";
        common::until(|| {
            self.keys(keys);
            self.settled();
            (self.run(is_there, &[json!(selector)]) == json!(true)).then_some(())
        });
        self.see(selector);
    }

    /// Says something in the chat, as soon as that is possible.
    #[track_caller]
    fn say(&self, message: &str) {
        self.see(".chat-send.primary");
        self.fill(".chat-text", &format!("{message}{ENTER}"));
        self.reads(".turn[data-role=user]", message);
    }

    /// Waits until the reply is complete and the next message may be sent.
    #[track_caller]
    fn replied(&self) {
        self.gone(".turn[aria-busy=true]");
        self.see(".chat-send.primary");
        self.settled();
    }
}

impl Deref for Panel {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}
