//! Other people's assistants.

mod client;
pub mod connect;
pub mod hooks;
pub mod transcripts;

pub use client::Client;
