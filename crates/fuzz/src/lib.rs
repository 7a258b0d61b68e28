//! Targets for hostile input: queries, Markdown, settings, events of hooks, transcripts, imports, replies of models, fences,
//! names, segments of the word index.
//!
//! Goes in: any bytes. Comes out: nothing, or a panic that names the broken property. Each target says more than that nothing
//! crashes: outputs are bounded, what is written is read back, a fence holds. `corpus` has inputs to begin with, and those that
//! once broke something. `docs/testing.md` says how to run them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken property is a panic")]

mod mutate;
mod run;
mod targets;

pub use mutate::Mutator;
pub use run::{Failure, Figures, corpus_of, fuzz, replay};
pub use targets::{TARGETS, Target, fences, named};
