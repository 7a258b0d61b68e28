//! Lists for measuring retrieval: messages that need no memory, questions with a memory that shares no word with them,
//! and the ordinary memories of a fictional person, none of which answers one of the questions.

use std::sync::LazyLock;

/// A question and the memory that answers it in other words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paraphrase {
    /// `en`, `zh`, `de`, `fr`, `es` or `ja`.
    pub language: String,
    /// What is asked.
    pub question: String,
    /// What answers it.
    pub memory: String,
}

/// Messages that people type and that need no memory.
pub fn everyday() -> Vec<&'static str> {
    include_str!("../data/retrieval/everyday.txt").lines().collect()
}

/// Memories of one fictional person.
pub fn ordinary() -> Vec<&'static str> {
    include_str!("../data/retrieval/ordinary.txt").lines().collect()
}

/// Questions with the memory that answers each.
pub fn paraphrases() -> &'static [Paraphrase] {
    static PAIRS: LazyLock<Vec<Paraphrase>> = LazyLock::new(|| {
        let lines = include_str!("../data/retrieval/paraphrases.jsonl").lines();
        lines.map(|line| paraphrase(&serde_json::from_str(line).expect("a line of JSON"))).collect()
    });
    &PAIRS
}

fn paraphrase(json: &serde_json::Value) -> Paraphrase {
    let text = |field: &str| json[field].as_str().expect("a field of text").to_owned();
    Paraphrase { language: text("language"), question: text("question"), memory: text("memory") }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use throughline_core::recall::Terms;
    use throughline_core::text::frequency::zipf;

    use super::*;

    /// A term that is rarer than this says what a text is about.
    const RARE: f32 = 4.6;

    fn terms(text: &str) -> HashSet<String> {
        Terms::of_query(text).as_slice().iter().cloned().collect()
    }

    /// Words that say what a text is about, a stem and its word as one.
    fn rare_words(text: &str) -> HashSet<String> {
        let is_rare = |term: &String| term.chars().all(|c| c < '\u{2e80}') && zipf(term) < RARE;
        terms(text).into_iter().filter(is_rare).map(|term| term.chars().take(4).collect()).collect()
    }

    #[test]
    fn everyday_messages_are_distinct() {
        let messages = everyday();
        assert_eq!(messages.len(), 100);
        assert_eq!(messages.iter().collect::<HashSet<_>>().len(), 100);
        assert!(messages.iter().filter(|message| message.split(' ').count() >= 10).count() >= 10);
    }

    #[test]
    fn a_question_shares_no_content_word_with_its_memory() {
        let pairs = paraphrases();
        assert_eq!(pairs.len(), 60);
        assert_eq!(pairs.iter().filter(|pair| pair.language == "en").count(), 48);
        for Paraphrase { question, memory, .. } in pairs {
            let shared: Vec<String> = terms(question).intersection(&terms(memory)).cloned().collect();
            assert_eq!(shared, [""; 0], "{question} / {memory}");
        }
    }

    #[test]
    fn ordinary_memories_are_distinct_and_of_ordinary_length() {
        let memories = ordinary();
        assert_eq!(memories.len(), 1000);
        assert_eq!(memories.iter().collect::<HashSet<_>>().len(), 1000);
        let unspaced = |memory: &str| memory.chars().any(|c| c >= '\u{2e80}');
        for memory in memories.iter().filter(|memory| !unspaced(memory)) {
            assert!((6..=25).contains(&memory.split_whitespace().count()), "{memory}");
        }
    }

    #[test]
    fn no_ordinary_memory_is_about_the_subject_of_a_pair() {
        let memories: Vec<_> = ordinary().into_iter().map(|memory| (memory, rare_words(memory))).collect();
        let mut about = Vec::new();
        for pair in paraphrases() {
            let subject = rare_words(&format!("{} {}", pair.question, pair.memory));
            for (memory, words) in &memories {
                let shared: Vec<_> = words.intersection(&subject).collect();
                if shared.len() > 1 {
                    about.push(format!("{shared:?}: {memory} / {} / {}", pair.question, pair.memory));
                }
            }
        }
        assert!(about.is_empty(), "{} are:\n{}", about.len(), about.join("\n"));
    }
}
