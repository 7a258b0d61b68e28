//! The assistants that Throughline knows by name.

/// An assistant of somebody else's making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// OpenCode.
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// Zed.
    Zed,
}

impl Client {
    /// All of them.
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

    /// The one spelling that is typed and stored.
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

impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Client {
    type Err = throughline_core::model::UnknownSpelling;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || throughline_core::model::UnknownSpelling {
            what: "client",
            given: text.to_owned(),
            expected: "claude-code, claude-desktop, codex, cursor, vscode, opencode, gemini, copilot, zed",
        };
        Self::ALL.into_iter().find(|client| client.as_str() == text).ok_or_else(unknown)
    }
}
