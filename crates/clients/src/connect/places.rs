//! Where each client keeps its settings, and which of our entries go into which file. Names only: nothing is opened.

use std::path::{Path, PathBuf};

use super::{Part, json};
use crate::Client;

/// What kind of machine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux, and what is like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// This machine's.
    pub fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// Where the person's directories are, and where clients were told to look instead.
#[derive(Debug, Clone)]
pub struct Dirs {
    /// The person's own.
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, else `.config` below the home.
    pub config: PathBuf,
    /// `APPDATA`, on Windows.
    pub roaming: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `COPILOT_HOME`.
    pub copilot: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, in which `.gemini` is.
    pub gemini: Option<PathBuf>,
    /// `OPENCODE_CONFIG_DIR`.
    pub opencode: Option<PathBuf>,
}

/// For whom a client is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// For the person, wherever they work.
    User,
    /// In this directory alone.
    Project(PathBuf),
}

/// One of our entries in a file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// The MCP server, under a key of a JSON file.
    Server(&'static str, ServerShape),
    /// The MCP server, in Codex's TOML.
    TomlServer,
    /// The hooks.
    Hooks(HookShape),
    /// Guidance between two marks. With a heading the file is our own and is made with it; without one, it is a file
    /// that the person writes.
    Section(Option<&'static str>),
}

/// How a server is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerShape {
    /// `command` and `args`.
    Plain,
    /// The same, and that it speaks over standard input and output.
    Stdio,
    /// One list for both.
    OpenCode,
    /// With the tools that may be called.
    Copilot,
    /// With an environment.
    Zed,
}

/// How hooks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookShape {
    /// Event, groups, commands; waits in seconds.
    Grouped,
    /// The same; waits in milliseconds.
    GroupedMillis,
    /// Event, commands.
    Flat,
    /// Event, commands of a named shell.
    Shell,
}

/// A file of a client, and what of ours goes into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it is.
    pub path: PathBuf,
    /// Another name for it, which is taken where it is there.
    pub or: Option<PathBuf>,
    pub(super) client: Client,
    pub(super) entries: Vec<Entry>,
}

impl Target {
    /// What of ours goes into it.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        self.entries.iter().map(|entry| entry.part())
    }

    /// The file of hooks about which the client makes notes in this one. Codex does: whom the person trusts.
    pub fn hooks_beside(&self) -> Option<PathBuf> {
        self.entries.contains(&Entry::TomlServer).then(|| self.path.with_file_name("hooks.json"))
    }

    /// The names under which the client notes what the person thinks of our hooks: `FILE:EVENT:GROUP:COMMAND`. `hooks` is
    /// the text of that file; one that is gone had no others.
    pub(super) fn trust(&self, hooks: Option<&str>) -> Vec<String> {
        let Some(file) = self.hooks_beside() else { return Vec::new() };
        let places = hooks.map_or_else(|| json::first_places(self.client), |text| json::places(text, self.client));
        places.into_iter().map(|place| format!("{}:{place}", file.display())).collect()
    }

    /// Whether it is a file that people write themselves, and that is left alone unless they ask.
    pub fn is_personal(&self) -> bool {
        self.entries.contains(&Entry::Section(None))
    }
}

impl Entry {
    pub(super) fn part(self) -> Part {
        match self {
            Self::Server(..) | Self::TomlServer => Part::Mcp,
            Self::Hooks(_) => Part::Hooks,
            Self::Section(_) => Part::Guidance,
        }
    }
}

const SKILL: &str = "---\nname: throughline\ndescription: The person's long-term memory. Use it when earlier work, \
                     preferences, people or decisions are mentioned, before asking for something that may have been said \
                     before, and when something is said that later conversations will need.\n---\n\n";
const RULE: &str = "---\ndescription: How to use the person's long-term memory\nalwaysApply: true\n---\n\n";
const INSTRUCTIONS: &str = "---\napplyTo: \"**\"\n---\n\n";

