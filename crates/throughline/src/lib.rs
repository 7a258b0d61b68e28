//! The command line and everything it is wired from. The memory itself is `throughline-core`.

mod background;
pub mod cli;
pub mod config;
mod connections;
mod daemon;
mod embedders;
mod exports;
mod health;
mod models;
pub mod synthetic;
pub mod vault;
pub mod world;
