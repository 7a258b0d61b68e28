use serde_json::json;

use crate::client::Served;
use crate::common::{Home, string};

#[test]
fn a_host_follows_a_conversation_from_its_start_to_its_end() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon"]);
    let served = Served::on(&home);
    let started = served.post("/api/sessions", json!({ "channel": "web", "system_prompt": "Be kind." })).with(201);
    let id = string(&started["session"]);
    assert!(id.starts_with("web:") && string(&started["system_prompt"]).starts_with("Be kind."), "{started}");
    let path = format!("/api/sessions/{id}");
    let context = served.post(&format!("{path}/context"), json!({ "message": "when do we deploy?" })).with(200);
    assert!(string(&context["message"]).contains("Fridays at noon"), "{context}");
    let turn = |role: &str, content: &str, id: &str| json!({ "role": role, "content": content, "id": id });
    let turns = json!({ "turns": [turn("user", "when do we deploy?", "1"), turn("assistant", "On Fridays.", "2")] });
    let kept = served.post(&format!("{path}/turns"), turns.clone()).with(201);
    assert_eq!((&kept["kept"], &kept["due"]), (&json!(2), &json!(null)));
    assert_eq!(served.post(&format!("{path}/turns"), turns).with(201)["kept"], 0, "said twice, it is kept once");

    let shown = served.get(&format!("{path}?limit=1")).with(200);
    assert_eq!((&shown["turns"][0]["role"], &shown["more"]), (&json!("user"), &json!(true)));
    let rest = served.get(&format!("{path}?turns_after={}", string(&shown["turns"][0]["id"]))).with(200);
    let turn = served.get(&format!("/api/memories/{}", string(&shown["turns"][0]["id"]))).with(200);
    assert_eq!((&turn["kind"], &turn["content"]), (&json!("turn"), &json!("when do we deploy?")), "a hit can be shown");
    assert_eq!((rest["turns"].as_array().unwrap().len(), &rest["more"]), (1, &json!(false)));
    let listed = served.get("/api/sessions?channel=web").with(200);
    assert_eq!((&listed["sessions"][0]["id"], &listed["sessions"][0]["turns"]), (&json!(id), &json!(2)));
    assert_eq!(served.get("/api/sessions?channel=cli").with(200)["sessions"], json!([]));
    assert_eq!(served.get(&format!("{path}/explain")).with(200)["query"], "when do we deploy?");

    let compacted =
        served.post(&format!("{path}/compact"), json!({ "summary": "They asked when we deploy." })).with(200);
    assert_eq!(compacted["outcome"], "done", "{compacted}");
    let made = served.get(&format!("{path}/consolidations")).with(200);
    assert_eq!(made["consolidations"][0]["layer"], "archive", "{made}");
    assert_eq!(served.post(&format!("{path}/end"), json!({})).with(200)["session"], json!(id));
}

#[test]
fn conversations_come_page_by_page_while_people_go_on_talking() {
    let home = Home::new();
    let served = Served::on(&home);
    let say = |id: &str| {
        served.post(&format!("/api/sessions/{id}/turns"), json!({ "role": "user", "content": "hello" })).with(201)
    };
    for id in ["web:a", "web:b", "web:c"] {
        say(id);
    }
    let ids = |page: &serde_json::Value| -> Vec<String> {
        page["sessions"].as_array().unwrap().iter().map(|each| string(&each["id"])).collect()
    };
    let first = served.get("/api/sessions?limit=2").with(200);
    assert_eq!(ids(&first), ["web:c", "web:b"]);
    say("web:c");
    let rest = served.get(&format!("/api/sessions?limit=2&cursor={}", string(&first["cursor"]))).with(200);
    assert_eq!((ids(&rest), &rest["cursor"]), (vec!["web:a".to_owned()], &json!(null)), "nothing comes twice");
    served.get("/api/sessions?cursor=web:a").refused(400, "invalid");
    served.get("/api/sessions/web:a?turns_after=nothing").refused(400, "invalid");

    for fact in ["We deploy on Fridays", "We rest on Sundays"] {
        served.post("/api/sessions/web:c/turns", json!({ "role": "user", "content": fact })).with(201);
        served.post("/api/sessions/web:c/compact", json!({ "summary": fact })).with(200);
    }
    let made = served.get("/api/sessions/web:c/consolidations?limit=1").with(200);
    let cursor = string(&made["cursor"]);
    let more = served.get(&format!("/api/sessions/web:c/consolidations?cursor={cursor}")).with(200);
    assert_ne!(more["consolidations"][0]["id"], made["consolidations"][0]["id"]);
    assert_eq!(more["cursor"], json!(null));
    served.get("/api/sessions/web:nobody/consolidations").refused(404, "not_found");
}

