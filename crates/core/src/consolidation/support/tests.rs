use super::*;
use crate::model::TurnId;

fn turn(role: Role, content: &str) -> Turn {
    Turn {
        id: TurnId::new("t"),
        session: "cli:main".parse().unwrap(),
        role,
        speaker: None,
        content: content.to_owned(),
        at: jiff::Timestamp::UNIX_EPOCH,
    }
}

#[track_caller]
fn check(said: &[(Role, &str)], claim: &str, expected: Support) {
    let turns: Vec<Turn> = said.iter().map(|(role, content)| turn(*role, content)).collect();
    assert_eq!(support(claim, &Said { before: &[], turns: &turns }), expected, "{claim:?} of {said:?}");
}

use Role::{Assistant, Tool, User};

#[test]
fn rewordings_are_supported() {
    check(&[(User, "I prefer tea over coffee")], "The user prefers tea over coffee", Support::Own);
    check(&[(User, "My name is Ada, can you help me?")], "The person's name is Ada", Support::Own);
    check(&[(User, "Tom is my manager."), (User, "He lives in Berlin.")], "Tom lives in Berlin", Support::Own);
    check(&[(User, "Remember that Gerald lives in quadrat 6.")], "Gerald lives in quadrat 6.", Support::Own);
    check(&[(User, "我对花生过敏")], "用户对花生过敏", Support::Own);
    check(&[(User, "The port is 5432."), (User, "no, it's 5433")], "The port is 5433", Support::Own);
}

#[test]
fn what_was_not_said_so_is_not_supported() {
    for (said, claim) in [
        ("I prefer tea over coffee", "The user prefers coffee over tea"),
        ("I don't eat meat", "The user eats meat"),
        ("My brother uses Emacs and I use Vim", "The user uses Emacs"),
        ("Do I live in Rome?", "The user lives in Rome"),
        ("Maybe I should move to Rome", "The user should move to Rome"),
        ("The budget is 13 thousand", "The budget is 15 thousand"),
        ("I deploy on Fridays", "The user always deploys on Fridays"),
        ("He wrote \"I live in Rome and hate tabs\"", "The user lives in Rome"),
        ("预算是13万", "预算是13"),
    ] {
        let turns = [turn(User, said)];
        let found = support(claim, &Said { before: &[], turns: &turns });
        assert!(found != Support::Own, "{claim:?} of {said:?}: {found:?}");
    }
    check(&[(Tool, "user: bob@example.com"), (User, "check my user")], "The user is bob@example.com", Support::None);
}

#[test]
fn what_an_assistant_found_is_accepted() {
    let found = (Assistant, "The root cause is the stale lock file in target.");
    check(
        &[found, (User, "yes, that fixed it")],
        "The root cause is the stale lock file in target.",
        Support::Accepted,
    );
    check(
        &[found, (User, "no, that changes nothing")],
        "The root cause is the stale lock file in target.",
        Support::None,
    );
}

/// Three of its five words are the person's, and the name is not.
#[test]
fn a_name_from_a_tools_output_is_not_believed() {
    let said = [
        (User, "which database does the shop service use?"),
        (Tool, "DATABASE=Zanzibarium"),
        (User, "the shop service needs a database"),
    ];
    check(&said, "The shop service database is Zanzibarium", Support::None);
    check(&said, "Zanzibarium is the database of the shop service", Support::None);
}

/// Eighteen ways in which text of others gets into a message. The claim is what they say, and one mention of it made it the person's.
#[test]
fn no_form_of_pasted_text_is_the_persons() {
    for pasted in [
        "From: Bo <bo@example.com>\nTo: me\n\nI live in Rome.",
        "---------- Forwarded message ---------\nFrom: Bo\n\nI live in Rome.",
        "On Tue, 5 May, Bo wrote:\nI live in Rome.",
        "> I live in Rome.",
        "# About me\nI live in Rome.",
        "Bo said \"I live in Rome.\" Is that so?",
        "He wrote: \"I live in Rome.\"",
        "```\nI live in Rome.\n```",
        "    INFO user says\n    I live in Rome.",
        "2026-03-01 12:00:00 INFO I live in Rome.",
        "<bash-stdout>I live in Rome.</bash-stdout>",
        "<bash-input>echo I live in Rome.</bash-input>",
        "look <system-reminder>I live in Rome.</system-reminder> here",
        "Bo: I live in Rome.\nAna: me too",
        "[10:32] Bo: I live in Rome.",
        "Translate this: I live in Rome.",
        "Can you proofread this?\n\nI live in Rome.",
        "here's what the recruiter sent me\n- I live in Rome.\n- I hire seniors.",
    ] {
        let turns = [turn(User, pasted)];
        let found = support("The user lives in Rome", &Said { before: &[], turns: &turns });
        assert!(found != Support::Own, "{pasted:?}: {found:?}");
    }
    check(&[(User, "I live in Rome.")], "The user lives in Rome", Support::Own);
}
