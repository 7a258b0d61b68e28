//! What happens elsewhere appears by itself.

use serde_json::json;

use super::Panel;
use super::common::Home;

#[test]
fn a_change_made_elsewhere_arrives_without_a_reload() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    home.run_with(&["write", "user/profile"], "- Is called Ada\n").done();
    let panel = Panel::of(home);
    panel.reads(".home-profile", "Is called Ada");
    panel.run("window.__stayed = true", &[]);
    // An editor that saves the file.
    panel.home.put("user/profile.md", "- Is called Ada\n- Rows at dawn\n");
    panel.reads(".home-profile", "Rows at dawn");
    panel.at("documents/user/profile");
    panel.home.put("user/profile.md", "- Is called Ada\n- Rows at dusk\n");
    let text = "return document.querySelector('.doc-text').value.includes('Rows at dusk')";
    panel.until("the editor takes over what was saved elsewhere", text, &[]);
    panel.at("memories");
    panel.home.remember(&["Gerald the heron sits on the quay"]);
    panel.reads(".vrow", "Gerald the heron sits on the quay");
    panel.at("tasks");
    panel.home.run(&["task", "add", "Paint the boat"]).done();
    panel.reads(".task", "Paint the boat");
    panel.at("conversations");
    panel.home.run(&["session", "observe", "--session", "cli:quay", "Hello from elsewhere"]).done();
    panel.reads(".talk", "Hello from elsewhere");
    assert_eq!(panel.run("return window.__stayed", &[]), json!(true), "without a reload");
}

#[test]
fn a_daemon_that_goes_away_is_said_and_noticed_when_it_is_back() {
    let home = Home::new();
    let panel = Panel::of(home);
    panel.at("memories");
    let Panel { browser, daemon, home } = panel;
    let port = daemon.port.to_string();
    daemon.kill();
    browser.reads(".banner", "does not answer");
    browser.keep("away");
    home.remember(&["Written while it was away"]);
    let daemon = super::common::daemon::Daemon::start_with(&home, &["--port", &port]);
    browser.until("the banner is gone", "return document.querySelector('.banner').hidden", &[]);
    browser.reads(".vrow", "Written while it was away");
    drop(browser);
    drop(daemon);
}

#[test]
fn a_database_that_is_lost_is_said_with_what_to_do_and_noticed_when_it_is_back() {
    let home = Home::with_config("config.toml", "[server]\nbackup_every_hours = 0\n");
    home.remember(&["Gerald the heron sits on the quay"]);
    let backup = home.json(&["backup"])["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let panel = Panel::of(home);
    panel.at("memories");
    panel.reads(".vrow", "Gerald the heron");
    std::fs::rename(panel.home.path("memory.db"), panel.home.path("elsewhere.db")).unwrap();
    panel.reads(".banner", "The memory database is missing");
    panel.reads(".banner", &format!("throughline backup --restore {backup}"));
    panel.keep("lost");
    std::fs::rename(panel.home.path("elsewhere.db"), panel.home.path("memory.db")).unwrap();
    panel.until("the banner is gone", "return document.querySelector('.banner').hidden", &[]);
    panel.reads(".vrow", "Gerald the heron");
}
