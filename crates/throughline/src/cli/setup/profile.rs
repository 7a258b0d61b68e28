//! Three questions about the person, whose answers every conversation begins with.

use serde::Serialize;
use throughline_core::engine::NewMemory;
use throughline_core::model::{Layer, Source};

use super::plan::Done;
use crate::cli::failure::Failure;
use crate::cli::style;
use crate::world::World;

/// What is asked.
pub(super) const QUESTIONS: [&str; 3] = [
    "What is your name?",
    "What do you do, and in which time zone?",
    "How should assistants answer you? (short, in German, with code first ...)",
];

/// What becomes of the profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Step {
    /// Lines that are there.
    pub(in crate::cli) here: usize,
    /// Lines that are added.
    pub(in crate::cli) add: Vec<String>,
}

/// How many lines the profile has.
pub(super) fn look(world: &World) -> Result<usize, Failure> {
    let profile = world.engine.documents().profile()?;
    Ok(profile.map_or(0, |(text, _)| text.lines().filter(|line| line.starts_with("- ")).count()))
}

/// The answers as lines; what was skipped gives none.
pub(super) fn lines(answers: &[String]) -> Vec<String> {
    let beginnings = ["My name is", "What I do, and where:", "How to answer me:"];
    let line = |(begin, answer): (&str, &String)| {
        let answer = answer.trim().trim_end_matches('.');
        (!answer.is_empty()).then(|| format!("{begin} {answer}"))
    };
    beginnings.into_iter().zip(answers).filter_map(line).collect()
}

/// Adds the lines.
pub(super) fn act(world: &World, step: &Step, done: &mut Done) {
    let mut written = 0;
    for line in &step.add {
        let new = NewMemory { layer: Layer::Identity, source: Source::User, ..NewMemory::fact(line.clone()) };
        match world.engine.memories().remember(&new) {
            Ok(_) => written += 1,
            Err(error) => done.failed(format!("the profile does not say `{line}`: {error}")),
        }
    }
    if written > 0 {
        done.did(format!("wrote {} into your profile", style::count(written, "line", "lines")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_question_gives_no_line() {
        let answers = ["Ada.".to_owned(), " ".to_owned(), "short".to_owned()];
        assert_eq!(lines(&answers), ["My name is Ada", "How to answer me: short"]);
        assert!(lines(&[]).is_empty());
    }
}
