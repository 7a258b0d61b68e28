//! The transaction that a thread is about to commit. What a change does last, it does on the thread that holds the lock of the
//! space: whatever of it belongs into the same database joins the transaction, and does not wait for that lock.

use std::cell::RefCell;
use std::rc::Rc;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::Sql;

thread_local! {
    static UNDER_WAY: RefCell<Option<Joined>> = const { RefCell::new(None) };
}

/// A transaction under way.
#[derive(Clone)]
struct Joined {
    /// The space whose lock it holds. Any handle to it joins, so that two of one process never wait for each other.
    address: Address,
    connection: Rc<Connection>,
    number: i64,
}

/// Ends it, also where `work` panics.
struct Ending(Option<Joined>);

impl Drop for Ending {
    fn drop(&mut self) {
        UNDER_WAY.set(self.0.take());
    }
}

/// Lets `work` join the transaction of this number, which holds the lock of the space at this address.
pub(crate) fn during<T>(address: &Address, connection: &Rc<Connection>, number: i64, work: impl FnOnce() -> T) -> T {
    let joined = Joined { address: address.clone(), connection: Rc::clone(connection), number };
    let _ending = Ending(UNDER_WAY.replace(Some(joined)));
    work()
}

/// Works in the transaction that this thread is about to commit, where it is one of this space.
pub(crate) fn with<T>(address: &Address, work: impl FnOnce(&Connection, i64) -> Sql<T>) -> Option<Sql<T>> {
    let joined = UNDER_WAY.with_borrow(Clone::clone).filter(|joined| joined.address == *address)?;
    Some(work(&joined.connection, joined.number))
}
