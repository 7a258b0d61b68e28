//! The calls of a reply while they arrive, in pieces and side by side.

use serde_json::Value;
use throughline_core::ports::ToolCall;

use super::Trouble;

/// More calls than this in one reply are no plan.
const MAX_CALLS: usize = 16;

/// All arguments of one reply together.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// A name or an id.
const MAX_NAME: usize = 256;

/// Calls by the place that the server gives each.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<(u64, ToolCall)>);

impl Calls {
    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// A piece of the call at a place; of the latest one, where the server names no place. Another id at the same
    /// place begins another call: some servers number all of them zero.
    pub(crate) fn take(&mut self, place: Option<u64>, piece: &Value) -> Result<(), Trouble> {
        let id = piece["id"].as_str().unwrap_or_default();
        let function = &piece["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Without numbers and ids, a name is all that tells where the next call begins.
        let begins_anew = place.is_none() && id.is_empty() && !name.is_empty();
        let is_other = |call: &ToolCall| begins_anew || (!id.is_empty() && !call.id.is_empty() && call.id != id);
        let found = self.0.iter_mut().rev().find(|(at, _)| place.is_none_or(|place| *at == place));
        match found.filter(|(_, call)| !is_other(call)) {
            Some((_, call)) => {
                fill(&mut call.id, id);
                fill(&mut call.name, name);
            }
            None => self.begin(place.unwrap_or(self.len()), id, name)?,
        }
        let place = place.or_else(|| self.0.last().map(|(at, _)| *at)).unwrap_or_default();
        match &function["arguments"] {
            Value::String(text) => self.argue(place, text),
            Value::Null => Ok(()),
            // Some send them as what they are, not as text.
            whole => self.argue(place, &whole.to_string()),
        }
    }

    /// A call begins.
    pub(crate) fn begin(&mut self, place: u64, id: &str, name: &str) -> Result<(), Trouble> {
        if self.0.len() == MAX_CALLS {
            return Err(Trouble::Malformed(format!("more than {MAX_CALLS} calls")));
        }
        if id.len() > MAX_NAME || name.len() > MAX_NAME {
            return Err(Trouble::Malformed("a call whose name has no end".to_owned()));
        }
        self.0.push((place, ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: String::new() }));
        Ok(())
    }

    /// More of the arguments of the call at a place; of none, if no call has begun there.
    pub(crate) fn argue(&mut self, place: u64, piece: &str) -> Result<(), Trouble> {
        let so_far: usize = self.0.iter().map(|(_, call)| call.arguments.len()).sum();
        let Some((_, call)) = self.0.iter_mut().rev().find(|(at, _)| *at == place) else { return Ok(()) };
        if so_far + piece.len() > MAX_ARGUMENTS {
            return Err(Trouble::Malformed("arguments longer than 64 KiB".to_owned()));
        }
        call.arguments.push_str(piece);
        Ok(())
    }

    /// Whether the arguments of each are whole.
    pub(crate) fn are_whole(&self) -> bool {
        let is_whole = |text: &str| text.trim().is_empty() || serde_json::from_str::<Value>(text).is_ok();
        self.0.iter().all(|(_, call)| is_whole(&call.arguments))
    }

    /// All of them, each with an id: where the server gives none or one twice, its number among `earlier` ones.
    pub(crate) fn finished(self, earlier: usize) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = Vec::new();
        for (_, mut call) in self.0 {
            if call.id.is_empty() || calls.iter().any(|other| other.id == call.id) {
                call.id = format!("call_{}", earlier + calls.len() + 1);
            }
            if call.arguments.trim().is_empty() {
                call.arguments = "{}".to_owned();
            }
            calls.push(call);
        }
        calls
    }
}

fn fill(field: &mut String, value: &str) {
    if field.is_empty() && value.len() <= MAX_NAME {
        field.push_str(value);
    }
}

/// The arguments as an object, for sending back. What is none was answered with an error, and servers that read
/// arguments refuse the whole conversation over it.
pub(crate) fn object(arguments: &str) -> Value {
    let read = serde_json::from_str(arguments).ok().filter(Value::is_object);
    read.unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gathered(pieces: &[(Option<u64>, Value)]) -> Vec<(String, String, String)> {
        let mut calls = Calls::default();
        pieces.iter().for_each(|(place, piece)| calls.take(*place, piece).unwrap());
        let finished = calls.finished(2).into_iter();
        finished.map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn pieces_find_their_call() {
        let begin = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": ""}});
        let more = |text: &str| json!({"function": {"arguments": text}});
        let expected = [call("a", "one", "{\"x\":1}"), call("b", "two", "{}")];
        for [first, second] in [[Some(0), Some(1)], [Some(0), Some(0)], [None, None]] {
            let pieces = [
                (first, begin("a", "one")),
                (first, more("{\"x\"")),
                (first, more(":1}")),
                (second, begin("b", "two")),
                (second, more("{}")),
            ];
            assert_eq!(gathered(&pieces), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn each_has_an_id_and_arguments() {
        let whole = json!({"function": {"name": "one", "arguments": {"x": 1}}});
        let expected = [call("call_3", "one", "{\"x\":1}"), call("call_4", "one", "{}")];
        let without = json!({"function": {"name": "one"}});
        assert_eq!(gathered(&[(Some(0), whole), (Some(1), without)]), expected);
    }

    #[test]
    fn they_are_bounded() {
        let mut calls = Calls::default();
        assert!((0..16).all(|place| calls.begin(place, "", "x").is_ok()));
        assert!(calls.begin(16, "", "x").is_err());
        assert!(calls.argue(3, &"x".repeat(60_000)).is_ok());
        assert!(calls.argue(4, &"x".repeat(6_000)).is_err());
        assert!(calls.argue(99, "of no call").is_ok());
        assert!(Calls::default().begin(0, &"x".repeat(300), "x").is_err());
    }
}
