//! Transcripts: the files in which an assistant keeps what was said.
//!
//! Goes in: a client's own file. Comes out: what the person and the assistant said, each with a name that is the same
//! every time. Left out: tools and their results, sub-agents, the client's own notes and summaries, and whatever memory
//! itself put in front. Never happens: a file taken in whole without a limit, a line that stops the others.

mod rows;
mod said;
mod tail;

use jiff::Timestamp;
use throughline_core::model::Role;

pub use said::own_words;
pub use tail::read;

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    /// The client's own name for it, or one that follows from its place.
    pub id: String,
    /// The person or the assistant.
    pub role: Role,
    /// The words.
    pub text: String,
    /// When, where the client says so.
    pub at: Option<Timestamp>,
}
