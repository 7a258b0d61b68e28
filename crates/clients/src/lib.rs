//! Other people's assistants.

mod client;
pub mod hooks;
pub mod transcripts;

pub use client::Client;
