//! Threads. Changed by operations like everything else ([`Op::Thread`](super::Op::Thread)); read here.

use crate::model::{Name, SessionId, Thread};

use super::Stored;

/// Threads: what conversations left to go on from.
pub trait Threads {
    /// The open threads of a namespace, expired ones included, the latest updated first.
    fn open_threads(&self, namespace: &Name) -> Stored<Vec<Thread>>;
    /// The same, and closed threads whose section is still in the file of working memory.
    fn shown_threads(&self, namespace: &Name) -> Stored<Vec<Thread>>;
    /// The thread of a conversation, whatever its status. There is one at most in a namespace.
    fn thread_of(&self, namespace: &Name, session: &SessionId) -> Stored<Option<Thread>>;
}