#[test]
fn words_of_others_never_reach_the_profile() {
    let home = Home::new();
    let served = Served::on(&home);
    let start = json!({ "channel": "web", "session": "1", "person": "Ada" });
    served.post("/api/sessions", start).with(201);
    assert_eq!(served.get("/api/sessions/web:1").with(200)["session"]["person"], "Ada");
    let turn = |speaker: &str, text: &str| json!({ "role": "user", "speaker": speaker, "content": text });
    let grace = turn("Grace", "My name is Grace and I work as a pilot in Oslo.");
    let turns = json!({ "turns": [grace, turn("Ada", "My name is Ada and I live in Porto.")] });
    served.post("/api/sessions/web:1/turns", turns).with(201);
    served.post("/api/sessions/web:1/end", json!({})).with(200);
    let profile = home.run(&["profile"]).done();
    assert!(profile.contains("Porto") && !profile.contains("Oslo"), "{profile}");
    let facts = home.json(&["list", "--layer", "knowledge"]).to_string();
    assert!(!facts.contains("Porto") && !facts.contains("Oslo"), "who they are is in the profile alone: {facts}");
    served.post("/api/sessions", json!({ "channel": "web", "person": " " })).refused(400, "invalid");
}

#[test]
fn what_is_no_turn_is_refused_and_none_of_its_batch_is_kept() {
    let home = Home::new();
    let served = Served::on(&home);
    served.get("/api/sessions/web:1").refused(404, "not_found");
    served.get("/api/sessions/nonsense").refused(400, "invalid");
    served.post("/api/sessions", json!({ "channel": "web", "session": "cli:1" })).refused(400, "invalid");
    let good = json!({ "role": "user", "content": "hello" });
    for bad in [
        json!({ "role": "user", "content": " " }),
        json!({ "role": "summary", "content": "x" }),
        json!({ "role": "x" }),
    ] {
        served.post("/api/sessions/web:1/turns", json!({ "turns": [good, bad] })).refused(400, "invalid");
    }
    served.post("/api/sessions/web:1/turns", json!({ "turns": [] })).refused(400, "invalid");
    assert_eq!(served.get("/api/stats").with(200)["turns"], 0);
}

#[test]
fn a_memory_that_changed_is_given_again() {
    let home = Home::new();
    let id = home.remember(&["We deploy on Fridays at noon"]);
    let served = Served::on(&home);
    served.post("/api/sessions", json!({ "channel": "web", "session": "one" })).with(201);
    let given = |message: &str| {
        let asked = served.post("/api/sessions/web:one/context", json!({ "message": message })).with(200);
        string(&asked["message"])
    };
    assert!(given("when do we deploy?").contains("Fridays at noon"));
    assert!(!given("so when do we deploy?").contains("Fridays"), "it is in view");
    home.run(&["edit", &id, "--tag", "release"]).done();
    assert!(!given("and when do we deploy?").contains("Fridays"), "it says the same");
    home.run(&["edit", &id, "--content", "We deploy on Mondays at nine"]).done();
    assert!(given("tell me, when do we deploy?").contains("Mondays at nine"));
    assert!(!given("once more, when do we deploy?").contains("Mondays"), "it is in view again");
}

#[test]
fn a_system_prompt_may_come_in_several_texts() {
    let home = Home::new();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let served = Served::on(&home);
    let start = json!({ "channel": "web", "system_prompt": ["You are Flynn.\n", "", "Be kind."] });
    let prompt = string(&served.post("/api/sessions", start).with(201)["system_prompt"]);
    assert!(prompt.starts_with("You are Flynn.\n\nBe kind.\n\n--- Who you're talking to ---\n"), "{prompt}");
    served.post("/api/sessions", json!({ "channel": "web", "system_prompt": 5 })).refused(400, "invalid");
}

#[test]
fn a_directory_says_which_project_a_session_is_about() {
    let home = Home::new();
    let dir = home.root().canonicalize().unwrap().join("person/shop");
    std::fs::create_dir_all(dir.join(".git")).unwrap();
    std::fs::write(dir.join("memory.md"), "- [sig:4] Use pnpm\n").unwrap();
    let served = Served::on(&home);
    let start = |dir: &str| served.post("/api/sessions", json!({ "channel": "web", "dir": dir }));
    let begun = start(dir.to_str().unwrap()).with(201);
    assert!(string(&begun["context"]).contains("> Use pnpm"), "{begun}");
    let rules = served.get("/api/projects/shop/rules").with(200);
    assert_eq!((&rules["rules"], &rules["quoted"][0]["content"]), (&json!([]), &json!("Use pnpm")));
    assert_eq!(served.post("/api/projects/shop/trust", json!({})).with(200)["accepted"][0]["content"], "Use pnpm");
    assert!(string(&start(dir.to_str().unwrap()).with(201)["context"]).contains("- Use pnpm"));
    start("person/shop").refused(400, "invalid");
    start("/there/is/no/such/place").refused(400, "invalid");
    served.get("/api/projects/nobody/rules").refused(404, "not_found");
}
