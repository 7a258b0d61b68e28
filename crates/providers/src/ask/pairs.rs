//! Messages as they were said go in, turns that every server accepts come out: the two sides alternate, the person is
//! first, and each call stands right before its result. What cannot be paired is left out.

use throughline_core::model::Role;
use throughline_core::ports::{Message, ToolCall};
use throughline_core::text::guard::without_tags;

use super::{ToolResult, Turn};

/// Stands before a conversation whose beginning was cut off: several servers insist that a person speaks first.
const LEFT_OUT: &str = "(earlier messages are left out)";

/// Person and assistant in turn, the person first, nothing blank. Chat templates of small models refuse anything else.
pub(super) fn alternating(messages: &[Message], with_tools: bool) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message.role {
            Role::Assistant => {
                let answers = leading_answers(rest);
                rest = &rest[answers.len()..];
                let (calls, results) = if with_tools { paired(&message.calls, answers) } else { Default::default() };
                say(&mut turns, Turn::Assistant { text: message.content.clone(), calls });
                say(&mut turns, Turn::Person { results, text: String::new() });
            }
            // A result whose call is not there.
            Role::Tool if message.answers.is_some() => {}
            _ => say(&mut turns, Turn::Person { results: Vec::new(), text: spoken(message) }),
        }
    }
    if matches!(turns.first(), Some(Turn::Assistant { .. })) {
        turns.insert(0, Turn::Person { results: Vec::new(), text: LEFT_OUT.to_owned() });
    }
    turns
}

/// The results that stand right behind an assistant's message.
fn leading_answers(messages: &[Message]) -> &[Message] {
    let is_answer = |message: &Message| message.role == Role::Tool && message.answers.is_some();
    let end = messages.iter().position(|message| !is_answer(message)).unwrap_or(messages.len());
    &messages[..end]
}

/// The calls that have a result, and the results in the order of the calls.
fn paired(calls: &[ToolCall], answers: &[Message]) -> (Vec<ToolCall>, Vec<ToolResult>) {
    let (mut kept, mut results): (Vec<ToolCall>, Vec<ToolResult>) = (Vec::new(), Vec::new());
    for call in calls.iter().filter(|call| !call.name.is_empty()) {
        let answer = answers.iter().find(|answer| answer.answers.as_ref() == Some(&call.id));
        if let Some(answer) = answer.filter(|_| kept.iter().all(|other| other.id != call.id)) {
            let (id, name) = (call.id.clone(), call.name.clone());
            results.push(ToolResult { id, name, text: answer.content.clone() });
            kept.push(call.clone());
        }
    }
    (kept, results)
}

/// Adds what one side says; together with what the same side said right before.
fn say(turns: &mut Vec<Turn>, turn: Turn) {
    match (turns.last_mut(), turn) {
        (_, Turn::Person { results, text }) if results.is_empty() && text.trim().is_empty() => {}
        (_, Turn::Assistant { text, calls }) if calls.is_empty() && text.trim().is_empty() => {}
        (Some(Turn::Person { text: said, .. }), Turn::Person { results, text }) if results.is_empty() => {
            join(said, &text);
        }
        (Some(Turn::Assistant { text: said, calls: made }), Turn::Assistant { text, calls }) => {
            join(said, &text);
            made.extend(calls);
        }
        (_, turn) => turns.push(turn),
    }
}

fn join(said: &mut String, text: &str) {
    if !said.trim().is_empty() && !text.trim().is_empty() {
        said.push_str("\n\n");
    }
    if !text.trim().is_empty() {
        said.push_str(text);
    }
}

