//! Settings that take one of a few words. Each enum is declared together with its words.

use serde::{Deserialize, Serialize};

use super::values::{Setting, Takes};

/// Declares an enum whose values are words in the file.
macro_rules! choice {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $meaning:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $($(#[doc = $meaning])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            const WORDS: &[&str] = &[$($word),+];
        }

        impl Setting for $name {
            const TAKES: Takes = Takes::OneOf(Self::WORDS);
        }
    };
}

choice! {
    /// What decides the order of recalled memories.
    Ranking {
        /// Words, recency, trust and significance together.
        Fused = "fused",
        /// Words alone.
        Bm25 = "bm25",
    }
}

choice! {
    /// What happens to an entry that an assistant forgets.
    AgentForget {
        /// It is set aside and can be brought back.
        Inactive = "inactive",
        /// It is deleted.
        Delete = "delete",
    }
}

choice! {
    /// The sets of tools that have a name.
    ToolSet {
        /// The few that daily use needs.
        Default = "default",
        /// All tools.
        All = "all",
    }
}

/// The tools that an assistant is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tools {
    /// A set with a name.
    Set(ToolSet),
    /// Exactly these.
    Only(Vec<String>),
}

impl Setting for Tools {
    const TAKES: Takes = Takes::OneOfOrList(ToolSet::WORDS);
}

choice! {
    /// Where recalled memories are put.
    RecallPlace {
        /// In front of the person's message, so that the system prompt stays as it is.
        Message = "message",
        /// At the end of the system prompt, anew each turn.
        SystemPrompt = "system_prompt",
        /// Nowhere.
        Off = "off",
    }
}

choice! {
    /// Who summarises and extracts.
    ModelProvider {
        /// The built-in rules: no network, nothing invented.
        Offline = "offline",
        /// Ollama.
        Ollama = "ollama",
        /// Any OpenAI-compatible endpoint.
        OpenAi = "openai",
        /// Anthropic.
        Anthropic = "anthropic",
        /// A program.
        Command = "command",
        /// The model of a connected MCP client.
        Sampling = "sampling",
    }
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// As it is typed in a shell, or the name of a ready-made command.
    Text(String),
    /// Word by word.
    Words(Vec<String>),
}

impl Setting for CommandLine {
    const TAKES: Takes = Takes::TextOrList;
}

choice! {
    /// Who turns text into vectors.
    EmbeddingsProvider {
        /// The built-in model.
        Builtin = "builtin",
        /// A model in a directory.
        Directory = "directory",
        /// Ollama.
        Ollama = "ollama",
        /// Any OpenAI-compatible endpoint.
        OpenAi = "openai",
        /// Nobody: search goes by words.
        None = "none",
    }
}
