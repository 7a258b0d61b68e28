//! Clients that offer sampling: their model is asked with `sampling/createMessage`.
//!
//! Only clients that shook hands are asked. Since revision 2026-07-28 a server may no longer ask outside of a call, and calls
//! do not wait for models.
#![expect(deprecated, reason = "clients of the revisions that have sampling still offer it")]

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use rmcp::model::{
    ClientResult, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ModelHint, ModelPreferences,
    ProtocolVersion, SamplingMessage, SamplingMessageContentBlock, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use rmcp::{RoleServer, ServiceError};
use throughline_core::ports::{Finish, ModelError, SAMPLING, SamplingClient, SamplingReply, SamplingRequest};
use tokio::runtime::Handle;

use super::conversation::plain;

/// How often it is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Longest part of a client's own words that is kept, in characters.
const LONGEST_REASON: usize = 200;

/// A client that said that it offers sampling.
pub(super) struct SamplingPeer {
    peer: Peer<RoleServer>,
    name: String,
    runtime: Handle,
}

impl SamplingPeer {
    /// The client, if it offers sampling and may be asked. Belongs on the runtime that serves the client.
    pub(super) fn of(peer: &Peer<RoleServer>) -> Option<Self> {
        let info = peer.peer_info()?;
        let may_ask = info.protocol_version < ProtocolVersion::V_2026_07_28;
        let name = plain(&info.client_info.name);
        (may_ask && info.capabilities.sampling.is_some()).then(|| Self {
            peer: peer.clone(),
            name,
            runtime: Handle::current(),
        })
    }
}

impl SamplingClient for SamplingPeer {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_connected(&self) -> bool {
        !self.peer.is_transport_closed()
    }

    fn sample(&self, request: &SamplingRequest, go_on: &mut dyn FnMut() -> bool) -> Result<SamplingReply, ModelError> {
        let (say, heard) = sync_channel(1);
        let (peer, params, timeout) = (self.peer.clone(), params(request), request.timeout);
        let asking = self.runtime.spawn(async move {
            // Nobody listens any more where it was cancelled.
            let _ = say.send(ask(&peer, params, timeout).await);
        });
        loop {
            match heard.recv_timeout(ASK_EVERY) {
                Ok(answer) => return answer.map_err(failed).and_then(|result| read(&result)),
                Err(RecvTimeoutError::Timeout) if go_on() => {}
                Err(RecvTimeoutError::Timeout) => {
                    asking.abort();
                    return Err(ModelError::Cancelled);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(failed(ServiceError::TransportClosed)),
            }
        }
    }
}

async fn ask(
    peer: &Peer<RoleServer>,
    params: CreateMessageRequestParams,
    timeout: Duration,
) -> Result<CreateMessageResult, ServiceError> {
    let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(params));
    // The SDK tells the client when the time is up, so that it stops asking its user.
    let asked = peer.send_request_with_option(request, PeerRequestOptions::with_timeout(timeout)).await?;
    match asked.await_response().await? {
        ClientResult::CreateMessageResult(result) => Ok(*result),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

fn params(request: &SamplingRequest) -> CreateMessageRequestParams {
    let max_tokens = u32::try_from(request.max_tokens).unwrap_or(u32::MAX);
    let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(&request.prompt)], max_tokens);
    match &request.model {
        Some(model) => {
            params.with_model_preferences(ModelPreferences::new().with_hints(vec![ModelHint::new(model.clone())]))
        }
        None => params,
    }
}

/// The text of a result; a result with anything else in it is none.
fn read(result: &CreateMessageResult) -> Result<SamplingReply, ModelError> {
    let malformed = |why: String| ModelError::Malformed { provider: SAMPLING, why };
    result.validate().map_err(malformed)?;
    let mut text = String::new();
    for block in result.message.content.iter() {
        let SamplingMessageContentBlock::Text(part) = block else {
            return Err(malformed("the reply has other content than text".to_owned()));
        };
        text.push_str(&part.text);
    }
    let is_cut_off = result.stop_reason.as_deref() == Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN);
    Ok(SamplingReply { text, finish: if is_cut_off { Finish::CutOff } else { Finish::Complete } })
}

fn failed(error: ServiceError) -> ModelError {
    let provider = SAMPLING;
    match error {
        ServiceError::McpError(error) => {
            let why = error.message.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect();
            ModelError::Declined { provider, why }
        }
        ServiceError::Timeout { .. } => ModelError::TimedOut { provider },
        ServiceError::UnexpectedResponse => {
            ModelError::Malformed { provider, why: "it is no message of a model".to_owned() }
        }
        _ => ModelError::Unreachable { provider, why: "the client has disconnected".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorData;
    use serde_json::{Value, json};

    use super::*;

    fn answer(content: &Value, more: &Value) -> Result<SamplingReply, ModelError> {
        let mut result = json!({ "model": "m", "role": "assistant", "content": content });
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn only_text_of_the_assistant_is_a_reply() {
        let text = json!({ "type": "text", "text": "Hello" });
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let call = json!({ "type": "tool_use", "id": "1", "name": "rm", "input": {} });
        let said = |text: &str, finish| Ok(SamplingReply { text: text.to_owned(), finish });
        assert_eq!(answer(&text, &json!({})), said("Hello", Finish::Complete));
        assert_eq!(answer(&json!([text, text]), &json!({})), said("HelloHello", Finish::Complete));
        assert_eq!(answer(&text, &json!({ "stopReason": "maxTokens" })), said("Hello", Finish::CutOff));
        for content in [&image, &call, &json!([text, image])] {
            assert!(matches!(answer(content, &json!({})), Err(ModelError::Malformed { .. })), "{content}");
        }
        assert!(matches!(answer(&text, &json!({ "role": "user" })), Err(ModelError::Malformed { .. })));
    }

    #[test]
    fn reason_of_the_client_is_bounded_and_plain() {
        let error = ServiceError::McpError(ErrorData::internal_error(format!("no\u{1b}[31m{}", "x".repeat(999)), None));
        let ModelError::Declined { why, .. } = failed(error) else { panic!("not declined") };
        assert_eq!((why.len(), why.starts_with("no[31mxx")), (LONGEST_REASON, true));
    }
}
