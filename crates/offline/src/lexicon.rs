//! Cues: the phrases that tell what a sentence is for, in English and Chinese, with the basics of some more languages.
//!
//! Found in one pass by their first word, so that a longer table does not cost time. At one place the longest phrase
//! wins: `never mind` is no `never`.

use std::collections::HashMap;
use std::sync::LazyLock;

use throughline_core::text::sentences::{is_cjk, is_word_char};

/// What a phrase tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    /// Something was decided.
    Decided,
    /// A preference or a constraint.
    Prefers,
    /// Work in progress.
    Works,
    /// Work that is done, or what was found.
    Done,
    /// Something is left to do or to answer.
    Opens,
    /// Takes back what was said before.
    Corrects,
    /// What follows is not wanted any more.
    Rejects,
    /// A suggestion.
    Proposes,
    /// A yes to a suggestion.
    Accepts,
    /// Hands over a text that is nobody's own word: what follows is material.
    Material,
    /// Says nothing.
    Chatter,
}

/// A phrase in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// What it tells.
    pub(super) cue: Cue,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Phrases between bars, in lower case.
const PHRASES: &[(Cue, &str)] = &[
    (
        Cue::Decided,
        "decided|we decide|decision:|decision is|the decision|let's go with|lets go with|let's use|lets use|let's stick with|\
        let's keep|we'll go with|we'll use|we will use|we'll keep|i'll go with|i'll use|i'll take|i will use|going with|\
        we're using|we are using|settled on|we agreed|agreed on|we chose|i chose|i've chosen|we picked|final answer|switch to|\
        switched to|make it|we'll do|let's do|booked|i moved the|we moved the|i've moved the|we've moved the|we moved from|we've moved from|we moved to|we switched from|we migrated from|we migrated to|postponed|rescheduled|pushed back to|我们决定|我決定|我们選|我决定|决定用|决定了|决定去|决定把|決定用|我們決定|就用|那就用|\
        就选|就定|就按|我们选|最终选|确定用|敲定|定下来|改用|改成|换成|改到|咱们用|订好了|定在|entschieden|wir nehmen|wir verwenden|wir nutzen|\
        beschlossen|hemos decidido|decidimos|vamos a usar|vamos con|usaremos|avons décidé|a décidé|on va utiliser|on prend|\
        にしましょう|に決め|を使います|にします",
    ),
    (
        Cue::Prefers,
        "i prefer|i'd prefer|prefer|i like|i love|i hate|i don't like|i dislike|can't stand|always|never|must|must not|\
        mustn't|i don't want|we don't want|don't ever|no more than|at most|at least|has to be|have to be|needs to be|\
        only use|make sure|from now on|not allowed|budget is|deadline is|allergic|vegetarian|vegan|favorite|favourite|\
        i usually|please don't|please keep|remember that|keep in mind|记住|请记住|do not use|don't use|avoid|必须|必須|喜欢|喜歡|更喜欢|讨厌|不要|别用|千万别|千万不要|\
        一定要|偏好|习惯|只能|不能|绝不|从不|总是|务必|最好|尽量|过敏|预算|以后都|截止|请用|请不要|禁止|bevorzuge|ich mag|niemals|immer|\
        auf keinen fall|muss unbedingt|prefiero|me gusta|no me gusta|siempre|nunca|debe ser|je préfère|j'aime|\
        je n'aime pas|toujours|jamais|il faut|の方が好き|好き|必ず|絶対",
    ),
    (
        Cue::Works,
        "working on|i'm fixing|i'm implementing|i'm building|i'm writing|i'm trying|i am trying|i'm debugging|i'm planning|\
        we're planning|i'm looking to|i'm looking into|i'm migrating|i'm refactoring|i'm setting up|i'm learning|i'm preparing|we're building|implementing|\
        debugging|refactoring|migrating|i'm using|help me|i need help|i want to|i need to|we need to|i'd like to|\
        i would like to|can you help|could you help|trying to|currently|right now i|正在|在做|在写|在修|在弄|在准备|在学|想要|我想|我要|\
        我在|帮我|需要|打算|计划|準備|ich arbeite an|ich versuche|ich möchte|ich will|estoy trabajando|estoy haciendo|\
        quiero|necesito|estoy intentando|je travaille sur|j'essaie|je veux|je voudrais|j'ai besoin|しています|したい",
    ),
    (
        Cue::Done,
        "fixed|i've added|i added|i've updated|i've created|i've fixed|finished|completed|done|merged|deployed|works now|\
        is working now|passes|pass now|passing|resolved|solved|root cause|the cause|the problem was|the issue was|\
        the problem is|the issue is|the fix|turned out|turns out|because of|caused by|shipped|released|implemented|closed|\
        sent|paid|完成了|完成|搞定|弄好了|好了|修好了|解决了|解决|已经|原因是|问题是|问题在于|通过了|上线了|根本原因|交了|买了|发了|behoben|erledigt|\
        fertig|gelöst|arreglado|terminado|resuelto|hecho|corrigé|terminé|résolu|fini|完了|できました|直りました",
    ),
    (
        Cue::Opens,
        "todo|to do:|to-do|fixme|next step|next steps|next we|next i|next up|next time|tomorrow|remind me|reminder|don't forget|\
        still need|still needs|still have to|still to do|still fails|still failing|still open|still missing|still not|\
        remaining|open question|not sure yet|undecided|tbd|need to decide|haven't decided|later we|follow up|follow-up|\
        get back to|pending|waiting for|waiting on|blocked|i'll check|i will check|we should revisit|by monday|by tuesday|\
        by wednesday|by thursday|by friday|by saturday|by sunday|next week|next month|not yet|haven't yet|i haven't|\
        we haven't|unresolved|left to do|to be done|下次|待办|记得|記得|还没|還沒|提醒我|明天|下周|下週|下一步|回头|接下来|尚未|未解决|还需要|还要|还差|\
        待确认|待定|没想好|以后再|等他|等她|等他们|别忘了|之前要|后天|morgen|erinnere mich|nächste woche|noch nicht|noch offen|\
        muss noch|mañana|recuérdame|la próxima|todavía no|falta|pendiente|demain|rappelle-moi|la prochaine|pas encore|\
        il reste|à faire|明日|まだ|次回|忘れないで|あとで",
    ),
    (
        Cue::Corrects,
        "actually|no, |wait,|wait no|scratch that|on second thought|i meant|correction|that's wrong|that is wrong|\
        that's not right|not right|change of plan|changed my mind|instead|i was wrong|不对|不對|其实|其實|更正|改用|改成|换成|改到|\
        说错了|弄错了|还是用|还是去|还是选|我改主意|doch lieber|stattdessen|eigentlich|en realidad|mejor|en fait|finalement|plutôt|\
        やっぱり|ではなく|じゃなくて",
    ),
    (
        Cue::Rejects,
        "instead of|rather than|, not|not use|don't use|no longer|drop the|forget about|forget the|scrap|scrap the|\
        replaces|replacing|不用|不要用|别用|而不是|不再用|取代|代替|放弃|不去|statt|anstatt|en lugar de|en vez de|au lieu de|plutôt que",
    ),
    (
        Cue::Proposes,
        "i suggest|i'd suggest|i recommend|i'd recommend|i propose|my suggestion|my recommendation|we could|you could|\
        how about|建议|推荐|不如|ich empfehle|ich schlage|sugiero|recomiendo|je suggère|je recommande|je propose|おすすめ",
    ),
    (
        Cue::Accepts,
        "yes|yep|yeah|ok|okay|sure|sounds good|go ahead|do it|let's do that|agreed|perfect|works for me|great|好|好的|好啊|可以|行|\
        没问题|就这样|同意|嗯|对|ja|gut|einverstanden|sí|vale|de acuerdo|oui|d'accord|parfait|はい|了解",
    ),
    (
        Cue::Material,
        "translate|translation|rephrase|proofread|rewrite|summarize|summarise|the following|pretend|role-play|roleplay|act as|\
        lyrics|email says|letter says|write a|write an|draft a|draft an|write me|翻译|润色|改写|以下|扮演|翻譯|原文|歌词|作文|写一篇|写一封|写一段|\
        übersetze|traduce|traduis",
    ),
    (
        Cue::Chatter,
        "hi|hello|hey|hey there|hi there|good morning|good evening|good afternoon|good night|thanks|thank you|thanks a lot|\
        thank you so much|thx|cheers|bye|goodbye|see you|see you tomorrow|see you next time|talk to you|you're welcome|\
        no problem|no worries|never mind|nevermind|great question|good question|happy to help|glad to help|glad it|\
        let me know|feel free|hope this helps|hope that helps|of course|sounds great|anything else|how are you|\
        nice to meet|lol|haha|one moment|just a moment|hold on|give me a|it must be|that must be|there must be|must have been|must say|must admit|\
        i like it|i like that|i love it|i like this|let me check|let me look|let me see|here's|here is|here are|\
        would you like|do you want me|always welcome|on it|a bit|make sense|makes sense|not bad|no, thanks|no thanks|\
        no, that's all|no, that's fine|what's up|have a nice|have a great|have a good|你好|您好|嗨|早上好|晚上好|晚安|谢谢|谢谢你|多谢|感谢|\
        再见|拜拜|不客气|没关系|没事|哈哈|辛苦了|下次见|下次再聊|明天见|不要紧|别担心|不用谢|不用了|请稍等|稍等|好问题|还有什么|希望对你|随时|\
        需要我|要不要我|hallo|guten morgen|danke|tschüss|bitte sehr|hola|buenos días|gracias|adiós|de nada|bonjour|merci|\
        salut|au revoir|de rien|こんにちは|ありがとう|おはよう|さようなら",
    ),
];

