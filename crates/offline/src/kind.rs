//! What a statement is kept as. The profile is for who the person is and how they want things, so what only sounds like it is a fact
//! like others.

use std::sync::LazyLock;

use throughline_core::consolidation::facts::FactKind;
use throughline_core::statements;

use super::groups;
use super::language::Language;
use super::phrases::Phrases;

/// The profile is for who the person is: what says so plainly belongs there, what has no word of that is a fact like others.
pub(super) fn careful_kind(kind: FactKind, text: &str, language: Language) -> FactKind {
    let may_be_other = matches!(kind, FactKind::Decision | FactKind::Correction | FactKind::FollowUp);
    if !may_be_other && statements::tells_who(text) {
        return FactKind::Identity;
    }
    let groups = groups::in_sentence(text, language);
    let is_of_person = ["who", "health", "family"].iter().any(|name| groups.contains(name));
    if kind == FactKind::Identity && !is_of_person { FactKind::Fact } else { kind }
}

/// What passes, or is no wish or rule by its words, is a fact like others: the profile is for what lasts.
pub(super) fn lasting_kind(kind: FactKind, text: &str, language: Language) -> FactKind {
    let is_of_profile = matches!(kind, FactKind::Identity | FactKind::Preference | FactKind::Constraint);
    let lasts = || statements::is_lasting(text) && (language != Language::English || is_wish_or_rule(kind, text));
    if is_of_profile && !lasts() { FactKind::Fact } else { kind }
}

/// Whether an English text has the words of a wish or of a rule.
fn is_wish_or_rule(kind: FactKind, text: &str) -> bool {
    static HABITS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "usually|tend to|tends to|favorite|favourite|fan of|prefer|prefers|rather|i enjoy|i like|i love|i hate|i dislike|can't stand|don't like|\
            don't eat|don't drink|don't use|i avoid|don't want|i want|mostly|at most|at least|max|keep|give me|show me|no|don't|do not|avoid|use|short|brief|\
            answer|answers|explain|never|always|only|must|not|stick to|lover|enthusiast|person|i need|without|as few|call me|instead of",
        )
    });
    let groups = groups::in_sentence(text, Language::English);
    let is_announced =
        ["prefers", "always", "never", "only", "must", "please", "from now on", "health", "order", "schedule"];
    match kind {
        // `Seeing my goals on paper helps me`.
        FactKind::Constraint if text.split(' ').next().is_some_and(|word| word.len() > 5 && word.ends_with("ing")) => {
            false
        }
        FactKind::Preference | FactKind::Constraint => {
            HABITS.are_in(text) || is_announced.iter().any(|name| groups.contains(name))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: FactKind, text: &str, language: Language, expected: FactKind) {
        assert_eq!(lasting_kind(kind, text, language), expected, "{text}");
    }

    #[test]
    fn who_the_person_is_is_told_from_other_facts() {
        let check = |text: &str, expected| assert_eq!(careful_kind(FactKind::Fact, text, Language::English), expected);
        check("I'm Marta", FactKind::Identity);
        check("I run a small bakery in Porto", FactKind::Identity);
        check("I run a marathon in May", FactKind::Fact);
    }

    #[test]
    fn what_lasts_keeps_its_kind() {
        for (kind, text) in [
            (FactKind::Identity, "I'm a US citizen"),
            (FactKind::Preference, "I prefer short answers"),
            (FactKind::Preference, "I usually stick to the vinyasa flow classes, they're my favorite."),
            (FactKind::Constraint, "Never push to main"),
        ] {
            check(kind, text, Language::English, kind);
        }
        check(FactKind::Preference, "我喜欢靠窗的座位", Language::Chinese, FactKind::Preference);
    }

    #[test]
    fn what_passes_is_a_fact_like_others() {
        for (kind, text) in [
            (FactKind::Constraint, "please keep the dinner meat-free"),
            (FactKind::Identity, "I recently attended a class on vegan cuisine"),
            (FactKind::Preference, "I'm pretty flexible with my travel dates"),
            (FactKind::Preference, "I'd prefer a route that's relatively flat"),
            (FactKind::Identity, "My wife and I hosted a small get-together with friends"),
            (FactKind::Constraint, "Seeing my goals on paper keeps me focused on what I have to do"),
            (FactKind::Preference, "Strength training gave me the upper hand over my opponents"),
        ] {
            check(kind, text, Language::English, FactKind::Fact);
        }
        check(FactKind::Constraint, "今晚这顿别放辣", Language::Chinese, FactKind::Fact);
    }
}
