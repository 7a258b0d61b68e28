//! Sentence embedders that run in this process. In go texts, out come vectors of length 1; nothing goes over a network.
//!
//! - [`BuiltinEmbedder`]: a small English model that is a part of the program.
//! - [`DirectoryEmbedder`]: any model of the BERT family whose files are in a directory.

mod builtin;
mod directory;
mod encoder;
mod error;
mod number;
mod product;
mod rows;
mod tokens;

pub use builtin::BuiltinEmbedder;
pub use directory::DirectoryEmbedder;
pub use error::LoadError;
