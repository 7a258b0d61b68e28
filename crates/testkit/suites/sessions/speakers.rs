//! Several people in one conversation: what others say never becomes what is known of the person.

use throughline_core::ports::{Brief, Cost, ModelError, Reply, SummaryOf};

use super::*;

const GRACE: &str = "My name is Grace and I work as a pilot in Oslo.";

/// A model that takes whatever it is shown for the person's own words.
struct Credulous;

impl Model for Credulous {
    fn provider(&self) -> &'static str {
        "credulous"
    }

    fn name(&self) -> &str {
        "test"
    }

    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        false
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, _: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        match brief {
            Brief::Summarise(_) => Ok(Reply::said(SUMMARY)),
            Brief::Extract(brief) => {
                let said = brief.turns.iter().filter(|turn| turn.role == Role::User);
                let facts = said.map(|turn| serde_json::json!({"text": turn.content, "kind": "identity"}));
                Ok(Reply::said(serde_json::json!({ "facts": facts.collect::<Vec<_>>() }).to_string()))
            }
            _ => Err(ModelError::CannotChat),
        }
    }
}

impl Home {
    /// Ada's conversation with Grace; `person` as the host tells it.
    fn talk(&self, person: Option<&str>, said: &[(&str, &str)]) {
        let id = session("cli:one");
        let start = StartSession { person: person.map(str::to_owned), ..StartSession::new(id) };
        let said = said.iter().map(|(speaker, text)| {
            let speaker = (!speaker.is_empty()).then(|| (*speaker).to_owned());
            Said { speaker, ..Said::now(Role::User, *text) }
        });
        self.engine.sessions().observe_in(&start, &said.collect::<Vec<_>>()).unwrap();
    }

    fn end(&self) {
        let worker = Worker { holder: throughline_testkit::stores::holder("worker"), is_gone: &|_| false };
        self.engine.consolidation().end(&session("cli:one"), &Credulous, &worker).unwrap();
    }

    fn person(&self) -> Option<String> {
        self.state("cli:one").session.person
    }

    fn profile(&self) -> String {
        self.text_of("user/profile").unwrap_or_default()
    }
}

#[test]
fn words_of_others_are_evidence_and_never_identity() {
    let home = Home::new();
    home.talk(Some("ada"), &[("Grace", GRACE), ("Ada", "I bake bread in Porto."), ("", "I like rye.")]);
    home.end();
    assert_eq!(home.profile(), "- I bake bread in Porto.\n- I like rye.\n");
    assert_eq!(home.knowledge("user/facts"), []);
    let found = home.engine.sessions().conversation(&session("cli:one")).unwrap().1;
    assert!(found.iter().any(|turn| turn.content == GRACE), "it is kept as evidence");
    assert_eq!(home.person().as_deref(), Some("ada"));
}

#[test]
fn the_only_speaker_is_the_person() {
    let home = Home::new();
    home.talk(None, &[("Grace", GRACE)]);
    assert_eq!(home.person(), None, "not settled before it matters");
    home.end();
    assert_eq!((home.profile(), home.person().as_deref()), (format!("- {GRACE}\n"), Some("Grace")));
}

#[test]
fn of_several_the_person_is_whom_the_profile_names_or_else_the_first() {
    let home = Home::new();
    home.save("user/profile", "- My name is Ada\n");
    home.talk(None, &[("Grace", GRACE), ("Ada", "I bake bread in Porto.")]);
    home.end();
    assert_eq!(home.profile(), "- My name is Ada\n- I bake bread in Porto.\n");
    assert_eq!(home.person().as_deref(), Some("Ada"));

    let other = Home::new();
    other.talk(None, &[("Ada", "I bake bread in Porto."), ("Grace", GRACE)]);
    other.end();
    assert_eq!((other.profile().as_str(), other.person().as_deref()), ("- I bake bread in Porto.\n", Some("Ada")));
}

#[test]
fn once_known_the_person_stays_unless_the_host_says_otherwise() {
    let home = Home::new();
    home.talk(None, &[("Ada", "I bake bread in Porto."), ("Grace", GRACE)]);
    home.end();
    home.save("user/profile", "- My name is Grace\n");
    home.talk(None, &[("Grace", "I always fly at night."), ("Ada", "I always sleep at night.")]);
    home.end();
    assert_eq!(home.profile(), "- My name is Grace\n- I always sleep at night.\n");
    home.talk(Some("Grace"), &[("Grace", "I collect maps of Norway."), ("Ada", "I collect stamps.")]);
    home.end();
    assert!(home.profile().ends_with("- I collect maps of Norway.\n"), "{}", home.profile());
    assert_eq!(home.person().as_deref(), Some("Grace"));
}

#[test]
fn a_name_that_cannot_be_one_is_refused() {
    let home = Home::new();
    let start = StartSession { person: Some(" \n".to_owned()), ..StartSession::new(session("cli:one")) };
    let refused = home.engine.sessions().start(&start).unwrap_err();
    assert!(refused.to_string().contains("the person"), "{refused}");
}
