//! Groups of phrases that mean the same to the classifier, in every language: `groups.txt`, read once.

use std::sync::LazyLock;

use super::language::Language;
use super::phrases::Phrases;

struct Group {
    name: &'static str,
    /// Per language, in the order of [`Language::ALL`]: phrases anywhere, and at the beginning alone.
    phrases: Vec<(Phrases, Phrases)>,
}

static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| read(include_str!("groups.txt")));

fn read(table: &'static str) -> Vec<Group> {
    let lines = || table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut groups: Vec<(&'static str, [&'static str; 5])> = Vec::new();
    for line in lines() {
        if let Some(name) = line.strip_prefix('[') {
            groups.push((name.trim_end_matches(']'), [""; 5]));
        } else if let Some((code, list)) = line.split_once(": ")
            && let Some(at) = Language::ALL.iter().position(|language| language.code() == code)
            && let Some((_, lists)) = groups.last_mut()
        {
            lists[at] = list;
        }
    }
    let both = |list: &'static str| (Phrases::of(list.split('|').filter(|p| !p.starts_with('^'))), first_only(list));
    groups.into_iter().map(|(name, lists)| Group { name, phrases: lists.into_iter().map(both).collect() }).collect()
}

fn first_only(list: &'static str) -> Phrases {
    Phrases::of(list.split('|').filter_map(|phrase| phrase.strip_prefix('^')))
}

/// The groups of which a phrase stands in a sentence.
pub(super) fn in_sentence(sentence: &str, language: Language) -> Vec<&'static str> {
    let at = Language::ALL.iter().position(|known| *known == language).unwrap_or_default();
    let has = |group: &&Group| {
        let (anywhere, first) = &group.phrases[at];
        first.begin(sentence.trim_start()) || anywhere.are_in(sentence)
    };
    GROUPS.iter().filter(has).map(|group| group.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_phrases_in_every_language() {
        assert!(GROUPS.len() > 30);
        for group in GROUPS.iter() {
            for (language, (anywhere, first)) in Language::ALL.iter().zip(&group.phrases) {
                assert!(!anywhere.is_empty() || !first.is_empty(), "[{}] in {language:?}", group.name);
            }
        }
    }

    #[test]
    fn phrases_are_whole_words() {
        assert_eq!(in_sentence("We never deploy on Fridays", Language::English), ["never", "we", "schedule"]);
        assert_eq!(in_sentence("nevertheless", Language::English), [""; 0]);
    }
}
