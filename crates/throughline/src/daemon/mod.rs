//! The daemon from this side: its token, how it is found by other commands, and what it asks of the memory's wiring.

mod ask;
mod host;
mod presence;
mod token;

pub(crate) use ask::post;
pub(crate) use host::Household;
pub(crate) use presence::{Claim, Running, find};
pub(crate) use token::token;
