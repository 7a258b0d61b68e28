//! Stores to run tests on.

use std::ops::Deref;
use std::sync::Arc;

use throughline_core::model::MachineId;
use throughline_core::ports::{Documents, Store};

/// A place for one store: empty at first, removed when it is dropped.
pub trait StoreFixture: Send + Sync {
    /// Opens the store that is kept here, or another handle to it, as another process on this machine would.
    fn open_on(&self, machine: MachineId) -> Arc<dyn Store>;

    /// Opens it on the machine that most tests are on.
    fn open(&self) -> Arc<dyn Store> {
        self.open_on(MachineId::new("here"))
    }

    /// The documents that the store keeps itself; none where they are kept elsewhere.
    fn documents(&self) -> Option<Arc<dyn Documents>> {
        None
    }

    /// Makes every change fail while it is committed, on all handles, until [`Self::allow_commits`]: its operations have
    /// been applied and its callback has run, and then the transaction is rolled back with an error.
    fn refuse_commits(&self);

    /// Lets changes be committed again.
    fn allow_commits(&self);

    /// Places that erasing never reaches, as this store names them.
    fn beyond_erasing(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A store in a place of its own. Dereferences to the store.
pub struct Fresh {
    /// Dropped before its place.
    store: Arc<dyn Store>,
    fixture: Box<dyn StoreFixture>,
}

impl Fresh {
    /// Opens a store in this place.
    pub fn new(fixture: impl StoreFixture + 'static) -> Self {
        Self { store: fixture.open(), fixture: Box::new(fixture) }
    }

    /// The store, to be shared.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Another handle to the same store, as another process would have it.
    pub fn again(&self) -> Arc<dyn Store> {
        self.fixture.open()
    }

    /// Another handle to the same store on another machine.
    pub fn on_machine(&self, machine: &str) -> Arc<dyn Store> {
        self.fixture.open_on(MachineId::new(machine))
    }

    /// See [`StoreFixture::documents`].
    pub fn documents(&self) -> Option<Arc<dyn Documents>> {
        self.fixture.documents()
    }

    /// The documents that the store keeps itself, else others.
    pub fn documents_or(&self, others: impl FnOnce() -> Arc<dyn Documents>) -> Arc<dyn Documents> {
        self.documents().unwrap_or_else(others)
    }

    /// See [`StoreFixture::refuse_commits`].
    pub fn refuse_commits(&self) {
        self.fixture.refuse_commits();
    }

    /// See [`StoreFixture::allow_commits`].
    pub fn allow_commits(&self) {
        self.fixture.allow_commits();
    }

    /// See [`StoreFixture::beyond_erasing`].
    pub fn beyond_erasing(&self) -> Vec<String> {
        self.fixture.beyond_erasing()
    }

    /// Closes this handle and opens the store again.
    pub fn reopen(self) -> Self {
        let Self { store, fixture } = self;
        drop(store);
        Self { store: fixture.open(), fixture }
    }
}

impl Deref for Fresh {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}
