use serde_json::json;

use crate::client::Served;
use crate::common::{Home, string};

#[test]
fn a_document_is_written_only_over_what_the_writer_saw() {
    let home = Home::new();
    let served = Served::on(&home);
    let put = |condition: &[(&str, &str)], text: &str| {
        served.ask("PUT", "/api/documents/user/profile", condition, Some(&json!({ "text": text }).to_string()))
    };
    served.get("/api/documents/user/profile").refused(404, "not_found");
    put(&[], "- Ada").refused(428, "unconditional");
    let new = put(&[("If-None-Match", "*")], "- Ada");
    assert_eq!(new.with(201)["outcome"], "created");
    let tag = new.header("etag").unwrap().to_owned();
    assert_eq!(served.get("/api/documents/user%2Fprofile").header("etag"), Some(&*tag));

    // A person edits the file meanwhile.
    home.put("user/profile.md", "- Ada Lovelace\n");
    let late = put(&[("If-Match", &tag)], "- Eve").refused(412, "changed");
    assert_eq!(late["error"]["current"]["text"], "- Ada Lovelace\n");
    let hash = format!("\"{}\"", string(&late["error"]["current"]["hash"]));
    put(&[("If-Match", &hash)], &"x".repeat(1001)).refused(422, "identity_full");
    let taken = put(&[("If-None-Match", "*")], "- Eve").refused(412, "changed");
    assert_eq!(taken["error"]["message"], "`user/profile` is there already");
    assert_eq!(home.text("user/profile.md"), "- Ada Lovelace\n");
    assert_eq!(put(&[("If-Match", &hash)], "- Ada L.").with(200)["outcome"], "updated");
    let history = served.get("/api/documents/user/profile/history").with(200);
    assert_eq!(history["versions"].as_array().unwrap().len(), 3);
    let back = served.post("/api/documents/user/profile/restore", json!({ "version": 1 }));
    assert_eq!((back.with(200)["text"].as_str(), back.header("etag")), (Some("- Ada"), Some(&*tag)));
}

#[test]
fn the_shelf_has_what_is_not_written_yet_too() {
    let home = Home::new();
    let served = Served::on(&home);
    home.put("user/notes/travel.md", "# Travel\n\n- by train\n");
    let shelf = served.get("/api/documents").with(200);
    let names: Vec<_> = shelf["documents"].as_array().unwrap().iter().map(|one| string(&one["name"])).collect();
    assert_eq!(names, ["user/profile", "user/patterns", "user/working", "user/memory", "user/notes/travel"]);
    assert_eq!((&shelf["documents"][0]["exists"], &shelf["documents"][4]["title"]), (&json!(false), &json!("Travel")));
    assert_eq!(served.get("/api/read/user/notes/travel").with(200)["markdown"], "# Travel\n\n- by train\n");
    for name in ["..%2Fetc", "user%2F..%2Fx", "nonsense"] {
        served.get(&format!("/api/documents/{name}")).refused(400, "invalid");
    }
}