type Index = HashMap<String, Vec<(&'static str, Cue)>>;

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::new();
    for (cue, phrases) in PHRASES {
        for phrase in phrases.split('|').map(str::trim_start).filter(|phrase| !phrase.trim().is_empty()) {
            index.entry(key(phrase).0).or_default().push((phrase, *cue));
        }
    }
    for phrases in index.values_mut() {
        phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
    }
    index
});

/// The first word or CJK character or sign of a text, folded, and its length in the text.
fn key(text: &str) -> (String, usize) {
    let word = |c: char| is_word_char(c) || is_apostrophe(c);
    let len = match text.chars().next() {
        Some(c) if is_word_char(c) => text.find(|c| !word(c)).unwrap_or(text.len()),
        first => first.map_or(0, char::len_utf8),
    };
    (text[..len].chars().map(fold).collect(), len)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '\u{2bc}')
}

/// Lower case where that is one character; every apostrophe is the plain one.
pub(super) fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        _ if is_apostrophe(c) => '\'',
        (Some(lower), None) => lower,
        _ => c,
    }
}

/// How many bytes of `text` the phrase at its beginning takes, whatever the case, ending at the end of a word.
pub(super) fn prefix(text: &str, phrase: &str) -> Option<usize> {
    let mut chars = text.chars();
    for expected in phrase.chars() {
        if chars.next().map(fold) != Some(expected) {
            return None;
        }
    }
    let rest = chars.as_str();
    let ends_in_word = phrase.chars().next_back().is_some_and(is_word_char);
    let goes_on = ends_in_word && rest.starts_with(is_word_char);
    (!goes_on).then_some(text.len() - rest.len())
}

