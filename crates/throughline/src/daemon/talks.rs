//! The chat of the panel: the same conversation as in the terminal, on the channel `web`.

use std::sync::Arc;

use throughline_core::model::SessionId;
use throughline_core::ports::{Model, ModelError};
use throughline_server::{ChatEvent, ChatMessage, ChatModel, Code, Problem, Talks};

use super::Household;
use crate::chat::{About, Conversation, Ended, Happening, Spoken, Which};
use crate::config::ModelProvider;
use crate::models;

/// The channel of the panel.
const CHANNEL: &str = "web";

impl Household {
    pub(super) fn talking_model(&self) -> Result<Arc<dyn Model>, Problem> {
        let choice = &self.world.config.config.model;
        if choice.provider == ModelProvider::Offline {
            let hint = "put a provider and a model under [model] in the config file: ollama, openai or anthropic";
            return Err(Problem::new(Code::NoModel, "no chat model is configured", hint));
        }
        models::for_chat(choice, &self.world)
            .map_err(|error| Problem::new(Code::NoModel, error.to_string(), error.hint()))
    }
}

impl Talks for Household {
    fn chat_model(&self) -> ChatModel {
        match self.talking_model() {
            Ok(model) => ChatModel {
                available: true,
                provider: model.provider().to_owned(),
                model: Some(model.name().to_owned()),
                why: None,
            },
            Err(problem) => ChatModel {
                available: false,
                provider: provider(self.world.config.config.model.provider),
                model: self.world.config.config.model.model.clone(),
                why: Some([Some(problem.message), problem.hint].into_iter().flatten().collect::<Vec<_>>().join("; ")),
            },
        }
    }

    fn chat(&self, said: &ChatMessage, tell: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem> {
        let model = self.talking_model()?;
        let which = match &said.session {
            Some(id) => Which::Named(SessionId::on_channel(CHANNEL, id)?),
            None => Which::New(CHANNEL),
        };
        let conversation = Conversation::open(&self.world, model, which, &About::default())?;
        tell(ChatEvent::Session(conversation.session.clone()));
        pass_on(&conversation, said.message.as_str().into(), tell)
    }
}

/// Says something in a conversation, and passes on what happens until it has ended.
pub(super) fn pass_on(
    conversation: &Conversation<'_>,
    said: Spoken<'_>,
    tell: &mut dyn FnMut(ChatEvent) -> bool,
) -> Result<(), Problem> {
    let ended = conversation.exchange(said, &mut |happening| match happening {
        Happening::Injected(parts) => tell(ChatEvent::Injected(parts.to_vec())),
        Happening::Piece(text) if !text.is_empty() => tell(ChatEvent::Delta(text.to_owned())),
        Happening::Tool { name, summary } => {
            let summary = summary.lines().next().unwrap_or_default().to_owned();
            tell(ChatEvent::Tool { name: name.to_owned(), summary })
        }
        Happening::Piece(_) | Happening::Paused | Happening::LeftOut(_) => tell(ChatEvent::Still),
    })?;
    let last = match ended {
        Ended::Said(reply) => ChatEvent::Done(reply),
        Ended::TooManyRounds => {
            let hint = "ask again, or in other words";
            ChatEvent::Failed(Problem::new(Code::Failed, "the model calls tools and does not come to an end", hint))
        }
        Ended::Failed(ModelError::Cancelled) => {
            ChatEvent::Failed(Problem::new(Code::Failed, "the reply was stopped", "say it again"))
        }
        Ended::Failed(error) => ChatEvent::Failed(Problem::failed(&error, error.hint().map(str::to_owned))),
    };
    tell(last);
    Ok(())
}

/// As it is written in the config file.
fn provider(provider: ModelProvider) -> String {
    serde_json::to_value(provider).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
