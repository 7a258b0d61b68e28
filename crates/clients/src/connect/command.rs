//! The commands that clients run: written so that a shell reads them right, and recognised again later.

use super::Platform;
use crate::Client;
use crate::hooks::Event;

/// The command line of a hook.
pub(super) fn hook(program: &str, platform: Platform, event: Event, client: Client) -> String {
    format!("{} hook {} --client {client}", quoted(program, platform), event.as_str())
}

/// The same for PowerShell, where a quoted path alone is a text and not a command.
pub(super) fn hook_in_powershell(program: &str, event: Event, client: Client) -> String {
    format!("& '{}' hook {} --client {client}", program.replace('\'', "''"), event.as_str())
}

/// A path as one word of a shell.
fn quoted(path: &str, platform: Platform) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,%".contains(c);
    match platform {
        // What clients run there reads double quotes alike, be it cmd or a bash.
        Platform::Windows => format!("\"{path}\""),
        _ if !path.is_empty() && path.chars().all(is_plain) => path.to_owned(),
        _ => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// The program that a command runs, if it is one of our hooks; also one from another place or of another name.
pub(super) fn program_of(command: &str) -> Option<String> {
    let words = words(command);
    let words = words.strip_prefix(&["&".to_owned()][..]).unwrap_or(&words);
    let [program, verb, event, rest @ ..] = words else { return None };
    let is_hook = verb == "hook" && Event::named(event).is_some();
    let is_named = rest.first().is_some_and(|word| word == "--client");
    (is_hook && (is_named || is_our_name(program))).then(|| program.clone())
}

/// Whether a path ends in the program's own name.
pub fn is_our_name(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name) == "throughline"
}

/// The words of a command line, as far as our own quoting goes. A backslash escapes a quote and nothing else, since
/// Windows paths are full of them.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) if matches!(chars.peek(), Some('"' | '\'')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_recognised_wherever_the_program_is() {
        let paths =
            ["/usr/bin/throughline", "/opt/My Tools/throughline", "/home/o'neil/a b/throughline", "/x/$(boom)/tl"];
        for path in paths {
            let command = hook(path, Platform::Linux, Event::Prompt, Client::Codex);
            assert_eq!(program_of(&command).as_deref(), Some(path), "{command}");
        }
        let path = r"C:\Program Files\Throughline\throughline.exe";
        let command = hook(path, Platform::Windows, Event::Stop, Client::Cursor);
        assert_eq!(command, format!("\"{path}\" hook stop --client cursor"));
        assert_eq!(program_of(&command).as_deref(), Some(path));
        assert_eq!(program_of(&hook_in_powershell(path, Event::Stop, Client::Copilot)).as_deref(), Some(path));
        assert_eq!(program_of("throughline hook stop").as_deref(), Some("throughline"), "as in the documentation");
    }

    #[test]
    fn a_plain_path_needs_no_quotes_and_others_run_nothing_of_their_own() {
        assert_eq!(
            hook("/bin/throughline", Platform::MacOs, Event::Stop, Client::Zed),
            "/bin/throughline hook stop --client zed"
        );
        let risky = "/a/`id`; $HOME/throughline";
        let command = hook(risky, Platform::Linux, Event::Stop, Client::Zed);
        assert_eq!(command, "'/a/`id`; $HOME/throughline' hook stop --client zed");
    }

    #[test]
    fn other_peoples_commands_are_not_ours() {
        for command in [
            "",
            "throughline",
            "throughline recall hook",
            "hook prompt",
            "my-throughline hook stop",
            "/bin/x hook stop",
            "'",
        ] {
            assert_eq!(program_of(command), None, "{command}");
        }
    }
}
