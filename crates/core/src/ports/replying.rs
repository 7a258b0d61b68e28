//! The store as work on the way to a reply uses it.

use std::sync::Arc;

use super::Store;

/// Gives a handle for work that somebody waits for.
pub trait Replying {
    /// The same store. Its writes give up with [`StoreError::Busy`](super::StoreError::Busy) when another writer holds the
    /// store for longer than about a tenth of a second; its reads never wait for a writer.
    fn for_replies(&self) -> Arc<dyn Store>;
}
