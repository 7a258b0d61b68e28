use jiff::civil;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

/// Wednesday, 9 April 2025.
fn asked(message: &str) -> Question {
    Question::of(message, &civil::date(2025, 4, 9).at(15, 30, 0, 0).to_zoned(TimeZone::UTC).unwrap())
}

fn terms(message: &str) -> Vec<String> {
    asked(message).terms()
}

fn words_of(question: &Question, part: &Part) -> Vec<String> {
    bits(part.words).map(|at| question.words[at].term.clone()).collect()
}

#[test]
fn words_are_those_of_the_index_without_stop_words() {
    assert_eq!(terms("Where are the keys of the observatory?"), ["key", "observatori"]);
    assert_eq!(terms("the keys, the keys and a key"), ["key"], "each once");
    assert_eq!(
        terms("where is it?"),
        analysis::Terms::of_query("where is it?").as_slice(),
        "where there is nothing else"
    );
    assert!(!terms("where is it?").is_empty());
    for nothing in ["", "  ", "?!", "…"] {
        assert!(asked(nothing).is_empty(), "{nothing:?}");
    }
}

#[test]
fn rare_words_say_more() {
    let question = asked("a quiet place with a theodolite, obviously");
    let weight = |term: &str| question.words.iter().find(|word| word.term == term).map(|word| word.weight);
    assert!(weight("theodolit") > weight("quiet") && weight("quiet") > weight("place"), "{:?}", question.words);
    assert!(question.words.iter().all(|word| word.weight > 0.0), "every word says something");
    assert_eq!(question.weight(0), 0.0);
}

#[test]
fn dates_are_times_and_no_words() {
    for (message, expected) in [
        ("what did Marta say on 3 March 2025 about lenses?", &["marta", "say", "lens"][..]),
        ("what did Marta say yesterday about lenses?", &["marta", "say", "lens"]),
        ("what did Marta say about lenses in March 2025?", &["marta", "say", "lens"]),
    ] {
        let question = asked(message);
        assert_eq!(question.times.len(), 1, "{message}");
        assert_eq!(question.terms(), expected, "{message}");
    }
    let yesterday = &asked("what was yesterday?").times[0];
    assert_eq!(yesterday.from.to_string(), "2025-04-08T00:00:00Z");
}

#[test]
fn every_sentence_is_a_question_and_the_last_count_most() {
    let question = asked(
        "The observatory in Coimbra ordered a new theodolite. My grandmother collects porcelain elephants. \
         Which supplier delivers telescopes to Lisbon?",
    );
    let parts: Vec<Vec<String>> = question.parts.iter().map(|part| words_of(&question, part)).collect();
    assert_eq!(parts.len(), 4, "the message, and its sentences: {parts:?}");
    assert_eq!(parts[0].len(), question.words.len(), "the message as a whole has every word");
    assert!(parts[1].contains(&"theodolit".to_owned()) && parts[3].contains(&"telescop".to_owned()), "{parts:?}");
    let discounts: Vec<f32> = question.parts.iter().map(|part| part.discount).collect();
    assert_eq!(discounts[0], 0.0, "the message as a whole counts most");
    assert!(discounts[1] > discounts[2] && discounts[2] > discounts[3] && discounts[3] > 0.0, "{discounts:?}");
}

#[test]
fn short_sentences_are_read_with_their_neighbour() {
    let question = asked("Hello! I am back. Which supplier delivers telescopes to Lisbon? Thanks.");
    assert_eq!(question.parts.len(), 1, "{:?}", question.parts);
}

#[test]
fn the_end_of_a_long_message_is_kept() {
    let story: Vec<String> = (0..400).map(|n| format!("{}{n}", ["gorbl", "snipv", "trazk", "plumq"][n % 4])).collect();
    let story: Vec<String> = story.chunks(10).map(|words| format!("{}.", words.join(" "))).collect();
    let question = asked(&format!("{} Where did Marta put the key of the theodolite?", story.join(" ")));
    assert_eq!(question.words.len(), MAX_WORDS);
    let terms = question.terms();
    for word in ["marta", "key", "theodolit"] {
        assert!(terms.contains(&word.to_owned()), "{word} is missing: {terms:?}");
    }
    let last = words_of(&question, question.parts.last().unwrap());
    assert_eq!(last, ["marta", "put", "key", "theodolit"]);
    assert!(question.parts.len() <= MAX_SENTENCES + 1, "{}", question.parts.len());
    assert!(question.texts.iter().all(|text| text.ends_with("the key of the theodolite?")), "{:?}", question.texts);
    assert!(question.texts.iter().all(|text| text.chars().count() <= 600));
}

#[test]
fn a_long_message_without_sentences_keeps_what_says_most() {
    let story = "we went there and then we came back and it was good ".repeat(40);
    let question = asked(&format!("theodolite {story}"));
    assert!(question.words.iter().any(|word| word.term == "theodolit"));
}

#[test]
fn words_that_stand_side_by_side_are_pairs() {
    let question = asked("the black hole camera");
    let pairs = &question.parts[0].pairs;
    let named: Vec<(&str, &str)> = pairs
        .iter()
        .map(|(left, right)| {
            let term = |at: u8| question.words[usize::from(at)].term.as_str();
            (term(*left), term(*right))
        })
        .collect();
    assert_eq!(named, [("black", "hole"), ("hole", "camera")]);
}

#[test]
fn names_are_found_as_they_are_spoken() {
    let question = asked("What did ANNA-MARIA and José say about Lynn's cat?");
    for name in ["Anna-Maria", "Jose", "anna", "Maria"] {
        assert!(question.names(name), "{name}");
    }
    for name in ["Ann", "Joseph", "Anna Schmidt", "", "?"] {
        assert!(!question.names(name), "{name}");
    }
}

#[test]
fn whose_words_are_asked_for() {
    for message in ["what did you recommend?", "Remind me of the title", "Was hast du empfohlen?", "你推荐的书"] {
        assert!(asked(message).asks_assistant, "{message}");
    }
    for message in ["what did I recommend?", "the youth club", "where does Marta live?"] {
        assert!(!asked(message).asks_assistant, "{message}");
    }
    assert!(asked("what did we say about lenses last week?").asks_past);
    assert!(!asked("which lens fits?").asks_past);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_message_is_read(message in prop_oneof![any::<String>(), "([a-z]{1,9}[ .?!]{1,2}){0,300}", "[一-龥。]{0,300}"]) {
        let question = asked(&message);
        prop_assert!(question.words.len() <= MAX_WORDS);
        prop_assert!(!question.parts.is_empty() && question.parts.len() <= MAX_SENTENCES + 1);
        for part in &question.parts {
            prop_assert!(bits(part.words).all(|at| at < question.words.len()));
            let known = |at: u8| part.words & (1 << at) != 0;
            prop_assert!(part.pairs.iter().all(|(left, right)| known(*left) && known(*right)));
        }
    }
}
