//! One sentence of the person: is it a statement that lasts, and of which kind?
//!
//! What comes out is the sentence itself, without the fillers before it and the request after it. Questions, conditions,
//! examples, reports of what others said and what is only true today give nothing: precision before recall, since it
//! is put in front of every later conversation.

use std::sync::LazyLock;

use super::habits::habit;
use super::lexicon::{count_words, prefix};
use super::openings::{Kind, Opening, openings};
use super::phrases::Phrases;
use super::smalltalk::before_reference;
use super::weigh::specifics;
use throughline_core::text::sentences::{clauses, is_cjk};

const MAX_CHARS: usize = 300;

/// Words before a statement that are no part of it.
static FILLERS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "btw|by the way|oh|sorry|hi|hello|hey|hi there|hey there|ok|okay|so|well|also|and|but|yes|yeah|yep|sure|right|\
    thanks|thank you|fyi|just so you know|one more thing|for the record|ps|p.s.|please note|note|also note|good morning|good evening|\
    hmm|um|uh|anyway|great|perfect|cool|nice|first|second|finally|as i said|like i said|oh and|oh wait|wait|another thing|\
    顺便说一下|顺便说一句|顺便提一下|顺便|对了|你好|您好|嗨|哦|噢|嗯|好的|好|好吧|另外|还有|那个|谢谢|是的|对|首先|然后|所以|总之|哎|啊|順便說一下|\
    übrigens|also|hallo|por cierto|hola|au fait|bonjour|ところで",
    )
});

/// Those of one word that need no comma behind them.
const LOOSE_FILLERS: &str = "btw oh ok okay also and but yes yeah yep hmm fyi hey";

/// What asks to remember the rest of the sentence.
static REMEMBER: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "please remember that|remember that|please remember:|remember:|please remember,|remember,|remember this:|\
    please remember|keep in mind that|please keep in mind that|bear in mind that|note that|please note that|remember|\
    请记住|請記住|请你记住|记住|記住|请记一下|记一下|帮我记住|帮我记一下|你要记住|merk dir|merk dir bitte|recuerda que|souviens-toi que|\
    rappelle-toi que|覚えておいて",
    )
});

/// Those of them that leave no doubt.
static REMEMBER_EXPLICITLY: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "please remember that|remember that|please remember:|remember:|please remember,|remember this:|\
    keep in mind that|please keep in mind that|bear in mind that|please note that|请记住|請記住|请你记住|帮我记住|帮我记一下|\
    recuerda que|souviens-toi que|rappelle-toi que",
    )
});

static NOT_TO_REMEMBER: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new("to|me|when|how|what|why|who|where|if|the last|the time|this|that time|it|us|back|了|吗|没|没有|你")
});

/// Anywhere in a sentence: it is a condition, an example, a guess, or somebody else's.
static DOUBTFUL: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "if i|if we|if you were|as if|would have|i wish|hypothetically|for example|for instance|e.g|pretend|\
    imagine|let's say|suppose|maybe|perhaps|translate|rephrase|proofread|said|says|told|asked|wrote|claims|claimed|\
    according to|i guess|not sure|used to be|probably|joking|kidding|just kidding|in the story|in the book|in the movie|in the game|in my dream|character|fictional|wenn ich|si yo|si je|quizás|peut-être|vielleicht|\
    gesagt|dijo|a dit",
    )
});
const DOUBTFUL_CJK: [&str; 45] = [
    "如果",
    "假如",
    "要是",
    "假设",
    "假設",
    "比如",
    "例如",
    "万一",
    "假装",
    "也许",
    "可能",
    "好像",
    "是不是",
    "会不会",
    "的话",
    "他说",
    "她说",
    "们说",
    "板说",
    "事说",
    "友说",
    "户说",
    "妈说",
    "爸说",
    "师说",
    "据说",
    "听说",
    "人说",
    "上说",
    "说：",
    "说:",
    "告诉我",
    "问我",
    "他說",
    "她說",
    "聽說",
    "翻译",
    "開玩笑",
    "开玩笑",
    "吗",
    "嗎",
    "故事里",
    "小说里",
    "游戏里",
    "梦里",
];

