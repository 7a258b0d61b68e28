//! Ports for simulations: a store and documents in which something happens around every call, and wrong ones to prove that a
//! simulation would notice.

mod bugs;
mod documents;
mod store;

pub use bugs::PlantedBug;
pub use documents::SimulatedDocuments;
pub use store::SimulatedStore;

use throughline_core::ports::StoreError;

/// What happens around the calls of a port. A panic stands for a process that dies there.
pub trait Around: Send + Sync {
    /// Before a call of a store, while no transaction is open: something else may happen first, or the call fails undone.
    fn before(&self, call: &'static str) -> Result<(), StoreError>;

    /// After a call of a store that succeeded: what it did may be reported as failed.
    fn after(&self, call: &'static str) -> Result<(), StoreError>;

    /// Between reading a document and writing it, in the same process: somebody may save it.
    fn before_write(&self);
}
