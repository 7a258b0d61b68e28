//! Tries, pauses and the breaker, without a second of real time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Provider, all, chat, extraction, impatient, kind, run, settings, summary};
use jiff::SignedDuration;
use throughline_core::ports::{Breaker, Brief, Clock, Cost, Model, ModelError, Reply, SummaryOf};
use throughline_providers::{Careful, Pause};
use throughline_testkit::FixedClock;
use throughline_testkit::model_server::{ModelServer, Step};

/// Records how long it was to wait; the clock moves on by as much.
struct Pauses {
    recorded: Mutex<Vec<Duration>>,
    clock: Arc<FixedClock>,
}

impl Pause for Pauses {
    fn pause(&self, how_long: Duration, go_on: &mut dyn FnMut() -> bool) -> bool {
        self.recorded.lock().unwrap().push(how_long);
        self.clock.advance(SignedDuration::try_from(how_long).unwrap());
        go_on()
    }

    fn chance(&self) -> f64 {
        1.0
    }
}

type AnyCareful = Careful<Arc<dyn Model>>;

struct World {
    model: AnyCareful,
    clock: Arc<FixedClock>,
    pauses: Arc<Pauses>,
}

impl World {
    fn around(model: Arc<dyn Model>) -> Self {
        let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
        let pauses = Arc::new(Pauses { recorded: Mutex::default(), clock: Arc::clone(&clock) });
        let model = Careful::new(model, Arc::clone(&clock) as Arc<dyn Clock>, Arc::clone(&pauses) as Arc<dyn Pause>);
        Self { model, clock, pauses }
    }

    fn call(&self, brief: &Brief) -> String {
        kind(&run(&self.model, brief).0)
    }

    fn paused(&self) -> Vec<u64> {
        let recorded = std::mem::take(&mut *self.pauses.recorded.lock().unwrap());
        recorded.into_iter().map(|pause| u64::try_from(pause.as_millis()).unwrap()).collect()
    }
}

/// Runs on every wire, each with a server of its own.
fn on_each_wire(script: &[Step], check: impl Fn(&ModelServer, World)) {
    for place in 0..3 {
        let server = ModelServer::scripted(script.iter().cloned());
        let (_, model): Provider = all(&settings(&server))[place].clone();
        check(&server, World::around(model));
    }
}

fn failing(times: usize) -> Vec<Step> {
    vec![Step::fail(500, "oh"); times]
}

#[test]
fn a_passing_failure_is_tried_again_with_growing_pauses() {
    on_each_wire(&[failing(2), vec![Step::reply("Fine.")]].concat(), |server, world| {
        assert_eq!(world.call(&chat()), "complete");
        assert_eq!((server.requests().len(), world.paused()), (3, vec![500, 1000]));
        assert_eq!(world.model.breaker(), Breaker::default());
    });
}

#[test]
fn there_are_three_tries_and_no_more() {
    for step in [
        Step::fail(503, "oh"),
        Step::Drop,
        Step::Empty,
        Step::Html,
        Step::Malformed(b"x".to_vec()),
        Step::Huge(3_000_000),
    ] {
        on_each_wire(&vec![step.clone(); 5], |server, world| {
            let first = world.call(&summary());
            assert!(["refused 503", "unreachable", "malformed"].contains(&first.as_str()), "{first} of {step:?}");
            assert_eq!(server.requests().len(), 3, "of {step:?}");
        });
    }
}

