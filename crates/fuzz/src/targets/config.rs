//! The person's settings, in three formats.

use throughline::config::{Format, defaults_toml, parse};

pub(super) fn run(bytes: &[u8]) {
    let (format, bytes) = super::choice(bytes, &[Format::Toml, Format::Yaml, Format::Json]);
    let text = super::text(bytes);
    match parse(&text, format) {
        // What was accepted is within its ranges whichever way it is read again.
        Ok(config) => assert_eq!(Ok(config), parse(&text, format).map_err(|error| error.to_string())),
        Err(error) => {
            let told = error.to_string();
            assert!(!told.is_empty() && told.len() <= 2 * text.len() + 4096, "an error of {} bytes", told.len());
        }
    }
    assert!(defaults_toml().len() > 100);
}
