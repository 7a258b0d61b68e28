//! Moves: a sentence goes in, what its author does with it comes out part by part: states, asks, orders, greets.
//!
//! "Can you fix the test? btw we deploy from release, so please don't touch main" is four moves, and two of them are statements.
//! Every part is a slice of the sentence, without the words that only join it to others.

use std::sync::LazyLock;

use throughline_core::text::sentences::{clauses, is_cjk};

use super::groups;
use super::language::{Language, language};
use super::phrases::Phrases;

/// Words before a part that are no part of it.
static FILLERS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "btw|by the way|oh|hi|hello|hey|hi there|hey there|ok|okay|so|well|also|and|but|yes|yeah|yep|sure|right|thanks|\
        thanks a lot|thank you|fyi|just so you know|one more thing|for the record|ps|p.s.|please note|please note that|note|note that|\
        also note|good morning|good evening|hmm|um|uh|anyway|anyways|great|perfect|cool|nice|awesome|first|second|finally|\
        as i said|like i said|oh and|oh wait|another thing|just fyi|heads up|for context|quick note|because|since|cause|cuz|as|\
        though|although|plus|then|basically|honestly|i mean|you know|lol|haha|got it|makes sense|sounds good|that said|also just|\
        for what it's worth|fwiw|to be clear|just to be clear|for your information|important|remember|and yes|in case it matters|\
        顺便说一下|顺便说一句|顺便说下|顺便提一下|顺便|顺带一提|对了|你好|您好|嗨|哦|噢|嗯|好的|好|好吧|另外|还有|那个|谢谢|是的|对|首先|然后|所以|总之|哎|啊|\
        順便說一下|补充一下|补充一点|说一下|提一下|先说一下|提前说下|因为|由于|毕竟|而且|并且|不过|但是|但|哈哈|说真的|老实说|其实呢|备注|注意|还有就是|另外就是|\
        übrigens|also|hallo|hi|ach|ach ja|ach so|ok|okay|ja|genau|danke|gut|und|aber|denn|weil|da|zur info|nur zur info|nebenbei|\
        noch was|außerdem|wichtig|hinweis|moin|hey|jedenfalls|naja|\
        por cierto|hola|vale|ok|sí|gracias|y|pero|porque|ya que|además|oye|bueno|ah|pues|que sepas que|para que sepas|nota|ojo|\
        au fait|bonjour|salut|ok|oui|merci|et|mais|car|parce que|puisque|comme|sinon|bon|ah|du coup|pour info|d'ailleurs|en plus|note|\
        ah oui|ah et|ところで",
    )
});

/// Those of one word that need no comma behind them.
const LOOSE: &str = " btw oh ok okay also and but yes yeah yep hmm fyi hey so because since cause cuz plus und aber denn weil y pero \
    porque et mais car anyway note übrigens ach lol well pues bueno oye ah sinon ";

/// What begins an independent statement.
static SUBJECTS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "i|i'm|i've|i'd|im|ive|my|we|we're|we've|our|the|please always|please never|never|always|don't|do not|no|use|keep|only|\
        我|我们|我們|咱们|咱|请|以后|不要|别|必须|ich|wir|mein|meine|unser|unsere|die|der|das|bitte|nie|immer|kein|keine|je|j'ai|j'habite|\
        j'utilise|j'aime|on|nous|mon|ma|mes|notre|nos|le|la|les|jamais|toujours|yo|soy|tengo|vivo|mi|mis|nuestro|nuestra|usamos|\
        nunca|siempre|el|los|las",
    )
});

/// What says "by the way": a new move, whatever was before it.
static ASIDES: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "btw|by the way|fyi|also|oh and|one more thing|for context|for the record|just so you know|note that|please note|heads up|\
        对了|顺便|另外|还有|补充|übrigens|außerdem|nebenbei|zur info|au fait|d'ailleurs|pour info|por cierto|además|para que sepas",
    )
});

/// What joins a reason to an order: the reason may be worth keeping by itself.
const REASONS: &[&str] = &[
    " since i",
    " because i",
    " as i'm",
    " as i am",
    " cause i",
    " since we",
    " because we",
    " because my",
    " since my",
    " since our",
    " because our",
    " weil ich",
    " da ich",
    " weil wir",
    " da wir",
    " parce que je",
    " parce que j'",
    " car je",
    " car j'",
    " puisque je",
    " puisqu'on",
    " vu que",
    " porque soy",
    " porque tengo",
    " porque no ",
    " ya que ",
    " porque mi",
    " porque en ",
    "因为我",
    "毕竟我",
    "因为",
];

/// What joins a request to what was said before it.
const JOINTS: &[&str] =
    &[" and ", " but ", " so ", " und ", " aber ", " also ", " et ", " mais ", " donc ", " y ", " pero ", " así que "];

