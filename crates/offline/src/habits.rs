//! What a person or their team does as a rule: `We always …`, `I use … for …`, `Our … runs on …`.
//!
//! These words begin more reports of trouble than habits, so that much is asked of the rest: a name or a purpose, no
//! pronoun, no past, no "but", nothing of today, no code.

use std::sync::LazyLock;

use super::lexicon::{count_words, prefix};
use super::openings::Kind;
use super::phrases::Phrases;
use super::weigh::specifics;
use throughline_core::text::sentences::is_cjk;

const MAX_WORDS: usize = 30;

/// Rules of a team; those of one person are among the openings.
static RULES: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "we always|we never|we usually|我们总是|我們總是|我们一直|我們一直|我们从不|我們從不|我们从来不|我们一向|我们绝不",
    )
});

static USES: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "i use|i mostly use|i mainly use|we use|we mostly use|we mainly use|我用的是|我们用的是|我们用|我們用|我用",
    )
});

/// What follows when it is a story or a mistake, and not a rule.
static NO_RULE: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "thought|wondered|knew|forget|forgot|get|got|had|have|was|were|felt|believe|run into|see|saw|end up|mix|\
        struggle|found|said|did|used|use to|could|can|can't|would|will|need|know|understood|meant|made|went|came|wrote|\
        built|spoke|told|gave|took|met|a|the|it|this|that|to|really|seem|want|been|heard|没|想|都在|以为|觉得|说|等|找|有|是|会|能",
    )
});

/// What points at this conversation, or says nothing by itself.
static NO_TOOL: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "it|this|that|them|these|those|the|to|both|all|some|something|any|one|two|a lot|your|my|his|her|their|our|\
        what|which|when|where|how|same|such|这|那|它|你|您|的|了|过|不|什么|哪|他|她|来|完|户|到|力|心|尽|一下|上面|同样|另|自己",
    )
});

/// A report, an objection or a question in the making.
static TROUBLE: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "but|however|it|them|error|errors|fail|fails|failed|failing|crash|crashes|crashed|bug|broken|wrong|problem|issue|\
        doesn't|does not|isn't|aren't|can't|cannot|won't|don't|didn't|i get|i got|and get|and got|returns|help|then|when i|\
        whenever|where|instead|again|still|already|yesterday|last week|last time|once|now|currently|should|could|would|might|can|\
        or|you|your",
    )
});
const TROUBLE_CJK: [&str; 26] = [
    "报错",
    "出错",
    "失败",
    "问题",
    "怎么",
    "但",
    "可是",
    "不行",
    "错误",
    "崩",
    "结果",
    "然后",
    "的时候",
    "还是",
    "不了",
    "不到",
    "吗",
    "吧",
    "试了",
    "试试",
    "试过",
    "刚",
    "昨天",
    "发现",
    "应该",
    "可以",
];

/// The kind of habit that a clause states.
pub(super) fn habit(clause: &str) -> Option<Kind> {
    if count_words(clause) > MAX_WORDS || clause.contains(['`', '(', '{', '=', '<', '"', '“']) {
        return None;
    }
    let has_trouble = TROUBLE.are_in(clause) || TROUBLE_CJK.into_iter().any(|word| clause.contains(word));
    if has_trouble || clause.contains("::") {
        return None;
    }
    if let Some(rest) = RULES.after(clause) {
        // 我们一直在等 is a story; 我们从不在周五部署 is none.
        let goes_on = rest.starts_with('在') && !clause.contains('不');
        return (!goes_on && is_rule(rest)).then(|| rule_kind(clause));
    }
    let uses = || USES.after(clause).is_some_and(is_tool);
    (uses() || ours(clause) || ours_in_chinese(clause)).then_some(Kind::Fact)
}

fn rule_kind(clause: &str) -> Kind {
    if prefix(clause, "we usually").is_some() { Kind::Preference } else { Kind::Constraint }
}

fn is_rule(rest: &str) -> bool {
    let first = rest.split_whitespace().next().unwrap_or_default();
    count_words(rest) >= 2 && !NO_RULE.begin(rest) && !is_past(first)
}

/// English as far as it can be told by the end of the word.
fn is_past(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphabetic());
    word.ends_with("ed") && !["embed", "feed", "seed", "speed", "proceed", "exceed"].contains(&word)
}

/// A name, or a purpose. A word like `useEffect` is of the code at hand.
fn is_tool(rest: &str) -> bool {
    static PURPOSES: LazyLock<Phrases> = LazyLock::new(|| Phrases::new("for|as my|as our|as the|as a"));
    let rest = ["a ", "an "].into_iter().find_map(|article| rest.strip_prefix(article)).unwrap_or(rest);
    if rest.is_empty() || NO_TOOL.begin(rest) || rest.split_whitespace().any(is_code) {
        return false;
    }
    if rest.starts_with(is_cjk) {
        let purposes = ["沟通", "办公", "开发", "部署", "管理", "写", "做", "记", "画", "看", "聊"];
        return count_words(rest) >= 2 && (specifics(rest) > 0 || purposes.into_iter().any(|word| rest.contains(word)));
    }
    let start = first_words(rest, 3);
    is_named(start) || (count_words(rest) >= 3 && PURPOSES.are_in(rest))
}

fn is_code(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let small = word.chars().take_while(|c| c.is_lowercase()).count();
    let goes_on = word.chars().nth(small).is_some_and(char::is_uppercase);
    small >= 2 && goes_on && !["macOS", "tvOS", "webOS", "pfSense", "openSUSE"].contains(&word)
}

/// `specifics` takes a capital at the beginning for that of a sentence.
fn is_named(words: &str) -> bool {
    words.starts_with(char::is_uppercase) || specifics(words) > 0
}

/// `Our staging database is Postgres 16`: two or three words, a verb, and soon a name or a number.
fn ours(clause: &str) -> bool {
    static VERBS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new("is|are|runs|run|uses|use|lives|live|listens|sits|starts|opens|closes|ends|happens")
    });
    static LINKS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "the|a|an|on|in|at|from|with|called|named|version|port|written in|hosted on|hosted at|hosted by|built on|\
            built with|based in|based on|every|on port|in the|on the|on a",
        )
    });
    let Some(after_our) = prefix(clause, "our").map(|end| clause[end..].trim_start()) else { return false };
    let boundaries = after_our.match_indices(' ').take(3).map(|(at, _)| &after_our[at + 1..]);
    let Some(after_verb) = boundaries.filter_map(|rest| VERBS.after(rest)).next() else { return false };
    let said = LINKS.after(after_verb).unwrap_or(after_verb);
    !NO_TOOL.begin(said) && is_named(first_words(said, 1))
}

/// `我们的数据库是 Postgres`, `我们的服务跑在 8080 端口`.
fn ours_in_chinese(clause: &str) -> bool {
    let Some(rest) = ["我们的", "我們的"].into_iter().find_map(|start| clause.strip_prefix(start)) else {
        return false;
    };
    let verbs = ["用的是", "跑在", "运行在", "部署在", "运行于", "是", "叫"];
    let found = verbs.into_iter().find_map(|verb| rest.split_once(verb));
    found.is_some_and(|(what, said)| (1..=10).contains(&what.chars().count()) && is_named(said.trim_start()))
        && !rest.split_whitespace().any(is_code)
}

fn first_words(text: &str, words: usize) -> &str {
    text.match_indices(' ').nth(words - 1).map_or(text, |(at, _)| &text[..at])
}
