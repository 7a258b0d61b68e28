//! Language models: one small port for all of them.
//!
//! A brief is structured, not a prompt: a provider that talks to a language model renders it with
//! [`prompts`](crate::prompts), the offline one reads its parts. What comes back is a proposal, and untrusted.

use std::sync::Arc;
use std::time::Duration;

use crate::model::{EntryId, Person, Role, Turn, spelled};

use super::ReflectBrief;

/// Why a model gave no usable reply. None of these is ever stored as memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Nobody answers there.
    #[error("{provider} cannot be reached: {why}")]
    Unreachable {
        /// Which provider.
        provider: &'static str,
        /// What was tried and what happened.
        why: String,
    },
    /// It took too long.
    #[error("{provider} did not answer in time")]
    TimedOut {
        /// Which provider.
        provider: &'static str,
    },
    /// It said no: a key, a model name, a quota.
    #[error("{provider} answered {status}: {why}")]
    Refused {
        /// Which provider.
        provider: &'static str,
        /// The HTTP status.
        status: u16,
        /// Its own words, bounded and without secrets.
        why: String,
        /// How long it asks to be left alone, where it says so.
        retry_after: Option<Duration>,
    },
    /// What it sent is not in its own format, or breaks off.
    #[error("{provider} sent something that cannot be read: {why}")]
    Malformed {
        /// Which provider.
        provider: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A program that is the model could not be started.
    #[error("{provider} cannot be run: `{program}`: {why}")]
    NotStarted {
        /// Which provider.
        provider: &'static str,
        /// The program.
        program: String,
        /// What the system said.
        why: String,
    },
    /// A program that is the model ended without success.
    #[error("{provider} failed ({how}): {why}")]
    Exited {
        /// Which provider.
        provider: &'static str,
        /// Its exit code or signal.
        how: String,
        /// The end of what it printed, bounded and without secrets.
        why: String,
    },
    /// The client whose model was asked, or its user, said no.
    #[error("{provider} was declined by the client: {why}")]
    Declined {
        /// Which provider.
        provider: &'static str,
        /// The client's own words, bounded.
        why: String,
    },
    /// The person stopped it.
    #[error("the reply was cancelled")]
    Cancelled,
    /// It failed so often that it is left alone for a while.
    #[error("{provider} failed too often and is left alone for now")]
    Resting {
        /// Which provider.
        provider: &'static str,
    },
    /// The day's tokens are spent.
    #[error("today's budget of {budget} tokens is spent")]
    BudgetSpent {
        /// The budget.
        budget: u64,
    },
    /// The offline model summarises and extracts; it does not talk.
    #[error("no chat model is configured")]
    CannotChat,
}

impl ModelError {
    /// Whether trying again may help.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::Exited { .. }
            | Self::Declined { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..),
            Self::NotStarted { .. }
            | Self::Cancelled
            | Self::Resting { .. }
            | Self::BudgetSpent { .. }
            | Self::CannotChat => false,
        }
    }

    /// What to try next.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unreachable { .. } => "check `base_url` under `[model]`, and that the server is running",
            Self::Refused { status: 401 | 403, .. } => "check the variable that `api_key_env` names",
            Self::Refused { status: 404, .. } => "check `model` and `base_url` under `[model]`",
            Self::NotStarted { .. } => "install the program, or choose another model: `throughline model list`",
            Self::Exited { .. } => "run the program yourself: it may want you to log in",
            Self::CannotChat => "set `provider` and `model` under `[model]`: \"ollama\", \"openai\" or \"anthropic\"",
            Self::BudgetSpent { .. } => "raise `daily_tokens` under `[model]`, or wait until tomorrow",
            _ => return None,
        })
    }
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The words.
    pub content: String,
    /// What the assistant asks for, where it does.
    pub calls: Vec<ToolCall>,
    /// The call that this is the result of, for a tool's message.
    pub answers: Option<String>,
}

impl Message {
    /// Words and nothing else.
    pub fn said(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), calls: Vec::new(), answers: None }
    }
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it is for, to the model.
    pub description: &'static str,
    /// Its parameters: a JSON schema of an object.
    pub parameters: serde_json::Value,
}

/// A call that a model makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Names the call, so that its result finds back; made up where the provider gives none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON, if it did well.
    pub arguments: String,
}

/// What a summary is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryBrief {
    /// Whether it is for a person's assistant (a namespace is set), or generic.
    pub personal: bool,
    /// What was said, as [`Model::summarises`] says.
    pub turns: Vec<Turn>,
    /// Who the person is among those who speak.
    pub person: Person,
    /// The conversation's thread so far: the summary says how it stands now.
    pub previous: Option<String>,
    /// Knowledge that may help to understand what was said; never part of the summary by itself.
    pub knowledge: Vec<String>,
    /// How long the summary may be.
    pub max_tokens: usize,
}

