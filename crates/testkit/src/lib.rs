//! A small, fixed world for tests: clock, ids, documents, a scripted model, a scripted model server, and the conformance
//! suite for documents. The suites that every store must pass are in `suites`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this crate is for tests")]

pub mod documents;
mod fake_embedder;
mod fence;
mod fixture;
mod memory_documents;
pub mod model_server;
#[cfg(unix)]
pub mod postgres;
mod random;
pub mod raw_http;
pub mod retrieval;
mod scripted_model;
pub mod simulated;
pub mod stores;
mod world;

pub use fake_embedder::{FakeEmbedder, FakeEmbedders};
pub use fence::first_fence_tag;
pub use fixture::{Fresh, StoreFixture};
pub use memory_documents::MemoryDocuments;
pub use random::Random;
pub use scripted_model::{ScriptedModel, reply};
pub use world::{FixedClock, SequentialIds, World};
