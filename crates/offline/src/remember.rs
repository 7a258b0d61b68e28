//! What asks to keep something: `remember that …`, and `remember that.` behind what is meant.

use std::sync::LazyLock;

use throughline_core::text::sentences::clauses;

use super::moves::without_fillers;
use super::phrases::Phrases;
use super::smalltalk::is_whole;

/// What asks to remember the sentence before it, whole.
static REMEMBER_IT: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "remember that|remember this|remember it|please remember|please remember that|please remember this|please remember it|\
        don't forget|don't forget that|don't forget this|don't forget it|do not forget that|please don't forget|\
        please don't forget that|never forget that|keep that in mind|keep this in mind|keep it in mind|\
        please keep that in mind|please keep this in mind|please keep it in mind|bear that in mind|note that|note this|\
        note that down|note this down|note it down|please note that|write that down|make a note of that|make a note of this|\
        make a note|save that|save this|can you remember that|could you remember that|you should remember that|\
        记住这个|记住这点|记住这一点|请记住这个|请记住这点|请记住这一点|请记住|请你记住|记住|記住這個|請記住|記住|记一下|请记一下|记下来|请记下来|\
        帮我记住|帮我记一下|别忘了|别忘了这个|别忘了这一点|別忘了|不要忘了|merk dir das|bitte merken|recuérdalo|recuerda esto|\
        souviens-t'en|retiens ça|覚えておいて",
    )
});

/// What asks to remember the rest of the sentence.
static REMEMBER: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "please remember that|remember that|please remember:|remember:|please remember,|remember,|remember this:|please remember|\
        keep in mind that|please keep in mind that|bear in mind that|keep in mind|please keep in mind|remember|\
        请记住|請記住|请你记住|记住|記住|请记一下|记一下|帮我记住|帮我记一下|你要记住|merk dir bitte dass|merk dir bitte, dass|merk dir dass|\
        merk dir, dass|merk dir bitte:|merk dir:|merk dir|denk daran dass|denk daran, dass|recuerda que|recuerda:|ten en cuenta que|\
        souviens-toi que|rappelle-toi que|retiens que|retiens:|garde en tête que|note bien que|覚えておいて",
    )
});

static NOT_TO_REMEMBER: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "to|me|when|how|what|why|who|where|if|the last|the time|this|that time|it|us|back|了|吗|没|没有|你|提醒|明天|后天|待会|等会|下午|晚上|de|d'|noch",
    )
});

/// What a sentence asks to remember, where it says so first.
pub(super) fn to_remember(sentence: &str) -> Option<&str> {
    let rest = REMEMBER.after(sentence)?.trim_start_matches([' ', ':', '：', ',', '，']);
    (!rest.is_empty() && !NOT_TO_REMEMBER.begin(rest)).then_some(rest)
}

/// Whether a sentence asks to remember the one before it, and nothing else.
pub(super) fn refers_back(sentence: &str) -> bool {
    is_whole(&REMEMBER_IT, without_fillers(sentence))
}

/// What a sentence asks to remember at its end: `The rate is 23%, remember that.`
pub(super) fn before_reference(sentence: &str) -> Option<&str> {
    let last = clauses(sentence).last().copied()?;
    let before = &sentence[..sentence.len() - last.len()];
    (!before.is_empty() && refers_back(last))
        .then(|| before.trim_end_matches([' ', ',', '，', ';', '；', '—', '-', '–']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_refers_to_the_sentence_before() {
        for text in [
            "Remember that.",
            "Please remember this!",
            "Don’t forget that.",
            "ok, keep that in mind please",
            "Remember that for next time.",
            "记住这个。",
            "请记住！",
            "请记住这一点",
        ] {
            assert!(refers_back(text), "{text:?}");
        }
        for text in
            ["Remember that I live in Rome.", "Don't forget to call", "记住我的名字", "Note that it works", "that"]
        {
            assert!(!refers_back(text), "{text:?}");
        }
        assert_eq!(before_reference("The rate is 23%, remember that."), Some("The rate is 23%"));
        assert_eq!(before_reference("税率是 23%，请记住。"), Some("税率是 23%"));
        assert_eq!(before_reference("Remember that."), None);
    }

    #[test]
    fn knows_what_is_to_be_remembered() {
        assert_eq!(to_remember("Remember that I live in Rome"), Some("I live in Rome"));
        assert_eq!(to_remember("remember to call Bob"), None);
        assert_eq!(to_remember("请记住，我不吃辣"), Some("我不吃辣"));
    }
}