/// What facts are extracted from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractBrief {
    /// The turns right before, without what other people said: for names and what is corrected, not for facts.
    pub before: Vec<Turn>,
    /// What was said since the last time, without what other people said.
    pub turns: Vec<Turn>,
    /// What is stored already on the subject.
    pub known: Vec<KnownFact>,
}

/// A memory that a model is shown, so that it can say what a fact replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFact {
    /// Its id.
    pub id: EntryId,
    /// What it says.
    pub text: String,
}

impl KnownFact {
    /// A text that stands for itself, for whoever has no id to show.
    pub fn said(text: &str) -> Self {
        Self { id: EntryId::new(text), text: text.to_owned() }
    }
}

/// What a model is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brief {
    /// Summarise, answered in Markdown, or exactly [`NOTHING`](crate::prompts::NOTHING).
    Summarise(SummaryBrief),
    /// Extract facts, answered in the strict schema that the extraction prompt names.
    Extract(ExtractBrief),
    /// Look back on a document, answered in the operations that the reflection prompt names.
    Reflect(ReflectBrief),
    /// Talk.
    Chat {
        /// The system prompt.
        system: String,
        /// The conversation, the person's latest message last.
        messages: Vec<Message>,
        /// What the model may call.
        tools: Vec<ToolSpec>,
    },
}

/// Why a model was called, for the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// A summary.
    Summary,
    /// Facts.
    Extraction,
    /// A reflection.
    Reflection,
    /// A conversation.
    Chat,
    /// Vectors for the vault.
    Embedding,
}

spelled!(Purpose, "purpose", "summary, extraction, reflection, chat, embedding", {
    Summary => "summary", Extraction => "extraction", Reflection => "reflection", Chat => "chat",
    Embedding => "embedding",
});

impl Brief {
    /// Why it is asked.
    pub fn purpose(&self) -> Purpose {
        match self {
            Self::Summarise(_) => Purpose::Summary,
            Self::Extract(_) => Purpose::Extraction,
            Self::Reflect(_) => Purpose::Reflection,
            Self::Chat { .. } => Purpose::Chat,
        }
    }
}

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Complete,
    /// It ran out of room: not a summary.
    CutOff,
    /// It was stopped by the provider's own filter: not a summary.
    Filtered,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The text, whole.
    pub text: String,
    /// The tools that it wants called before it goes on.
    pub calls: Vec<ToolCall>,
    /// How it ended.
    pub finish: Finish,
    /// Tokens that were sent, as the provider counts them, or estimated.
    pub tokens_in: u64,
    /// Tokens that came back.
    pub tokens_out: u64,
}

impl Reply {
    /// Words that are complete, and cost nothing.
    pub fn said(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new(), finish: Finish::Complete, tokens_in: 0, tokens_out: 0 }
    }
}

/// What a call to a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Nothing: the ledger counts the call and no tokens, and a spent budget does not stop it.
    Free,
    /// The tokens that its replies report.
    Tokens,
}

/// What a summary is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryOf {
    /// What was said since the last one, with the conversation's thread so far: what a call costs grows with what is new.
    NewTurns,
    /// The whole conversation: it is the same whenever the model is asked, for one whose calls cost nothing.
    Conversation,
}

/// A language model, or what stands in for one.
pub trait Model: Send + Sync {
    /// The provider's name, as in the config.
    fn provider(&self) -> &'static str;
    /// The model's name, as the provider knows it.
    fn name(&self) -> &str;
    /// What a call costs.
    fn cost(&self) -> Cost;
    /// What its summaries are of.
    fn summarises(&self) -> SummaryOf;
    /// Whether it can talk, and not only summarise and extract.
    fn can_chat(&self) -> bool;
    /// What it can see at once, in tokens, where the provider tells. May ask the provider, once.
    fn context_window(&self) -> Option<usize>;
    /// Does a brief, once: no retries here. Pieces of text go to `sink` as they arrive; its `false` cancels. An empty
    /// piece says nothing and only asks whether to go on, so that a model that is silent can be cancelled too.
    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError>;
}

/// A model that several hold, or one that is chosen at run time.
impl<M: Model + ?Sized> Model for Arc<M> {
    fn provider(&self) -> &'static str {
        (**self).provider()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    fn cost(&self) -> Cost {
        (**self).cost()
    }

    fn summarises(&self) -> SummaryOf {
        (**self).summarises()
    }

    fn can_chat(&self) -> bool {
        (**self).can_chat()
    }

    fn context_window(&self) -> Option<usize> {
        (**self).context_window()
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        (**self).complete(brief, sink)
    }
}
