//! What waits on a machine for the server: through the proxy, over a network that swallows everything, up to its limits, in order.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};
use throughline_testkit::postgres::Server;

use super::away::{home_on, observe, prompt, said, waiting};
use super::common::daemon::Daemon;
use super::common::{Home, tree, until};
use super::place::{Place, Wire, session};

/// As many observations wait at most.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 << 20;

/// The way to a server, which can swallow everything that goes over it: connections are taken, and nobody answers.
struct Way {
    port: u16,
    swallows: Arc<AtomicBool>,
}

impl Way {
    fn to(server: &Server) -> Self {
        let socket = server.socket();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, swallows) = (listener.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
        let is_swallowing = Arc::clone(&swallows);
        std::thread::spawn(move || {
            let mut swallowed = Vec::new();
            for client in listener.incoming().map_while(Result::ok) {
                if is_swallowing.load(Ordering::SeqCst) {
                    swallowed.push(client);
                } else if let Ok(there) = UnixStream::connect(&socket) {
                    pass_on(&client, &there);
                }
            }
        });
        Self { port, swallows }
    }

    fn swallow(&self, swallows: bool) {
        self.swallows.store(swallows, Ordering::SeqCst);
    }

    fn home(&self) -> Home {
        let url = format!("postgres://throughline@127.0.0.1:{}/throughline?sslmode=disable", self.port);
        Home::with_config("config.toml", &format!("[memory]\nuser_namespace = \"user\"\n\n[store]\nurl = \"{url}\"\n"))
    }
}

