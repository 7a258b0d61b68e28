//! Whatever a person does to the file in between, and in whichever order, not a byte of theirs is lost.

use proptest::prelude::*;
use throughline_core::model::MemorySection;
use throughline_core::model::Significance;
use throughline_core::reflection::lines;
use throughline_core::text::bullets;

use super::{Home, ops};

#[derive(Debug, Clone)]
enum Act {
    /// The person saves these bytes at the beginning, in the middle or at the end of what is there.
    Edit(u8, Vec<u8>),
    /// The person saves something else altogether.
    Replace(Vec<u8>),
    Record(u8),
    Complete(u8),
    Reflect(u8),
    Undo,
}

/// Pieces that a half-finished Markdown file is made of, and some that are no text at all.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "## What Is\n",
        "## What Is Done\r\n",
        "## WIH\n",
        "# Title\r\n",
        "- by hand\n",
        "- [sig:5] never lose this\n",
        "* [sig:1] light\r\n",
        "```\n",
        "~~~\n",
        "\n",
        "\r\n",
        "prose of mine\n",
        "  - nested\n",
        "1. one\n",
        "- no newline",
        "\t",
        "---\n",
        "<b>",
        "漢字\n",
        "- [sig:9] odd\n",
    ]);
    prop_oneof![
        6 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => any::<String>().prop_map(String::into_bytes),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (0..3_u8, prop::collection::vec(piece(), 1..4)).prop_map(|(at, all)| Act::Edit(at, all.concat())),
        1 => prop::collection::vec(piece(), 0..8).prop_map(|all| Act::Replace(all.concat())),
        2 => any::<u8>().prop_map(Act::Record),
        2 => any::<u8>().prop_map(Act::Complete),
        3 => any::<u8>().prop_map(Act::Reflect),
        1 => Just(Act::Undo),
    ]
}

/// What is not one of our bullets: everything, where it is no text. An item that is completed is ours as a whole, also
/// where a person broke its line.
fn theirs(bytes: &[u8], act: &Act) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
    let name = "projects/stall".parse().unwrap();
    let mut spans: Vec<_> = lines(&name, text).into_iter().map(|line| line.span).collect();
    if let Act::Complete(n) = act {
        let meant = bullets::parse(&name, text).into_iter().find(|bullet| bullet.content == zebra(*n));
        spans.extend(meant.map(|bullet| bullet.span));
    }
    spans.sort_by_key(|span| span.start);
    let mut rest = Vec::new();
    let mut from = 0;
    for span in spans {
        rest.extend_from_slice(&bytes[from..span.start.max(from)]);
        from = span.end.max(from);
    }
    rest.extend_from_slice(&bytes[from..]);
    rest
}

fn zebra(n: u8) -> String {
    format!("zebra fact {}", n % 4)
}

fn is_within(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|other| other == byte))
}

fn answer(seed: u8) -> String {
    let (a, b) = (seed % 5 + 1, seed / 5 % 5 + 1);
    match seed % 7 {
        0 => ops(&format!(r#"{{"op":"prune","id":"f{a}"}},{{"op":"prune","id":"f{b}"}}"#)),
        1 => ops(&format!(r#"{{"op":"move","id":"f{a}","section":"done"}}"#)),
        2 => ops(&format!(r#"{{"op":"reweigh","id":"f{a}","significance":{b}}}"#)),
        3 => ops(&format!(r#"{{"op":"merge","ids":["f{a}","f{b}"],"text":"zebra fact"}}"#)),
        4 => ops(&format!(
            r#"{{"op":"move","id":"f{a}","section":"happened"}},{{"op":"move","id":"f{b}","section":"is"}}"#
        )),
        5 => ops(r#"{"op":"add","text":"zebras run in Lisbon","section":"happened"}"#),
        _ => "prose".to_owned(),
    }
}

fn spliced(bytes: &[u8], at: u8, new: &[u8]) -> Vec<u8> {
    let at = match at {
        0 => 0,
        1 => bytes.len() / 2,
        _ => bytes.len(),
    };
    [&bytes[..at], new, &bytes[at..]].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_of_theirs_is_lost(acts in prop::collection::vec(act(), 1..14)) {
        let home = Home::new();
        home.say("cli:a", Some("stall"), "zebras run in Lisbon");
        let file = "projects/stall".parse().unwrap();
        for act in acts {
            let before = home.bytes();
            match &act {
                Act::Edit(at, new) => home.save(spliced(&before, *at, new)),
                Act::Replace(new) => home.save(new),
                Act::Record(n) => {
                    let fact = (zebra(*n), Significance::new(i64::from(n % 5) + 1).unwrap());
                    let _ = home.engine.memories().record(&file, &[fact], [MemorySection::Is, MemorySection::Happened][usize::from(n % 2)]);
                }
                Act::Complete(n) => { let _ = home.engine.documents().complete(&file, &zebra(*n)); }
                Act::Reflect(seed) => { home.pass(Some("stall"), &answer(*seed)); }
                // Undoing a person's own save takes their bytes back, as they ask: then begin anew.
                Act::Undo => {
                    if home.store.undoable().unwrap().is_some_and(|last| last.projects.is_empty()) {
                        let _ = home.engine.history().undo();
                    }
                    continue;
                }
            }
            if matches!(act, Act::Edit(..) | Act::Replace(_)) {
                continue;
            }
            let after = home.bytes();
            prop_assert!(is_within(&theirs(&before, &act), &after), "{act:?}: {:?} became {:?}",
                String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
            if std::str::from_utf8(&before).is_err() {
                prop_assert_eq!(&before, &after, "what is no text is left alone");
            }
        }
    }
}
