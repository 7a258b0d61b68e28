//! The command line and everything it is wired from. The memory itself is `throughline-core`.

mod background;
pub mod cli;
pub mod config;
mod exports;
mod models;
pub mod synthetic;
pub mod world;
