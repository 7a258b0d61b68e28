use jiff::civil;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

/// Wednesday, 9 April 2025. The zone is spelled out, since a machine may know none.
fn now() -> Zoned {
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    civil::date(2025, 4, 9).at(15, 30, 0, 0).to_zoned(zone).unwrap()
}

/// `2025-04-08` for a day, `2025-03-31..2025-04-07` for more; the bound after is not part of it.
fn shown(time: &TimeRange) -> String {
    let at = |at: Timestamp| at.to_zoned(now().time_zone().clone()).datetime();
    let (from, until) = (at(time.from), at(time.until));
    let text = |at: civil::DateTime| {
        if at.year() == 9999 || at.year() == 1 {
            String::new()
        } else if at.time() == civil::Time::midnight() {
            at.date().to_string()
        } else {
            at.strftime("%Y-%m-%dT%H:%M").to_string()
        }
    };
    if from.date().tomorrow().is_ok_and(|next| next.to_datetime(from.time()) == until) {
        return text(from);
    }
    format!("{}..{}", text(from), text(until))
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(message, expected)| {
            let found = named(message, &now()).iter().map(shown).collect::<Vec<_>>().join(", ");
            (found != *expected).then(|| format!("{message}\n    is {found:?}, not {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn english() {
    check(&[
        ("What happened on May 5?", "2024-05-05"),
        ("the 3rd of March", "2025-03-03"),
        ("5 May 2023 was cold", "2023-05-05"),
        ("on May 5th, 2023 we met", "2023-05-05"),
        ("May the 5th", "2024-05-05"),
        ("on 5 may", "2024-05-05"),
        ("Sept. 3, 2024", "2024-09-03"),
        ("Friday, March 7: notes", "2025-03-07"),
        ("on 2023-05-05", "2023-05-05"),
        ("since 2024-12-01T10:00:00Z", "2024-12-01.."),
        ("log of 2023/05/05", "2023-05-05"),
        ("the call of 5/5/2023", "2023-05-05"),
        ("the call of 25/5/2023", "2023-05-25"),
        ("the call of 5/25/2023.", "2023-05-25"),
        ("Feb 29", "2024-02-29"),
        ("on the 5th?", "2025-04-05"),
        ("on the 25th?", "2025-03-25"),
        ("April 9", "2025-04-09"),
        ("April 10", "2024-04-10"),
        ("May 5-7, 2023", "2023-05-05..2023-05-08"),
        ("5 to 7 May", "2024-05-05..2024-05-08"),
        ("what did we ship in May?", "2024-05-01..2024-06-01"),
        ("in March", "2025-03-01..2025-04-01"),
        ("the October release", "2024-10-01..2024-11-01"),
        ("May 2023 numbers", "2023-05-01..2023-06-01"),
        ("in June of 2022", "2022-06-01..2022-07-01"),
        ("in May last year", "2024-05-01..2024-06-01"),
        ("2023-05 report", "2023-05-01..2023-06-01"),
        ("last May", "2024-05-01..2024-06-01"),
        ("last April", "2024-04-01..2024-05-01"),
        ("last month", "2025-03-01..2025-04-01"),
        ("earlier this month", "2025-04-01..2025-05-01"),
        ("in 2022", "2022-01-01..2023-01-01"),
        ("the year 2021", "2021-01-01..2022-01-01"),
        ("last year", "2024-01-01..2025-01-01"),
        ("this year", "2025-01-01..2026-01-01"),
        ("What did we do last week?", "2025-03-31..2025-04-07"),
        ("this week", "2025-04-07..2025-04-14"),
        ("the week before last", "2025-03-24..2025-03-31"),
        ("last Friday", "2025-04-04"),
        ("last Wednesday", "2025-04-02"),
        ("last fri", ""),
        ("last Fri", "2025-04-04"),
        ("what was decided on Monday", "2025-04-07"),
        ("what did you say Friday?", "2025-04-04"),
        ("Friday of last week", "2025-04-04"),
        ("Friday night", "2025-04-04T18:00..2025-04-05T06:00"),
        ("this Monday", "2025-04-07"),
        ("last weekend", "2025-04-05..2025-04-07"),
        ("this past weekend", "2025-04-05..2025-04-07"),
        ("over the weekend", "2025-04-05..2025-04-07"),
        ("yesterday and today", "2025-04-08, 2025-04-09"),
        ("the day before yesterday", "2025-04-07"),
        ("yesterday's call", "2025-04-08"),
        ("this morning", "2025-04-09..2025-04-09T12:00"),
        ("last night", "2025-04-08T18:00..2025-04-09T06:00"),
        ("yesterday evening", "2025-04-08T18:00..2025-04-09"),
        ("3 days ago", "2025-04-06"),
        ("two weeks ago", "2025-03-23..2025-03-30"),
        ("a month ago", "2025-02-22..2025-03-25"),
        ("a few days ago", "2025-04-04..2025-04-08"),
        ("a couple of days ago", "2025-04-06..2025-04-08"),
        ("an hour ago", "2025-04-09T13:59..2025-04-09T15:01"),
        ("in the last two weeks", "2025-03-26..2025-04-10"),
        ("over the past month", "2025-03-09..2025-04-10"),
        ("last summer", "2024-06-01..2024-09-01"),
        ("last winter", "2024-12-01..2025-03-01"),
        ("summer of 2023", "2023-06-01..2023-09-01"),
        ("this spring", "2025-03-01..2025-06-01"),
        ("between May and July", "2024-05-01..2024-08-01"),
        ("between May and July 2023", "2023-05-01..2023-08-01"),
        ("from November to February", "2024-11-01..2025-03-01"),
        ("between 2020 and 2022", "2020-01-01..2023-01-01"),
        ("since March", "2025-03-01.."),
        ("before May 5, 2023", "..2023-05-05"),
        ("after May 5, 2023", "2023-05-06.."),
        ("until 2022", "..2023-01-01"),
        ("early May", "2024-05-01..2024-05-11"),
        ("mid-May 2023", "2023-05-11..2023-05-21"),
        ("late May", "2024-05-21..2024-06-01"),
        ("the end of 2023", "2023-09-01..2024-01-01"),
        ("the first weekend of August 2023", "2023-08-05..2023-08-07"),
        ("the last week of March", "2025-03-25..2025-04-01"),
        ("the second Tuesday of May 2023", "2023-05-09"),
        ("Where was Ana the week before 9 June 2023?", "2023-06-02..2023-06-09"),
        ("the Sunday before 25 May 2023", "2023-05-21"),
        ("the weekend before 17 July 2023", "2023-07-15..2023-07-17"),
        ("two weekends before 17 July 2023", "2023-07-08..2023-07-10"),
        ("two days before 2 June 2023", "2023-05-31"),
        ("the Friday after 25 May 2023", "2023-05-26"),
        ("the day after 25 May 2023", "2023-05-26"),
        ("May 5 and June 6, 2023", "2024-05-05, 2023-06-06"),
    ]);
}

#[test]
fn german() {
    check(&[
        ("Was war am 5. Mai?", "2024-05-05"),
        ("am 5. Mai 2023", "2023-05-05"),
        ("am 05.05.2023", "2023-05-05"),
        ("im Mai", "2024-05-01..2024-06-01"),
        ("im März 2023", "2023-03-01..2023-04-01"),
        ("im Jahr 2022", "2022-01-01..2023-01-01"),
        ("letztes Jahr", "2024-01-01..2025-01-01"),
        ("letzte Woche", "2025-03-31..2025-04-07"),
        ("diese Woche", "2025-04-07..2025-04-14"),
        ("letzten Freitag", "2025-04-04"),
        ("am Montag", "2025-04-07"),
        ("gestern Abend", "2025-04-08T18:00..2025-04-09"),
        ("vorgestern", "2025-04-07"),
        ("heute früh", "2025-04-09..2025-04-09T12:00"),
        ("vor drei Tagen", "2025-04-06"),
        ("vor einem Jahr", "2023-10-10..2024-10-09"),
        ("in den letzten drei Tagen", "2025-04-06..2025-04-10"),
        ("letzten Sommer", "2024-06-01..2024-09-01"),
        ("zwischen Mai und Juli", "2024-05-01..2024-08-01"),
        ("seit März", "2025-03-01.."),
        ("vor dem 5. Mai 2023", "..2023-05-05"),
        ("Ende Mai", "2024-05-21..2024-06-01"),
        ("am Wochenende", "2025-04-05..2025-04-07"),
        ("Ist hier jemand?", ""),
        ("nächste Woche", ""),
        ("jeden Montag", ""),
    ]);
}

#[test]
fn french() {
    check(&[
        ("le 5 mai", "2024-05-05"),
        ("le 1er mai 2023", "2023-05-01"),
        ("en mai", "2024-05-01..2024-06-01"),
        ("en août 2023", "2023-08-01..2023-09-01"),
        ("l’année dernière", "2024-01-01..2025-01-01"),
        ("la semaine dernière", "2025-03-31..2025-04-07"),
        ("cette semaine", "2025-04-07..2025-04-14"),
        ("vendredi dernier", "2025-04-04"),
        ("l'an dernier", "2024-01-01..2025-01-01"),
        ("le mois dernier", "2025-03-01..2025-04-01"),
        ("le week-end dernier", "2025-04-05..2025-04-07"),
        ("Qu'avons-nous dit hier ?", "2025-04-08"),
        ("hier soir", "2025-04-08T18:00..2025-04-09"),
        ("avant-hier", "2025-04-07"),
        ("aujourd'hui", "2025-04-09"),
        ("ce matin", "2025-04-09..2025-04-09T12:00"),
        ("il y a deux semaines", "2025-03-23..2025-03-30"),
        ("il y a un an", "2023-10-10..2024-10-09"),
        ("l'été dernier", "2024-06-01..2024-09-01"),
        ("entre mai et juillet", "2024-05-01..2024-08-01"),
        ("depuis mars", "2025-03-01.."),
        ("début mai", "2024-05-01..2024-05-11"),
        ("en 2022", "2022-01-01..2023-01-01"),
        ("les trois derniers jours", "2025-04-06..2025-04-10"),
        ("lundi prochain", ""),
        ("la semaine prochaine", ""),
    ]);
}

#[test]
fn spanish() {
    check(&[
        ("el 5 de mayo", "2024-05-05"),
        ("el 5 de mayo de 2023", "2023-05-05"),
        ("en mayo", "2024-05-01..2024-06-01"),
        ("en marzo de 2023", "2023-03-01..2023-04-01"),
        ("la semana pasada", "2025-03-31..2025-04-07"),
        ("el año pasado", "2024-01-01..2025-01-01"),
        ("el mes pasado", "2025-03-01..2025-04-01"),
        ("el viernes pasado", "2025-04-04"),
        ("el fin de semana pasado", "2025-04-05..2025-04-07"),
        ("¿Qué hicimos ayer?", "2025-04-08"),
        ("anteayer", "2025-04-07"),
        ("anoche", "2025-04-08T18:00..2025-04-09T06:00"),
        ("hace tres días", "2025-04-06"),
        ("hace un par de semanas", "2025-03-19..2025-04-02"),
        ("el verano pasado", "2024-06-01..2024-09-01"),
        ("entre mayo y julio", "2024-05-01..2024-08-01"),
        ("desde marzo", "2025-03-01.."),
        ("antes del 5 de mayo de 2023", "..2023-05-05"),
        ("a finales de mayo", "2024-05-21..2024-06-01"),
        ("ensalada con mayo", ""),
        ("la próxima semana", ""),
    ]);
}

#[test]
fn chinese() {
    check(&[
        ("5月5日的会议", "2024-05-05"),
        ("2023年5月5日", "2023-05-05"),
        ("２０２３年５月５号", "2023-05-05"),
        ("五月五號", "2024-05-05"),
        ("5月做了什么", "2024-05-01..2024-06-01"),
        ("十二月", "2024-12-01..2025-01-01"),
        ("2022年", "2022-01-01..2023-01-01"),
        ("去年的计划", "2024-01-01..2025-01-01"),
        ("前年", "2023-01-01..2024-01-01"),
        ("去年5月", "2024-05-01..2024-06-01"),
        ("去年夏天", "2024-06-01..2024-09-01"),
        ("我们上周怎么修的", "2025-03-31..2025-04-07"),
        ("上週", "2025-03-31..2025-04-07"),
        ("上个星期五", "2025-04-04"),
        ("上周五", "2025-04-04"),
        ("上周末", "2025-04-05..2025-04-07"),
        ("上上周", "2025-03-24..2025-03-31"),
        ("这周", "2025-04-07..2025-04-14"),
        ("周一说的", "2025-04-07"),
        ("上个月", "2025-03-01..2025-04-01"),
        ("上個月底", "2025-03-21..2025-04-01"),
        ("這個月", "2025-04-01..2025-05-01"),
        ("昨天和今天", "2025-04-08, 2025-04-09"),
        ("前天", "2025-04-07"),
        ("昨晚", "2025-04-08T18:00..2025-04-09T06:00"),
        ("今天早上", "2025-04-09..2025-04-09T12:00"),
        ("三天前", "2025-04-06"),
        ("两个星期前", "2025-03-23..2025-03-30"),
        ("三个月前", "2024-12-25..2025-01-25"),
        ("几天前", "2025-04-04..2025-04-08"),
        ("最近三天", "2025-04-06..2025-04-10"),
        ("5月到7月", "2024-05-01..2024-08-01"),
        ("3月以来", "2025-03-01.."),
        ("5月5日之前", "..2024-05-05"),
        ("5月初", "2024-05-01..2024-05-11"),
        ("夏天很热", ""),
        ("这周末的活动", ""),
        ("这周五", ""),
        ("本周一", "2025-04-07"),
        ("下周三开会", ""),
        ("每周五", ""),
        ("明年5月", ""),
        ("三个月的工作", ""),
        ("一下", ""),
    ]);
}

#[test]
fn japanese_and_korean() {
    check(&[
        ("5月5日の会議", "2024-05-05"),
        ("先週の会議", "2025-03-31..2025-04-07"),
        ("先週の金曜日", "2025-04-04"),
        ("今週", "2025-04-07..2025-04-14"),
        ("先月", "2025-03-01..2025-04-01"),
        ("昨年の夏", "2024-06-01..2024-09-01"),
        ("去年", "2024-01-01..2025-01-01"),
        ("昨日", "2025-04-08"),
        ("一昨日", "2025-04-07"),
        ("今朝", "2025-04-09..2025-04-09T12:00"),
        ("昨夜", "2025-04-08T18:00..2025-04-09T06:00"),
        ("3日前", "2025-04-06"),
        ("2週間前", "2025-03-23..2025-03-30"),
        ("３ヶ月前", "2024-12-25..2025-01-25"),
        ("月曜日に話した", "2025-04-07"),
        ("5月から7月まで", "2024-05-01..2024-08-01"),
        ("5月下旬", "2024-05-21..2024-06-01"),
        ("2022年に", "2022-01-01..2023-01-01"),
        ("来週の月曜日", ""),
        ("毎週金曜日", ""),
        ("어제", "2025-04-08"),
        ("지난주 금요일", "2025-04-04"),
        ("2023년 5월 5일", "2023-05-05"),
        ("3일 전", "2025-04-06"),
    ]);
}

#[test]
fn what_only_looks_like_a_time() {
    for message in [
        "may I ask you something?",
        "You may use it, and may not sell it",
        "the other 5 may fail",
        "march on, soldiers",
        "wait a second",
        "version 5.5",
        "v2.2022.1 of the app",
        "the call of 5/6/2023",
        "the sun is out",
        "mon ami",
        "he sat on it",
        "April is nice to June",
        "run 2022 tests",
        "in 2000 lines of code",
        "port 2022",
        "the id is 2023-05-05-17-abc",
        "192.168.2.1",
        "2023-13-45",
        "tomorrow",
        "next week",
        "next Friday",
        "every Monday",
        "by Friday",
        "until Friday",
        "on Mondays",
        "what I do on the weekends",
        "this Friday",
        "this weekend",
        "in three days",
        "in 2 weeks",
        "fall back to the default",
        "spring cleaning",
        "the last day",
        "it will last an hour",
        "99999999999999999999 days ago",
        "9999 years ago",
        "2023-02-31",
        "a day in the life",
        "the Mars rover",
        "",
    ] {
        let found = named(message, &now());
        assert_eq!(found, [], "{message}");
    }
}

#[test]
fn tells_where_a_time_is_named_and_whether_the_past_is_a_guess() {
    for (message, text, is_assumed) in [
        ("What did we do on May 5th, 2023?", "May 5th, 2023", false),
        ("Book it for December 24", "December 24", true),
        ("the week before 9 June 2023 was", "week before 9 June 2023", false),
        ("in 2022, maybe", "2022", false),
        ("Deploy on Friday", "Friday", true),
        ("what changed since last week", "since last week", false),
        ("我们上周五怎么修的", "上周五", false),
        ("在5月5日之前完成", "5月5日之前", true),
    ] {
        let found = named(message, &now());
        assert_eq!(found.len(), 1, "{message}");
        assert_eq!((&message[found[0].text_range.clone()], found[0].is_assumed), (text, is_assumed), "{message}");
    }
}

#[test]
fn a_page_of_dates_or_digits_takes_bounded_work() {
    const SIZE: usize = 100_000;
    for piece in [
        "1",
        "1 ",
        "2023-05-05 ",
        "May ",
        "before ",
        "since since ",
        "last ",
        "5月",
        "三",
        "二十",
        "a few ",
        "1-",
        "的 ",
    ] {
        let page = piece.repeat(SIZE / piece.len());
        let read = tokens(&page);
        assert!(places(&read).count() <= MAX_PLACES, "{piece}");
        assert!(read.len() <= page.len());
        assert!(read.iter().all(|token| token.text.len() <= 24));
        let calendar = Calendar::new(&now());
        let parser = Parser::new(&read, 0, &calendar);
        assert!(parser.reach() <= 18, "one place looks at no more tokens, however long the page is");
        assert!(named(&page, &now()).len() <= MAX_TIMES, "{piece}");
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_ranges_are_in_order(text in any::<String>()) {
        check_ranges(&text);
    }

    #[test]
    fn no_pile_of_words_panics(words in prop::collection::vec(prop::sample::select(PIECES), 0..14), joined: bool) {
        check_ranges(&words.join(if joined { "" } else { " " }));
    }
}

const PIECES: &[&str] = &[
    "last",
    "may",
    "May",
    "5",
    "2023",
    "-",
    ".",
    "/",
    "week",
    "before",
    "since",
    "the",
    "two",
    "99",
    "9999",
    "years",
    "ago",
    "vor",
    "il y a",
    "上",
    "周",
    "五",
    "月",
    "5月",
    "日",
    "年",
    "十",
    "前",
    "去年",
    "到",
    "friday",
    "weekend",
    "fin de semana",
    "early",
    "first",
    "of",
    "between",
    "and",
    "summer",
    "31",
    "30",
    "feb",
    "hier",
    "'",
    "past",
    "few",
    "night",
    "０",
    "每",
];

fn check_ranges(text: &str) {
    let mut end = 0;
    for time in named(text, &now()) {
        assert!(time.from < time.until && time.text_range.start >= end, "{text:?}: {time:?}");
        assert!(text.get(time.text_range.clone()).is_some_and(|text| !text.is_empty()), "{text:?}");
        end = time.text_range.end;
    }
}

#[test]
fn finding_times_is_linear() {
    let now = now();
    let pieces = "tea |may |5 |last |since |between |on |the |2 days |5/|20230505 |5月|二|昨|tea|é|.|every Friday |from 3 to |a couple of ";
    for piece in pieces.split('|') {
        crate::text::steps::check_linear(piece, 400, |text| named(text, &now).len());
    }
}
