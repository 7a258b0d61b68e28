//! Whether a message asks about the past, so that the archive is worth looking into.
//!
//! Words and dates in the languages that are told apart easily. A miss costs nothing that `recall` does not find; a
//! false alarm costs a few lines of the budget.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::model::Task;

use super::similar::distinct_words;
use super::times;

/// Phrases between word boundaries.
const PHRASES: &[&str] = &[
    // English
    "yesterday",
    "last time",
    "last night",
    "last week",
    "last month",
    "last year",
    "last summer",
    "last winter",
    "last spring",
    "last autumn",
    "last fall",
    "last monday",
    "last tuesday",
    "last wednesday",
    "last thursday",
    "last friday",
    "last saturday",
    "last sunday",
    "the other day",
    "this morning",
    "ago",
    "previously",
    "back then",
    "back in",
    "in the past",
    "earlier this",
    "earlier today",
    "did we",
    "did i",
    "have we",
    "had we",
    "we did",
    "we had",
    "we talked",
    "we discussed",
    "we decided",
    "we agreed",
    "i told you",
    "i said",
    "i mentioned",
    "you said",
    "you told me",
    "you suggested",
    "remember when",
    "do you remember",
    "remind me what",
    "history of",
    "so far",
    "when was",
    "used to",
    "when did",
    "what happened",
    "already done",
    "already tried",
    // German, French, Spanish
    "gestern",
    "vorgestern",
    "letztes mal",
    "letzte woche",
    "letzten monat",
    "letztes jahr",
    "neulich",
    "damals",
    "haben wir",
    "hatten wir",
    "habe ich dir",
    "hier soir",
    "la semaine dernière",
    "le mois dernier",
    "l'année dernière",
    "la dernière fois",
    "avons-nous",
    "ayer",
    "la semana pasada",
    "el mes pasado",
    "el año pasado",
    "la última vez",
    "hicimos",
    "hace una semana",
];

/// Pieces of text in scripts without word boundaries.
const PIECES: &[&str] = &[
    // Chinese, simplified and traditional
    "昨天",
    "前天",
    "昨晚",
    "上次",
    "上周",
    "上週",
    "上星期",
    "上个月",
    "上個月",
    "去年",
    "前年",
    "之前",
    "以前",
    "过去",
    "過去",
    "当时",
    "當時",
    "那时",
    "那時",
    "那次",
    "曾经",
    "曾經",
    "历史",
    "歷史",
    "还记得",
    "還記得",
    "记不记得",
    "說過",
    "说过",
    "聊过",
    "聊過",
    "讨论过",
    "討論過",
    "决定过",
    "做过",
    "做過",
    "早些时候",
    "天前",
    "周前",
    "个月前",
    "個月前",
    "年前",
    // Japanese, Korean
    "昨日",
    "先週",
    "先月",
    "前回",
    "この間",
    "あの時",
    "어제",
    "지난주",
    "지난달",
    "지난번",
    "작년",
    "예전에",
    "그때",
];

/// Whether a message asks about what was.
pub fn is_asked_about(message: &str, now: Timestamp) -> bool {
    let text = message.to_lowercase();
    PIECES.iter().any(|piece| text.contains(piece))
        || PHRASES.iter().any(|phrase| has_phrase(&text, phrase))
        || names_past_time(message, &now.to_zoned(TimeZone::UTC))
}

pub(super) fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(phrase)
        .any(|(at, found)| is_edge(text[..at].chars().next_back()) && is_edge(text[at + found.len()..].chars().next()))
}

/// Whether a message names a time that is over. What is only assumed to be in the past must be so in this year and before
/// this month: in November, `December 24` and `on Friday` are as likely ahead.
fn names_past_time(message: &str, now: &Zoned) -> bool {
    let month = now.first_of_month().and_then(|day| day.start_of_day());
    let (month, now_at) = (month.map_or(now.timestamp(), |month| month.timestamp()), now.timestamp());
    let is_this_year = |at: Timestamp| at.to_zoned(now.time_zone().clone()).year() == now.year();
    times::named(message, now)
        .iter()
        .any(|time| if time.is_assumed { time.until <= month && is_this_year(time.from) } else { time.until <= now_at })
}

/// How much of a task's title a message must say to be about it.
const STRONG: f64 = 0.6;

/// Whether a message speaks of a task by most of its title, and by two words at least.
pub fn is_about(message_words: &[String], task: &Task) -> bool {
    let title = distinct_words(&task.title);
    let shared = title.iter().filter(|word| message_words.binary_search(word).is_ok()).count();
    shared >= 2 && shared as f64 >= STRONG * title.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(message: &str) -> bool {
        is_asked_about(message, "2026-11-16T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn phrases_and_dates_in_several_languages() {
        for message in [
            "How did we fix that bug last week?",
            "what did I say about the budget",
            "Two weeks ago there was an outage",
            "do you remember the name of the restaurant?",
            "What happened on 2026-05-07?",
            "the meeting on May 7 about prices",
            "the 3rd of March",
            "what was shipped in october 2025?",
            "the party on December 24, 2020",
            "24 December 2020 was cold",
            "我们上周怎么修的那个问题？",
            "之前聊过的方案",
            "5月7日的会议",
            "Was haben wir gestern beschlossen?",
            "先週の会議",
        ] {
            assert!(asks(message), "{message}");
        }
    }

    #[test]
    fn what_is_asked_now_is_not_about_the_past() {
        for message in [
            "Write a function that sorts a list",
            "How do I deploy this?",
            "Remind me on 2027-01-01",
            "Book it for December 24",
            "Book it for the 24th of December 2027",
            "May I ask you something?",
            "a cargo build fails",
            "我想喝茶",
            "下周三开会",
        ] {
            assert!(!asks(message), "{message}");
        }
    }
}
