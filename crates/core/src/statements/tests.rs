//! Measures the comparison on pairs that were written without sight of it.

use serde_json::Value;

use super::{Meaning, canonical, completed, replaces, same};

const REWORDED: &str = include_str!("../../../testkit/data/statements/reworded.jsonl");
const NEAR_MISSES: &str = include_str!("../../../testkit/data/statements/near-misses.jsonl");

fn pairs(lines: &str) -> Vec<(String, String)> {
    let text = |pair: &Value, name: &str| pair[name].as_str().unwrap().to_owned();
    let pair = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    lines.lines().map(pair).map(|pair| (text(&pair, "first"), text(&pair, "second"))).collect()
}

#[test]
fn most_rewordings_are_one_statement() {
    let pairs = pairs(REWORDED);
    let missed: Vec<_> = pairs.iter().filter(|(first, second)| !same(first, second)).collect();
    assert!(pairs.len() == 100 && missed.len() <= 25, "{} of 100 are not recognised: {missed:#?}", missed.len());
    let one_way: Vec<_> = pairs.iter().filter(|(first, second)| same(first, second) != same(second, first)).collect();
    assert!(one_way.is_empty(), "{one_way:#?}");
}

#[test]
fn most_rewordings_have_one_reading_and_no_near_miss_has() {
    let has_one =
        |(first, second): &&(String, String)| canonical(first).is_some_and(|it| canonical(second) == Some(it));
    let reworded = pairs(REWORDED);
    let found = reworded.iter().filter(has_one).count();
    assert!(found >= 65, "{found} of 100 rewordings are recognised");
    let near = pairs(NEAR_MISSES);
    let merged: Vec<_> = near.iter().filter(has_one).collect();
    assert!(merged.is_empty(), "{merged:#?}");
    let unlike: Vec<_> = reworded.iter().filter(has_one).filter(|(a, b)| !same(a, b)).collect();
    assert!(unlike.is_empty(), "{unlike:#?}");
    assert_eq!(canonical("I live in Porto"), canonical("I'm living in Porto"));
    assert_ne!(canonical("I live in Porto"), canonical("I live in Porto and work at Acme"));
}

#[test]
fn no_near_miss_is_merged_or_superseded() {
    let pairs = pairs(NEAR_MISSES);
    let is_merged = |a: &str, b: &str| same(a, b) || replaces(a, b, false) || replaces(b, a, false);
    let merged: Vec<_> = pairs.iter().filter(|(first, second)| is_merged(first, second)).collect();
    assert!(pairs.len() == 100 && merged.is_empty(), "{merged:#?}");
}

#[test]
fn what_differs_in_what_matters_is_another_statement() {
    for (a, b) in [
        ("Uses Rust 1.95", "Uses Rust 1.96"),
        ("The API is stable", "The API is not stable"),
        ("我喜欢喝茶", "我不喜欢喝茶"),
        ("Prefers tabs over spaces", "Prefers spaces over tabs"),
        ("I have two cats", "I want two cats"),
        ("I work in Paris", "I live in Paris"),
        ("I like tea", "I like green tea"),
        ("I don't eat fish", "I'm a vegetarian"),
        ("I have a child", "I have no children"),
        ("Ben reports to Anna", "Anna reports to Ben"),
        ("The gym opens at 7 am", "The gym opens at 7 pm"),
        ("Port 8080 maps to 80", "Port 80 maps to 8080"),
        ("The frontend depends on the backend", "The backend depends on the frontend"),
        ("She lives in Rome", "I live in Rome"),
    ] {
        assert!(!same(a, b) && !same(b, a), "{a} / {b}");
        assert!(canonical(a).is_none() || canonical(a) != canonical(b), "{a} / {b}");
        assert!(!replaces(a, b, false) && !replaces(b, a, false), "{a} / {b}");
    }
}

