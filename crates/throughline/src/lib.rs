//! The command line and everything it is wired from. The memory itself is `throughline-core`.

pub mod cli;
pub mod config;
mod exports;
pub mod synthetic;
pub mod world;
