//! The list of commands in the help, in groups.

use clap::Command;

/// Each group: its heading, and its commands in the order in which they are met.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["setup", "connect", "import", "demo", "serve", "open", "disconnect", "uninstall"]),
    (
        "Memories",
        &["remember", "recall", "list", "show", "edit", "correct", "forget", "mute", "merge", "fold", "review", "undo"],
    ),
    ("Documents and history", &["profile", "working", "read", "write", "history", "restore"]),
    (
        "Conversations and work",
        &["chat", "context", "session", "pause", "resume", "project", "task", "report", "vault"],
    ),
    (
        "Upkeep",
        &["doctor", "stats", "backup", "copy", "export", "reflect", "reindex", "config", "model", "completions"],
    ),
    ("For programs", &["mcp", "hook", "tool", "bench"]),
];

/// The same command, whose help lists its commands in groups.
pub(super) fn grouped(command: Command) -> Command {
    let mut list = String::new();
    for (heading, names) in GROUPS {
        list.push_str(&format!("{heading}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            list.push_str(&format!("  {name:<12} {}\n", about.unwrap_or_default()));
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = super::super::Cli::command();
        let all: BTreeSet<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(listed.len(), all.len(), "one is listed twice, or missing");
        assert_eq!(listed.into_iter().collect::<BTreeSet<&str>>(), all);
    }
}
