//! Words that keep a conversation going and say nothing to the next one.

use std::sync::LazyLock;

use super::moves::without_fillers;
use super::phrases::Phrases;
use super::remember::refers_back;

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

/// Whether nothing in a sentence means anything to another conversation.
pub(super) fn is_small_talk(sentence: &str) -> bool {
    let text = without_fillers(sentence);
    refers_back(text) || is_whole(&SMALL_TALK, text) || is_bare_order(text)
}

/// Whether the text is one of the phrases, perhaps with a polite word behind it.
pub(super) fn is_whole(phrases: &Phrases, text: &str) -> bool {
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
