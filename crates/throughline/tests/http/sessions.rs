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
