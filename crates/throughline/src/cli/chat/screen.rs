//! Where the conversation is shown: on standard output, or on standard error where that belongs to a program.

use std::io::Write;

use owo_colors::OwoColorize as _;

use crate::cli::style;

/// What a person sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    is_json: bool,
}

impl Screen {
    pub(super) fn new(is_json: bool) -> Self {
        Self { is_json }
    }

    fn out(self) -> Box<dyn Write> {
        if self.is_json { Box::new(anstream::stderr()) } else { Box::new(anstream::stdout()) }
    }

    /// A line. Whoever does not look does not stop the conversation.
    pub(super) fn line(self, text: &str) {
        let _ = writeln!(self.out(), "{text}");
    }

    /// A line on the side.
    pub(super) fn aside(self, text: &str) {
        self.line(&text.dimmed().to_string());
    }

    /// A piece of a reply, made harmless.
    pub(super) fn piece(self, text: &str) {
        let mut out = self.out();
        let _ = write!(out, "{}", style::plain(text));
        let _ = out.flush();
    }
}
