use super::own_words;
use crate::text::steps::check_linear;

fn check(message: &str, expected: &[&str]) {
    assert_eq!(own_words(message), expected, "of {message:?}");
}

#[test]
fn plain_messages_are_own_words() {
    check(
        "I live in Porto. We use pnpm.\nNever deploy on Fridays.",
        &["I live in Porto. We use pnpm.\nNever deploy on Fridays."],
    );
    check("我住在杭州，做后端。\n以后都用中文回答。", &["我住在杭州，做后端。\n以后都用中文回答。"]);
    check("My rules:\n- tabs\n- no emojis", &["My rules:\n- tabs\n- no emojis"]);
}

#[test]
fn transcripts_and_elements_are_material() {
    check("<bash-input>whoami</bash-input>\n<bash-stdout>I am root</bash-stdout>\nfix it", &["fix it"]);
    check("look <system-reminder>I prefer tabs</system-reminder> at it", &["look", "at it"]);
    check("<note>\nI live in Rome\n</note>\nwhat is this", &["what is this"]);
    check("use a < b and I prefer tabs", &["use a < b and I prefer tabs"]);
    check("Why?\n[10:32] Ana: I hate tabs\n[10:33] Bo: me too", &["Why?"]);
    check("Ana: I hate tabs\nBo: I love them\nand so on", &[]);
}

#[test]
fn mail_and_quotations_are_material() {
    check("Reply please\nFrom: Bo <bo@example.com>\nTo: me\n\nI live in Oslo.", &["Reply please"]);
    check("See this\nOn Tue, 5 May, Bo wrote:\nI am allergic to nuts", &["See this"]);
    check("> I prefer vim\nok", &["ok"]);
    check("Stay hungry, I always say.\n— Steve Jobs\nnice, no?", &["nice, no?"]);
    check("I hate mornings. That is what he wrote. What now?", &["What now?"]);
}

#[test]
fn what_is_handed_over_is_material() {
    check("Translate this: I live in Rome", &["Translate this"]);
    check("Can you proofread this?\n\nI am a nurse from Leeds.", &["Can you proofread this?"]);
    check("here's what the recruiter sent me\nI only hire seniors.", &["here's what the recruiter sent me"]);
    check("老板发来的邮件：我从不加班", &["老板发来的邮件"]);
    check("# Contributing\nWe always squash.", &[]);
}

/// Every line had all the others looked at, and every tag that nobody closes all that follows.
#[test]
fn telling_own_words_is_linear() {
    let long = format!("{}\n", "tea ".repeat(1000));
    for piece in [
        "tea\n",
        "I like tea.\n",
        "<a>\n",
        "<a> ",
        "  <",
        "</a>",
        "<a>tea</a>\n",
        "<stdout>tea</stdout>\n",
        "Ana: tea\n",
        "key: 1\n",
        "a,b,c\n",
        "\n",
        "```\n",
        "> tea\n",
        "<",
        "— Ada\n",
        "tea",
        "that is what he wrote. ",
        "  ",
        long.as_str(),
    ] {
        check_linear(piece, 20, |text| own_words(text).len());
    }
    // What stood before each of them was looked at anew.
    for piece in ["<a>\n", "  <"] {
        check_linear(piece, 20, |text| own_words(&format!("{}{text}", " ".repeat(text.len()))).len());
    }
    let many: String = (0..8192).map(|nth| format!("<a{nth}>\n")).collect();
    check_linear(&many, 20, |text| own_words(text).len());
}