#[test]
fn a_hanging_server_is_tried_three_times() {
    let server = ModelServer::always(Step::Hang);
    let [(_, model), ..] = all(&impatient(&server));
    let world = World::around(model);
    assert_eq!(world.call(&extraction()), "timed out");
    assert!(server.wait_for_hung_up(3));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    for status in [307, 401, 404, 413] {
        on_each_wire(&[Step::fail(status, "no")], |server, world| {
            world.model.restore(Breaker { failures: 4, open_until: None });
            assert_eq!(world.call(&chat()), format!("refused {status}"));
            assert_eq!((server.requests().len(), world.paused()), (1, vec![]));
            assert_eq!(world.model.breaker(), Breaker::default(), "it answers, so it is alive");
        });
    }
    for step in [Step::CutOff("half".into()), Step::reply("whole")] {
        on_each_wire(&[step], |server, world| {
            assert_ne!(world.call(&summary()), "malformed");
            assert_eq!(server.requests().len(), 1, "a reply is a reply");
        });
    }
}

#[test]
fn the_server_says_when_to_come_back() {
    let date = ("Date".to_owned(), "Sun, 01 Mar 2026 12:00:00 GMT".to_owned());
    let until = ("Retry-After".to_owned(), "Sun, 01 Mar 2026 12:00:20 GMT".to_owned());
    let dated = Step::Fail { status: 503, body: String::new(), headers: vec![date, until] };
    on_each_wire(&[Step::busy("7"), dated, Step::reply("Fine.")], |_, world| {
        assert_eq!(world.call(&chat()), "complete");
        assert_eq!(world.paused(), [7_000, 20_000]);
    });
    on_each_wire(&[Step::busy("0"), Step::reply("Fine.")], |_, world| {
        assert_eq!(world.call(&chat()), "complete");
        assert_eq!(world.paused(), [500], "never sooner than on our own");
    });
    on_each_wire(&[Step::busy("3600")], |server, world| {
        assert_eq!(world.call(&chat()), "refused 429");
        assert_eq!((server.requests().len(), world.paused()), (1, vec![]), "longer than anybody waits");
    });
}

#[test]
fn a_chat_reply_that_has_begun_is_never_repeated() {
    let broken = Step::ResetAfter(vec!["All ".into(), "is ".into()]);
    on_each_wire(&[broken.clone(), Step::reply("All is well.")], |server, world| {
        let (result, pieces) = run(&world.model, &chat());
        assert_eq!((kind(&result).as_str(), pieces.concat().as_str()), ("malformed", "All is "));
        assert_eq!(server.requests().len(), 1);
    });
    on_each_wire(&[broken, Step::reply("All is well.")], |server, world| {
        let (result, pieces) = run(&world.model, &summary());
        assert_eq!((kind(&result).as_str(), pieces), ("complete", vec!["All is well.".to_owned()]));
        assert_eq!(server.requests().len(), 2);
    });
}

#[test]
fn the_breaker_opens_after_five_failures_and_lets_one_probe_through() {
    on_each_wire(&failing(7), |server, world| {
        assert_eq!((world.call(&chat()), server.requests().len()), ("refused 500".into(), 3));
        assert_eq!((world.call(&chat()), server.requests().len()), ("refused 500".into(), 5), "no third try");
        assert_eq!((world.call(&chat()), server.requests().len()), ("resting".into(), 5));
        world.clock.advance(SignedDuration::from_secs(59));
        assert_eq!((world.call(&chat()), server.requests().len()), ("resting".into(), 5));
        world.clock.advance(SignedDuration::from_secs(1));
        assert_eq!((world.call(&chat()), server.requests().len()), ("refused 500".into(), 6), "one probe");
        assert_eq!((world.call(&chat()), server.requests().len()), ("resting".into(), 6));
        world.clock.advance(SignedDuration::from_secs(60));
        server.then(Step::reply("Fine."));
        assert_eq!((world.call(&chat()), server.requests().len()), ("refused 500".into(), 7));
        world.clock.advance(SignedDuration::from_secs(60));
        assert_eq!((world.call(&chat()), server.requests().len()), ("complete".into(), 8));
        assert_eq!(world.model.breaker(), Breaker::default());
    });
}