/// What makes a preference or a constraint one of today.
static PASSING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "today|right now|for now|this time|at the moment|tonight|just now|for the moment|this morning|this week|\
    in this case|heute|hoy|aujourd'hui",
    )
});
const PASSING_CJK: [&str; 10] = ["这次", "今天", "现在", "暂时", "目前", "刚才", "今晚", "这一次", "眼下", "這次"];

static CONDITIONS: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::new("if|suppose|imagine|unless|assuming|what if|when i was|had i|were i|should i|say"));

/// How a request begins that follows a statement.
static REQUESTS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "can you|could you|would you|will you|do you|does|did|is that|is it|is there|are there|what|how|which|\
    why|where|who|when should|should i|should we|please help|help me|any ideas|你能|能不能|可以帮|帮我|请帮|请问|\
    怎么|你觉得|你看|能帮|你帮|有没有|该怎么|怎樣|帮忙|kannst du|puedes|peux-tu|tu peux",
    )
});

const ASKING_CJK: [&str; 14] = [
    "什么",
    "什麼",
    "怎么",
    "怎樣",
    "为什么",
    "哪个",
    "哪些",
    "哪里",
    "哪儿",
    "谁",
    "几点",
    "多少",
    "能不能",
    "有没有",
];

/// The kind and the words of a lasting statement.
pub(super) fn statement(sentence: &str) -> Option<(Kind, &str)> {
    let text = without_fillers(sentence);
    if let Some(before) = before_reference(text) {
        return remembered(before);
    }
    if let Some(rest) = REMEMBER.after(text).filter(|rest| !NOT_TO_REMEMBER.begin(rest)) {
        let explicit = REMEMBER_EXPLICITLY.begin(text) || rest.starts_with([':', '：', ',', '，']);
        let rest = whole(without_fillers(rest.trim_start_matches([' ', ':', '：', ',', '，'])));
        let kind = kind_of(rest).or_else(|| habit_of(rest));
        let kind = kind.or((explicit && count_words(rest) >= 3).then_some(Kind::Fact))?;
        return is_sound(rest).then_some((kind, rest));
    }
    let text = whole(text);
    let Some(kind) = kind_of(text) else {
        let kind = habit_of(text)?;
        return (stands_alone(text) && !is_passing(text) && is_sound(text)).then_some((kind, text));
    };
    let alone = matches!(kind, Kind::Identity | Kind::FollowUp | Kind::Fact) || stands_alone(text);
    let lasting = !matches!(kind, Kind::Preference | Kind::Constraint) || !is_passing(text);
    (alone && lasting && is_sound(text)).then_some((kind, text))
}

/// What a person asked to remember: a fact, whatever its words, as long as it can be understood by itself.
pub(super) fn remembered(sentence: &str) -> Option<(Kind, &str)> {
    statement(sentence).or_else(|| corrected(sentence).map(|text| (Kind::Fact, text)))
}

/// Whether a sentence says that what was said is wrong, and nothing else: the next one says what is right.
pub(super) fn only_objects(sentence: &str) -> bool {
    static OBJECTIONS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "that's wrong|that is wrong|that's not right|that's incorrect|that is incorrect|that's not correct|\
        that's not true|you got that wrong|不对|不對|你弄错了|你搞错了|你记错了|说错了|我说错了|das ist falsch",
        )
    });
    let text = without_fillers(sentence);
    let text = prefix(text, "no,").map_or(text, |at| text[at..].trim_start());
    OBJECTIONS.after(text).is_some_and(|rest| !rest.contains(char::is_alphanumeric))
}

/// Whether a sentence could stand as the right version of something.
pub(super) fn corrected(sentence: &str) -> Option<&str> {
    let text = whole(without_fillers(sentence));
    (count_words(text) >= 3 && stands_alone(text) && is_sound(text)).then_some(text)
}

/// The statement without the request before or after it.
fn whole(text: &str) -> &str {
    without_order(without_request(text)).trim_end_matches([' ', ',', '，', ';', '；', '—', '-', '–', ':', '：']).trim()
}

