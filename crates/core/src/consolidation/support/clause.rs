//! Whether one clause says what is claimed: the same words, the same people, the same order, nothing left out that changes it.

use crate::text::sentences::is_cjk;

use super::lexicon::{
    CONDITIONS, CONDITIONS_HAN, MODIFIER_PHRASES, MODIFIERS, NEGATIONS, NEGATIONS_HAN, PEOPLE, PEOPLE_HAN, PIVOTS,
    PIVOTS_HAN, QUANTIFIERS, QUANTIFIERS_HAN,
};
use super::{Claim, has, is_light, is_unit, sharp, stems};

/// Whether a clause says what is claimed. `context` has what a pronoun may stand for.
pub(super) fn says(claim: &Claim, clause: &str, context: &[String]) -> bool {
    let lower = clause.to_lowercase();
    let words = stems(clause);
    let heavy: Vec<&String> = claim.words.iter().filter(|word| !is_light(word)).collect();
    let missing: Vec<&String> = heavy.iter().copied().filter(|word| !words.contains(*word)).collect();
    // A pronoun stands for a name, not for the statement.
    if missing.len() * 2 > heavy.len() || claim.words.is_empty() {
        return false;
    }
    let in_context = |word: &String| context.iter().any(|text| stems(text).contains(word));
    if !missing.into_iter().all(in_context) {
        return false;
    }
    let is_denied = has(&lower, NEGATIONS, &NEGATIONS_HAN);
    let is_conditional = has(&lower, CONDITIONS, &CONDITIONS_HAN);
    let is_there = |word: &String| {
        let is_said =
            || stems(word).iter().all(|stem| words.contains(stem)) && !word.starts_with(|c: char| c.is_ascii_digit());
        has_value(&lower, word) || is_said() || context.iter().any(|text| has_value(&text.to_lowercase(), word))
    };
    let sharp_missing = !claim.sharp.iter().all(is_there);
    !sharp_missing
        && is_denied == claim.is_denied
        && (!is_conditional || claim.is_conditional)
        && quantifiers_stand(claim, &lower)
        && people_stand(claim, clause, &lower)
        && modifiers_stand(claim, &lower)
        && order_stands(claim, &lower)
        && values_stand(claim, &lower)
}

/// Every quantifier of the claim stands in the clause.
fn quantifiers_stand(claim: &Claim, clause: &str) -> bool {
    let stands = |word: &str| has(clause, &format!(" {word} "), &[]);
    let spoken = QUANTIFIERS.split_whitespace().filter(|word| has(&claim.text, &format!(" {word} "), &[])).all(stands);
    spoken && QUANTIFIERS_HAN.iter().filter(|word| claim.text.contains(*word)).all(|word| clause.contains(word))
}

/// Every word that changes what the clause says stands in the claim.
fn modifiers_stand(claim: &Claim, clause: &str) -> bool {
    // `these days` points at no thing.
    const TIMES: [&str; 6] = ["these days", "this year", "this month", "this week", "this summer", "this winter"];
    let clause = &TIMES.iter().fold(clause.to_owned(), |clause, words| clause.replace(words, ""));
    let spoken = MODIFIERS.split_whitespace().filter(|word| has(clause, &format!(" {word} "), &[]));
    spoken.into_iter().all(|word| has(&claim.text, &format!(" {word} "), &[]))
        && MODIFIER_PHRASES.iter().filter(|words| clause.contains(*words)).all(|words| claim.text.contains(words))
}

/// What the claim says before a number is said before it, no other number stands between, and its unit is the same.
fn values_stand(claim: &Claim, clause: &str) -> bool {
    let numbers = claim.sharp.iter().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    numbers.into_iter().all(|number| {
        let (Some(here), Some(there)) = (claim.text.find(number.as_str()), clause.find(number.as_str())) else {
            return true;
        };
        let before: Vec<usize> = claim
            .words
            .iter()
            .filter(|word| !is_light(word) && place(&claim.text, word).is_some_and(|at| at < here))
            .filter_map(|word| place(clause, word))
            .collect();
        let is_behind = before.iter().all(|at| *at < there);
        let nearest = before.iter().copied().filter(|at| *at < there).max().unwrap_or(0);
        let between = clause.get(nearest..there).unwrap_or_default();
        let has_other = sharp(between)
            .iter()
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !claim.text.contains(word.as_str()));
        let first = before.iter().copied().min().unwrap_or(there);
        let crossed = clause.get(first..there).unwrap_or_default();
        let has_crossed = sharp(crossed)
            .iter()
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !claim.text.contains(word.as_str()));
        is_behind
            && !has_other
            && !has_crossed
            && unit_of(&claim.text, here + number.len()) == unit_of(clause, there + number.len())
    })
}