/// The parts of a sentence, in order, none of them empty.
pub(super) fn moves(sentence: &str) -> Vec<&str> {
    let Some(language) = language(sentence) else { return Vec::new() };
    let mut moves: Vec<(usize, usize, bool)> = Vec::new();
    for (start, end) in parts(sentence, language) {
        // What a request hands over behind its colon is nobody's statement: `fix this sentence: I has a dog`.
        let is_handed = |(from, to, was_request): &(usize, usize, bool)| {
            *was_request && sentence[*from..*to].trim_end().ends_with([':', '：'])
        };
        if moves.last().is_some_and(is_handed) {
            break;
        }
        let part = &sentence[start..end];
        let bare = without_fillers(part);
        let is_request = is_request(bare, language);
        let begins = match moves.last() {
            None => true,
            Some((from, to, was_request)) => {
                let before = &sentence[*from..*to];
                let is_turn =
                    is_request != *was_request && (is_request || SUBJECTS.begin(bare) || language == Language::Chinese);
                let is_break = before.trim_end().ends_with([';', '；', '—', '–', '-']) && SUBJECTS.begin(bare);
                is_turn || is_break || ASIDES.begin(part.trim_start()) || is_greeting(before)
            }
        };
        match moves.last_mut() {
            Some((_, to, _)) if !begins => *to = end,
            _ => moves.push((start, end, is_request)),
        }
    }
    let trimmed = moves.into_iter().map(|(from, to, _)| trimmed(without_fillers(&sentence[from..to])));
    trimmed.filter(|part| part.chars().any(char::is_alphanumeric) && !is_greeting(part)).collect()
}

/// Clauses, cut once more where a request or a reason is joined without a comma.
fn parts(sentence: &str, language: Language) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for clause in clauses(sentence) {
        let end = at + clause.len();
        let mut start = at;
        while let Some(cut) = next_cut(&sentence[start..end], language).map(|cut| start + cut) {
            parts.push((start, cut));
            start = cut;
        }
        parts.push((start, end));
        at = end;
    }
    parts
}

fn next_cut(clause: &str, language: Language) -> Option<usize> {
    let lower: String = clause.chars().map(|c| if c.is_ascii() { c.to_ascii_lowercase() } else { c }).collect();
    let joint = JOINTS.iter().flat_map(|joint| lower.match_indices(joint)).map(|(at, joint)| (at, at + joint.len()));
    let requests = joint.filter(|(_, after)| is_request(&clause[*after..], language)).map(|(at, _)| at + 1);
    let reasons = REASONS.iter().filter_map(|reason| lower.find(reason)).filter(|at| *at > 0);
    let reasons = reasons.filter(|at| is_request(without_fillers(&clause[..*at]), language));
    requests.chain(reasons).filter(|at| clause.is_char_boundary(*at) && *at > 0).min()
}

/// Whether a part asks for something, or asks something.
pub(super) fn is_request(part: &str, language: Language) -> bool {
    let part = part.trim();
    if part.trim_end_matches(['"', '”', ')', '）', '*']).ends_with(['?', '？']) {
        return true;
    }
    let groups = groups::in_sentence(part, language);
    let has = |name: &str| groups.contains(&name);
    let is_rule = ["always", "never", "from now on", "remember"].into_iter().any(has);
    let is_short = part.chars().count() <= 2;
    !is_short && (has("order") || has("question")) && !is_rule
}

fn is_greeting(part: &str) -> bool {
    let part = part.trim().trim_end_matches([',', '!', '，', '！']);
    FILLERS.ends(part).any(|end| end == part.len())
}

/// A part without the words before it that only join it: `Btw, I prefer tabs` is `I prefer tabs`.
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
    let trimmed =
        rest.trim_start_matches([',', '，', ':', '：', '!', '！', '—', '–', '-', ' ', '.', '。', '、', '～', '…']);
    let is_loose = LOOSE.contains(&format!(" {} ", filler.to_lowercase())) || filler.contains(' ');
    let is_apart = rest.starts_with([',', '，', ':', '：', '!', '！', '。', '、', '～', '.', '—', '–', '…'])
        || (rest.starts_with(' ') && (is_loose || filler.starts_with(is_cjk)))
        || rest.starts_with(" - ");
    // 因为我 and 顺便我们: a filler of two characters may stand right before the subject.
    let is_joined = filler.chars().all(is_cjk)
        && filler.chars().count() >= 2
        && rest.starts_with(['我', '咱', '请', '以', '不', '别']);
    (is_apart || is_joined).then_some(trimmed)
}

fn trimmed(part: &str) -> &str {
    part.trim_end_matches([' ', ',', '，', ';', '；', '—', '-', '–', ':', '：', '、']).trim()
}