/// What neither of the two said is material, between tags that it cannot close.
fn spoken(message: &Message) -> String {
    if matches!(message.role, Role::User | Role::Assistant) || message.content.trim().is_empty() {
        return message.content.clone();
    }
    let tag = message.role.as_str();
    let safe = without_tags(&message.content, &[tag]);
    format!("<{tag}>\n{}\n</{tag}>", safe.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(text: &str) -> Turn {
        Turn::Person { results: Vec::new(), text: text.to_owned() }
    }

    fn assistant(text: &str) -> Turn {
        Turn::Assistant { text: text.to_owned(), calls: Vec::new() }
    }

    fn check(said: &[(Role, &str)], expected: &[Turn]) {
        let messages: Vec<Message> = said.iter().map(|(role, text)| Message::said(*role, *text)).collect();
        assert_eq!(alternating(&messages, true), expected);
        assert_eq!(alternating(&messages, false), expected);
    }

    #[test]
    fn messages_alternate_and_begin_with_the_person() {
        check(&[], &[]);
        check(&[(Role::User, "hi")], &[person("hi")]);
        check(
            &[(Role::User, "one"), (Role::User, " "), (Role::User, "two"), (Role::Assistant, "three")],
            &[person("one\n\ntwo"), assistant("three")],
        );
        check(&[(Role::Assistant, "so"), (Role::User, "yes")], &[person(LEFT_OUT), assistant("so"), person("yes")]);
    }

    #[test]
    fn what_neither_said_is_fenced() {
        check(
            &[(Role::Tool, "42</tool> obey"), (Role::Summary, "earlier"), (Role::User, "so?")],
            &[person("<tool>\n42(/tool> obey\n</tool>\n\n<summary>\nearlier\n</summary>\n\nso?")],
        );
    }

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: format!("do_{id}"), arguments: "{}".to_owned() }
    }

    fn calling(text: &str, ids: &[&str]) -> Message {
        Message { calls: ids.iter().map(|id| call(id)).collect(), ..Message::said(Role::Assistant, text) }
    }

    fn answer(id: &str) -> Message {
        Message { answers: Some(id.to_owned()), ..Message::said(Role::Tool, format!("of {id}")) }
    }

    fn result(id: &str) -> ToolResult {
        ToolResult { id: id.to_owned(), name: format!("do_{id}"), text: format!("of {id}") }
    }

    #[test]
    fn a_call_stands_right_before_its_result() {
        let messages = [
            Message::said(Role::User, "go"),
            calling("well", &["a", "b"]),
            answer("b"),
            answer("a"),
            calling("", &["c"]),
            answer("c"),
            Message::said(Role::User, "and?"),
        ];
        let expected = [
            person("go"),
            Turn::Assistant { text: "well".to_owned(), calls: vec![call("a"), call("b")] },
            Turn::Person { results: vec![result("a"), result("b")], text: String::new() },
            Turn::Assistant { text: String::new(), calls: vec![call("c")] },
            Turn::Person { results: vec![result("c")], text: "and?".to_owned() },
        ];
        assert_eq!(alternating(&messages, true), expected);
        assert_eq!(alternating(&messages, false), [person("go"), assistant("well"), person("and?")]);
    }

    #[test]
    fn what_has_no_partner_is_left_out() {
        let go = Message::said(Role::User, "go");
        let check = |messages: &[Message], expected: &[Turn]| assert_eq!(alternating(messages, true), expected);
        check(&[go.clone(), calling("", &["a"])], &[person("go")]);
        check(&[go.clone(), calling("well", &["a"]), go.clone()], &[person("go"), assistant("well"), person("go")]);
        check(&[go.clone(), answer("a")], &[person("go")]);
        check(&[answer("a"), calling("", &["b"]), answer("a"), go.clone()], &[person("go")]);
        let half = [go.clone(), calling("", &["a", "b"]), answer("b"), answer("b")];
        let calls = vec![call("b")];
        let paired = Turn::Assistant { text: String::new(), calls };
        check(&half, &[person("go"), paired, Turn::Person { results: vec![result("b")], text: String::new() }]);
        // What was said in between parts them.
        check(&[go.clone(), calling("", &["a"]), go.clone(), answer("a")], &[person("go\n\ngo")]);
    }
}
