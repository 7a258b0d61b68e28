//! Reflection: looking back on a document, to distil, weigh, merge and prune.
//!
//! Goes in: a document, what was said since the last pass, and what a model proposes. Comes out: the document with
//! bullets added, changed, moved or removed, and a list of what was not done and why. Never happens: a byte changed
//! outside the bullets, a fact of significance 4 or 5 lost or lowered, a fact that nobody said, more than a small share
//! of the facts touched at once.

pub mod apply;
pub mod lines;
pub mod plan;
pub mod reply;
pub mod same;
pub mod schedule;

pub use apply::apply;
pub use lines::{Line, lines};
pub use plan::{Input, Plan, Step, plan};
pub use reply::{NotOperations, Operation, Proposal, parse};
pub use same::says_the_same;
pub use schedule::{Schedule, is_due, next};