/// Where a move can be cut into statements that each begin with the person as their subject.
pub(super) fn joints(part: &str) -> Vec<usize> {
    static OWN: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "i|i'm|i've|i'd|im|ive|my|we|we're|we've|our|please|我|我们|我們|咱们|ich|wir|mein|meine|unser|unsere|bitte|je|j'ai|j'habite|j'utilise|j'aime|\
            nous|mon|ma|mes|notre|nos|yo|soy|tengo|vivo|trabajo|mi|mis|nuestro|nuestra|usamos",
        )
    });
    let mut cuts = Vec::new();
    let mut at = 0;
    for clause in clauses(part) {
        if at > 0 && OWN.begin(without_fillers(clause)) {
            cuts.push(at);
        }
        for joint in [" and ", " but ", " so ", " und ", " aber ", " et ", " mais ", " y ", " pero "] {
            let found = clause.match_indices(joint).map(|(found, joint)| (at + found + 1, at + found + joint.len()));
            cuts.extend(found.filter(|(_, after)| OWN.begin(&part[*after..])).map(|(cut, _)| cut));
        }
        at += clause.len();
    }
    cuts.sort_unstable();
    cuts.dedup();
    with_verbs(part, cuts)
}

/// The cuts of an English part that leave a verb on both sides: in `I have met my boss, my mentor Ada and her dog` there is none.
fn with_verbs(part: &str, cuts: Vec<usize>) -> Vec<usize> {
    if language(part) != Some(Language::English) {
        return cuts;
    }
    let mut kept: Vec<usize> = Vec::new();
    for (nth, cut) in cuts.iter().copied().enumerate() {
        let from = kept.last().copied().unwrap_or(0);
        let to = cuts.get(nth + 1).copied().unwrap_or(part.len());
        if has_verb(&part[from..cut]) && has_verb(&part[cut..to]) {
            kept.push(cut);
        }
    }
    kept
}

/// Whether an English text has a verb, as far as common ones and endings tell.
pub(super) fn has_verb(text: &str) -> bool {
    const VERBS: &str = " am is are was were be been has have had do does did don't doesn't didn't can can't cannot could couldn't will won't would should \
        must may might isn't aren't wasn't haven't hasn't i'm i've i'd i'll we're we've we'll it's he's she's they're that's im ive \
        use uses run runs live lives work works go goes come comes start starts end ends open opens close closes take takes make makes get gets got \
        keep keeps kept say says said play plays eat eats drink drinks drive drives prefer prefers love loves like likes hate hates want wants need needs \
        help helps own owns teach teaches study studies speak speaks sleep sleeps wake give gives gave know knows mean means cost costs \
        went came took made bought found lost won met saw ate sold left began became grew spent told felt ran read wrote sent paid built broke \
        fell put set let sing sings swim swims write writes stay stays avoid deploy deploys listen listens handle handles lead leads report reports \
        meet meets visit visits leave leaves expire expires sit sits stand stands host hosts store stores ship ships release add send show \
        call calls think thinks feel feels see sees hear hears try tries plan plans turn turns cook cooks bake bakes train trains walk walks \
        ride rides hike hikes enjoy enjoys collect collects watch watches pay pays buy buys move moves belong belongs ";
    let is_verb = |word: &str| {
        let lower = word.trim_matches('\'').replace('’', "'").to_lowercase();
        let has_ending = lower.len() > 3 && (lower.ends_with("ed") || lower.ends_with('s') && !lower.ends_with("ss"));
        VERBS.contains(&format!(" {lower} ")) || has_ending
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter(|word| !word.is_empty()).any(is_verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: &[&str]) {
        assert_eq!(moves(sentence), expected, "of {sentence:?}");
    }

    #[test]
    fn statements_are_told_from_requests() {
        check("Can you fix the test, btw we deploy from release", &["Can you fix the test", "we deploy from release"]);
        check("My name is Ada, can you help me?", &["My name is Ada", "can you help me?"]);
        check("I'm vegetarian so can you suggest a dinner?", &["I'm vegetarian", "can you suggest a dinner?"]);
        check("suggest a dessert since I'm lactose intolerant", &["suggest a dessert", "I'm lactose intolerant"]);
        check("帮我看下这个报错，我们用的是 Postgres 16", &["帮我看下这个报错", "我们用的是 Postgres 16"]);
        check("Hi, I'm Ada and I live in Porto", &["I'm Ada and I live in Porto"]);
    }

    #[test]
    fn statements_are_cut_where_each_has_a_verb() {
        for (part, expected) in [
            ("I'm vegetarian and my sister Clara comes on Tuesday, please keep it short", 2),
            ("I have met my boss, my mentor Ada and my cousin", 0),
            ("I bake bread but I want to try cakes", 1),
        ] {
            assert_eq!(joints(part).len(), expected, "of {part:?}");
        }
    }

    #[test]
    fn fillers_are_left_out() {
        for (text, expected) in [
            ("Btw, I prefer tabs", "I prefer tabs"),
            ("well-known names", "well-known names"),
            ("对了，我们换到 8080 了", "我们换到 8080 了"),
            ("oh and the port is 80", "the port is 80"),
        ] {
            assert_eq!(without_fillers(text), expected);
        }
    }
}
