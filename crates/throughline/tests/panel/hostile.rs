//! Texts that would like to be more than text, in every field that can hold one. None runs, none fetches, none becomes an
//! element; each is shown as it was stored.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::Panel;
use super::common::{Home, string};
use super::payloads::payloads;

/// What of a page could have come from a stored text: elements that the panel never makes, code in attributes.
const FOREIGN: &str = "
    const never = 'script:not([src^=\"/assets/\"]), img, image, iframe, frame, object, embed, base, style, math, audio, video, \
                   source, marquee, form[action], template, animate, set, foreignObject, use, mglyph, meta[http-equiv], \
                   link:not([href^=\"/assets/\"]), [srcdoc], [srcset], [background]';
    const bad = [...document.querySelectorAll(never)].map((each) => each.outerHTML.slice(0, 200));
    for (const each of document.querySelectorAll('*')) {
      for (const { name, value } of each.attributes) {
        const isLink = ['href', 'xlink:href', 'src', 'action', 'formaction', 'data'].includes(name);
        if (name.startsWith('on') || (isLink && !/^(#|\\/assets\\/|blob:)/.test(value)) || (name === 'style' && value.includes('url('))) bad.push(`${name}=${value.slice(0, 200)}`);
      }
    }
    return bad";

/// Which of the texts cannot be read on the page, in fields or outside of them.
const UNREAD: &str = "
    const flat = (text) => text.replace(/\\s+/g, ' ');
    for (const each of document.querySelectorAll('main details, dialog details')) each.open = true;
    const fields = [...document.querySelectorAll('textarea, input')].map((each) => each.value);
    const all = flat([...document.querySelectorAll('main, dialog')].map((each) => each.innerText).concat(fields).join('\\n'));
    return arguments[0].filter((text) => !all.includes(flat(text)))";

/// Scrolls a long list to its end; gives what the rows said on the way.
const SCROLLED: &str = "
    const done = arguments[0];
    const list = document.querySelector('.vlist');
    const flat = (text) => text.replace(/\\s+/g, ' ');
    const said = new Set();
    const frame = () => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    (async () => {
      list.scrollTop = 0;
      for (;;) {
        await frame();
        for (const row of document.querySelectorAll('.vrow:not([hidden])')) said.add(flat(row.innerText));
        const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 1;
        // Not before the last page is there.
        if (isAtEnd && !document.querySelector('.vlist-inner.has-more')) break;
        list.scrollTop += list.clientHeight / 2;
      }
      done([...said].join('\\n'));
    })()";

/// Opens each of the memories (id, texts) by its address; gives those whose details do not say all of their texts.
const OPENED: &str = "
    const [memories, done] = arguments;
    const flat = (text) => text.replace(/\\s+/g, ' ');
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const said = () => flat(document.querySelector('.details')?.innerText ?? '');
    const isShown = (id) => said().includes(id) && (document.querySelector('.versions')?.textContent.length ?? 0) > 3;
    (async () => {
      const wrong = [];
      for (const [id, texts] of memories) {
        for (let asked = -Infinity; !isShown(id); await frame()) {
          // A request that a busy machine let fail is made again.
          if (performance.now() - asked < 20000) continue;
          location.hash = '#/memories?source=agent';
          await frame();
          location.hash = `#/memories?source=agent&id=${id}`;
          asked = performance.now();
        }
        const now = said();
        if (!texts.every((text) => now.includes(flat(text)))) wrong.push(id);
      }
      done(wrong);
    })()";

/// A panel whose every field holds hostile texts, those texts, and a model that says them.
struct Hostile {
    panel: Panel,
    texts: Vec<String>,
    model: ModelServer,
}

impl Hostile {
    /// Nothing ran, nothing was refused because nothing was tried, nothing was fetched, no element came of a text.
    #[track_caller]
    fn is_calm(&self, place: &str) {
        let here = format!("http://{}/", self.panel.daemon.host());
        assert_eq!(self.panel.run("return window.__ran", &[]), json!([]), "{place}: something ran");
        assert_eq!(self.panel.run("return window.__refused", &[]), json!([]), "{place}: something tried");
        assert_eq!(self.panel.run(FOREIGN, &[]), json!([]), "{place}: text became markup");
        let elsewhere: Vec<String> = self
            .panel
            .requested()
            .into_iter()
            .filter(|url| !url.starts_with(&here) && !url.starts_with("data:"))
            .collect();
        assert_eq!(elsewhere, Vec::<String>::new(), "{place}: something was fetched");
        let refused: Vec<String> =
            self.panel.complaints().into_iter().filter(|line| line.contains("Content Security")).collect();
        assert_eq!(refused, Vec::<String>::new(), "{place}");
    }

    /// All of these texts are on the page, as they are.
    #[track_caller]
    fn reads_all(&self, place: &str, texts: &[String]) {
        self.panel.settled();
        self.panel.until(
            &format!("{place} shows all texts"),
            &format!("const unread = (() => {{{UNREAD}}})(); window.__unread = unread; return unread.length === 0"),
            &[json!(texts)],
        );
        self.is_calm(place);
    }
}

/// Stores what is accepted of `texts` with one request each; gives those texts, with the answers.
fn stored(panel: &Panel, target: &str, texts: &[String], body: impl Fn(&str) -> Value) -> Vec<(String, Value)> {
    let store = |text: &String| {
        let answer = panel.daemon.send(&panel.daemon.request("POST", target).json(&body(text)));
        assert!(answer.status < 500, "{target}: {} {}", answer.status, answer.json());
        (answer.status < 300).then(|| (text.clone(), answer.json()))
    };
    texts.iter().filter_map(store).collect()
}

/// The part of a text that fits where only a label does.
fn label(text: &str) -> String {
    text.trim_start_matches("quay ").chars().take(100).collect::<String>().trim().to_owned()
}

/// What of a text may name a conversation: no separators, nothing that turns the direction of writing.
fn name(text: &str) -> String {
    label(&text.chars().filter(|letter| !matches!(letter, '/' | '\\' | '\u{202a}'..='\u{202e}')).collect::<String>())
}

fn hostile() -> Hostile {
    let texts = payloads();
    assert_eq!(texts.len(), 200);
    let model = ModelServer::scripted([
        Step::ReplyIn(texts.iter().map(|text| format!("{text}\n")).collect()),
        Step::call("memory_recall", json!({ "query": texts[5] })),
        Step::call(&texts[1], "{}"),
        Step::reply(texts[9].clone()),
        Step::fail(400, &texts[13]),
    ]);
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nidle_consolidation_minutes = 0\n\
         consolidation_provider = \"offline\"\n\n[reflection]\nmax_share = 1.0\n\n\
         [model]\nprovider = \"ollama\"\nmodel = {}\nbase_url = \"{}\"\n",
        json!(texts[20]),
        model.url()
    );
    let home = Home::with_config("config.toml", &config);
    let panel = Panel::of(home);
    Hostile { panel, texts, model }
}

#[test]
fn no_memory_or_document_is_ever_more_than_text() {
    let hostile = hostile();
    fill(&hostile);
    memories(&hostile);
    documents(&hostile);
}

#[test]
fn nothing_that_was_said_done_or_asked_is_ever_more_than_text() {
    let hostile = hostile();
    fill(&hostile);
    conversations(&hostile);
    work(&hostile);
    addresses(&hostile);
    talk(&hostile);
}

/// Puts the texts into every field that takes them.
fn fill(hostile: &Hostile) {
    let Hostile { panel, texts, .. } = hostile;
    // In other words than the memories: what says the same is stored once.
    let all = texts.iter().map(|text| format!("- wharf {text}\n")).collect::<String>();
    let session = json!({ "channel": "telegram", "session": "hostile" });
    panel.daemon.post("/api/sessions", &session);
    let turn = |text: &String| json!({ "role": "user", "content": text, "speaker": label(text) });
    let turns: Vec<Value> = texts.iter().map(turn).collect();
    panel.daemon.post("/api/sessions/telegram:hostile/turns", &json!({ "turns": turns }));
    let said = |text: &String| json!({ "role": "assistant", "content": format!("# {text}\n\n- **{text}**\n\n{text}") });
    let turns: Vec<Value> = texts.iter().map(said).collect();
    panel.daemon.post("/api/sessions/telegram:marked/turns", &json!({ "turns": turns }));
    for (nth, some) in texts.chunks(40).enumerate() {
        let session = format!("/api/sessions/telegram:part-{nth}");
        panel.daemon.post(&format!("{session}/turns"), &json!({ "role": "user", "content": some[0] }));
        let summary = some.iter().map(|text| format!("- {text}\n")).collect::<String>();
        panel.daemon.post(&format!("{session}/compact"), &json!({ "summary": summary }));
    }
    for text in texts.iter().step_by(10) {
        let call = json!({ "session": "telegram:hostile", "arguments": { "query": text } });
        panel.daemon.post("/api/tools/memory_recall", &call);
        panel.daemon.post("/api/sessions/telegram:hostile/context", &json!({ "message": text }));
    }
    let put = |name: &str, text: &str| {
        let request = panel.daemon.request("PUT", &format!("/api/documents/{name}")).with("If-None-Match", "*");
        let answer = panel.daemon.send(&request.json(&json!({ "text": text })));
        assert!(answer.status < 300, "{name}: {}", answer.json());
    };
    put("user/notes", &all);
    put("user/profile", &texts.iter().take(5).map(|text| format!("- wharf {text}\n")).collect::<String>());
    let directory = panel.home.root().join("stall");
    std::fs::create_dir(&directory).unwrap();
    let old = texts.iter().map(|text| format!("- [sig:1] 2020-01-01 {text}\n")).collect::<String>();
    std::fs::write(directory.join("memory.md"), format!("# Stall\n\n## What Is\n\n## What Happened\n{old}\n")).unwrap();
    panel.daemon.post("/api/projects", &json!({ "name": "stall", "dir": directory }));
    panel.daemon.post("/api/reflect", &json!({ "project": "stall" }));
    let vault = panel.home.root().join("papers");
    std::fs::create_dir(&vault).unwrap();
    for (nth, text) in texts.iter().enumerate() {
        let name: String = text.chars().filter(|letter| !letter.is_control() && *letter != '/').collect();
        std::fs::write(vault.join(format!("{nth} {name}.md")), format!("# {text}\n\n{text}\n")).unwrap();
    }
    let added = panel.daemon.post("/api/vault", &json!({ "paths": [vault] }));
    assert_eq!(added["indexed"], json!(200), "{added}");
}

fn memories(hostile: &Hostile) {
    let Hostile { panel, texts, .. } = hostile;
    let plain = stored(panel, "/api/memories", texts, |text| {
        let short = label(text);
        json!({ "content": text, "tags": [short], "key": short, "project": short, "source": "agent" })
    });
    assert_eq!(plain.len(), texts.len(), "every field of a memory takes any text");
    // A second version, so that the history shows both.
    for (_, made) in plain.iter().step_by(40) {
        panel
            .home
            .run(&["edit", &string(&made["id"]), "--content", &format!("{} again", string(&made["content"]))])
            .done();
    }
    panel.at("memories?source=agent");
    let said = string(&panel.wait(SCROLLED, &[]));
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in texts {
        assert!(said.contains(&flat(text)), "the list does not say {text}");
    }
    hostile.is_calm("the list");
    panel.keep("hostile-memories");
    let wanted: Vec<Value> = plain.iter().map(|(text, made)| json!([made["id"], [text, label(text)]])).collect();
    for some in wanted.chunks(20) {
        assert_eq!(panel.wait(OPENED, &[json!(some)]), json!([]), "the details say what is stored");
    }
    hostile.is_calm("details");
    panel.at(&format!("memories?id={}", string(&plain[199].1["id"])));
    panel.reads(".details-text", "#199");
    panel.press("Edit");
    hostile.reads_all("the editor", &texts[199..]);
    panel.press("Cancel");
    panel.press("Erase…");
    hostile.reads_all("the erasure", &texts[199..]);
    panel.keep("hostile-erase");
    panel.press("Cancel");
    for text in texts.iter().step_by(20) {
        let script = "const field = document.querySelector('input.search'); field.value = arguments[0]; field.dispatchEvent(new Event('input'))";
        panel.run(script, &[json!(text)]);
        let found = "return document.querySelectorAll('.vrow:not([hidden]) mark').length > 0 && new URLSearchParams(location.hash.split('?')[1]).get('q') === arguments[0]";
        panel.until("a search for it finds something", found, &[json!(text.trim())]);
        hostile.is_calm("search");
    }
}

fn documents(hostile: &Hostile) {
    let Hostile { panel, texts, .. } = hostile;
    panel.at("documents/user/notes");
    hostile.reads_all("the document", texts);
    panel.press("History");
    hostile.reads_all("the document's history", texts);
    panel.press("Close");
    panel.at("documents/projects/stall");
    panel.settled();
    hostile.is_calm("the project's document");
    panel.at("home");
    hostile.reads_all("home", &texts[..5]);
    panel.keep("hostile-home");
}

fn conversations(hostile: &Hostile) {
    let Hostile { panel, texts, .. } = hostile;
    let named = stored(
        panel,
        "/api/sessions",
        texts,
        |text| json!({ "channel": "web", "session": format!("web:{}", name(text)) }),
    );
    let channels = stored(
        panel,
        "/api/sessions",
        &texts[..20],
        |text| json!({ "channel": name(text).replace(':', ""), "session": "a" }),
    );
    assert_eq!((named.len(), channels.len()), (200, 20));
    panel.at("conversations?channel=telegram");
    panel.at("conversations?id=telegram:hostile");
    panel.see(".turn");
    hostile.reads_all("the conversation", texts);
    panel.keep("hostile-conversation");
    panel.at("conversations?id=telegram:marked");
    panel.see(".turn .md-heading");
    panel.settled();
    hostile.is_calm("what an assistant said");
    panel.keep("hostile-markdown");
    panel.at("conversations?channel=web");
    panel.see(".talk");
    let said = string(&panel.wait(SCROLLED, &[]));
    for (text, _) in &named {
        assert!(said.contains(&name(text)), "the list does not say {text}");
    }
    hostile.is_calm("conversations of a channel");
    panel.at("conversations");
    panel.see(".talk");
    panel.keep("hostile-channels");
    hostile.is_calm("conversations");
    panel.at("timeline");
    hostile.reads_all("the timeline", texts);
}

fn work(hostile: &Hostile) {
    let Hostile { panel, texts, .. } = hostile;
    let tasks =
        stored(panel, "/api/tasks", texts, |text| json!({ "title": text, "state": text, "project": label(text) }));
    assert_eq!(tasks.len(), texts.len());
    panel.at("tasks");
    hostile.reads_all("tasks", texts);
    panel.keep("hostile-tasks");
    panel.press("Edit");
    panel.see("dialog textarea");
    hostile.is_calm("a task's editor");
    panel.press("Cancel");
    panel.at("vault");
    hostile.reads_all("the vault", texts);
    panel.fill("input.search", "quay");
    panel.see(".passage mark");
    hostile.is_calm("passages");
    panel.keep("hostile-vault");
    panel.at("reflection");
    hostile.reads_all("reflection", texts);
    panel.keep("hostile-reflection");
    panel.at("settings");
    hostile.reads_all("settings", &texts[20..21]);
    for page in ["review", "sees", "connections", "import", "export"] {
        panel.at(page);
        panel.settled();
        hostile.is_calm(page);
    }
}

/// The address is somebody else's text too: a link may lead here.
fn addresses(hostile: &Hostile) {
    let Hostile { panel, texts, .. } = hostile;
    let routes = [
        "",
        "documents/",
        "documents?x=",
        "tasks/",
        "conversations/",
        "conversations?id=",
        "memories?id=",
        "memories?tag=",
        "memories?since=",
        "memories?layer=",
        "tasks?project=",
        "reflection?project=",
        "timeline?q=",
        "vault?q=",
        "chat?session=",
        "conversations?q=",
        "sees?message=",
        "sees?project=",
    ];
    for (nth, route) in routes.iter().enumerate() {
        for text in texts.iter().skip(nth).step_by(100) {
            let encoded = string(&panel.run("return encodeURIComponent(arguments[0])", &[json!(text)]));
            panel.hash(&format!("#/{route}{encoded}"));
            panel.settled();
            // The same without any care for what an address may hold.
            panel.hash(&format!("#/{route}{text}"));
            panel.settled();
            hostile.is_calm(route);
        }
    }
}

fn talk(hostile: &Hostile) {
    let Hostile { panel, texts, model } = hostile;
    panel.at("chat");
    panel.say("Say all of it");
    panel.replied();
    hostile.reads_all("the reply", texts);
    panel.keep("hostile-chat");
    panel.say("And look it up");
    panel.replied();
    let last = "return [...document.querySelectorAll('.turn[data-role=assistant] .turn-text')].at(-1).textContent";
    assert_eq!(panel.run(last, &[]), json!(texts[9]));
    hostile.is_calm("tools");
    panel.say("And fail");
    panel.see(".chat-error");
    panel.replied();
    hostile.is_calm("an error");
    assert_eq!(model.steps_left(), 0);
}
