//! Consolidation: a conversation becomes a summary, a timeline entry, working memory and facts.
//!
//! Model output is a proposal. These modules read and judge it; the engine asks, and applies.

pub mod corrections;
pub mod facts;
pub mod plan;
pub mod reply;
mod working;
