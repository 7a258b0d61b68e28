//! One file per kind of input.

#[cfg(feature = "config")]
mod config;
pub mod fences;
mod hooks;
mod imports;
mod markdown;
mod names;
mod queries;
mod replies;
mod segments;
mod transcripts;

use std::borrow::Cow;

use jiff::Zoned;

/// Something that reads what others wrote.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Reads one input; panics where a property is broken.
    pub run: fn(&[u8]),
}

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// All of them.
pub const TARGETS: &[Target] = &[
    target("queries", queries::run),
    target("markdown", markdown::run),
    #[cfg(feature = "config")]
    target("config", config::run),
    target("hooks", hooks::run),
    target("transcripts", transcripts::run),
    target("imports", imports::run),
    target("summary", replies::summary),
    target("facts", replies::extraction),
    target("reflection", replies::reflection),
    target("fences", fences::run),
    target("names", names::run),
    target("segments", segments::run),
];

/// The target of this name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Sunday, 1 March 2026, noon in a zone that changes its clock.
fn now() -> Zoned {
    let at = jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(1_772_366_400);
    at.to_zoned(jiff::tz::TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone"))
}

/// The first byte chooses among some; the rest is the input.
fn choice<'a, T: Copy>(bytes: &'a [u8], among: &[T]) -> (T, &'a [u8]) {
    let (first, rest) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    (among[usize::from(first) % among.len()], rest)
}
