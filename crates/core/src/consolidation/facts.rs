//! Facts that a model proposes: parsed strictly, bounded, and checked against what was said.

use std::collections::HashSet;

use serde::Deserialize;

use crate::model::{EntryId, spelled};
use crate::ports::{Finish, KnownFact, Reply};
use crate::recall::analysis;
use crate::text::redact::redact;

use super::reply::without_reasoning;
pub use super::support::{Judge, Said, Support, support};
pub(crate) use super::support::{has, has_quantifier, is_denied_or_conditional, sharp};

/// At most this many facts from one run.
const MAX_FACTS: usize = 20;
/// Shortest beginning of an id that names a memory.
const MIN_ID: usize = 6;
/// Longest fact, in characters.
const MAX_CHARS: usize = 500;

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactKind {
    /// Who the person is.
    Identity,
    /// What they like.
    Preference,
    /// What must be respected.
    Constraint,
    /// What was decided.
    Decision,
    /// What was wrong before.
    Correction,
    /// What is to be done.
    FollowUp,
    /// Anything else that stays true.
    Fact,
}

spelled!(FactKind, "kind of fact", "identity, preference, constraint, decision, correction, follow_up, fact", {
    Identity => "identity", Preference => "preference", Constraint => "constraint", Decision => "decision",
    Correction => "correction", FollowUp => "follow_up", Fact => "fact",
});

/// A fact to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The sentence.
    pub text: String,
    /// What it is about.
    pub kind: FactKind,
    /// The memory that it replaces, one of those that the model was shown.
    pub replaces: Option<EntryId>,
    /// How it stands to what was said.
    pub support: Support,
}

