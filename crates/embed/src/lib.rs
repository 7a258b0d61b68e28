//! Sentence embedders that run in this process. In go texts, out come vectors of length 1; nothing goes over a network.
//!
//! - [`BuiltinEmbedder`]: a small English model that is a part of the program.

mod builtin;
mod encoder;
mod number;
mod product;
mod rows;
mod tokens;

pub use builtin::BuiltinEmbedder;
