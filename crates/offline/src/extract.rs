//! Facts: what the person stated about themselves, their wishes and their plans, verbatim, as the strict JSON that the
//! extraction prompt names.

use std::collections::VecDeque;

use serde_json::Value;
use throughline_core::model::{Role, Turn};
use throughline_core::ports::{ExtractBrief, KnownFact};

use super::change::Change;
use super::lexicon::{Cue, cues};
use super::one_line;
use super::openings::Kind;
use super::prose::{self, Form};
use super::smalltalk::refers_back;
use super::statement::{corrected, only_objects, remembered, statement};
use super::words::Words;
use throughline_core::text::sentences::of_line;

/// Facts of one conversation; the latest stay.
const MAX_FACTS: usize = 20;

/// Statements that are compared with what is known, the latest.
const MAX_STATEMENTS: usize = 100;

struct Fact {
    kind: Kind,
    text: String,
}

/// The facts of the conversation that are not known yet, as JSON.
pub(super) fn extract(brief: &ExtractBrief) -> String {
    // Written out, so that the keys come in the order of the prompt.
    let fact = |fact: Fact| format!("{{\"text\":{},\"kind\":\"{}\"}}", Value::String(fact.text), fact.kind.as_str());
    let facts: Vec<String> = unknown(stated(&brief.turns), &brief.known).into_iter().map(fact).collect();
    format!("{{\"facts\":[{}]}}", facts.join(","))
}

/// Everything that the person stated, the latest at the end.
fn stated(turns: &[Turn]) -> VecDeque<Fact> {
    let mut facts = VecDeque::new();
    // The sentence that `Remember that.` would mean, in this turn or in the one right before it.
    let mut last = None;
    for turn in turns {
        if turn.role != Role::User {
            last = None;
            continue;
        }
        read(&turn.content, &mut last, |fact| {
            if facts.len() == MAX_STATEMENTS {
                facts.pop_front();
            }
            facts.push_back(fact);
        });
    }
    facts
}

fn read(content: &str, last: &mut Option<String>, mut found: impl FnMut(Fact)) {
    let mut objected = false;
    for piece in prose::pieces(content).into_iter().filter(|piece| piece.form == Form::Prose) {
        for sentence in of_line(piece.text) {
            let sentence = one_line(sentence);
            let right = if objected { corrected(&sentence) } else { None };
            let meant = if refers_back(&sentence) { last.take() } else { None };
            let meant = meant.as_deref().filter(|meant| statement(meant).is_none()).and_then(remembered);
            let fact = right.map(|text| (Kind::Correction, text)).or_else(|| statement(&sentence)).or(meant);
            objected = only_objects(&sentence);
            if let Some((kind, text)) = fact {
                found(Fact { kind, text: text.to_owned() });
            }
            *last = Some(sentence.clone());
            // What follows is a text to work on: nobody states it.
            if cues(&sentence).iter().any(|found| found.cue == Cue::Material) {
                *last = None;
                return;
            }
        }
    }
}

/// Those that neither the knowledge nor an earlier one says already.
fn unknown(stated: VecDeque<Fact>, known: &[KnownFact]) -> Vec<Fact> {
    let mut said: Vec<Words> =
        if stated.is_empty() { Vec::new() } else { known.iter().map(|known| Words::of(&known.text)).collect() };
    let mut facts: Vec<(Fact, Words)> = Vec::new();
    for fact in stated {
        let words = Words::of(&fact.text);
        if words.is_empty() || said.iter().any(|other| words.repeats(other)) {
            continue;
        }
        if let Some(change) = Change::of(&fact.text, &cues(&fact.text), &words) {
            facts.retain(|(earlier, words)| {
                !(may_change(earlier.kind) && change.takes_back(words, earlier.kind == Kind::Decision))
            });
        }
        said.push(words.clone());
        facts.push((fact, words));
    }
    facts.drain(..facts.len().saturating_sub(MAX_FACTS));
    facts.into_iter().map(|(fact, _)| fact).collect()
}