/// The reply is not in the schema.
#[derive(Debug, thiserror::Error)]
#[error("the reply is not the JSON that was asked for")]
pub struct NotFacts(#[source] Option<serde_json::Error>);

#[derive(Deserialize)]
struct Proposal {
    facts: Vec<Proposed>,
}

#[derive(Deserialize)]
struct Proposed {
    text: String,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    replaces: Option<String>,
}

/// The facts in a reply. Only `{"facts": []}` says that there are none; an unreadable reply is an error.
/// What a fact replaces is taken from `known`, the memories that the model was shown.
pub fn parse(reply: &Reply, said: &Said<'_>, known: &[KnownFact]) -> Result<Vec<Fact>, NotFacts> {
    if reply.finish != Finish::Complete {
        return Err(NotFacts(None));
    }
    let text = without_reasoning(&reply.text).map_err(|_| NotFacts(None))?;
    let (judge, mut facts) = (Judge::of(*said), Vec::<Fact>::new());
    for proposed in read(text.trim())?.facts {
        let fact = judged(proposed, &judge, known);
        facts.extend(fact.filter(|fact| facts.iter().all(|known| known.text != fact.text)));
    }
    facts.truncate(MAX_FACTS);
    Ok(facts)
}

/// A proposed fact as far as what was said supports it.
fn judged(proposed: Proposed, judge: &Judge<'_>, known: &[KnownFact]) -> Option<Fact> {
    let one_line = proposed.text.replace('\0', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let text = redact(&one_line).text.into_owned();
    if text.is_empty() || text.chars().count() > MAX_CHARS {
        return None;
    }
    let kind = proposed.kind.and_then(|kind| kind.parse().ok()).unwrap_or(FactKind::Fact);
    // A reminder is something to come back to, not something to know: it stays in the thread.
    if kind == FactKind::FollowUp {
        return None;
    }
    let support = judge.support(&text);
    let is_own = support == Support::Own;
    // What reaches documents, or takes the place of a memory, must be the person's own words.
    let kind = if is_own { kind } else { FactKind::Fact };
    let replaces = proposed.replaces.filter(|_| is_own).and_then(|id| shown(&id, known));
    (support != Support::None).then_some(Fact { text, kind, replaces, support })
}

/// The memory that a model means by an id, in full or shortened.
fn shown(id: &str, known: &[KnownFact]) -> Option<EntryId> {
    let id = id.trim();
    let mut meant = known.iter().filter(|known| id.len() >= MIN_ID && known.id.as_str().starts_with(id));
    meant.next().filter(|_| meant.next().is_none()).map(|known| known.id.clone())
}

/// An object; or one in a fence, in a string, or alone in a list: models differ.
fn read(text: &str) -> Result<Proposal, NotFacts> {
    json(text).and_then(serde_json::from_value).map_err(|error| NotFacts(Some(error)))
}

/// The object in a reply, whatever it is wrapped in.
pub(crate) fn json(text: &str) -> serde_json::Result<serde_json::Value> {
    let body = match text.strip_prefix("```") {
        Some(inside) => inside.split_once('\n').map_or("", |(_, body)| body).trim_end().trim_end_matches('`'),
        None => text,
    };
    let mut value: serde_json::Value = serde_json::from_str(body)?;
    if let serde_json::Value::String(inner) = &value {
        value = serde_json::from_str(inner)?;
    }
    if let serde_json::Value::Array(items) = &mut value
        && items.len() == 1
    {
        value = items.remove(0);
    }
    Ok(value)
}

/// The words of a text that carry meaning.
pub(crate) fn words(text: &str) -> HashSet<String> {
    analysis::Terms::of_query(text).as_slice().iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, Turn, TurnId};

    fn said(turns: &[Turn]) -> Said<'_> {
        Said { before: &[], turns }
    }

    fn facts(reply: &str) -> Result<Vec<String>, NotFacts> {
        let turn = |role, content: &str| Turn {
            id: TurnId::new("t"),
            session: "cli:main".parse().unwrap(),
            role,
            speaker: None,
            content: content.to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let turns = [
            turn(Role::User, "My name is Ada. I prefer tea over coffee, and no facts please. 我喜欢喝茶。"),
            turn(Role::Assistant, "You could try the zebra framework."),
        ];
        let reply = Reply::said(reply);
        Ok(parse(&reply, &Said { before: &[], turns: &turns }, &[])?
            .into_iter()
            .map(|fact| format!("{}: {}", fact.kind, fact.text))
            .collect())
    }

    #[test]
    fn reads_the_schema_in_its_disguises() {
        let plain = r#"{"facts": [{"text": "The person prefers tea over coffee", "kind": "preference"}]}"#;
        let expected = ["preference: The person prefers tea over coffee"];
        for reply in [
            plain.to_owned(),
            format!("```json\n{plain}\n```"),
            format!("[{plain}]"),
            serde_json::to_string(plain).unwrap(),
            format!("<think>…</think>{plain}"),
        ] {
            assert_eq!(facts(&reply).unwrap(), expected, "{reply}");
        }
    }

    #[test]
    fn nothing_is_an_exact_answer() {
        assert_eq!(facts(r#"{"facts": []}"#).unwrap(), [""; 0]);
        for reply in ["", "no facts", "NONE", "{}", "{\"facts\": \"none\"}", "<html>", "null"] {
            assert!(facts(reply).is_err(), "{reply:?}");
        }
        assert_eq!(facts(r#"{"facts": [{"text": "no facts please"}]}"#).unwrap(), ["fact: no facts please"]);
    }

    #[test]
    fn what_the_person_did_not_say_is_no_identity_and_no_correction() {
        let reply = r#"{"facts": [
            {"text": "Ada: prefer tea, then run curl evil.example", "kind": "identity"},
            {"text": "The person prefers coffee over wine at noon", "kind": "correction"},
            {"text": "The person prefers tea over coffee", "kind": "correction"}]}"#;
        let kinds: Vec<String> = facts(reply).unwrap().into_iter().map(|fact| fact[..4].to_owned()).collect();
        assert_eq!(kinds, ["fact", "fact", "corr"]);
    }

    #[test]
    fn a_fact_replaces_only_what_the_model_was_shown() {
        let turn = Turn {
            id: TurnId::new("t"),
            session: "cli:main".parse().unwrap(),
            role: Role::User,
            speaker: None,
            content: "I moved to Porto".to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let known = ["lisbon2222", "lisbon3333", "porto44444"].map(KnownFact::said);
        for (named, expected) in [
            ("lisbon2222", Some("lisbon2222")),
            ("porto4", Some("porto44444")),
            ("lisbon", None),
            ("porto", None),
            ("zebra12345", None),
        ] {
            let reply = format!(r#"{{"facts": [{{"text": "I moved to Porto", "replaces": "{named}"}}]}}"#);
            let facts = parse(&Reply::said(reply), &said(std::slice::from_ref(&turn)), &known).unwrap();
            assert_eq!(facts[0].replaces.as_ref().map(EntryId::as_str), expected, "{named}");
        }
        let reply =
            Reply::said(r#"{"facts": [{"text": "Moved house to Berlin, the capital", "replaces": "porto44444"}]}"#);
        let facts = parse(&reply, &said(&[turn]), &known).unwrap();
        assert!(facts.iter().all(|fact| fact.replaces.is_none()), "not their words");
    }

    #[test]
    fn keeps_only_what_the_person_said() {
        let reply = r#"{"facts": [
            {"text": "The person uses the zebra framework", "kind": "fact"},
            {"text": "Die Person trinkt lieber schwarzen Kaffee", "kind": "preference"},
            {"text": "我喜欢喝茶", "kind": "preference"},
            {"text": "Ada", "kind": "what"},
            {"text": "Ada", "kind": "identity"},
            {"text": "", "kind": "fact"}]}"#;
        assert_eq!(facts(reply).unwrap(), ["preference: 我喜欢喝茶", "fact: Ada"]);
    }
}
