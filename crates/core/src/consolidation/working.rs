//! What the next conversation begins with: the new summary, what the same conversation was about before, and what is
//! carried over from others. Within its budget; what is new comes first and whole.

use crate::recall::similarity;
use crate::text::tokens;

use super::corrections::rejects;
use super::plan::Summary;

/// The order in which the sections of a summary are read.
const ORDER: [&str; 4] = ["working on", "decisions", "preferences and constraints", "open threads"];

/// The summariser is given what is open, and says under a heading of its own what still is.
const OPEN: &str = "open threads";

/// Lines that share this much say the same.
const SAME: f64 = 0.8;

/// A heading, as it was written, and what stands below it.
type Section<'a> = (&'a str, Vec<String>);

/// The content of working memory; empty where the summary has nothing of its own, and the old one is to stay.
pub fn working(earlier: Option<&str>, summary: &Summary, max_tokens: usize) -> String {
    let own = tokens::cut(&summary.own, max_tokens);
    if own.is_empty() {
        return String::new();
    }
    let room = max_tokens.saturating_sub(tokens::estimate(own) + 1);
    let for_others = tokens::estimate(&summary.carried).min(room / 2);
    let merged = earlier.map(|earlier| merged(earlier, own, room - for_others));
    let text = merged.unwrap_or_else(|| own.to_owned());
    let room = max_tokens.saturating_sub(tokens::estimate(&text) + 1);
    let carried = without_repeated(&summary.carried, &text);
    match tokens::cut(&carried, room) {
        cut if has_items(cut) => format!("{text}\n\n{cut}"),
        _ => text,
    }
}

/// The new summary with what the earlier one says besides, each under its heading. The oldest makes room.
fn merged(earlier: &str, own: &str, mut room: usize) -> String {
    let mut sections = sections(own);
    let new: Vec<String> = sections.iter().flat_map(|(_, items)| items.clone()).collect();
    let stands = |item: &String| !new.iter().any(|new| similarity(new, item) >= SAME || rejects(new, item));
    let old = self::sections(earlier).into_iter().filter(|(heading, _)| title(heading) != OPEN);
    let old: Vec<_> = old.map(|(heading, items)| (heading, items.into_iter().filter(stands).collect())).collect();
    let count = |(_, items): &Section<'_>| items.len();
    // From the end of each section, by turns: what is newest in any of them stays.
    let mut kept: Vec<usize> = vec![0; old.len()];
    for nth in 1..=old.iter().map(count).max().unwrap_or_default() {
        for (section, kept) in old.iter().zip(&mut kept) {
            let Some(item) = section.1.len().checked_sub(nth).and_then(|at| section.1.get(at)) else { continue };
            let size = tokens::estimate(item) + 1 + if *kept == 0 { tokens::estimate(section.0) + 1 } else { 0 };
            if *kept + 1 == nth && size <= room {
                room -= size;
                *kept = nth;
            }
        }
    }
    for ((heading, mut items), kept) in old.into_iter().zip(kept) {
        let items = items.split_off(items.len() - kept);
        put_before(&mut sections, heading, items);
    }
    sections.sort_by_key(|(heading, _)| ORDER.iter().position(|known| *known == title(heading)).unwrap_or(0));
    let block = |(heading, items): &Section<'_>| format!("{heading}\n{}", items.join("\n")).trim().to_owned();
    sections.iter().filter(|(_, items)| !items.is_empty()).map(block).collect::<Vec<_>>().join("\n\n")
}

fn put_before<'a>(sections: &mut Vec<Section<'a>>, heading: &'a str, mut items: Vec<String>) {
    match sections.iter_mut().find(|(known, _)| title(known) == title(heading)) {
        Some((_, newer)) => {
            items.append(newer);
            *newer = items;
        }
        None => sections.push((heading, items)),
    }
}

