//! The log of reflection.

use throughline_core::ports::{Erasure, PassOutcome};

use super::{Home, NOTHING, ops};

#[test]
fn every_pass_is_in_the_log_with_what_it_did_and_did_not() {
    let home = Home::new();
    home.save("## What Is\n- [sig:5] keep\n- [sig:1] go\n");
    let done = home.pass(Some("stall"), &ops(r#"{"op": "prune", "id": "f2"}, {"op": "prune", "id": "f1"}"#));
    home.pass(Some("stall"), NOTHING);
    home.pass(Some("stall"), "no JSON");
    let log = home.engine.reflection().passes(Some("stall"), 10).unwrap();
    let outcomes: Vec<_> = log.iter().map(|pass| pass.outcome).collect();
    assert_eq!(outcomes, [PassOutcome::Failed, PassOutcome::Unchanged, PassOutcome::Changed]);
    assert_eq!(log[0].reason.as_deref(), Some("the reply is not the JSON that was asked for"));
    assert_eq!(log[2], done.pass);
    assert_eq!((log[2].applied[0].what.as_str(), log[2].tokens_in), ("“go”", 10));
    assert_eq!(log[2].dropped[0].reason, "significance 5 is protected");
    assert!(
        home.engine.reflection().passes(None, 2).unwrap().len() == 2
            && home.store.passes(Some("user"), 9).unwrap().is_empty()
    );
}

#[test]
fn what_is_erased_leaves_the_log_too() {
    let home = Home::new();
    home.save("## What Is\n- [sig:1] tell nobody\n- [sig:1] other\n");
    let done = home.pass(Some("stall"), &ops(r#"{"op": "prune", "id": "f1"}"#));
    let erasure = Erasure { memories: done.pass.applied[0].ids.clone(), ..Erasure::default() };
    home.store.erase(&erasure).unwrap();
    let log = home.engine.reflection().passes(None, 10).unwrap();
    assert_eq!((log.len(), log[0].applied.len()), (1, 0));
}