/// Every cue in a text, in order. One phrase may give several.
pub(super) fn cues(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (word, len) = key(&text[at..]);
        let mut step = len;
        let mut best = 0;
        for (phrase, cue) in INDEX.get(&word).into_iter().flatten() {
            if phrase.len() < best {
                break;
            }
            if let Some(end) = prefix(&text[at..], phrase) {
                best = phrase.len();
                step = step.max(end);
                found.push(Found { cue: *cue, start: at, end: at + end });
            }
        }
        at += step;
    }
    found
}

/// About how many words a text has: a CJK character is half a word.
pub(super) fn count_words(text: &str) -> usize {
    let (mut words, mut cjk, mut inside) = (0, 0, false);
    for c in text.chars() {
        let is_word = is_word_char(c);
        words += usize::from(is_word && !inside);
        inside = is_word || (inside && is_apostrophe(c));
        cjk += usize::from(is_cjk(c) && c.is_alphanumeric());
    }
    words + cjk.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[Cue]) {
        let found: Vec<_> = cues(text).into_iter().map(|found| found.cue).collect();
        assert_eq!(found, expected, "in {text:?}");
    }

    #[test]
    fn finds_phrases_as_whole_words() {
        check("Let’s go with Postgres", &[Cue::Decided]);
        check("We DECIDED that", &[Cue::Decided]);
        check("I moved the launch to 3 May", &[Cue::Decided]);
        check("undecidedly so", &[]);
        check("the mustard is here", &[]);
        check("我们决定用 Rust", &[Cue::Decided]);
        check("改用Postgres", &[Cue::Decided, Cue::Corrects]);
        check("TODO: ship", &[Cue::Opens]);
        check("", &[]);
    }

    #[test]
    fn the_longest_phrase_wins() {
        check("never mind", &[Cue::Chatter]);
        check("use Postgres instead of MySQL", &[Cue::Rejects]);
        check("明天见", &[Cue::Chatter]);
    }

    #[test]
    fn counts_words_of_both_kinds() {
        for (text, expected) in [("", 0), ("don't do it", 3), ("我们决定", 2), ("用 Rust 写", 2), ("--", 0)] {
            assert_eq!(count_words(text), expected, "of {text:?}");
        }
    }
}
