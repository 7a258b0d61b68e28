//! `bench speed`: what it says, at a size that takes seconds. No time is asserted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::Home;
use serde_json::{Value, json};

#[test]
fn every_verb_is_measured_and_recall_is_compared_with_fts5_in_the_same_run() {
    let home = Home::new();
    let ran = home.run(&["--json", "bench", "speed", "--entries", "300", "--turns", "100"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert_eq!((ran.code, &answer["entries"], &answer["turns"]), (0, &json!(300), &json!(100)), "{ran:?}");
    let names = |of: &str| answer[of].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names("verbs"), ["context", "hook", "observe", "recall", "remember", "version"]);
    assert_eq!(names("compared"), ["fts5_every_word", "fts5_without_stop_words"]);
    for (of, name) in ["verbs", "compared"].iter().flat_map(|of| names(of).into_iter().map(move |name| (of, name))) {
        let times = &answer[of][&name];
        let is_process = name == "hook" || name == "version";
        assert!(
            times["p50_ms"].as_f64() > Some(0.0) && times["p99_ms"].as_f64() >= times["p50_ms"].as_f64(),
            "{answer}"
        );
        assert_eq!(times["cpu_p50_ms"].is_null(), is_process, "{name}: {times}");
    }
    // 300 memories are more than a tail may be long.
    assert!(answer["index_bytes_per_memory"].as_f64() > Some(1.0), "{answer}");
    assert!(!home.path("memory.db").exists(), "the person's own memory is not opened");
}
