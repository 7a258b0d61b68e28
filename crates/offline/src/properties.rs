//! What holds for any conversation: nothing is invented, no budget is exceeded, nothing panics, and the same brief gives
//! the same reply.

use proptest::prelude::*;
use throughline_core::model::Turn;
use throughline_core::ports::{Brief, ExtractBrief, KnownFact, Model, SummaryBrief};
use throughline_core::prompts::NOTHING;
use throughline_core::text::tokens;

use super::corpus::turn;
use super::{Offline, one_line};

/// Pieces of real conversations, so that cues, code and odd Unicode meet each other.
fn fragment() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "We decided to use Postgres 16. ",
        "no, use Postgres not MySQL",
        "I prefer tabs, can you help?",
        "我们决定用 Rust，不要用 Go。",
        "还没决定！提醒我",
        "Remind me to call Ada tomorrow…",
        "```rust\nfn main() {}\n",
        "\n```\n",
        "\n- [ ] buy milk\n",
        "\n# Heading\n",
        "\nTypeError: x is undefined\n    at f (a.js:1:2)\n",
        "Traceback (most recent call last):\n  File \"a\", line 3\n",
        "<memory-context>",
        "</memory-context>",
        "My name is Ada",
        "That's wrong. ",
        "\r\n",
        "   ",
        ", ",
        "，",
        "İstanbul’da ",
        "e.g. ",
        "<",
        "> ",
        "instead of ",
        "btw, ",
        "请记住：",
        "We never deploy on Fridays. ",
        "I use Helix for Rust",
        "我们用飞书沟通。",
        "Our API listens on port 8443",
    ]);
    prop_oneof![3 => known.prop_map(str::to_owned), 1 => any::<String>(), 1 => "[a-zA-Z ,.?!']{0,60}"]
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let role = prop::sample::select(vec!["user", "user", "assistant", "tool", "system", "summary"]);
    let content = prop::collection::vec(fragment(), 0..8).prop_map(|parts| parts.concat());
    prop::collection::vec((role, content).prop_map(|(role, content)| turn(role, &content)), 0..6)
}

fn reply(brief: &Brief) -> String {
    Offline.complete(brief, &mut |_| true).unwrap().text
}

fn is_said(text: &str, turns: &[Turn]) -> bool {
    turns.iter().any(|turn| one_line(&turn.content).contains(text))
}

/// Whether every word of a text was said: words may be left out, and a name stand for a pronoun.
fn is_made_of(text: &str, turns: &[Turn]) -> bool {
    let words = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        parts.map(str::to_lowercase).collect()
    };
    let said: Vec<String> = turns.iter().flat_map(|turn| words(&turn.content)).collect();
    let joins =
        |word: &str| matches!(word, "is" | "are" | "est" | "s") || said.iter().any(|known| known.contains(word));
    words(text).iter().all(|word| joins(word))
}

fn check_summary(brief: SummaryBrief) -> Result<(), TestCaseError> {
    let turns = brief.turns.clone();
    let max_tokens = brief.max_tokens;
    let brief = Brief::Summarise(brief);
    let text = reply(&brief);
    prop_assert_eq!(&text, &reply(&brief));
    if text == NOTHING {
        return Ok(());
    }
    prop_assert!(tokens::estimate(&text) <= max_tokens, "{} tokens of {}", tokens::estimate(&text), max_tokens);
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("- ") {
            Some(bullet) => prop_assert!(is_said(bullet, &turns), "{:?} was not said", bullet),
            None => match line.strip_prefix("# ") {
                Some(title) => prop_assert!(is_said(title, &turns), "{:?} was not said", title),
                None => prop_assert!(line.starts_with("## "), "{:?}", line),
            },
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn summaries_are_verbatim_and_within_the_budget(turns in turns(), personal: bool, max_tokens in 0usize..300) {
        check_summary(SummaryBrief {
            person: Default::default(),
            personal, turns, previous: None, knowledge: vec!["Never said".to_owned()], max_tokens,
        })?;
    }

    #[test]
    fn facts_are_extractive_and_few(turns in turns(), known in any::<Vec<String>>()) {
        let known = known.iter().map(|text| KnownFact::said(text)).collect();
        let brief = ExtractBrief { before: Vec::new(), turns: turns.clone(), known };
        let brief = Brief::Extract(brief);
        let text = reply(&brief);
        prop_assert_eq!(&text, &reply(&brief));
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        let facts = parsed["facts"].as_array().unwrap();
        prop_assert!(facts.len() <= 20);
        for fact in facts {
            let said: Vec<Turn> = turns.iter().filter(|turn| turn.role.as_str() == "user").cloned().collect();
            prop_assert!(is_made_of(fact["text"].as_str().unwrap(), &said), "{} was not said", fact);
        }
    }
}

/// Many sentences, all with cues, of which a few fit.
#[test]
fn a_long_conversation_gives_a_short_summary_and_few_facts() {
    let lines: String = (0..2_000).map(|i| format!("We decided to move shelf {i} to room {}.\n", i % 97)).collect();
    let turns = vec![turn("user", &lines), turn("assistant", &lines)];
    let summary = SummaryBrief {
        personal: true,
        turns: turns.clone(),
        person: Default::default(),
        previous: None,
        knowledge: Vec::new(),
        max_tokens: 1000,
    };
    let summary = reply(&Brief::Summarise(summary));
    assert!(summary.lines().count() <= 63 && summary.contains("shelf 1999"), "{summary}");
    let facts = reply(&Brief::Extract(ExtractBrief { before: Vec::new(), turns, known: Vec::new() }));
    assert_eq!(facts.matches("\"kind\":\"decision\"").count(), 12);
}
