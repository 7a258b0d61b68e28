//! Who the panel lets in: the browser that followed a link, in every tab, and no server on another port.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use serde_json::json;
use throughline_testkit::raw_http::Request;

use super::Panel;
use super::common::Home;

#[test]
fn a_reload_and_a_second_tab_stay_let_in() {
    let home = Home::new();
    home.remember(&["Gerald the heron sits on the quay"]);
    let panel = Panel::of(home);
    assert!(!panel.address().contains("code="), "the link is not left in the address");
    panel.run("location.reload()", &[]);
    panel.see("main h1");
    panel.at("memories");
    panel.reads(".vrow", "Gerald the heron");
    panel.new_tab();
    panel.go(&format!("http://{}/#/memories", panel.daemon.host()));
    panel.reads(".vrow", "Gerald the heron");
    // Events arrive there too.
    panel.home.remember(&["The boat needs paint"]);
    panel.reads(".vrow", "The boat needs paint");
}

#[test]
fn a_server_on_another_port_sees_the_cookie_and_not_the_key() {
    let home = Home::new();
    let panel = Panel::of(home);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().map(Result::unwrap);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let page =
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<p>Hi</p>";
        (&stream).write_all(page.as_bytes()).unwrap();
        head
    });
    panel.go(&format!("http://127.0.0.1:{port}/"));
    let head = other.join().unwrap();
    let seen = head.iter().find_map(|line| line.strip_prefix("Cookie: ")).unwrap_or_default();
    assert!(seen.contains("throughline="), "browsers show a cookie to every port: {head:?}");
    assert_eq!(panel.run("return Object.keys(localStorage)", &[]), json!([]), "and its storage to none");
    let ask = |target: &str| Request::new("GET", target).with("Host", &panel.daemon.host()).with("Cookie", seen);
    assert_eq!(panel.daemon.send(&ask("/api/memories")).status, 401);
    assert_eq!(panel.daemon.send(&ask("/api/export")).status, 401);
}

#[test]
fn the_vault_page_says_how_files_are_added() {
    let panel = Panel::of(Home::new());
    panel.at("vault");
    panel.press("Add files");
    panel.reads("dialog", "throughline vault add");
    panel.press("Done");
    panel.gone("dialog[open]");
}