/// Passes bytes on, both ways, until either side ends.
fn pass_on(client: &TcpStream, server: &UnixStream) {
    let (from_client, to_client) = (client.try_clone().unwrap(), client.try_clone().unwrap());
    let (from_server, to_server) = (server.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        copy(from_client, &to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        copy(from_server, &to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
}

fn copy(mut from: impl Read, mut to: impl Write) {
    let _ = std::io::copy(&mut from, &mut to);
}

/// Everything that waits, with its bytes.
fn spool(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    tree(&home.path("spool")).into_iter().collect()
}

#[test]
fn turns_through_the_proxy_wait_while_the_server_is_away() {
    let server = Server::start();
    let model = ModelServer::scripted(["Hello Ada.", "It is blue.", "It is in the attic."].map(Step::reply));
    let place = Place::with(model, &format!("[store]\nurl = \"{}\"\n", server.url()), |_| {});
    let first = place.ask(Wire::Chat, &Wire::Chat.body(&["I am Ada"], false));
    let conversation = session(&first);
    place.turns(&conversation, 2);
    server.stop();

    // One that goes on, and one that begins.
    let longer = ["I am Ada", "Hello Ada.", "What colour is the kettle?"];
    for said in [&longer[..], &["Where is the map?"]] {
        let answer = place.ask(Wire::Chat, &Wire::Chat.body(said, false));
        assert_eq!((answer.status, answer.header("x-throughline-memory")), (200, Some("failed")), "{answer:?}");
    }
    until(|| (waiting(&place.home).len() == 2).then_some(()));

    server.start_again();
    until(|| waiting(&place.home).is_empty().then_some(()));
    let turns = [("user", "I am Ada"), ("assistant", "Hello Ada.")];
    let more = [("user", "What colour is the kettle?"), ("assistant", "It is blue.")];
    let expected: Vec<(String, String)> =
        turns.into_iter().chain(more).map(|(role, text)| (role.to_owned(), text.to_owned())).collect();
    assert_eq!(place.turns(&conversation, 4), expected);
    let sessions = place.daemon.get("/api/sessions")["sessions"].clone();
    let ids = sessions.as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned());
    let others: Vec<String> = ids.filter(|id| *id != conversation).collect();
    let [other] = &others[..] else { panic!("one conversation more: {sessions}") };
    let map = place.turns(other, 2).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(map, ["Where is the map?", "It is in the attic."]);
}

#[test]
fn nothing_hangs_and_nothing_is_lost_where_nobody_answers() {
    let server = Server::start();
    let way = Way::to(&server);
    let home = way.home();
    observe(&home, "cli:a", "Before");
    way.swallow(true);
    assert_eq!(observe(&home, "cli:a", "Meanwhile")["waiting"], 1);
    home.run(&["recall", "tea"]).failed(2, "cannot use the memory at", "check that the server runs");
    prompt(&home, "The kettle is blue");
    let texts = || waiting(&home).iter().map(|path| std::fs::read_to_string(path).unwrap()).collect::<Vec<_>>();
    assert_eq!(waiting(&home).len(), 2, "{:#?}", texts());
    way.swallow(false);
    home.run(&["stats"]).done();
    assert!(waiting(&home).is_empty());
    assert_eq!(said(&home, "cli:a"), ["Before", "Meanwhile"]);
    assert_eq!(said(&home, "claude-code:h1"), ["The kettle is blue"]);
}

/// One more file, and one more byte, than may wait: every way in refuses, and leaves what waits as it is.
#[test]
fn full_spool_refuses_and_changes_nothing() {
    let server = Server::start();
    let home = home_on(&server, "");
    let daemon = Daemon::start(&home);
    observe(&home, "cli:a", "Before");
    server.stop();
    assert_eq!(observe(&home, "cli:a", "Meanwhile")["waiting"], 1);
    let [first] = &waiting(&home)[..] else { panic!("one file waits") };

    let copies: Vec<PathBuf> =
        (1..MOST_FILES).map(|nth| first.with_file_name(format!("{:015}-copy.json", nth))).collect();
    for copy in &copies {
        std::fs::copy(first, copy).unwrap();
    }
    refuses(&home, &daemon);
    // It would take the next file for a broken one.
    drop(daemon);
    copies.iter().for_each(|copy| std::fs::remove_file(copy).unwrap());

    let large = first.with_file_name("000000000000001-large.json");
    std::fs::File::create(&large).unwrap().set_len(MOST_BYTES).unwrap();
    let before = waiting(&home);
    let observing = ["session", "observe", "--session", "cli:a", "--role", "user", "More"];
    home.run(&observing).failed(2, "too much waits for the server already", "make room there");
    assert_eq!(waiting(&home), before);
    std::fs::remove_file(large).unwrap();

    assert_eq!(observe(&home, "cli:a", "Meanwhile again")["waiting"], 1);
    server.start_again();
    home.run(&["stats"]).done();
    assert!(waiting(&home).is_empty());
    assert_eq!(said(&home, "cli:a"), ["Before", "Meanwhile", "Meanwhile again"]);
}

fn refuses(home: &Home, daemon: &Daemon) {
    let before = spool(home);
    let observing = ["session", "observe", "--session", "cli:a", "--role", "user", "More"];
    home.run(&observing).failed(2, "too much waits for the server already", "make room there");
    prompt(home, "The kettle is blue");
    let request = daemon.request("POST", "/api/sessions/web:1/turns");
    let refused = daemon.send(&request.json(&json!({ "role": "user", "content": "More" })));
    let why = refused.json()["error"]["message"].to_string();
    assert!(refused.status == 500 && why.contains("too much waits for the server already"), "{refused:?}");
    assert!(spool(home) == before, "what waits is as it was");
}

/// The server takes everything but one text: what is said after it waits behind it.
#[test]
fn what_comes_later_waits_behind_what_waits_already() {
    let server = Server::start();
    let home = home_on(&server, "");
    observe(&home, "cli:a", "Before");
    server.stop();
    assert_eq!(observe(&home, "cli:a", "Meanwhile")["waiting"], 1);
    server.start_again();
    server.run(
        "CREATE FUNCTION throughline.refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN IF NEW.content = 'Meanwhile' THEN RAISE 'not now'; END IF; RETURN NEW; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON throughline.turns FOR EACH ROW EXECUTE FUNCTION throughline.refuse()",
    );
    let told = home.run(&["session", "observe", "--session", "cli:a", "--role", "user", "Afterwards"]);
    assert!(told.code == 0 && told.stdout.contains("1 turn waits"), "{told:?}");
    prompt(&home, "The kettle is blue");
    assert_eq!(waiting(&home).len(), 3);
    server.run("DROP TRIGGER refuse ON throughline.turns; DROP FUNCTION throughline.refuse()");
    home.run(&["stats"]).done();
    assert_eq!(said(&home, "cli:a"), ["Before", "Meanwhile", "Afterwards"]);
    assert_eq!(said(&home, "claude-code:h1"), ["The kettle is blue"]);
}

#[test]
fn daemon_writes_nothing_of_an_excluded_place_to_the_spool() {
    let server = Server::start();
    let home = home_on(&server, "exclude = [\"telegram\"]\n");
    let daemon = Daemon::start(&home);
    server.stop();
    let request = daemon.request("POST", "/api/sessions/telegram:1/turns");
    let answer = daemon.send(&request.json(&json!({ "role": "user", "content": "Private" })));
    assert_eq!((answer.status, answer.json()), (202, json!({ "waiting": 0 })));
    assert_eq!(waiting(&home), Vec::<PathBuf>::new());
}
