//! The assistants that are known by name.

use std::fmt;
use std::str::FromStr;

use throughline_core::model::UnknownSpelling;

/// An assistant of somebody else's making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Code, in a terminal or an editor.
    ClaudeCode,
    /// The Claude desktop app.
    ClaudeDesktop,
    /// OpenAI's Codex.
    Codex,
    /// The Cursor editor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// OpenCode.
    OpenCode,
    /// Google's Gemini CLI.
    Gemini,
    /// GitHub's Copilot CLI.
    Copilot,
    /// The Zed editor.
    Zed,
}

impl Client {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::OpenCode,
        Self::Gemini,
        Self::Copilot,
        Self::Zed,
    ];

    /// The one spelling that is written and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Zed => "zed",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Client {
    type Err = UnknownSpelling;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "claude-code, claude-desktop, codex, cursor, vscode, opencode, gemini, copilot, zed";
        let unknown = || UnknownSpelling { what: "client", given: text.to_owned(), expected };
        Self::ALL.into_iter().find(|client| client.as_str() == text).ok_or_else(unknown)
    }
}
