//! Transcripts: the files in which an assistant keeps what was said.
//!
//! Goes in: a client's own file. Comes out: what the person and the assistant said, each with a name that is the same
//! every time, and the summary that the client made of it. Left out: tools and their results, sub-agents, the client's own
//! notes, and whatever memory itself put in front. Never happens: a file taken in whole without a limit, a line that stops
//! the others, work that grows faster than the file.
//!
//! They are read in this process, not in a child: a hook has to answer in milliseconds, and a client's own files are JSON and
//! nothing else. What reading may take is bounded by bytes, by rows and by the number of values in a row.

mod bounded;
mod rows;
mod said;
mod tail;

use jiff::Timestamp;
use throughline_core::model::Role;

pub use bounded::bounded_json;
pub use said::own_words;
pub use tail::read;

/// What is new in a transcript.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct News {
    /// What was said and is not known yet, oldest first.
    pub said: Vec<Spoken>,
    /// The summary that the client made last, where it stands behind everything that is known.
    pub summary: Option<Summary>,
}

/// A summary of the client's own, in the place of what was said before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The words, without what the client puts around them.
    pub text: String,
    /// When it was made: what was said later is not in it.
    pub at: Option<Timestamp>,
}

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
