//! Talking to the bot.

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};

use super::bot_api::BotApi;
use super::common::daemon::Daemon;
use super::common::{Home, string, until};
use super::{ADA, config, exchange, last_prompt, machine, state, turns, until_shown};

#[test]
fn what_was_told_on_telegram_is_known_everywhere_and_the_other_way_round() {
    let model = ModelServer::scripted([
        Step::reply("How lovely."),
        Step::reply("In Alfama."),
        Step::reply("I see."),
        Step::reply("On Fridays."),
    ]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let daemon = Daemon::start(&home);
    let told = "My new flat is in Alfama, on the third floor.";
    bot.say(ADA, told);
    until_shown(&bot, ADA, &["How lovely."]);
    assert_eq!(turns(&home, "telegram:7"), exchange(told, "How lovely."));
    assert_eq!(state(&daemon), json!({"state": "listening", "account": "memo_bot"}));
    assert_eq!(daemon.get("/api/chat")["available"], json!(true));

    // Over HTTP, and in the terminal.
    daemon.post("/api/sessions", &json!({"channel": "web", "session": "web:1"}));
    let context = daemon.post("/api/sessions/web:1/context", &json!({"message": "Where is my flat?"}));
    assert_eq!(string(&context["message"]).matches("Alfama").count(), 1, "{context}");
    let ran = home.run_with(&["chat", "--session", "main"], "Where is my flat?\nWe deploy on Fridays at noon.\n");
    assert!(ran.stdout.contains("In Alfama."), "{ran:?}");
    let prompt = model.requests()[1].body.to_string();
    assert_eq!(prompt.matches("third floor").count(), 1, "{prompt}");

    // And back.
    home.remember(&["--layer", "identity", "My name is Ada"]);
    home.run(&["session", "reset", "telegram:7"]).done();
    bot.say(ADA, "When do we deploy?");
    until_shown(&bot, ADA, &["How lovely.", "On Fridays."]);
    let prompt = last_prompt(&model);
    assert_eq!(prompt.matches("We deploy on Fridays at noon").count(), 1, "{prompt}");
    assert!(prompt.contains("My name is Ada"), "{prompt}");
    assert_eq!(prompt.matches("third floor").count(), 1, "it is further up in the conversation: {prompt}");
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn a_reply_grows_in_its_message_and_can_be_stopped() {
    let model =
        ModelServer::scripted([Step::HangAfter(vec!["Well, ".to_owned(), "let me".to_owned()]), Step::reply("Yes?")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "Tell me a long story");
    until(|| (bot.shown(ADA) == ["Well, let me"]).then_some(()));
    // Somebody else is not kept waiting meanwhile.
    bot.say(8, "Hello?");
    until(|| (bot.shown(8) == ["Yes?"]).then_some(()));
    bot.say(ADA, "/stop");
    until(|| bot.shown(ADA)[0].contains("stopped").then_some(()));
    assert!(model.wait_for_hung_up(1));
    until(|| (bot.unconfirmed() == 0).then_some(()));
    let posted = bot.posted(ADA);
    assert!(posted.len() == 1 && posted[0].text.starts_with("Well, let me\n\n"), "{posted:?}");
    assert_eq!(turns(&home, "telegram:7"), [("user".to_owned(), "Tell me a long story".to_owned())]);
}

#[test]
fn typing_is_shown_until_there_is_something_to_read() {
    let model = ModelServer::scripted([Step::Hang]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "Hello?");
    until(|| (bot.calls("sendChatAction").len() >= 2).then_some(()));
    assert!(bot.shown(ADA).is_empty());
}

#[test]
fn a_long_reply_becomes_several_messages() {
    let sentence = "Das ist ein ziemlich langer Satz über 🦀 und 茶, damit es mehr wird. ";
    let reply = sentence.repeat(150);
    let model = ModelServer::scripted([Step::reply(reply.clone())]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "Tell me more");
    until(|| (bot.unconfirmed() == 0 && bot.shown(ADA).len() > 1).then_some(()));
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(bot.shown(ADA).join(" ")), words(reply));
    assert!(bot.shown(ADA).len() <= 4, "{}", bot.shown(ADA).len());
}

#[test]
fn tools_work_and_the_reply_is_what_comes_last() {
    let write = json!({"action": "add", "layer": "L1", "content": "The person deploys on Fridays."}).to_string();
    let model =
        ModelServer::scripted([Step::calls("Let me note that.", &[("memory_write", &write)]), Step::reply("Noted.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "Remember that we deploy on Fridays");
    until_shown(&bot, ADA, &["Noted."]);
    assert!(home.listed(&[]).contains(&"The person deploys on Fridays.".to_owned()));
}

#[test]
fn commands_are_those_of_the_terminal() {
    let model = ModelServer::scripted([Step::reply("Good."), Step::reply("Fresh."), Step::reply("Still fresh.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let id = home.remember(&["We deploy on Fridays at noon"]);
    let _daemon = Daemon::start(&home);
    let mut shown = 0;
    let mut ask = |text: &str| {
        bot.say(ADA, text);
        shown += 1;
        until(|| bot.shown(ADA).get(shown - 1).cloned().filter(|_| bot.unconfirmed() == 0))
    };
    let help = ask("/start");
    for command in ["/memory", "/profile", "/working", "/forget", "/reset", "/new", "/stop"] {
        assert!(help.contains(command), "{help}");
    }
    assert!(!help.contains("Ctrl"), "{help}");
    let found = ask("/memory deploy");
    assert!(found.contains("Fridays at noon") && found.contains(&id[..6]) && !found.contains('\u{1b}'), "{found:?}");
    assert!(ask("/forget zzzzzz").contains("no memory"));
    assert!(ask(&format!("/forget {}", &id[..6])).contains("forgot"));
    assert_eq!(home.listed(&[]), [""; 0]);
    assert!(ask("/nonsense").contains("there is no /nonsense"));
    assert_eq!(ask("/session"), "telegram:7");
    assert_eq!(ask("I like green tea"), "Good.");
    assert!(ask("/new").contains("a new conversation"));
    assert!(ask("/new").contains("a new conversation"), "twice is once");
    assert_eq!(ask("Hello again"), "Fresh.");
    assert_eq!(ask("/session"), "telegram:7-2");
    assert_eq!(ask("And again"), "Still fresh.");
    let messages = model.requests().last().unwrap().body["messages"].clone();
    let said =
        |messages: &serde_json::Value| messages.as_array().unwrap().iter().filter(|one| one["role"] == "user").count();
    assert_eq!(said(&messages), 2, "the new conversation alone: {messages}");
    assert_eq!(turns(&home, "telegram:7"), exchange("I like green tea", "Good."));
}

#[test]
fn only_chats_on_the_list_are_answered_and_others_are_told_once() {
    let model = ModelServer::scripted([Step::reply("For you, Ada."), Step::reply("In the group.")]);
    let bot = BotApi::start();
    let mut home = machine(&model, &bot);
    let daemon = Daemon::start(&home);
    bot.say(4242, "Let me in!");
    bot.say(4242, "Please?");
    let group = |text: &str| {
        json!({"text": text, "chat": {"id": -100, "type": "supergroup", "title": "Team"},
        "from": {"id": 9, "is_bot": false, "first_name": "Bob"}})
    };
    bot.send(group("@memo_bot hello"));
    bot.send(json!({"voice": {"duration": 3, "file_id": "x"}, "chat": {"id": ADA, "type": "private"},
        "from": {"id": ADA, "is_bot": false, "first_name": "Ada"}}));
    until_shown(&bot, ADA, &["I can read text only: no voice messages, pictures or files."]);
    until(|| (!bot.shown(4242).is_empty()).then_some(()));
    assert!(bot.shown(4242)[0].contains("4242"), "{:?}", bot.shown(4242));
    assert_eq!(daemon.stop().code, 0);

    // Not after a restart either; and groups only where they are turned on.
    home.put("config.toml", &config(&model, &bot, "allow = [7, -100]\ngroups = true"));
    home.set("BOT", super::TOKEN);
    let _daemon = Daemon::start(&home);
    bot.say(4242, "Still me");
    bot.send(group("@memo_bot hello"));
    bot.send(group("lunch?"));
    bot.say(ADA, "Hello");
    until(|| (bot.unconfirmed() == 0 && bot.shown(ADA).len() == 2 && bot.shown(-100).len() == 1).then_some(()));
    assert_eq!((bot.shown(4242).len(), model.requests().len()), (1, 2));
    assert!(bot.posted(-100)[0].reply_to.is_some(), "in a group, a reply says what it refers to");
    let shown = home.json(&["session", "show", "telegram:-100"]);
    assert_eq!(
        (&shown["turns"][0]["speaker"], &shown["turns"][0]["content"]),
        (&json!("Bob (somebody else)"), &json!("hello"))
    );
    assert_eq!(turns(&home, "telegram:4242"), []);
}

#[test]
fn forwarded_words_are_not_the_persons() {
    let model = ModelServer::scripted([Step::reply("Interesting.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let _daemon = Daemon::start(&home);
    bot.send(json!({"text": "My name is Bob and I live in Porto.", "chat": {"id": ADA, "type": "private"},
        "from": {"id": ADA, "is_bot": false, "first_name": "Ada"},
        "forward_origin": {"type": "user", "date": 1, "sender_user": {"id": 9, "is_bot": false, "first_name": "Bob"}}}));
    until_shown(&bot, ADA, &["Interesting."]);
    let shown = home.json(&["session", "show", "telegram:7"]);
    assert_eq!((&shown["turns"][0]["speaker"], &shown["session"]["person"]), (&json!("Bob"), &json!("Ada")));
    home.json(&["session", "consolidate", "telegram:7"]);
    assert!(!home.run(&["profile"]).stdout.contains("Porto"));
}

/// A group with the person, who is Ada by their id, and somebody else who can take any name.
struct Group {
    bot: BotApi,
    home: Home,
    _daemon: Daemon,
}

impl Group {
    fn new(model: &ModelServer) -> Self {
        let bot = BotApi::start();
        let home = machine(model, &bot);
        home.put("config.toml", &config(model, &bot, "allow = [7, -100]\ngroups = true"));
        let daemon = Daemon::start(&home);
        Self { bot, home, _daemon: daemon }
    }

    /// Says something, and waits for what the bot answers.
    fn say(&self, id: i64, name: &str, text: &str) -> String {
        let before = self.bot.shown(-100).len();
        self.bot.send(json!({"text": text, "chat": {"id": -100, "type": "supergroup", "title": "Team"},
            "from": {"id": id, "is_bot": false, "first_name": name}}));
        until(|| (self.bot.shown(-100).len() == before + 1 && self.bot.unconfirmed() == 0).then_some(()));
        self.bot.shown(-100)[before].clone()
    }
}

/// Anybody can choose any name, and can speak before the person does: the service's own id of an author decides.
#[test]
fn nobody_else_in_a_group_passes_for_the_person() {
    let model = ModelServer::scripted(["Noted.", "Hello Ada.", "Again."].map(Step::reply));
    let group = Group::new(&model);
    group.say(9, "Ada", "@memo_bot I live in Lisbon and I am allergic to peanuts.");
    group.say(ADA, "Ada", "@memo_bot I live in Porto.");
    group.say(9, "ADA", "@memo_bot I prefer to be called Queen.");
    let shown = group.home.json(&["session", "show", "telegram:-100"]);
    let said = shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] == "user");
    let speakers: Vec<_> = said.map(|turn| turn["speaker"].clone()).collect();
    assert_eq!(speakers, [json!("Ada (somebody else)"), json!("Ada"), json!("ADA (somebody else)")]);
    assert_eq!(shown["session"]["person"], "Ada");
    group.home.json(&["session", "consolidate", "telegram:-100"]);
    let profile = group.home.run(&["profile"]).stdout;
    assert!(profile.contains("Porto"), "{profile}");
    for others in ["Lisbon", "peanuts", "Queen"] {
        assert!(!profile.contains(others), "{profile}");
    }
}

#[test]
fn commands_in_a_group_are_the_persons_alone() {
    let group = Group::new(&ModelServer::scripted([]));
    let tea = group.home.remember(&["The tea is in the left cupboard", "--key", "tea"]);
    for command in ["/forget tea", "/profile"] {
        assert_eq!(
            group.say(9, "Ada", command),
            "only the person whose memory this is gives commands here",
            "{command}"
        );
    }
    assert_eq!(group.home.json(&["show", &tea])["status"], "active");
    assert!(group.say(ADA, "Ada", "/forget tea").starts_with("forgot "));
}

#[test]
fn an_excluded_channel_answers_and_leaves_nothing() {
    let model = ModelServer::scripted([Step::reply("Hush.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let text = home.text("config.toml").replacen("[memory]\n", "[memory]\nexclude = [\"telegram\"]\n", 1);
    home.put("config.toml", &text);
    home.remember(&["We deploy on Fridays at noon"]);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "When do we deploy?");
    until_shown(&bot, ADA, &["Hush."]);
    assert!(!last_prompt(&model).contains("Fridays"), "{}", last_prompt(&model));
    assert_eq!(turns(&home, "telegram:7"), []);
}

#[test]
fn without_a_model_the_person_is_told_what_to_do() {
    let (model, bot) = (ModelServer::scripted([]), BotApi::start());
    let text = config(&model, &bot, "allow = [7]").replace("provider = \"openai\"", "provider = \"offline\"");
    let mut home = Home::with_config("config.toml", &text);
    home.set("BOT", super::TOKEN);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "Hello?");
    until(|| bot.shown(ADA).first().is_some_and(|said| said.contains("no chat model is configured")).then_some(()));
}