fn may_change(kind: Kind) -> bool {
    matches!(kind, Kind::Decision | Kind::Preference | Kind::Correction)
}

#[cfg(test)]
mod tests {
    use super::super::corpus::turn;
    use super::*;

    fn check(turns: &[(&str, &str)], known: &[&str], expected: &[&str]) {
        let brief = ExtractBrief {
            turns: turns.iter().map(|(role, content)| turn(role, content)).collect(),
            known: known.iter().map(|text| KnownFact::said(text)).collect(),
        };
        let reply: Value = serde_json::from_str(&extract(&brief)).unwrap();
        let texts: Vec<&str> =
            reply["facts"].as_array().unwrap().iter().map(|fact| fact["text"].as_str().unwrap()).collect();
        assert_eq!(texts, expected, "of {turns:?}");
    }

    #[test]
    fn only_the_person_states_facts() {
        let others = ["assistant", "tool", "system", "summary"];
        others.iter().for_each(|role| check(&[(role, "I prefer tabs.")], &[], &[]));
        check(&[("user", "I prefer tabs.")], &[], &["I prefer tabs."]);
    }

    #[test]
    fn what_is_known_is_no_news() {
        let said = &[("user", "I prefer tabs over spaces. My name is Ada."), ("user", "i prefer tabs over spaces!")];
        check(said, &[], &["I prefer tabs over spaces.", "My name is Ada."]);
        check(said, &["The person prefers tabs over spaces."], &["My name is Ada."]);
        check(
            &[("user", "I prefer spaces over tabs.")],
            &["I prefer tabs over spaces."],
            &["I prefer spaces over tabs."],
        );
    }

    #[test]
    fn an_objection_makes_the_next_sentence_a_correction() {
        check(&[("user", "That's wrong. The staging port is 5433.")], &[], &["The staging port is 5433."]);
        check(&[("user", "不对。测试环境的端口是 5433。")], &[], &["测试环境的端口是 5433。"]);
    }

    #[test]
    fn what_is_to_be_remembered_is_the_sentence_before() {
        let rate = "Our tax rate in Portugal is 23%.";
        for said in ["Remember that.", "Please remember this!", "Don't forget that.", "Keep that in mind.", "请记住。"]
        {
            check(&[("user", &format!("{rate} {said}"))], &[], &[rate]);
            check(&[("user", rate), ("user", said)], &[], &[rate]);
            check(&[("user", rate), ("assistant", "The sky is blue."), ("user", said)], &[], &[]);
        }
        check(
            &[("user", "Our tax rate in Portugal is 23%, remember that.")],
            &[],
            &["Our tax rate in Portugal is 23%"],
        );
        check(&[("user", "葡萄牙的税率是 23%。记住这个。")], &[], &["葡萄牙的税率是 23%。"]);
        check(&[("user", "葡萄牙的税率是 23%，请记住。")], &[], &["葡萄牙的税率是 23%"]);
        check(&[("user", "I prefer tabs. Remember that.")], &[], &["I prefer tabs."]);
        check(&[("user", "What is the rate? Remember that.")], &[], &[]);
    }

    #[test]
    fn skips_code_memory_and_texts_to_work_on() {
        check(&[("user", "```\nI prefer tabs.\n```\n> I prefer spaces.")], &[], &[]);
        check(
            &[("user", "<memory-context>\n- I prefer tabs.\n</memory-context>\n\nMy name is Ada.")],
            &[],
            &["My name is Ada."],
        );
        check(&[("user", "Please translate:\nMy name is Hans. I live in Berlin.")], &[], &[]);
        check(&[("user", "请翻译下面这段：\n我叫汉斯。我住在柏林。")], &[], &[]);
    }

    #[test]
    fn keeps_the_latest_twenty() {
        let many: Vec<String> = (0..30).map(|n| format!("We decided to buy chair number {n}.")).collect();
        let expected: Vec<&str> = many[10..].iter().map(String::as_str).collect();
        check(&[("user", &many.join(" "))], &[], &expected);
    }
}
