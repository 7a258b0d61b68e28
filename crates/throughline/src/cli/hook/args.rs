//! The arguments that clients are set up with, read without building the whole command line: a person waits for every hook.

use std::ffi::OsString;

use super::Hook;

/// Reads `PROGRAM hook EVENT [--client CLIENT] [--deadline-ms MS]`. None for everything else, right or wrong: the command line
/// has an answer to it.
pub(in crate::cli) fn parsed(args: &[OsString]) -> Option<Hook> {
    let mut args = args.iter().skip(1).map(|arg| arg.to_str());
    if args.next()?? != "hook" {
        return None;
    }
    let (mut event, mut client, mut deadline_ms) = (None, None, None);
    while let Some(arg) = args.next() {
        let place = match arg? {
            "--client" => &mut client,
            "--deadline-ms" => &mut deadline_ms,
            plain => {
                set(&mut event, plain)?;
                continue;
            }
        };
        set(place, args.next()??)?;
    }
    let deadline_ms = deadline_ms.map(|ms| ms.parse().ok()).map_or(Some(None), |ms| ms.map(Some))?;
    Some(Hook { event: event?.to_owned(), client: client.map(str::to_owned), deadline_ms })
}

/// Takes a plain word, once.
fn set<'a>(place: &mut Option<&'a str>, word: &'a str) -> Option<()> {
    let is_plain = !word.is_empty() && !word.starts_with('-');
    (is_plain && place.replace(word).is_none()).then_some(())
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    /// As the command line reads it.
    fn by_clap(args: &[OsString]) -> Option<Hook> {
        let matches = Hook::augment_args(clap::Command::new("hook")).try_get_matches_from(&args[1..]).ok()?;
        Hook::from_arg_matches(&matches).ok()
    }

    #[test]
    fn reads_what_the_command_line_reads() {
        for (line, is_read) in [
            ("hook prompt", true),
            ("hook prompt --client claude-code", true),
            ("hook --client codex session-start", true),
            ("hook prompt --client gemini --deadline-ms 60000", true),
            ("hook nothing --client nobody", true),
            ("hook", false),
            ("hook prompt stop", false),
            ("hook prompt --client", false),
            ("hook prompt --client codex --client codex", false),
            ("hook prompt --client=codex", false),
            ("hook prompt --deadline-ms soon", false),
            ("hook prompt --deadline-ms -1", false),
            ("hook prompt --deadline-ms +5", true),
            ("hook --help", false),
            ("hook -- prompt", false),
            ("recall prompt", false),
        ] {
            let args: Vec<OsString> =
                std::iter::once("throughline").chain(line.split(' ')).map(OsString::from).collect();
            let read = parsed(&args);
            assert_eq!(read.is_some(), is_read, "{line}");
            if is_read {
                assert_eq!(read, by_clap(&args), "{line}");
            }
        }
    }
}
