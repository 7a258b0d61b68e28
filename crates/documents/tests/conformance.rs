//! The files behave as every document store does.

use throughline_core::ports::Documents;
use throughline_documents::FileDocuments;
use throughline_testkit::MemoryDocuments;
use throughline_testkit::documents::conformance;

#[test]
fn files_are_documents() {
    let home = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    conformance(&|| {
        count.set(count.get() + 1);
        let root = home.path().join(format!("home/{}", count.get()));
        Box::new(FileDocuments::open(&root).unwrap()) as Box<dyn Documents>
    });
}

#[test]
fn documents_in_memory_behave_alike() {
    conformance(&|| Box::new(MemoryDocuments::default()));
}
