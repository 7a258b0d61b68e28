//! A reply that nobody wants any more ends at once, and so does its connection.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::{all, chat, kind, settings};
use throughline_testkit::model_server::{ModelServer, Step};

#[test]
fn the_sink_cancels_in_the_middle_of_a_stream() {
    let server = ModelServer::always(Step::HangAfter(vec!["All ".into(), "is ".into(), "well".into()]));
    for (place, (name, model)) in all(&settings(&server)).into_iter().enumerate() {
        let mut seen = String::new();
        let result = model.complete(&chat(), &mut |piece| {
            seen.push_str(piece);
            seen != "All is "
        });
        assert_eq!((kind(&result).as_str(), seen.as_str()), ("cancelled", "All is "), "{name}");
        assert!(server.wait_for_hung_up(place + 1), "{name} closes the connection, with the model still there");
    }
}

#[test]
fn a_silent_server_is_cancelled_too() {
    let server = ModelServer::always(Step::Hang);
    for (place, (name, model)) in all(&settings(&server)).into_iter().enumerate() {
        let result = model.complete(&chat(), &mut |piece| {
            assert_eq!(piece, "", "there is nothing to say");
            false
        });
        assert_eq!(kind(&result), "cancelled", "{name}");
        assert!(server.wait_for_hung_up(place + 1), "{name}");
    }
}

#[test]
fn calls_run_side_by_side() {
    let server = ModelServer::always(Step::reply("Fine."));
    for (_, model) in all(&settings(&server)) {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| model.complete(&chat(), &mut |_| true))).collect();
            for call in calls {
                assert_eq!(call.join().unwrap().unwrap().text, "Fine.");
            }
        });
    }
    assert_eq!(server.requests().len(), 24);
}