/// The short word behind a number: `ms`, `kg`, `am`.
fn unit_of(text: &str, at: usize) -> &str {
    let rest = text[at..].trim_start();
    let end = rest.find(|c: char| !c.is_alphabetic() || is_cjk(c)).unwrap_or(rest.len());
    if end <= 3 { &rest[..end] } else { "" }
}

/// The people that the clause is about before it comes to the claim are in the claim too.
fn people_stand(claim: &Claim, clause: &str, lower: &str) -> bool {
    let first = claim
        .words
        .iter()
        .filter(|word| !is_light(word))
        .filter_map(|word| place(lower, word))
        .min()
        .unwrap_or(lower.len());
    let before = &lower[..first];
    let spoken = PEOPLE.split_whitespace().filter(|word| has(before, &format!(" {word} "), &[]));
    let is_pronoun =
        |word: &str| matches!(word, "he" | "she" | "they" | "er" | "ils" | "elles" | "él" | "ella" | "ellos");
    let names = sharp(clause)
        .into_iter()
        .filter(|name| name.starts_with(char::is_alphabetic) && before.contains(name.as_str()));
    let is_in_claim = |word: &str| claim.text.contains(word) || is_pronoun(word) && !claim.sharp.is_empty();
    let han = PEOPLE_HAN
        .iter()
        .filter(|word| before.contains(*word))
        .all(|word| claim.text.contains(word) || matches!(*word, "他" | "她") && !claim.sharp.is_empty());
    spoken.into_iter().all(is_in_claim) && names.into_iter().all(|name| claim.text.contains(&name)) && han
}

/// Words stand on the same side of a comparison, and names in the same order.
fn order_stands(claim: &Claim, clause: &str) -> bool {
    if swaps_person(claim, clause) {
        return false;
    }
    let (claim_text, clause) = (format!(" {} ", claim.text), format!(" {clause} "));
    let clause = clause.as_str();
    let pivots = PIVOTS
        .split_whitespace()
        .map(|word| format!(" {word} "))
        .chain(PIVOTS_HAN.iter().map(|word| (*word).to_owned()));
    for pivot in pivots {
        let (Some(here), Some(there)) = (claim_text.find(&pivot), clause.find(&pivot)) else { continue };
        let swaps = claim.words.iter().filter(|word| !is_light(word)).any(|word| {
            let (in_claim, in_clause) = (place(&claim_text, word), place(clause, word));
            in_claim.zip(in_clause).is_some_and(|(a, b)| (a < here) != (b < there))
        });
        if swaps {
            return false;
        }
    }
    let places: Vec<usize> = claim.sharp.iter().filter_map(|name| clause.find(name.as_str())).collect();
    places.is_sorted()
}

/// Whether a name stands before the person in one of the two, and behind them in the other: who owes whom.
fn swaps_person(claim: &Claim, clause: &str) -> bool {
    let first = |text: &str, words: &[&str]| {
        let padded = format!(" {text} ");
        words.iter().filter_map(|word| padded.find(&format!(" {word} "))).min()
    };
    let here = first(&claim.text, &["user", "person", "i", "me", "us", "we"]);
    let there = first(clause, &["i", "me", "us", "we"]);
    let (Some(here), Some(there)) = (here, there) else { return false };
    let names = claim.text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2 && !is_light(word));
    let is_swapped = |name: &str| {
        let (in_claim, in_clause) = (claim.text.find(name), clause.find(name));
        in_claim.zip(in_clause).is_some_and(|(a, b)| (a < here) && (b > there))
    };
    names.into_iter().any(is_swapped)
}

/// Where a word with this stem stands.
fn place(text: &str, stem: &str) -> Option<usize> {
    let head: String = stem.chars().take(stem.chars().count().max(5) - 1).collect();
    text.find(stem).or_else(|| text.find(&head))
}

/// Whether a number or a name stands in a text, not as part of another.
fn has_value(text: &str, value: &str) -> bool {
    let is_number = value.starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(value).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
        if is_number {
            !is_digit(before) && !is_digit(after) && (!after.is_some_and(is_unit) || value.ends_with(is_unit))
        } else {
            value.contains(is_cjk) || !is_letter(before) && !is_letter(after)
        }
    })
}
