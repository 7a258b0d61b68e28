//! Whether a statement holds beyond the moment. The profile is for who the person is and how they want things: what happened once,
//! what is planned, how it is right now, and what is said about the request at hand belongs elsewhere.

use super::about::{Property, about};
use super::person::{has_one, has_relative_date, plain};

/// Words of one occasion, wherever they stand. Lower case, without accents; apart by bars.
const MOMENT: &str = "recently|lately|right now|at the moment|for now|just now|this time|this weekend|next weekend|last weekend|upcoming|\
    the day before|the other day|last night|for tonight|for today|last monday|last tuesday|last wednesday|last thursday|last friday|\
    last saturday|last sunday|gerade|diesmal|im moment|momentan|heute abend|neulich|kurzlich|en ce moment|ce soir|cette fois|recemment|\
    tout a l'heure|ahora mismo|esta noche|esta vez|hace poco|recientemente|de momento";
const MOMENT_HAN: [&str; 16] = [
    "刚刚",
    "刚才",
    "这次",
    "这一次",
    "这回",
    "最近",
    "暂时",
    "这会儿",
    "待会",
    "这顿",
    "这趟",
    "这封",
    "这篇",
    "这份",
    "此刻",
    "眼下",
];

/// Words by which something holds from now on, or as a rule.
const STANDING: &str = "always|never|from now on|from today|every|everytime|whenever|in general|generally|usually|as a rule|in future|in the future|\
    going forward|starting today|as of today|immer|nie|ab sofort|ab heute|kunftig|toujours|jamais|desormais|siempre|nunca|a partir de";
const STANDING_HAN: [&str; 8] = ["以后", "今后", "从今", "往后", "每次", "一律", "总是", "起，"];

/// Adverbs between a subject and its verb.
const ADVERBS: &str = " also even actually really just still then usually often sometimes do currently definitely pretty quite \
    personally recently finally already both mostly ";

/// Past forms that do not end in `ed`.
const PAST: &str = " went took got set saw made bought found lost won met ate sold left began became spent told felt ran wrote sent paid built broke \
    fell put came had gave did didn't was wasn't were weren't knew thought brought caught chose drove flew forgot heard held kept learnt led read \
    said sang slept spoke stood swam taught threw understood woke wore been seen done gone written taken given eaten driven ";

/// What happened once and says who somebody is ever after.
const FORMATIVE: &str = "born|grew up|raised|retired|quit|stopped|gave up|married|divorced|widowed|studied|trained as|graduated|diagnosed|\
    surgery|operation|replacement|transplant|stroke|heart attack|turned";

/// What somebody is doing for years.
const STATES: &str = " studying living working learning training expecting raising teaching managing running ";

/// How somebody is at the moment.
const MOODS: &str = " flexible available open fine ok okay free ready back here sure unsure done late tired hungry stuck busy able \
    interested excited happy glad curious worried concerned torn unable new ";

/// What the assistant just showed or said.
const AT_HAND: &str = " the this that these those your its it it's them how all ";

/// Things that an order is about once.
const OCCASIONS: &str = "dinner|lunch|breakfast|meal|party|trip|meeting|presentation|draft|email|mail|letter|essay|poem|story|itinerary|\
    slide|slides|report|recipe|cake|dessert|menu|page|title|heading|paragraph|text|list|plan|image|picture|song|speech|file|row|column|chart";

/// What an order begins with.
const ORDERS: &str =
    " keep make use add leave put write avoid don't do skip give include remove change no let plan cook bake set ";

/// Whether a statement says who the person is or how they want things, now and later.
pub fn is_lasting(text: &str) -> bool {
    let plain = plain(text);
    if about(text).is_some_and(|about| !matches!(about.property, Property::Is | Property::Role)) {
        return true;
    }
    let is_standing = has_one(&plain, STANDING) || STANDING_HAN.iter().any(|words| text.contains(words));
    let is_of_moment = has_one(&plain, MOMENT)
        || MOMENT_HAN.iter().any(|words| text.contains(words))
        || has_relative_date(text)
        || has_date_beside(text);
    let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
    let is_rule = is_standing && !has_experience(&words);
    let is_passing = || happened(&plain, &words, is_rule) || !is_rule && is_single_order(&plain, &words);
    (is_rule || !is_of_moment) && !is_passing()
}

/// `last month (2026-04)`.
fn has_date_beside(text: &str) -> bool {
    let digits =
        |part: &str| part.bytes().take(4).filter(u8::is_ascii_digit).count() == 4 && part[4..].starts_with('-');
    text.split('(').skip(1).any(|part| part.len() > 5 && part.is_char_boundary(4) && digits(part))
}

/// `I never thought`, `I've never done`: that is no rule.
fn has_experience(words: &[&str]) -> bool {
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs.filter(|(word, _)| **word == "never").any(|(_, next)| is_past(next))
}

fn is_past(word: &str) -> bool {
    let is_regular = word.len() > 4 && word.ends_with("ed") && !matches!(word, "need" | "breed" | "allowed" | "based");
    is_regular || is_in(PAST, word)
}

