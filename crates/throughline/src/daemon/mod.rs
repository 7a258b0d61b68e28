//! The daemon from this side: its token, how it is found by other commands, and what it asks of the memory's wiring.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) mod arenas;
mod ask;
mod channels;
mod chores;
mod host;
mod in_turn;
mod presence;
mod resting;
mod talks;
mod tls;
mod token;
mod upstreams;

pub(crate) use ask::{channel_remarks, fresh_link, lost_by};
pub(crate) use host::Household;
pub(crate) use presence::{Claim, Running, find, is_running};
pub(crate) use token::token;