/// What is carried over and not said above already.
fn without_repeated(carried: &str, text: &str) -> String {
    let said: Vec<&str> = text.lines().filter(|line| is_bullet(line)).map(str::trim).collect();
    let mut lines: Vec<&str> = Vec::new();
    for line in carried.lines().filter(|line| !said.contains(&line.trim())) {
        // A heading below the first that nothing is left of goes, too.
        if line.starts_with("### ") && lines.last().is_some_and(|last| last.starts_with("### ")) {
            lines.pop();
        }
        lines.push(line);
    }
    while lines.last().is_some_and(|last| last.starts_with("### ") || last.trim().is_empty()) {
        lines.pop();
    }
    lines.join("\n")
}

fn has_items(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

fn is_bullet(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")
}

fn title(heading: &str) -> String {
    heading.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase()
}

/// The sections of a summary, each heading once; what stands before the first has none.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = vec![("", Vec::new())];
    let mut current = 0;
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            let known = sections.iter().position(|(heading, _)| title(heading) == title(line));
            current = known.unwrap_or(sections.len());
            if known.is_none() {
                sections.push((line, Vec::new()));
            }
            continue;
        }
        let items = &mut sections[current].1;
        match items.last_mut() {
            // A line that goes on with an item belongs to it.
            Some(last) if !is_bullet(line) => {
                last.push('\n');
                last.push_str(line);
            }
            _ => items.push(line.to_owned()),
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::super::plan::split;
    use super::*;

    fn check(earlier: &str, text: &str, max_tokens: usize, expected: &str) {
        let earlier = (!earlier.is_empty()).then_some(earlier);
        assert_eq!(working(earlier, &split(text), max_tokens), expected);
    }

    #[test]
    fn what_is_carried_over_follows_what_is_new() {
        let text = "## Working on\n- parser\n\n## Carried over\n- call Ann";
        check("", text, 1000, text);
        check("", "- a\n\n## Carried over\n", 1000, "- a");
        check("", "- a\n\n## Carried over\n- a", 1000, "- a");
        check(
            "",
            "- a\n\n## Carried over\n### Working on\n- a\n### Decisions\n- b",
            1000,
            "- a\n\n## Carried over\n### Decisions\n- b",
        );
    }

    #[test]
    fn with_nothing_of_its_own_there_is_no_new_one() {
        check("- old", "## Carried over\n- call Ann", 1000, "");
        check("- old", "", 1000, "");
    }

    #[test]
    fn the_same_conversation_goes_on() {
        let earlier = "## Working on\n- parser\n\n## Open threads\n- call Ann\n\n## Working on\n- lexer\n  and tests";
        check(
            earlier,
            "## Decisions\n- ship on Friday\n\n## Open threads\n- call Bob",
            1000,
            "## Working on\n- parser\n- lexer\n  and tests\n\n## Decisions\n- ship on Friday\n\n## Open threads\n- call Bob",
        );
        check("- first", "- third", 1000, "- first\n- third");
    }

    #[test]
    fn what_was_said_again_or_taken_back_does_not_stand() {
        let earlier = "## Decisions\n- Let's use MySQL for orders\n- We ship on Friday at noon";
        check(
            earlier,
            "## Decisions\n- no, use Postgres for orders, not MySQL\n- we ship on Friday at noon!",
            1000,
            "## Decisions\n- no, use Postgres for orders, not MySQL\n- we ship on Friday at noon!",
        );
    }

    #[test]
    fn what_is_new_has_the_first_claim_on_the_budget() {
        let own = "- new ".repeat(100);
        let text = working(Some("- old"), &split(&format!("{own}\n\n## Carried over\n- older")), 100);
        assert!(tokens::estimate(&text) <= 100 && !text.contains("old"), "{text}");
        let many: String = (0..100).map(|n| format!("- line {n}\n")).collect();
        let text = working(Some(&many), &split("- new\n\n## Carried over\n- call Ann"), 60);
        assert!(tokens::estimate(&text) <= 60, "{text}");
        assert!(text.contains("- line 99\n- new\n\n## Carried over\n- call Ann"), "{text}");
        assert!(!text.contains("- line 1\n"), "{text}");
    }
}