/// Whether nothing in the text makes it a question, a condition, a quotation or a guess.
fn is_sound(text: &str) -> bool {
    let opens_quote = text.starts_with(['"', '“', '「', '『', '«', '\'', '‘', '`']);
    let wants_reminder =
        ["can you remind me to", "could you remind me to"].into_iter().any(|p| prefix(text, p).is_some());
    let is_question = !wants_reminder && text.trim_end_matches(['"', '”', ')', '）']).ends_with(['?', '？', '呢']);
    let asks = ASKING_CJK.into_iter().any(|word| text.contains(word));
    let conditional = CONDITIONS.begin(text);
    let even = text.find("even if").map_or(text, |at| &text[..at]);
    let doubtful = || DOUBTFUL_CJK.into_iter().any(|word| text.contains(word)) || DOUBTFUL.are_in(even);
    let bad = opens_quote || is_question || asks || conditional || text.chars().count() > MAX_CHARS;
    !text.is_empty() && !bad && !doubtful()
}

/// Whether nothing in the text points at what only this conversation shows.
fn stands_alone(text: &str) -> bool {
    static POINTERS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new("here|this|these|there|the other one|the second|the first|the third|the latter|the former")
    });
    let cjk = ["这个", "这里", "那个", "这样", "这种", "它", "第一", "第二", "第三", "這個", "才能"];
    !cjk.into_iter().any(|word| text.contains(word)) && !POINTERS.are_in(text)
}

fn is_passing(text: &str) -> bool {
    let lasting = text.contains("从现在");
    PASSING.are_in(text) || (!lasting && PASSING_CJK.into_iter().any(|word| text.contains(word)))
}

/// `Btw, I prefer tabs` is `I prefer tabs`.
pub(super) fn without_fillers(text: &str) -> &str {
    let mut rest = text.trim();
    for _ in 0..4 {
        let shorter = FILLERS.ends(rest).filter_map(|end| after_filler(rest, end)).min_by_key(|left| left.len());
        match shorter {
            Some(left) if !left.is_empty() => rest = left,
            _ => break,
        }
    }
    rest
}

fn after_filler(text: &str, end: usize) -> Option<&str> {
    let (filler, rest) = text.split_at(end);
    let trimmed = rest.trim_start_matches([',', '，', ':', '：', '!', '！', '—', '–', '-', ' ', '.', '。', '、', '～']);
    // "well-known" and 好吃 only begin like a filler; 顺便 may stand right before its sentence.
    let loose = LOOSE_FILLERS.split(' ').any(|loose| loose.eq_ignore_ascii_case(filler)) || filler.contains(' ');
    let separated = rest.starts_with([',', '，', ':', '：', '!', '！', '。', '、', '～', '.', '—', '–'])
        || (rest.starts_with(' ') && (loose || filler.starts_with(is_cjk)))
        || rest.starts_with(" - ");
    let joins = filler.chars().all(is_cjk) && filler.chars().count() >= 2 && rest.starts_with('我');
    (separated || joins).then_some(trimmed)
}

/// Cuts a request off the end: `My name is Ada, can you help me?`.
fn without_request(text: &str) -> &str {
    let mut at = 0;
    for clause in clauses(text) {
        if at > 0 && REQUESTS.begin(clause.trim_start()) {
            return &text[..at];
        }
        at += clause.len();
    }
    text
}

/// Cuts an order off the beginning: `Please find out why, I need to ship by Friday`.
fn without_order(text: &str) -> &str {
    static ORDERS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "please find|please fix|please check|please help|please look|please make|please write|can you|could you|\
        help me|帮我|请帮|麻烦",
        )
    });
    let first = clauses(text).first().map_or(0, |clause| clause.len());
    if first < text.len() && ORDERS.begin(text) { text[first..].trim_start() } else { text }
}

/// The kind of the first clause that begins like a statement.
fn kind_of(text: &str) -> Option<Kind> {
    starts(text).into_iter().find_map(|at| {
        let rest = &text[at..];
        if !may_lead(&text[..at]) {
            return None;
        }
        let fits = |opening: &&Opening| (at == 0 || !opening.first) && opens(opening, rest);
        openings(rest)
            .iter()
            .find(fits)
            .map(|opening| opening.kind)
            .or_else(|| introduces(rest).then_some(Kind::Identity))
    })
}

