//! The four tiers, each as Markdown.

use throughline_core::engine::Tier;

use super::Home;

#[test]
fn each_tier_is_one_text() {
    let home = Home::new();
    home.save("## What Is\n- the stall is in Porto\n");
    home.save_own("profile", "- Ada\n");
    home.save_own("notes", "- tea\n");
    home.say("cli:a", None, "hello tiers");
    let tier = |tier: Tier| home.engine.context().tier(&tier).unwrap();
    let short = Tier::Short("cli:a".parse().unwrap());
    assert!(tier(short.clone()).unwrap().contains("hello tiers"));
    assert_eq!(tier(Tier::Project("stall".to_owned())).unwrap(), home.text());
    assert_eq!(tier(Tier::User).unwrap(), "<!-- user/notes -->\n\n- tea\n\n<!-- user/profile -->\n\n- Ada\n");
    assert_eq!(tier(Tier::Vault), None);
    assert!(home.engine.context().tier(&Tier::Project("nowhere".to_owned())).is_err());
    home.store.end_session(&"cli:a".parse().unwrap(), home.engine.now()).unwrap();
    assert_eq!(tier(short), None, "it is gone when the conversation ends");
}
