//! Messages read as questions, and dates as people write them.

use throughline_core::recall::times::{MAX_TIMES, named};
use throughline_core::recall::{Criteria, MAX_WORDS, Question, Terms, analysis};
use throughline_core::text::{own_words::own_words, redact::redact, relative_dates::dated, sentences, tokens};
use throughline_core::when;

pub(super) fn run(bytes: &[u8]) {
    let text = super::text(bytes);
    questions(&text);
    times(&text);
    pieces(&text);
    filters(&text);
}

fn questions(text: &str) {
    let now = super::now();
    let question = Question::of(text, &now);
    assert_eq!(question, Question::of(text, &now), "one message, one question");
    assert!(question.words.len() <= MAX_WORDS);
    let known = question.words.len();
    for part in &question.parts {
        assert!(known == 128 || part.words >> known == 0, "a part has a word that is not there");
        assert!(part.pairs.iter().all(|(one, other)| usize::from(*one) < known && usize::from(*other) < known));
        // A sentence counts less than the whole, and less again for every sentence behind it.
        assert!((0.0..=1.5).contains(&part.discount), "a discount of {}", part.discount);
    }
    assert!(question.words.iter().all(|word| word.weight.is_finite() && word.weight >= 0.0));
    assert!(question.words_in(text).len() <= known);
    for term in Terms::of_query(text).as_slice() {
        assert!(!term.is_empty() && !term.contains(char::is_whitespace), "the term {term:?}");
    }
    // A ligature becomes up to eighteen letters; each word is there as it is and as its stem.
    assert!(analysis::index_text(text).len() <= 64 * (text.len() + 1));
}

fn times(text: &str) {
    let now = super::now();
    let times = named(text, &now);
    assert!(times.len() <= MAX_TIMES);
    for time in &times {
        assert!(time.from <= time.until, "{time:?}");
        assert!(text.get(time.text_range.clone()).is_some_and(|words| !words.trim().is_empty()), "{time:?}");
    }
    if let Ok(at) = when::parse(text, &now) {
        assert!(!when::describe(at, &now).is_empty());
    }
    let date = now.date();
    assert!(dated(text, date).len() <= 32 * (text.len() + 1));
}

/// What reads text in pieces gives pieces of it, in order.
fn pieces(text: &str) {
    let stand_in_order = |pieces: Vec<&str>| {
        let mut from = 0;
        for piece in pieces {
            let at = piece.as_ptr() as usize - text.as_ptr() as usize;
            assert!(at >= from && at + piece.len() <= text.len(), "{piece:?} stands before {from}");
            from = at + piece.len();
        }
    };
    stand_in_order(sentences::sentences(text));
    stand_in_order(own_words(text));
    let redacted = redact(text).text;
    assert_eq!(redact(&redacted).text, redacted, "redacting twice changes nothing");
    let max = text.len() % 97;
    let cut = tokens::cut(text, max);
    assert!(text.starts_with(cut) && tokens::estimate(cut) <= max, "{cut:?} in {max} tokens");
}

fn filters(text: &str) {
    let mut lines = text.lines().map(str::to_owned);
    let mut next = || lines.next().filter(|line| !line.is_empty());
    let criteria = Criteria { project: next(), ..Criteria::default() };
    let _ = criteria.filter(&super::now());
}
