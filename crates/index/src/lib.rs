//! The word index: BM25 over immutable segments and a live tail, as pure code.
//!
//! Goes in: documents as analysed terms (the core's analysis makes them; there is none here), each with a class that
//! filters are asked about and a time. Comes out: the best documents for some terms, exactly those that a scan of every
//! document would give. Never happens: SQL, a file, a clock, or a panic on damaged bytes, which are an error.
//!
//! ```text
//! documents ─► build ─► segment ──┐
//!                       segment ──┼─► search ─► hits        a tail of documents that are in no segment yet
//!                       segment ──┘      ▲                  is given with each search
//!                         │  ▲           └── tail
//!                         ▼  │
//!                         merge (tombstones are dropped)
//! ```
//!
//! A document may carry a payload, opaque bytes that [`Fetch`] gives back by its number, so that ranking reads no row of the
//! store.
//!
//! A store keeps the bytes of segments behind [`SegmentReader`] and [`SegmentStore`], in the caller's transaction. A document has a
//! number that the store chooses, such as the row of what it indexes. A number is live in one segment at most: who adds a
//! newer version calls [`bury`] for the older ones in the same transaction.

mod bury;
mod bytes;
mod error;
mod fetch;
mod memory;
mod merge;
mod policy;
mod score;
mod search;
mod segment;
mod store;
mod tail;

pub use bury::{bury, contains_any};
pub use error::IndexError;
pub use fetch::{ClassName, Fetch, Fetched};
pub use memory::MemoryStore;
pub use merge::{Merge, merge, replace};
pub use policy::{Limits, choose};
pub use score::{SCORE_UNIT, Statistics, contribution, length_code};
pub use search::{Admit, Everything, Hit, Query, search, statistics};
pub use segment::{Built, Document, FORMAT, Payload, SegmentInfo, add, build, info, numbers, terms};
pub use store::{Part, SegmentId, SegmentReader, SegmentStore};
pub use tail::{Tail, TailDocument};
