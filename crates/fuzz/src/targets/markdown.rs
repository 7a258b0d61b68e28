//! Documents: bullets, sections, and edits of them.

use throughline_core::model::{DocumentName, Importance, Name};
use throughline_core::reflection::lines::lines;
use throughline_core::text::{bullets, prose, sections};

pub(super) fn run(bytes: &[u8]) {
    let text = super::text(bytes);
    let name = DocumentName::memory(&"user".parse::<Name>().expect("a name"));
    spans(&name, &text);
    edits(&name, &text);
    added(&text);
    for piece in prose::pieces(&text) {
        let _ = format!("{piece:?}");
    }
    let _ = prose::telling_line(&text);
}

/// Bullets stand in order, apart from each other, and say what their bytes say.
fn spans(name: &DocumentName, text: &str) {
    let mut from = 0;
    for bullet in bullets::parse(name, text) {
        assert!(bullet.span.start >= from && !bullet.span.is_empty(), "{bullet:?} begins before {from}");
        let item = text.get(bullet.span.clone()).expect("whole characters");
        assert!(!bullet.content.is_empty() && bullet.content.len() <= item.len(), "{bullet:?}");
        assert!(!bullet.content.contains(['\n', '\r']), "{bullet:?} is one line");
        from = bullet.span.end;
    }
    for line in lines(name, text) {
        assert!(text.get(line.span.clone()).is_some(), "{line:?}");
    }
}

/// One bullet is taken out or written anew, and the bytes around it stay.
fn edits(name: &DocumentName, text: &str) {
    let found = bullets::parse(name, text);
    let Some(bullet) = found.get(text.len() % found.len().max(1)) else { return };
    let without = bullets::without(text, bullet);
    assert_eq!(without.len(), text.len() - bullet.span.len());
    let replaced = bullets::with_replaced(text, bullet, "said anew", Importance::default());
    assert!(replaced.starts_with(&text[..bullet.span.start]) && replaced.ends_with(&text[bullet.span.end..]));
    let reread = bullets::parse(name, &replaced);
    assert!(reread.iter().any(|bullet| bullet.content.contains("said anew")), "{replaced:?} lost a line");
    let cleared = bullets::without_content(name, text, &bullet.content);
    assert!(cleared.len() < text.len(), "a line that is said is taken out");
}

/// A new line changes no byte that was there, and comes after all of them or inside its section.
fn added(text: &str) {
    let importance = Importance::default();
    let longer = bullets::with_added(text, "one more", importance);
    assert!(longer.starts_with(text) && longer[text.len()..].contains("- one more"), "{longer:?}");
    for headings in [sections::IS, sections::HAPPENED, sections::DONE] {
        let longer = sections::with_added(text, headings, "one more", importance);
        let before = longer.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let after = longer.bytes().rev().zip(text.bytes().rev()).take_while(|(a, b)| a == b).count();
        assert!(before + after >= text.len(), "a byte that was there changed: {text:?} became {longer:?}");
        assert!(longer.contains("- one more"));
    }
}
