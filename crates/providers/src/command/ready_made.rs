//! Commands for assistants that people already have: print mode, and as little besides the reply as each of them offers.

use std::process::Command;

/// An assistant whose command is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadyMade {
    /// Claude Code: `claude -p`.
    ClaudeCode,
    /// Codex: `codex exec`.
    Codex,
}

/// In place of Claude Code's own, which is long and about code. The task itself is on standard input: arguments can be read
/// by everybody on the machine.
const CLAUDE_SYSTEM_PROMPT: &str = "Do what the message asks, and answer with that alone.";

/// Variables that Claude Code sets for what it starts. Our hooks are among that, and it refuses to run inside itself.
const CLAUDE_OWN: [&str; 4] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR"];

/// What Codex is not to load or start for one reply. An older version ignores the names that it does not know.
const CODEX_OFF: [&str; 5] = ["hooks", "shell_tool", "apps", "plugins", "daemon_auto_start"];

impl ReadyMade {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// Its name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ready_made| ready_made.as_str() == name.trim())
    }

    /// The program, as it is found on PATH.
    pub const fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
        }
    }

    /// The whole command. `mcp_servers` are those in Codex's own settings: it has no option to leave all of them out.
    pub fn words(self, model: Option<&str>, mcp_servers: &[String]) -> Vec<String> {
        let mut words = vec![self.program().to_owned()];
        match self {
            Self::ClaudeCode => {
                words.extend(["-p", "--output-format", "text", "--no-session-persistence"].map(str::to_owned));
                words.extend(["--tools", "", "--strict-mcp-config"].map(str::to_owned));
                words.extend(["--settings", r#"{"disableAllHooks":true}"#].map(str::to_owned));
                words.extend(["--system-prompt", CLAUDE_SYSTEM_PROMPT].map(str::to_owned));
                words.extend(model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
            }
            Self::Codex => {
                words.extend(["exec", "--sandbox", "read-only", "--ephemeral"].map(str::to_owned));
                words.extend(["--skip-git-repo-check", "--ignore-rules", "--color", "never"].map(str::to_owned));
                words.extend(["-c", "approval_policy=\"never\"", "-c", "web_search=\"disabled\""].map(str::to_owned));
                let features = CODEX_OFF.iter().map(|feature| format!("features.{feature}=false"));
                let servers = mcp_servers.iter().map(|server| format!("mcp_servers.{server}.enabled=false"));
                words.extend(features.chain(servers).flat_map(|set| ["-c".to_owned(), set]));
                words.extend(model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
                words.push("-".to_owned());
            }
        }
        words
    }

    /// Sets what cannot be said by options.
    pub(super) fn prepare(self, command: &mut Command) {
        if self == Self::ClaudeCode {
            for name in CLAUDE_OWN {
                command.env_remove(name);
            }
            // No instructions, hooks, plugins and servers of the person's. An older version would refuse the option.
            command.env("CLAUDE_CODE_SAFE_MODE", "1");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_no_tools_and_keeps_nothing() {
        let claude = ReadyMade::ClaudeCode.words(Some("haiku"), &[]).join(" ");
        for part in ["claude -p", "--tools  ", "--strict-mcp-config", "--no-session-persistence", "--model haiku"] {
            assert!(claude.contains(part), "{part}: {claude}");
        }
        let codex = ReadyMade::Codex.words(None, &["files".to_owned()]).join(" ");
        for part in ["codex exec --sandbox read-only --ephemeral", "approval_policy=\"never\"", "features.hooks=false"]
        {
            assert!(codex.contains(part), "{part}: {codex}");
        }
        assert!(codex.contains("mcp_servers.files.enabled=false") && codex.ends_with(" -"), "{codex}");
        assert!(!codex.contains("--model"), "{codex}");
    }

    #[test]
    fn names_are_found() {
        assert_eq!(ReadyMade::named(" codex "), Some(ReadyMade::Codex));
        assert_eq!(ReadyMade::named("claude-code"), Some(ReadyMade::ClaudeCode));
        assert_eq!(ReadyMade::named("claude"), None);
    }
}