#[test]
fn the_breaker_is_carried_from_one_process_to_the_next() {
    on_each_wire(&[Step::reply("Fine.")], |server, world| {
        let open_until = world.clock.now() + SignedDuration::from_secs(30);
        let state = Breaker { failures: 5, open_until: Some(open_until) };
        world.model.restore(state);
        assert_eq!(world.model.breaker(), state);
        assert_eq!((world.call(&chat()), server.requests().len()), ("resting".into(), 0));
        let far = Breaker { failures: 5, open_until: Some("2099-01-01T00:00:00Z".parse().unwrap()) };
        world.model.restore(far);
        assert_eq!(world.call(&chat()), "complete", "no rest is that long: another clock wrote it");
    });
}

#[test]
fn whoever_keeps_the_breaker_hears_of_every_change_and_of_nothing_else() {
    on_each_wire(&[failing(1), vec![Step::reply("Fine."), Step::reply("Fine.")]].concat(), |_, world| {
        let heard: Arc<Mutex<Vec<u32>>> = Arc::default();
        let told = Arc::clone(&heard);
        let model = world.model.keeping(move |breaker| told.lock().unwrap().push(breaker.failures));
        model.restore(Breaker { failures: 4, open_until: None });
        // The fifth failure opens it; the rest is over when the clock says so.
        assert_eq!(kind(&run(&model, &chat()).0), "refused 500");
        assert_eq!(kind(&run(&model, &chat()).0), "resting");
        world.clock.advance(SignedDuration::from_secs(60));
        assert_eq!(kind(&run(&model, &chat()).0), "complete");
        assert_eq!(kind(&run(&model, &chat()).0), "complete");
        assert_eq!(*heard.lock().unwrap(), [5, 0]);
    });
}

#[test]
fn one_failed_probe_is_enough_to_rest_again() {
    on_each_wire(&failing(3), |server, world| {
        world.model.restore(Breaker { failures: 0, open_until: Some(world.clock.now()) });
        assert_eq!((world.call(&chat()), server.requests().len()), ("refused 500".into(), 1));
        assert_eq!((world.call(&chat()), server.requests().len()), ("resting".into(), 1));
    });
}

/// Never works.
struct Broken;

impl Model for Broken {
    fn provider(&self) -> &'static str {
        "broken"
    }

    fn name(&self) -> &str {
        "broken"
    }

    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, _: &Brief, _: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        Err(ModelError::TimedOut { provider: "broken" })
    }
}

#[test]
fn cancelling_ends_the_pause() {
    let world = World::around(Arc::new(Broken));
    let result = world.model.complete(&chat(), &mut |_| false);
    assert_eq!((kind(&result).as_str(), world.paused()), ("cancelled", vec![500]));
    assert_eq!(world.model.breaker().failures, 1, "that of the first try");
}

/// Calls back while it is being called.
struct Reentrant(Mutex<Option<Arc<AnyCareful>>>);

impl Model for Reentrant {
    fn provider(&self) -> &'static str {
        "reentrant"
    }

    fn name(&self) -> &str {
        "reentrant"
    }

    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        let careful = self.0.lock().unwrap().take();
        let second = careful.map(|careful| careful.complete(brief, sink));
        assert_eq!(second.unwrap().unwrap_err(), ModelError::Resting { provider: "reentrant" });
        Err(ModelError::Cancelled)
    }
}

#[test]
fn only_one_probe_is_under_way_and_a_cancelled_one_decides_nothing() {
    let inner = Arc::new(Reentrant(Mutex::default()));
    let world = World::around(Arc::clone(&inner) as Arc<dyn Model>);
    let (model, clock) = (Arc::new(world.model), world.clock);
    let state = Breaker { failures: 5, open_until: Some(clock.now()) };
    model.restore(state);
    for _ in 0..2 {
        *inner.0.lock().unwrap() = Some(Arc::clone(&model));
        assert_eq!(kind(&model.complete(&chat(), &mut |_| true)), "cancelled");
        assert_eq!(model.breaker(), state, "the next call is a probe again");
    }
}