/// The files of a client. None where the client has no such scope.
pub fn targets(client: Client, scope: &Scope, platform: Platform, dirs: &Dirs) -> Vec<Target> {
    let file = |path: PathBuf, entries: &[Entry]| Target { path, or: None, client, entries: entries.to_vec() };
    let servers = |shape| Entry::Server("mcpServers", shape);
    let (user, project) = match scope {
        Scope::User => (root(client, platform, dirs), None),
        Scope::Project(dir) => (dir.clone(), Some(dir.as_path())),
    };
    let pick = |mine: &str, shared: &str| user.join(if project.is_some() { shared } else { mine });
    match client {
        Client::ClaudeCode => vec![
            file(claude_servers(project, dirs), &[servers(ServerShape::Stdio)]),
            // The local settings: the path of a program on this machine is nobody else's business.
            file(pick("settings.json", ".claude/settings.local.json"), &[Entry::Hooks(HookShape::Grouped)]),
            file(
                pick("skills/throughline/SKILL.md", ".claude/skills/throughline/SKILL.md"),
                &[Entry::Section(Some(SKILL))],
            ),
        ],
        Client::ClaudeDesktop if project.is_some() => Vec::new(),
        Client::ClaudeDesktop => vec![file(user.join("claude_desktop_config.json"), &[servers(ServerShape::Plain)])],
        Client::Codex => vec![
            file(pick("config.toml", ".codex/config.toml"), &[Entry::TomlServer]),
            file(pick("hooks.json", ".codex/hooks.json"), &[Entry::Hooks(HookShape::Grouped)]),
            file(
                project.unwrap_or(&dirs.home).join(".agents/skills/throughline/SKILL.md"),
                &[Entry::Section(Some(SKILL))],
            ),
        ],
        Client::Cursor => {
            let mut files = vec![
                file(pick("mcp.json", ".cursor/mcp.json"), &[servers(ServerShape::Plain)]),
                file(pick("hooks.json", ".cursor/hooks.json"), &[Entry::Hooks(HookShape::Flat)]),
            ];
            files.extend(
                project.map(|dir| file(dir.join(".cursor/rules/throughline.mdc"), &[Entry::Section(Some(RULE))])),
            );
            files
        }
        Client::VsCode => {
            vec![file(pick("mcp.json", ".vscode/mcp.json"), &[Entry::Server("servers", ServerShape::Stdio)])]
        }
        Client::OpenCode => vec![
            Target {
                or: Some(user.join("opencode.jsonc")),
                ..file(user.join("opencode.json"), &[Entry::Server("mcp", ServerShape::OpenCode)])
            },
            file(user.join("AGENTS.md"), &[Entry::Section(None)]),
        ],
        Client::Gemini => vec![
            file(
                pick("settings.json", ".gemini/settings.json"),
                &[servers(ServerShape::Plain), Entry::Hooks(HookShape::GroupedMillis)],
            ),
            file(user.join("GEMINI.md"), &[Entry::Section(None)]),
        ],
        Client::Copilot => vec![
            file(pick("mcp-config.json", ".github/mcp.json"), &[servers(ServerShape::Copilot)]),
            file(pick("hooks/throughline.json", ".github/hooks/throughline.json"), &[Entry::Hooks(HookShape::Shell)]),
            file(
                pick("instructions/throughline.instructions.md", ".github/instructions/throughline.instructions.md"),
                &[Entry::Section(Some(INSTRUCTIONS))],
            ),
        ],
        Client::Zed => {
            vec![file(
                pick("settings.json", ".zed/settings.json"),
                &[Entry::Server("context_servers", ServerShape::Zed)],
            )]
        }
    }
}

/// The directory by which a client is known to be here.
pub fn root(client: Client, platform: Platform, dirs: &Dirs) -> PathBuf {
    let or_home = |own: &Option<PathBuf>, name: &str| own.clone().unwrap_or_else(|| dirs.home.join(name));
    match client {
        Client::ClaudeCode => or_home(&dirs.claude, ".claude"),
        Client::ClaudeDesktop => applications(platform, dirs).join("Claude"),
        Client::Codex => or_home(&dirs.codex, ".codex"),
        Client::Cursor => dirs.home.join(".cursor"),
        Client::VsCode => applications(platform, dirs).join("Code").join("User"),
        Client::OpenCode => dirs.opencode.clone().unwrap_or_else(|| dirs.config.join("opencode")),
        Client::Gemini => dirs.gemini.as_ref().unwrap_or(&dirs.home).join(".gemini"),
        Client::Copilot => or_home(&dirs.copilot, ".copilot"),
        Client::Zed if platform == Platform::Windows => dirs.roaming.join("Zed"),
        Client::Zed => dirs.config.join("zed"),
    }
}

/// Where desktop programs keep their settings.
fn applications(platform: Platform, dirs: &Dirs) -> PathBuf {
    match platform {
        Platform::Linux => dirs.config.clone(),
        Platform::MacOs => dirs.home.join("Library").join("Application Support"),
        Platform::Windows => dirs.roaming.clone(),
    }
}

/// Claude Code keeps servers apart from its settings: beside its directory, unless it was told where that is.
fn claude_servers(project: Option<&Path>, dirs: &Dirs) -> PathBuf {
    match project {
        Some(dir) => dir.join(".mcp.json"),
        None => dirs.claude.as_ref().unwrap_or(&dirs.home).join(".claude.json"),
    }
}