fn is_in(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Whether an English statement tells an event, a plan, a mood or an opinion of what is at hand.
fn happened(plain: &str, words: &[&str], is_rule: bool) -> bool {
    let Some((subject, rest)) = subject(words) else { return false };
    let rest: Vec<&str> = rest.iter().copied().skip_while(|word| is_in(ADVERBS, word)).collect();
    let (first, second) = (rest.first().copied().unwrap_or_default(), rest.get(1).copied().unwrap_or_default());
    let is_formative = || has_one(plain, FORMATIVE);
    match subject {
        "am" => first.ends_with("ing") && first.len() > 4 && !is_in(STATES, first) || is_in(MOODS, first),
        "have" if first == "been" => {
            second.ends_with("ing") && !is_in(STATES, second) || matches!(second, "to" | "in" | "at")
        }
        "have" => {
            !is_in(" got always lived worked known had ", first) && is_past(first) && !is_formative()
                || first == "never"
        }
        // `I'll never fly again`.
        "would" | "will" | "can" if is_rule => false,
        "would" => !plain.contains(" you") && is_in(" prefer rather like love say be want appreciate ", first),
        "will" => true,
        "can" => !is_in(" only not speak read play drive write ", first),
        // `My wife and I hosted a party`.
        "my" if rest.iter().take(4).any(|word| *word == "i") => {
            rest.iter().take(5).any(|word| is_past(word)) && !is_formative()
        }
        "my" => is_in(" ideal next starting upcoming ", first) || first == "current" && !is_in(ROLES, second),
        _ if is_in(" like love prefer enjoy hate liked loved ", first) && is_in(AT_HAND, second) => {
            second != "the" || !rest.iter().any(|word| is_in(" of when ", word))
        }
        _ if first == "never" => is_past(second),
        _ if first == "don't" => second == "have" && rest.get(2) == Some(&"to"),
        _ => is_past(first) && !(first == "used" && second == "to") && !is_formative(),
    }
}

const ROLES: &str = " role job address city position employer team manager company school ";

/// Whose doing an English statement tells and by which auxiliary, and the words behind.
fn subject<'a, 'w>(words: &'w [&'a str]) -> Option<(&'static str, &'w [&'a str])> {
    let (first, rest) = words.split_first()?;
    let by_auxiliary = |rest: &'w [&'a str]| match rest.first().copied() {
        Some("am" | "is" | "are") => ("am", &rest[1..]),
        Some("have" | "has") if rest.get(1).is_some_and(|word| is_past(word) || *word == "never") => {
            ("have", &rest[1..])
        }
        Some("would") => ("would", &rest[1..]),
        Some("will") => ("will", &rest[1..]),
        Some("can") => ("can", &rest[1..]),
        _ => ("", rest),
    };
    match *first {
        "i'm" | "we're" => Some(("am", rest)),
        "i've" | "we've" => Some(("have", rest)),
        "i'd" | "we'd" => Some(("would", rest)),
        "i'll" | "we'll" => Some(("will", rest)),
        "my" => Some(("my", rest)),
        "i" | "we" => Some(by_auxiliary(rest)),
        "the" if matches!(rest.first().copied(), Some("person" | "user")) => Some(by_auxiliary(&rest[1..])),
        _ => None,
    }
}

/// `keep the dinner meat-free`: an order about one thing.
fn is_single_order(plain: &str, words: &[&str]) -> bool {
    let is_order = words.first().is_some_and(|word| is_in(ORDERS, word));
    let names = |before: &str| {
        let things = OCCASIONS.split('|');
        let padded = format!(" {plain} ");
        things.into_iter().any(|thing| padded.contains(&format!(" {before} {thing} ")))
    };
    is_order && ["the", "this", "that", "my", "our", "tonight's"].into_iter().any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_somebody_is_and_how_they_want_things_lasts() {
        for text in [
            "I'm a US citizen",
            "I'm allergic to peanuts",
            "I prefer short answers",
            "I tend to land midfoot when I run",
            "I love the energy of live shows",
            "I usually work from my home office",
            "I can't eat gluten",
            "I can only meet in the morning",
            "I have two kids",
            "I was born in Porto",
            "I had a hip replacement in January",
            "I've been vegetarian for ten years",
            "I'm studying chemistry",
            "I'd rather you didn't use emojis",
            "Please keep your answers brief",
            "From today on, answer in German",
            "Never book flights before ten",
            "I'll never fly again",
            "我不吃香菜",
            "以后都用中文回答我",
            "Ich bin Hebamme",
            "I moved to Porto last month (2026-04)",
        ] {
            assert!(is_lasting(text), "{text}");
        }
    }

    #[test]
    fn events_plans_moods_and_remarks_pass() {
        for text in [
            "I can keep an eye on my bike while I eat.",
            "I'm pretty flexible with my travel dates",
            "I'm planning a birthday party for my niece, Olivia",
            "I've already seen The Dark Knight, it's one of my favorite movies.",
            "I recently attended a class on vegan cuisine",
            "I even started my own bookstagram account",
            "no we never started over",
            "I never realized how much goes into it",
            "I've never done a swim event before",
            "I like the Classic and Simple style.",
            "I'd prefer a route that's relatively flat",
            "My starting point will be the city",
            "I've been to a music festival in Brooklyn",
            "please keep the dinner meat-free",
            "I lost my job at Door Dash this month (2026-01)",
            "The user attended a class on vegan cuisine",
            "I've been to a festival recently, and I'm always on the lookout for new sounds",
            "I don't have to rely on airport food",
            "这次别放辣",
            "今晚做清淡点",
        ] {
            assert!(!is_lasting(text), "{text}");
        }
    }
}
