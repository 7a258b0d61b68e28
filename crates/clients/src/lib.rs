//! Other people's assistants.

mod client;
pub mod connect;

pub use client::Client;
