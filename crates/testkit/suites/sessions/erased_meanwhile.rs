//! What is erased while a model thinks does not come back with what it says.

use throughline_core::ports::Brief;
use throughline_testkit::reply;

use super::*;

const WORD: &str = "Brimblewick";

/// A model that repeats the person's words in its summary; the first time it is asked, somebody erases a turn.
fn repeating(home: &Home, erased: &TurnId) -> ScriptedModel {
    let summary = |word: &str| format!("## Working on\n- the letter to Doctor {word} about the parser");
    let outcomes = [summary(WORD), NO_FACTS.to_owned(), "## Working on\n- the parser".to_owned(), NO_FACTS.to_owned()];
    let (other, erased) = (home.fresh.again(), erased.clone());
    let mut is_done = false;
    ScriptedModel::giving(outcomes.map(|text| Ok(reply(text)))).meanwhile(move |_| {
        if !std::mem::replace(&mut is_done, true) {
            let erasure = Erasure { turns: vec![erased.clone()], ..Erasure::default() };
            other.erase(&erasure).unwrap();
        }
    })
}

/// A conversation with two messages; gives the first, which the test answers for.
fn talked(home: &Home) -> TurnId {
    let text = format!("I write a letter to Doctor {WORD} about the parser.");
    let said = [Said::now(Role::User, text)];
    let erased = home.engine.sessions().observe(&session("cli:a"), &said).unwrap().turns[0].id.clone();
    home.exchange("cli:a", "I work on the parser.");
    erased
}

#[track_caller]
fn is_gone(home: &Home) {
    let stored = format!("{:?}", home.store.bundle().unwrap());
    assert!(!stored.contains(WORD), "{stored}");
    let working = home.documents.read(&document("user/working")).unwrap();
    assert!(!format!("{working:?}").contains(WORD), "{working:?}");
}

#[test]
fn a_summary_is_made_again_where_a_turn_was_erased_meanwhile() {
    let home = Home::new();
    let erased = talked(&home);
    let model = repeating(&home, &erased);
    let outcome = home.engine.consolidation().run(&session("cli:a"), &model, None, &worker("me")).unwrap();
    assert!(matches!(&outcome, Consolidation::Done(done) if done.compacted == 2), "{outcome:?}");
    let summaries = model.asked().into_iter().filter(|brief| matches!(brief, Brief::Summarise(_)));
    assert_eq!(summaries.count(), 2, "the first answer was made of what is erased");
    is_gone(&home);
}

#[test]
fn turns_are_archived_without_what_was_erased_meanwhile() {
    let home = Home::with(|settings| settings.policy.max_failures = 1);
    let erased = talked(&home);
    let (other, mut is_done) = (home.fresh.again(), false);
    let model = ScriptedModel::saying(["", "", "", ""]).meanwhile(move |_| {
        if !std::mem::replace(&mut is_done, true) {
            other.erase(&Erasure { turns: vec![erased.clone()], ..Erasure::default() }).unwrap();
        }
    });
    let outcome = home.engine.consolidation().run(&session("cli:a"), &model, None, &worker("me")).unwrap();
    assert!(matches!(&outcome, Consolidation::Archived(done) if done.compacted == 2), "{outcome:?}");
    is_gone(&home);
}
