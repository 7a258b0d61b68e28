//! Words that keep a conversation going and say nothing to the next one; and those that ask to keep what was just said.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::statement::without_fillers;
use throughline_core::text::sentences::clauses;

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

/// What may follow it.
static POLITE: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "please|for me|for later|for next time|for the future|too|as well|ok|okay|thanks|thank you|吧|哦|啊|哈|了|谢谢|bitte|por favor",
    )
});

/// Sentences of which nothing is worth a line, whole.
static SMALL_TALK: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "where were we|where did we stop|where did we leave off|where are we|what were we doing|what was i saying|\
        what were we talking about|what's next|what next|what now|and now|now what|who are you|are you there|you there|\
        any questions|that's all|that is all|that's it|that's it for today|that's all for today|that's all for now|\
        got it|i see|sounds good|all good|all right|alright|fair enough|no idea|i don't know|not really|why not|why|how so|\
        really|exactly|right|very good|well done|good job|nice work|good bot|talk later|talk soon|see you|see you later|\
        good to know|let's go|let's start|let's continue|let's go on|let's move on|one more|same here|me too|gotta go|\
        i have to go|i need to go|i'm back|i am back|back again|i'm here|\
        继续|接着说|接着来|然后呢|我们说到哪了|说到哪了|我们讲到哪了|上次说到哪|上次说到哪了|知道了|明白|明白了|懂了|原来如此|可以了|没问题|开始吧|来吧|在吗|就这样|就这些|先这样|weiter|wo waren wir|seguimos|on continue",
    )
});

/// What makes an order of a proposal.
static LETS: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::new("let's|lets|let us|then let's|so let's|ok let's|we'll|we will"));

/// Verbs that an order begins with.
static ORDERS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "go|continue|proceed|carry|keep|do|try|show|tell|give|explain|repeat|remember|remind|stop|wait|help|look|check|run|\
        fix|make|send|read|write|open|start|finish|undo|redo|retry|change|remove|delete|add|use|say|forget|let|move|skip|\
        summarize|summarise|shorten|expand|please|can you|could you|would you",
    )
});

/// Words that name nothing: an order of nothing else says nothing.
const NAMELESS: &str = " it that this these those them me us again please on ahead now more one so too then once all the rest \
    next for up down there here you your a an to with going same thing way what else out over in back off at first last \
    another time try do go some of bit little shorter longer better and everything something anything ";

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

/// Whether nothing in a sentence means anything to another conversation.
pub(super) fn is_small_talk(sentence: &str) -> bool {
    let text = without_fillers(sentence);
    refers_back(text) || is_whole(&SMALL_TALK, text) || is_bare_order(text)
}

/// Whether the text is one of the phrases, perhaps with a polite word behind it.
fn is_whole(phrases: &Phrases, text: &str) -> bool {
    phrases.ends(text).any(|end| {
        let rest = text[end..].trim_start_matches(|c: char| !c.is_alphanumeric());
        let rest = POLITE.after(rest).unwrap_or(rest);
        !rest.contains(char::is_alphanumeric)
    })
}

/// `Go on`, `try it again`, `can you show me that one?`
fn is_bare_order(text: &str) -> bool {
    let mut rest = text;
    while let Some(after) = ORDERS.after(rest).filter(|after| after.len() < rest.len()) {
        rest = after;
    }
    let is_nameless = |word: &str| NAMELESS.contains(&format!(" {} ", word.to_lowercase()));
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    rest.len() < text.len() && words.all(is_nameless)
}

/// `Run it again`, `let's remove that`: an order that names next to nothing.
pub(super) fn is_order(text: &str) -> bool {
    let text = without_fillers(text);
    let text = LETS.after(text).unwrap_or(text);
    is_bare_order(text)
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
    fn knows_small_talk() {
        for text in [
            "Where were we?",
            "ok go on",
            "go on",
            "Continue please",
            "Try it again",
            "Can you show me that one?",
            "That's all for today.",
            "Remember that.",
            "继续",
        ] {
            assert!(is_small_talk(text), "{text:?}");
        }
        for text in [
            "Fix the parser",
            "Where were we going on holiday?",
            "Show me the launch page",
            "We go on Friday",
            "继续写论文",
            "Why does the build fail?",
        ] {
            assert!(!is_small_talk(text), "{text:?}");
        }
    }
}