#[test]
fn a_new_value_takes_the_place_of_an_old_one_with_a_sign_of_change() {
    for (new, old) in [
        ("Actually, I live in Porto", "I live in Lisbon"),
        ("My manager is Ines now", "My manager is Helena Ruiz"),
        ("No, the staging port is 5433", "The staging port is 5432"),
        ("We no longer deploy on Fridays", "We deploy on Fridays"),
        ("我现在的经理是王磊", "我的经理是李雷"),
        ("Ich wohne jetzt in Bern", "Ich wohne in Kassel"),
        ("Standup is at 10 now, not 9:30", "Our standup is at 9:30"),
        ("The gala in the Orpheum got moved, it's on 7 June now", "Our first gala is on 31 May at the Orpheum"),
        ("I'm moving on 12 March instead", "The move is on 3 March"),
        ("my lease ends 17 March, so I'm moving on 12 March instead", "The move is on 3 March"),
        ("不对，交稿日从下个月起是每月8号", "交稿日是每月6号"),
        ("刚问了编辑，交稿日从这个月 (2026-05)起改成每月8号", "交稿日是每月6号"),
        ("刚问了编辑，交稿日从这个月 (2026-05)起是每月8号", "交稿日是每月6号"),
        ("刚看了邮件，截止日从这个月 (2026-05)起是每月3号", "截止日是每月5号"),
        ("展览换了一场，改成9月4号的", "想看8月20号的展览"),
        ("评审会改到周四了", "评审会在周二"),
    ] {
        assert!(replaces(new, old, false), "{new} / {old}");
    }
    for (new, old) in [
        ("I live in Porto", "I live in Lisbon"),
        ("我搬到了上海", "我住在北京"),
        ("Ich wohne in Bern", "Ich wohne in Kassel"),
        ("J'habite à Lyon", "J'habite à Paris"),
        ("Vivo en Bilbao", "Vivo en Madrid"),
        ("My name is Sam", "My name is Samuel"),
        ("I work for Orbex", "I work at Siemens"),
        ("My time zone is Europe/Lisbon", "My time zone is Europe/Berlin"),
    ] {
        assert!(replaces(new, old, false), "a person has one: {new} / {old}");
    }
    for (new, old) in [
        ("My manager is Ines", "My manager is Helena Ruiz"),
        ("The staging port is 5433", "The staging port is 5432"),
        ("Actually the production port is 5433", "The staging port is 5432"),
        ("Actually, Marco's birthday is on 9 November", "Marta's birthday is on 9 November"),
        ("My sister lives in Porto", "I live in Lisbon"),
        ("I work at night", "I work at Siemens"),
        ("The rehearsal of the gala got moved to 7 June", "The gala is on 31 May"),
        ("The gala now costs 40 euros", "The gala is on 31 May"),
        ("Now the dentist is at 9 on Monday", "The dentist is in Elm Street"),
    ] {
        assert!(!replaces(new, old, false), "{new} / {old}");
    }
    assert!(replaces("The staging port is 5433", "The staging port is 5432", true), "a correction is a sign");
}

#[test]
fn a_value_alone_is_completed_by_the_statement_before_it() {
    for (short, before, expected) in [
        ("不对，是13万", "预算是12万", Some("预算是13万")),
        ("No, it's 5433", "The staging port is 5432.", Some("The staging port is 5433.")),
        ("Sorry, I meant Thursday", "The review is on Wednesday", Some("The review is on Thursday")),
        ("不对，是周四", "周三开会", Some("周四开会")),
        ("no, on Thursday", "The review is on Wednesday", Some("The review is on Thursday")),
        ("actually it's 8090, not 8081", "The port is 8081.", Some("The port is 8090.")),
        ("不对，是8090，不是8081", "端口是8081", Some("端口是8090")),
        ("it's Bianca, not Bettina", "My boss is Bettina", Some("My boss is Bianca")),
        ("it's 8090, not 8081", "The ports are 8081 and 80810", Some("The ports are 8090 and 80810")),
        ("it's 8090, not 8081", "It is 80811", None),
        ("No, it's 5433", "I like tea", None),
        ("No, it's 5433", "It listens on 80 and 443", None),
        ("No, the staging port is 5433", "The staging port is 5432", None),
        ("I meant whole wheat starter, not rye", "No, I meant whole wheat starter, not rye", None),
    ] {
        assert_eq!(completed(short, before).as_deref(), expected, "{short} / {before}");
    }
}

#[test]
fn a_statement_with_more_beside_it_says_it_too() {
    let has = |whole: &str, part: &str| Meaning::of(whole).has_part(&Meaning::of(part));
    let dates = "I'm flexible with my travel dates, but I'd like to travel in the summer.";
    assert!(has(dates, "I'm pretty flexible with my travel dates"));
    assert!(replaces(dates, "I'm pretty flexible with my travel dates", false));
    assert!(!replaces("I'm pretty flexible with my travel dates", dates, false));
    for (whole, part) in [
        ("If it rains, I take the bus to work", "I take the bus to work"),
        ("I don't take the bus to work, I walk", "I take the bus to work"),
        ("I take the bus to work", "I take the bus to work"),
    ] {
        assert!(!has(whole, part), "{whole} / {part}");
    }
}
