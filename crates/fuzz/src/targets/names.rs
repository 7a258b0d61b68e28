//! Addresses: names, documents, namespaces, sessions, projects.

use std::path::{Component, Path};

use throughline_core::model::{DocumentName, Name, Namespace, SessionId, fold_name};

pub(super) fn run(bytes: &[u8]) {
    let text = super::text(bytes);
    if let Ok(name) = text.parse::<Name>() {
        component(&name);
        let project = DocumentName::project(&name);
        assert_eq!(project.as_project(), Some(&name));
        document(&project);
        let _ = Name::user_namespace(name.as_str());
    }
    if let Ok(name) = text.parse::<DocumentName>() {
        document(&name);
    }
    if let Ok(address) = text.parse::<Namespace>() {
        assert_eq!(address.to_string().parse(), Ok(address), "an address is read as it is written");
    }
    if let Ok(session) = text.parse::<SessionId>() {
        assert_eq!(session.as_str().parse(), Ok(session.clone()));
        assert!(session.as_str().contains(':') && !session.channel().is_empty());
        assert!(session.as_str().len() <= 180 && !session.as_str().contains(['/', '\\', '\n', '\u{202e}']));
    }
    if let Ok(session) = SessionId::on_channel("cli", &text) {
        assert!(session.as_str().contains(':'));
    }
    let folded = fold_name(&text);
    assert_eq!(fold_name(&folded), folded, "folding twice changes nothing");
}

/// A name is one component of a path, and stays one after a round trip.
fn component(name: &Name) {
    let parts: Vec<Component<'_>> = Path::new(name.as_str()).components().collect();
    assert!(matches!(parts.as_slice(), [Component::Normal(part)] if *part == name.as_str()), "{name:?}");
    assert!(name.as_str().len() <= 180 && !name.as_str().contains(|c: char| c.is_control()), "{name:?}");
    assert_eq!(name.as_str().parse::<Name>().as_ref(), Ok(name), "a name is read as it is written");
}

fn document(name: &DocumentName) {
    name.components().for_each(component);
    assert!(name.components().count() >= 2);
    assert_eq!(name.to_string().parse::<DocumentName>().as_ref(), Ok(name), "{name:?}");
    assert!(!name.file().contains(['/', '\\']) && name.file().len() <= 255);
}
