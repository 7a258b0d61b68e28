//! Assistants' hooks through the real binary: what they are given, what is kept, and that nothing ever stops them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "hooks/events.rs"]
mod events;
#[path = "hooks/going_on.rs"]
mod going_on;
#[path = "hooks/hostile.rs"]
mod hostile;
#[path = "hooks/keeping.rs"]
mod keeping;
#[path = "hooks/real.rs"]
mod real;
