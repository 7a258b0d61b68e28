//! What a test lets happen between two system calls, on its own thread.

use std::cell::{Cell, RefCell};

thread_local! {
    static NEXT: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    static ONLY_RENAMES: Cell<bool> = const { Cell::new(false) };
}

/// Something that happens right before the next text takes the place of another.
pub(crate) fn at_next(happens: impl FnOnce() + 'static) {
    NEXT.set(Some(Box::new(happens)));
}

/// Whether it did not happen.
pub(crate) fn is_left() -> bool {
    NEXT.take().is_some()
}

/// Lets it happen.
pub(crate) fn pass() {
    if let Some(happens) = NEXT.take() {
        happens();
    }
}

/// A planted bug: files are renamed over each other, as where they cannot be exchanged.
pub(crate) fn set_only_renames(only_renames: bool) {
    ONLY_RENAMES.set(only_renames);
}

/// Whether files cannot be exchanged.
pub(crate) fn only_renames() -> bool {
    ONLY_RENAMES.get()
}