/// The kind of the habit that the sentence states from its beginning, or behind a scene: `In Rust, we always …`.
fn habit_of(text: &str) -> Option<Kind> {
    let begins = clauses(text).first().map_or(0, |clause| clause.len());
    let behind = text.get(begins..).map(str::trim_start).filter(|rest| !rest.is_empty());
    habit(text).or_else(|| behind.filter(|_| may_lead(&text[..begins])).and_then(habit))
}

/// Whether a statement may follow these words: no open quotation, no colon, and where they are English, they set the
/// scene or are about the person too. `Generate test data, my name is Foo` states nothing.
fn may_lead(before: &str) -> bool {
    static SCENES: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "so|for|when|while|in|on|at|with|since|because|as|after|before|hi|hello|hey|dear|unlike|until|though|although",
        )
    });
    static PERSON: LazyLock<Phrases> =
        LazyLock::new(|| Phrases::new("i|i'm|i've|my|we|we're|our|me|ich|mein|yo|mi|je|mon|ma"));
    let before = before.trim_end();
    let quoted = before.matches(['"', '“', '”', '「', '」']).count() % 2 == 1;
    let plain = before.is_empty() || before.contains(is_cjk) || SCENES.begin(before);
    !quoted && !before.ends_with([':', '：']) && (plain || PERSON.are_in(before))
}

/// Where the clauses begin; `and` and `but` begin one too.
fn starts(text: &str) -> Vec<usize> {
    let mut out = vec![0];
    out.extend(prefix(text, "so "));
    let mut at = 0;
    for clause in clauses(text) {
        let begin = at + clause.len() - clause.trim_start().len();
        let inner = without_fillers(clause);
        let skipped = if inner.is_empty() { 0 } else { clause.trim().len().saturating_sub(inner.len()) };
        out.push(begin);
        out.push(begin + skipped);
        for joint in [" and ", " but ", " so ", " und ", " y ", " et "] {
            out.extend(clause.match_indices(joint).take(8).map(|(found, _)| at + found + joint.len()));
        }
        at += clause.len();
    }
    out.retain(|at| text.is_char_boundary(*at) && *at < text.len());
    out.sort_unstable();
    out.dedup();
    out
}

fn opens(opening: &Opening, text: &str) -> bool {
    opening.phrases.ends(text).any(|end| {
        let rest = text[end..].trim_start_matches([' ', ',', '，', ':', '：', '.', '。', '—', '-', '、', ';']);
        let names = rest.starts_with(|c: char| c.is_uppercase() || c.is_numeric() || is_cjk(c));
        let said = opening.whole || count_words(rest) > usize::from(opening.kind == Kind::Correction && !names);
        let detailed = !opening.detail || rest.starts_with(char::is_uppercase) || specifics(rest) > 0;
        said && !opening.except.begin(rest)
            && detailed
            && (opening.needs.is_empty() || opening.needs.are_in(&text[end..]))
    })
}

/// `I'm Ada`, `I am Ada Lovelace, …`: one or two names and nothing more in the clause.
fn introduces(text: &str) -> bool {
    static NO_NAMES: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "sorry|fine|good|done|ok|okay|back|sure|not|in|on|at|going|here|ready|lost|stuck|so|very|pretty|all|just|also",
        )
    });
    let end = ["i'm", "i am"].into_iter().find_map(|phrase| prefix(text, phrase));
    let Some(rest) = end.map(|end| text[end..].trim_start()).filter(|rest| !NO_NAMES.begin(rest)) else { return false };
    let clause = clauses(rest).first().copied().unwrap_or_default();
    let clause = clause.split(" and ").next().unwrap_or_default();
    let clause = clause.split(" from ").next().unwrap_or_default();
    let names: Vec<&str> =
        clause.split_whitespace().map(|word| word.trim_matches([',', '.', '!', ';', ':', '-'])).collect();
    let is_name = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase)
            && chars.clone().any(char::is_lowercase)
            && chars.all(char::is_alphabetic)
    };
    (1..=3).contains(&names.len()) && names.iter().all(is_name)
}
