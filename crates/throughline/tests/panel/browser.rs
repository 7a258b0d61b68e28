//! A real Chromium, driven over WebDriver as a person would: by what stands on the page. Every call waits for what it needs.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};
use throughline_testkit::raw_http::{Connection, Request};
use tokio::runtime::Runtime;

/// How long a page may take to show something: far longer than it takes, so that a busy machine fails no test.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long one script may run that waits in the page itself, in milliseconds.
const SCRIPT_PATIENCE_MS: u64 = 300_000;

/// What a browser on a machine without a network, run by tests, needs to be told.
const ARGUMENTS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// Runs before every page: notes what was refused or ran, counts the answers and short timers that are pending, and keeps
/// messages on the page that would disappear after some seconds.
const WATCH: &str = "
    window.__refused = [];
    window.__ran = [];
    document.addEventListener('securitypolicyviolation', (event) => window.__refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    const { fetch, setTimeout: later, clearTimeout: never } = window;
    const timers = new Set();
    let awaited = 0;
    window.__pending = () => awaited + timers.size;
    window.fetch = async (...given) => {
      // It does not end.
      if (String(given[0]).startsWith('/api/events')) return fetch(...given);
      awaited += 1;
      const over = () => later(() => { awaited -= 1; }, 0);
      try {
        const response = await fetch(...given);
        // The answer is there when its body is, not when its head is.
        response.clone().arrayBuffer().catch(() => {}).finally(over);
        return response;
      } catch (error) {
        over();
        throw error;
      }
    };
    window.setTimeout = (run, wait = 0, ...rest) => {
      const timer = later((...given) => {
        timers.delete(timer);
        run(...given);
      }, wait, ...rest);
      if (wait <= 500) timers.add(timer);
      return timer;
    };
    window.clearTimeout = (timer) => {
      timers.delete(timer);
      never(timer);
    };
    new MutationObserver((changes) => {
      for (const node of changes.flatMap((change) => [...change.addedNodes])) {
        if (node.classList?.contains('toast')) node.dispatchEvent(new PointerEvent('pointerenter'));
      }
    }).observe(document, { childList: true, subtree: true });
";

/// A browser with one window.
pub(crate) struct Browser {
    runtime: Runtime,
    client: Option<Client>,
    driver: Child,
    port: u16,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A laptop's window, without a past.
    pub(crate) fn open() -> Self {
        let missing = "the panel's tests need Chromium: apt-get install chromium chromium-driver";
        let mut driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn().expect(missing);
        let port = port(&mut driver);
        let profile = tempfile::tempdir().unwrap();
        let mut arguments: Vec<String> = ARGUMENTS.map(str::to_owned).to_vec();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        arguments.push("--window-size=1280,900".to_owned());
        let wanted = json!({
            "goog:chromeOptions": { "args": arguments },
            "timeouts": { "script": SCRIPT_PATIENCE_MS, "pageLoad": SCRIPT_PATIENCE_MS },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let wanted: Capabilities = serde_json::from_value(wanted).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let connector = hyper_util::client::legacy::connect::HttpConnector::new();
        let mut builder = ClientBuilder::new(connector);
        builder.capabilities(wanted);
        let client = runtime.block_on(builder.connect(&format!("http://127.0.0.1:{port}"))).expect(missing);
        let browser = Self { runtime, client: Some(client), driver, port, _profile: profile };
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": WATCH }));
        browser
    }

    fn client(&self) -> &Client {
        self.client.as_ref().unwrap()
    }

    #[track_caller]
    pub(crate) fn go(&self, url: &str) {
        self.runtime.block_on(self.client().goto(url)).unwrap();
    }

    /// Opens another tab and goes on there.
    #[track_caller]
    pub(crate) fn new_tab(&self) {
        let open = async {
            let tab = self.client().new_window(true).await?;
            self.client().switch_to_window(tab.handle).await
        };
        self.runtime.block_on(open).unwrap();
    }

    /// The address of the page.
    #[track_caller]
    pub(crate) fn address(&self) -> String {
        self.runtime.block_on(self.client().current_url()).unwrap().to_string()
    }

    /// Runs a script in the page and gives what it returns.
    #[track_caller]
    pub(crate) fn run(&self, script: &str, args: &[Value]) -> Value {
        self.runtime.block_on(self.client().execute(script, args.to_vec())).unwrap()
    }

    /// Waits until a script says yes.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, script: &str, args: &[Value]) {
        let began = Instant::now();
        while self.run(script, args) != json!(true) {
            if began.elapsed() > PATIENCE {
                self.keep(&format!("failed-{}", std::thread::current().name().unwrap_or_default()));
                panic!("{what}: it did not come to that. The page says:\n{}", self.text("body"));
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Waits until something is there.
    #[track_caller]
    pub(crate) fn see(&self, selector: &str) {
        let script = "const e = document.querySelector(arguments[0]); return !!e && e.getClientRects().length > 0";
        self.until(&format!("`{selector}` is seen"), script, &[json!(selector)]);
    }

    /// Waits until something is gone.
    #[track_caller]
    pub(crate) fn gone(&self, selector: &str) {
        self.until(
            &format!("`{selector}` is gone"),
            "return !document.querySelector(arguments[0])",
            &[json!(selector)],
        );
    }

    /// Waits until something says something.
    #[track_caller]
    pub(crate) fn reads(&self, selector: &str, text: &str) {
        let script =
            "return [...document.querySelectorAll(arguments[0])].some(e => e.innerText.includes(arguments[1]))";
        self.until(&format!("`{selector}` reads `{text}`"), script, &[json!(selector), json!(text)]);
    }

    /// What something says.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.innerText ?? ''";
        self.run(script, &[json!(selector)]).as_str().unwrap_or_default().to_owned()
    }

    /// Tries until it succeeds: what is to be clicked may just be drawn again, or still be covered.
    #[track_caller]
    fn retry(&self, what: &str, mut attempt: impl FnMut() -> Result<bool, CmdError>) {
        let began = Instant::now();
        loop {
            match attempt() {
                Ok(true) => return,
                _ if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(50)),
                outcome => {
                    self.keep(&format!("failed-{}", std::thread::current().name().unwrap_or_default()));
                    panic!("cannot {what} ({outcome:?}):\n{}", self.text("body"));
                }
            }
        }
    }

    /// Waits for something and clicks it, as a mouse does.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        self.see(selector);
        self.retry(&format!("click `{selector}`"), || {
            let click = async { self.client().find(Locator::Css(selector)).await?.click().await };
            self.runtime.block_on(click).map(|()| true)
        });
    }

    /// Clicks the button or link that is named so.
    #[track_caller]
    pub(crate) fn press(&self, name: &str) {
        let path = format!(
            "//*[self::button or self::a or @role='button' or @role='tab' or @role='menuitem'][normalize-space()=\"{name}\" or @aria-label=\"{name}\"]"
        );
        self.retry(&format!("press `{name}`"), || {
            self.runtime.block_on(async {
                for element in self.client().find_all(Locator::XPath(&path)).await? {
                    if element.is_displayed().await? {
                        element.click().await?;
                        return Ok(true);
                    }
                }
                Ok(false)
            })
        });
    }

    /// Replaces what is in a field, by typing.
    #[track_caller]
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        self.see(selector);
        let clear = "const e = document.querySelector(arguments[0]); e.focus(); e.select?.(); return true";
        self.run(clear, &[json!(selector)]);
        let typed = async { self.client().find(Locator::Css(selector)).await?.send_keys(text).await };
        self.runtime.block_on(typed).unwrap();
    }

    /// Chooses a file, as a person does in the system's own dialog.
    #[track_caller]
    pub(crate) fn choose(&self, selector: &str, file: &Path) {
        let typed = async { self.client().find(Locator::Css(selector)).await?.send_keys(file.to_str().unwrap()).await };
        self.runtime.block_on(typed).unwrap();
    }

    /// Types keys wherever the focus is.
    #[track_caller]
    pub(crate) fn keys(&self, keys: &str) {
        let typed = async { self.client().active_element().await?.send_keys(keys).await };
        self.runtime.block_on(typed).unwrap();
    }

    /// Goes to another address of the page, the part after `#`; returns when the page was told.
    #[track_caller]
    pub(crate) fn hash(&self, hash: &str) {
        let go = "
            const [hash, done] = arguments;
            const before = location.href;
            addEventListener('hashchange', () => done(true), { once: true });
            location.hash = hash;
            if (location.href === before) done(true);";
        self.wait(go, &[json!(hash)]);
    }

    /// Waits until every answer that the page asked for is there and drawn, and nothing is about to be asked.
    #[track_caller]
    pub(crate) fn settled(&self) {
        let calm = "
            const done = arguments[0];
            let frames = 0;
            const look = () => {
              frames += 1;
              if (window.__pending() || frames === 4) done(frames === 4);
              else requestAnimationFrame(look);
            };
            look()";
        let began = Instant::now();
        while self.wait(calm, &[]) != json!(true) {
            assert!(began.elapsed() < PATIENCE, "the page does not settle:\n{}", self.text("body"));
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Runs a script that says by itself when it is done: it calls its last argument.
    #[track_caller]
    pub(crate) fn wait(&self, script: &str, args: &[Value]) -> Value {
        self.runtime.block_on(self.client().execute_async(script, args.to_vec())).unwrap()
    }

    /// The screen of a laptop, or of a phone.
    pub(crate) fn screen(&self, width: u32, height: u32, is_phone: bool) {
        let wanted = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.devtools("Emulation.setDeviceMetricsOverride", &wanted);
    }

    /// What the system prefers: `light` or `dark`.
    pub(crate) fn prefers(&self, scheme: &str) {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", &feature);
    }

    /// Everything that the page complained about since the last time, refused scripts included.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let lines = self.driver("se/log", &json!({ "type": "browser" }));
        let lines = lines.as_array().expect("the driver gives the browser's log");
        let is_bad =
            |line: &&Value| line["level"] == "SEVERE" || line["message"].to_string().contains("Content Security");
        lines.iter().filter(is_bad).map(|line| line["message"].to_string()).collect()
    }

    /// Every address that was asked for since the last time.
    pub(crate) fn requested(&self) -> Vec<String> {
        let lines = self.driver("se/log", &json!({ "type": "performance" }));
        let lines = lines.as_array().expect("the driver gives the requests");
        let event = |line: &Value| serde_json::from_str::<Value>(line["message"].as_str()?).ok();
        let asked = lines.iter().filter_map(event).map(|event| event["message"].clone());
        let asked = asked.filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = asked.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned());
        // The tab began with the browser's own page.
        urls.filter(|url| !url.starts_with("chrome:")).collect()
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.driver("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Asks the driver for what WebDriver itself has no words for.
    fn driver(&self, path: &str, body: &Value) -> Value {
        let session = self.runtime.block_on(self.client().session_id()).unwrap().unwrap();
        let request = Request::new("POST", &format!("/session/{session}/{path}")).with("Host", "127.0.0.1").json(body);
        let answer = Connection::open(self.port).unwrap().ask(&request).unwrap().json();
        assert!(answer["value"]["error"].is_null(), "{path}: {answer}");
        answer["value"].clone()
    }

    /// Keeps a picture as test output.
    pub(crate) fn keep(&self, name: &str) {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("panel");
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("{name}.png"));
        if let Ok(picture) = self.runtime.block_on(self.client().screenshot()) {
            std::fs::write(&path, picture).unwrap();
        }
    }
}

/// The port that the driver chose.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let said =
        lines.map_while(Result::ok).find_map(|line| line.split("successfully on port ").nth(1).map(str::to_owned));
    said.and_then(|port| port.trim_end_matches('.').parse().ok()).expect("chromedriver says its port")
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            let _ = self.runtime.block_on(client.close());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
