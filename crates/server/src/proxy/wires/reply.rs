//! What a reply says: assembled from a stream or a whole body, after it has passed through.

use serde_json::Value;

use super::Wire;

/// The text of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::proxy) struct Reply {
    pub(in crate::proxy) text: String,
    /// Its name, where the next request may refer to it.
    pub(in crate::proxy) id: Option<String>,
    /// Whether it says itself that it has ended.
    pub(in crate::proxy) is_complete: bool,
}

/// Reads a reply; nothing where it reports an error or is not of this wire.
pub(in crate::proxy) fn read(wire: Wire, content_type: &str, body: &[u8]) -> Option<Reply> {
    let body = std::str::from_utf8(body).ok()?;
    let mut reply = Reply::default();
    if content_type.starts_with("application/json") {
        let whole: Value = serde_json::from_str(body).ok()?;
        reply.is_complete = true;
        take_whole(wire, &whole, &mut reply)?;
        return Some(reply);
    }
    for line in body.lines() {
        let data = if wire == Wire::Ollama { Some(line) } else { line.strip_prefix("data:") };
        let Some(data) = data.map(str::trim).filter(|data| !data.is_empty()) else { continue };
        if data == "[DONE]" {
            reply.is_complete = true;
            continue;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
        take_event(wire, &event, &mut reply)?;
    }
    Some(reply)
}

fn take_whole(wire: Wire, whole: &Value, reply: &mut Reply) -> Option<()> {
    match wire {
        Wire::Chat => reply.text = content(&whole["choices"][0]["message"]["content"], "text")?,
        Wire::Ollama => reply.text = whole["message"]["content"].as_str()?.to_owned(),
        Wire::Messages => reply.text = content(&whole["content"], "text")?,
        Wire::Responses => take_response(whole, reply)?,
    }
    Some(())
}

/// Nothing for an error, which ends the reply.
fn take_event(wire: Wire, event: &Value, reply: &mut Reply) -> Option<()> {
    match wire {
        Wire::Chat => take_chunk(event, reply),
        Wire::Messages => take_message_event(event, reply),
        Wire::Responses => take_response_event(event, reply),
        Wire::Ollama => {
            reply.text.push_str(event["message"]["content"].as_str().unwrap_or_default());
            reply.is_complete |= event["done"] == true;
            event.get("error").is_none().then_some(())
        }
    }
}

fn take_chunk(event: &Value, reply: &mut Reply) -> Option<()> {
    let is_first = |choice: &&Value| choice["index"].as_u64().unwrap_or_default() == 0;
    for choice in event["choices"].as_array().into_iter().flatten().filter(is_first) {
        reply.text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        reply.is_complete |= choice["finish_reason"].is_string();
    }
    event.get("error").is_none_or(Value::is_null).then_some(())
}

fn take_message_event(event: &Value, reply: &mut Reply) -> Option<()> {
    match event["type"].as_str().unwrap_or_default() {
        "error" => return None,
        "content_block_start" if event["content_block"]["type"] == "text" && !reply.text.is_empty() => {
            reply.text.push('\n');
        }
        "content_block_delta" => reply.text.push_str(event["delta"]["text"].as_str().unwrap_or_default()),
        "message_stop" => reply.is_complete = true,
        _ => {}
    }
    Some(())
}

fn take_response_event(event: &Value, reply: &mut Reply) -> Option<()> {
    match event["type"].as_str().unwrap_or_default() {
        "error" | "response.failed" => return None,
        "response.created" => reply.id = event["response"]["id"].as_str().map(str::to_owned),
        "response.output_text.delta" => reply.text.push_str(event["delta"].as_str().unwrap_or_default()),
        "response.completed" | "response.incomplete" => {
            reply.is_complete = true;
            take_response(&event["response"], reply)?;
        }
        _ => {}
    }
    Some(())
}

fn take_response(response: &Value, reply: &mut Reply) -> Option<()> {
    reply.id = response["id"].as_str().map(str::to_owned).or(reply.id.take());
    let messages = response["output"].as_array()?.iter().filter(|item| item["type"] == "message");
    let texts: Vec<String> = messages.filter_map(|item| content(&item["content"], "output_text")).collect();
    if !texts.is_empty() {
        reply.text = texts.join("\n");
    }
    Some(())
}

/// A string, or the text of all parts of a type; empty for `null`.
fn content(value: &Value, kind: &str) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == kind).filter_map(|part| part["text"].as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: Wire, kind: &str, body: &str, expected: Option<(&str, bool)>) {
        let reply = read(wire, kind, body.as_bytes());
        let told = reply.as_ref().map(|reply| (reply.text.as_str(), reply.is_complete));
        assert_eq!(told, expected, "{wire:?}: {body}");
    }

    #[test]
    fn streams_are_put_together() {
        let sse = "text/event-stream; charset=utf-8";
        let chat = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"He\"}},{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\n\
            : comment\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n";
        check(Wire::Chat, sse, chat, Some(("Hello", true)));
        check(Wire::Chat, sse, &chat[..60], Some(("", false)));
        check(Wire::Chat, sse, "data: {\"error\":{\"message\":\"no\"}}\n\n", None);
        let messages = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n\
            data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
            data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n\
            data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"b\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
        check(Wire::Messages, sse, messages, Some(("a\nb", true)));
        check(
            Wire::Ollama,
            "application/x-ndjson",
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":true}\n",
            Some(("ab", true)),
        );
    }

    #[test]
    fn whole_replies_are_read_and_others_are_not() {
        let json = "application/json";
        check(Wire::Chat, json, r#"{"choices":[{"message":{"content":"Hello"}}]}"#, Some(("Hello", true)));
        check(Wire::Chat, json, r#"{"choices":[{"message":{"content":null,"tool_calls":[]}}]}"#, Some(("", true)));
        check(
            Wire::Messages,
            json,
            r#"{"content":[{"type":"tool_use"},{"type":"text","text":"Hi"}]}"#,
            Some(("Hi", true)),
        );
        let response = r#"{"id":"r1","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}"#;
        check(Wire::Responses, json, response, Some(("Hi", true)));
        check(Wire::Responses, json, r#"{"error":"no"}"#, None);
        check(Wire::Chat, json, "no JSON", None);
    }
}
