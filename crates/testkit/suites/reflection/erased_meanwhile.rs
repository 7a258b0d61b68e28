//! What is erased while a model thinks does not come back with what it proposes.

use std::sync::atomic::{AtomicUsize, Ordering};

use throughline_core::ports::{Erasure, ReflectBrief};

use super::{Home, NOTHING, ops};

const WORD: &str = "Brimblewick";

#[test]
fn a_pass_is_made_again_where_a_turn_was_erased_meanwhile() {
    let home = Home::new();
    home.save("# stall\n\n## What Is\n- the sign is blue\n");
    home.say("cli:a", Some("stall"), "Doctor Brimblewick owns the second stall, that matters a lot.");
    home.say("cli:b", Some("stall"), "The sign is still blue.");
    let (store, asked) = (home.store.clone(), AtomicUsize::new(0));
    let answer = |brief: &ReflectBrief| {
        if asked.fetch_add(1, Ordering::SeqCst) > 0 {
            assert!(!format!("{brief:?}").contains(WORD), "{brief:?}");
            return NOTHING.to_owned();
        }
        let erased = brief.turns.iter().find(|turn| turn.content.contains(WORD)).unwrap();
        store.erase(&Erasure { turns: vec![erased.id.clone()], ..Erasure::default() }).unwrap();
        ops(r#"{"op": "add", "text": "Doctor Brimblewick owns the second stall", "significance": 4, "section": "is"}"#)
    };
    home.ask(Some("stall"), false, answer);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert!(!home.text().contains(WORD), "{}", home.text());
    assert!(!format!("{:?}", home.store.bundle().unwrap()).contains(WORD));
}
