//! Queries are plain text: no character has a meaning of its own, in any script.

use std::ffi::OsStr;

use crate::common::Home;

#[test]
fn no_query_fails() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon", "--key", "deploy", "--tag", "ops"]);
    let long = "deploy ".repeat(100_000 / 7);
    let solid = "x".repeat(100_000);
    let marks = format!("e{}", "\u{301}".repeat(500));
    for query in [
        "\"",
        "'",
        "\"\"\"",
        "''",
        "\"deploy",
        "deploy\"",
        "NEAR(",
        "NEAR(a b, 2)",
        "AND",
        "OR",
        "NOT",
        "a AND",
        "NOT NOT",
        "AND \" * ^ : -",
        "*",
        "^",
        "^deploy",
        "deploy*",
        ":",
        "content:deploy",
        "{a b}: c",
        "-",
        "--",
        "-deploy",
        "+",
        "(",
        ")",
        "(((",
        "{",
        "[",
        "\\",
        "/",
        ";",
        "; DROP TABLE entries; --",
        "%",
        "_",
        "%%",
        "\\%",
        "?",
        "?1",
        "$1",
        "@x",
        "#",
        "&",
        "|",
        "<memory-context>",
        "</memory-context>",
        "🙂",
        "👩‍👩‍👧‍👦 🏳️‍🌈",
        "مرحبا بالعالم",
        "שלום \u{202e}evil",
        "\u{feff}",
        "\u{200b}",
        "\u{fffd}",
        "\u{1b}[31m",
        "\t\n\r",
        " ",
        "",
        "a\u{1}b",
        "ﬁ",
        "ǅ",
        "İ",
        "ß",
        "\u{10ffff}",
        "٣",
        "½",
        &marks,
        &long,
        &solid,
    ] {
        let start: String = query.chars().take(40).collect();
        let message = format!("--message={query}");
        for args in [&["recall", "--", query][..], &["context", &message]] {
            let ran = home.run(args);
            if args[0] == "recall" && query.trim().is_empty() {
                ran.failed(2, "there is nothing to look for", "plain words");
                continue;
            }
            assert!(ran.code < 2 && ran.stderr.is_empty(), "{} {start:?}: {ran:?}", args[0]);
        }
    }
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
#[cfg(unix)]
fn a_query_of_any_bytes_does_not_fail() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon"]);
    for (bytes, code) in [(&b"deploy \xff\xfe"[..], 0), (b"\xc3\x28\xed\xa0\x80", 1)] {
        let output = home.throughline(&["recall"]).arg(OsStr::from_bytes(bytes)).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_was_stored_is_found_by_what_people_type() {
    let home = Home::new();
    for text in [
        "We deploy on Fridays at noon",
        "Der Schlüssel liegt beim Café Müller",
        "明天下午在东京开会",
        "我用 Rust 写代码",
        "サーバーは大阪にあります",
        "서버는 서울에 있습니다",
        "I am 100% sure about snake_case",
        "The answer was a+b=c",
    ] {
        home.remember(&[text]);
    }
    home.remember(&["something by its label", "--key", "quarterly-report", "--tag", "finance"]);
    for (query, expected) in [
        ("deploying", "We deploy on Fridays at noon"),
        ("FRIDAY", "We deploy on Fridays at noon"),
        ("cafe muller", "Der Schlüssel liegt beim Café Müller"),
        ("schlussel", "Der Schlüssel liegt beim Café Müller"),
        ("东京", "明天下午在东京开会"),
        ("会", "明天下午在东京开会"),
        ("rust", "我用 Rust 写代码"),
        ("大阪", "サーバーは大阪にあります"),
        ("서울", "서버는 서울에 있습니다"),
        ("%", "I am 100% sure about snake_case"),
        ("_", "I am 100% sure about snake_case"),
        ("ake_cas", "I am 100% sure about snake_case"),
        ("a+b=c", "The answer was a+b=c"),
        ("finance", "something by its label"),
        ("quarterly", "something by its label"),
    ] {
        assert_eq!(home.found(&["--limit", "1", "--", query]), [expected], "{query}");
    }
    assert_eq!(home.found(&["%"]).len(), 1, "a percent sign is a percent sign");
    assert_eq!(home.found(&["_"]).len(), 1, "an underscore is an underscore");
}

/// One memory a day: the last of February, and the first two of March; it is noon on the second.
fn diary() -> Home {
    let mut home = Home::new();
    for (now, text) in [
        ("2025-02-28T12:00:00Z", "entry of a year ago"),
        ("2026-02-20T12:00:00Z", "entry of ten days ago"),
        ("2026-03-01T12:00:00Z", "entry of yesterday"),
        ("2026-03-02T09:00:00Z", "entry of today"),
    ] {
        home.set_now(now);
        home.remember(&[text]);
    }
    home.set_now("2026-03-02T12:00:00Z");
    home
}

#[test]
fn since_and_until_take_dates_as_people_write_them() {
    let home = diary();
    for (since, expected) in [
        ("today", 1),
        ("yesterday", 2),
        ("3 days ago", 2),
        ("2 weeks ago", 3),
        ("last week", 2),
        ("last month", 3),
        ("2026", 3),
        ("2026-03", 2),
        ("2026-03-01", 2),
        ("2026-03-02T08:59:59Z", 1),
        ("2026-03-02 09:00", 1),
        ("2026-03-02T10:00:01+01:00", 0),
        ("1772366400", 2),
        ("1772366401", 1),
        ("two years ago", 4),
    ] {
        assert_eq!(home.listed(&["--since", since]).len(), expected, "list since {since}");
        assert_eq!(home.found(&["entry", "--since", since]).len(), expected, "recall since {since}");
        assert_eq!(home.listed(&["--until", since]).len(), 4 - expected, "list until {since}");
    }
    assert_eq!(home.found(&["entry", "--since", "yesterday", "--until", "today"]), ["entry of yesterday"]);
}

#[test]
fn dates_that_make_no_sense_are_refused() {
    let home = diary();
    for bad in ["whenever", "2026-02-30", "2026-13", "99999999999999999999", "-1", "3 moons ago", "", "12:00"] {
        for option in ["--since", "--until"] {
            let value = format!("{option}={bad}");
            let ran = home.run(&["recall", "entry", &value]);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{value}: {ran:?}");
            assert!(ran.stderr.contains("is not a date") && ran.stderr.contains("\nhint: try "), "{value}: {ran:?}");
        }
    }
    for (since, until) in [("2026-03-02", "2026-03-01"), ("today", "today"), ("now", "yesterday")] {
        for command in [&["recall", "entry"][..], &["list"]] {
            let ran = home.run(&[command, &["--since", since, "--until", until]].concat());
            ran.failed(2, "is not before `until`", "swap the two");
        }
    }
}

#[test]
fn filters_narrow_what_is_found() {
    let home = Home::new();
    home.remember(&["the plan is red", "--tag", "colour", "--tag", "old", "--project", "apollo"]);
    home.remember(&["the plan is blue", "--tag", "colour", "--tag", "task:t1"]);
    home.remember(&["--layer", "identity", "I have a plan"]);
    for (args, expected) in [
        (&["--tag", "colour"][..], 2),
        (&["--tag", "colour", "--tag", "old"], 1),
        (&["--tag", "project:apollo"], 1),
        (&["--project", "apollo"], 1),
        (&["--project", "gemini"], 0),
        (&["--task", "t1"], 1),
        (&["--layer", "identity"], 1),
        (&["--layer", "knowledge"], 2),
        (&["--category", "knowledge"], 2),
        (&["--category", "timeline"], 0),
        (&["--namespace", "user/facts"], 2),
        (&["--namespace", "user/profile"], 1),
        (&["--namespace", "global"], 0),
        (&["--limit", "1"], 1),
        (&["--limit", "0"], 0),
    ] {
        assert_eq!(home.found(&[&["plan"], args].concat()).len(), expected, "recall {args:?}");
        assert_eq!(home.listed(args).len(), expected, "list {args:?}");
    }
}
