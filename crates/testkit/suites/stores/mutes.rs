//! Memories that are never given.

use super::*;

#[test]
fn a_memory_is_muted_once_for_each_project_and_once_for_all() {
    let store = make();
    let mute = |memory: &str, project: Option<&str>, at| Mute {
        memory: EntryId::new(memory),
        project: project.map(str::to_owned),
        at: minute(at),
    };
    let all = [mute("a", None, 1), mute("a", Some("apollo"), 2), mute("b", Some("apollo"), 3)];
    for mute in &all {
        done(store.mute(mute));
    }
    done(store.mute(&mute("a", None, 9)));
    assert_eq!(done(store.mutes()), all, "again is as before");
    assert!(done(store.unmute(&EntryId::new("a"), Some("apollo"))));
    assert!(!done(store.unmute(&EntryId::new("a"), Some("apollo"))));
    assert_eq!(done(store.mutes()), [all[0].clone(), all[2].clone()]);
}

#[test]
fn mutes_are_exported_and_go_when_their_memory_is_erased() {
    let store = make();
    insert(&*store, entry("a", "likes tea"));
    let mute = Mute { memory: EntryId::new("a"), project: None, at: minute(1) };
    done(store.mute(&mute));
    let bundle = done(store.bundle());
    assert_eq!(bundle.mutes, [mute]);
    let other = make();
    done(other.adopt(&change(Verb::Import), &bundle, &ErasureMark::default(), &mut |_| true));
    assert_eq!(done(other.mutes()), bundle.mutes);
    done(store.erase(&Erasure { memories: vec![EntryId::new("a")], ..Erasure::default() }));
    assert_eq!(done(store.mutes()), []);
}

#[test]
fn a_mute_goes_with_a_line_that_is_edited_or_reworded_and_not_to_another_value() {
    for (verb, next, is_muted) in [
        (Verb::Edit, "I moved to Faro", true),
        (Verb::Write, "I'm living in Porto", true),
        (Verb::Consolidate, "I'm living in Porto", true),
        (Verb::Consolidate, "I live in Faro", false),
        (Verb::Write, "My cat is called Miso", false),
    ] {
        let store = make();
        let line = |id: &str, content: &str| Entry {
            kind: Kind::Bullet,
            namespace: address("user/profile"),
            layer: Layer::Identity,
            ..entry(id, content)
        };
        let document = |lines: &[Entry]| {
            let text: String = lines.iter().map(|line| format!("- {}\n", line.content)).collect();
            let Op::Document { name, text, hash, .. } = Op::document("user/profile".parse().unwrap(), Some(text))
            else {
                panic!("a document")
            };
            Op::Document { name, text, hash, bullets: Some(lines.to_vec()) }
        };
        done(apply(&*store, Verb::Write, &[document(&[line("a", "I live in Porto")])]));
        done(store.mute(&Mute { memory: EntryId::new("a"), project: None, at: minute(1) }));
        done(apply(&*store, verb, &[document(&[line("b", next)])]));
        let muted: Vec<String> = done(store.mutes()).into_iter().map(|mute| mute.memory.to_string()).collect();
        assert_eq!(muted.contains(&"b".to_owned()), is_muted, "{verb} {next}");
    }
}
