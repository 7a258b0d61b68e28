//! Sentences that are a fact, with its kind, and sentences that are none.

mod chinese;
mod english;
mod habits;

use super::statement::statement;

/// `expected` is `kind`, or `kind: text` where something was cut off, or empty for no fact.
fn check(sentence: &str, expected: &str) {
    let (kind, text) = expected.split_once(": ").unwrap_or((expected, sentence));
    let found = statement(sentence).map(|(kind, text)| (kind.as_str(), text));
    let expected = (!expected.is_empty()).then_some((kind, text));
    assert_eq!(found, expected, "of {sentence:?}");
}

fn check_kind(kind: &str, sentences: &[&str]) {
    sentences.iter().for_each(|sentence| check(sentence, kind));
}

#[test]
fn other_languages() {
    check_kind("identity", &["Ich heiße Jürgen.", "Ich wohne in Köln.", "Me llamo Inés.", "J’habite à Lyon."]);
    check_kind("preference", &["Ich mag kurze Antworten.", "Prefiero el tren.", "Je préfère le thé."]);
    check_kind(
        "follow_up",
        &["Erinnere mich an den Zahnarzt.", "Recuérdame llamar a Ana.", "Rappelle-moi d'appeler Léa."],
    );
    check_kind("decision", &["Hemos decidido viajar en tren."]);
    check_kind("", &["Wie heiße ich?", "¿Me gusta?", "Qui suis-je ?"]);
}
