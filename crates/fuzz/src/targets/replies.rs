//! What models answer: summaries, facts, operations of a reflection.

use throughline_core::consolidation::facts::{self, Said};
use throughline_core::consolidation::{plan as kept, reply};
use throughline_core::model::{DocumentName, EntryId, Name, Role, Turn, TurnId};
use throughline_core::ports::{KnownFact, Reply, SummaryOf};
use throughline_core::reflection::{apply, lines, plan, reply as proposals};
use throughline_core::text::{redact::redact, tokens};

/// Longest summary that is stored, in bytes; a secret in it may become a longer word.
const LONGEST_SUMMARY: usize = 16 * 1024;

pub(super) fn summary(bytes: &[u8]) {
    let text = super::text(bytes);
    let _ = reply::without_reasoning(&text).map(|rest| assert!(rest.len() <= text.len()));
    let Ok(summary) = reply::summary(&Reply::said(&*text)) else { return };
    assert!(summary.len() <= LONGEST_SUMMARY, "{} bytes", summary.len());
    assert_eq!(redact(&summary).text, summary, "a secret is left");
    for of in [SummaryOf::NewTurns, SummaryOf::Conversation] {
        let kept = kept::summary(Some(&text), &summary, of, 200);
        assert!(kept.new.len() <= summary.len());
        let own = tokens::estimate(&summary);
        assert!(tokens::estimate(&kept.running) <= own.max(200) + 1 || of == SummaryOf::Conversation);
    }
}

pub(super) fn extraction(bytes: &[u8]) {
    let text = super::text(bytes);
    // What the model says is also what the person said, so that something of it is believed.
    let turns = [turn("a", Role::User, &text), turn("b", Role::Assistant, "I live in Lisbon and use Vim.")];
    let said = Said { before: &[], turns: &turns };
    let known = [KnownFact { id: EntryId::new("aaaaab2222222222"), text: "lives in Lisbon".to_owned() }];
    let Ok(found) = facts::parse(&Reply::said(&*text), &said, &known) else { return };
    assert!(found.len() <= 20);
    for fact in &found {
        assert!(!fact.text.is_empty() && fact.text.chars().count() <= 500, "{fact:?}");
        assert!(!fact.text.contains(['\n', '\r']), "{fact:?}");
        assert_eq!(redact(&fact.text).text, fact.text, "a secret is left");
        assert!(fact.replaces.as_ref().is_none_or(|id| known.iter().any(|known| known.id == *id)), "an invented id");
    }
}

pub(super) fn reflection(bytes: &[u8]) {
    let text = super::text(bytes);
    let name = DocumentName::memory(&"user".parse::<Name>().expect("a name"));
    // A document and a reply to it, or a reply to a usual document.
    let (document, answer) = text.split_once("\u{1}").unwrap_or((DOCUMENT, &text));
    let Ok(proposal) = proposals::parse(&Reply::said(answer)) else { return };
    assert!(proposal.operations.len() <= 200);
    let found = lines::lines(&name, document);
    let names: Vec<(String, EntryId)> =
        found.iter().enumerate().map(|(nth, line)| (format!("f{}", nth + 1), line.id.clone())).collect();
    let said = [turn("a", Role::User, answer)];
    let input = plan::Input { lines: &found, names: &names, said: &said, has_sections: true, max_share: 0.3 };
    let plan = plan::plan(&input, &proposal);
    let touched: Vec<usize> = plan.steps.iter().flat_map(plan::Step::touched).collect();
    assert!(touched.iter().all(|line| *line < found.len()), "{:?}", plan.steps);
    let outcome = apply::apply(&name, document, &found, &plan, super::now().date());
    let left = lines::lines(&name, &outcome.text);
    for (nth, line) in found.iter().enumerate().filter(|(_, line)| line.is_protected()) {
        let stands = left.iter().any(|now| now.text == line.text) || touched.contains(&nth);
        assert!(stands, "a protected fact is gone: {line:?} in {:?}", outcome.text);
    }
    let removed = found.len().saturating_sub(left.len());
    assert!(removed <= (found.len() as f64 * 0.3).ceil() as usize + 1, "{removed} of {} are gone", found.len());
}

const DOCUMENT: &str = "# Memory\n\n## What Is\n- [sig:5] Lives in Lisbon\n- [sig:2] Uses Vim\n- Uses vim to write code\n\n\
## What Happened\n- [sig:1] Moved in May\n- Bought a bike\n\n## What Is Done\n- The parser\n";

fn turn(id: &str, role: Role, content: &str) -> Turn {
    let session = "cli:main".parse().expect("a session");
    let at = super::now().timestamp();
    Turn { id: TurnId::new(id), session, role, speaker: None, content: content.to_owned(), at }
}
