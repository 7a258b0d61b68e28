//! The command line and everything it is wired from. The memory itself is `throughline-core`.

mod background;
mod backups;
mod chat;
pub mod cli;
pub mod config;
mod connections;
mod daemon;
mod demo;
mod directory;
mod embedders;
mod exports;
pub mod file_reader;
mod health;
mod imported;
mod lock_file;
mod models;
pub mod processes;
mod questions;
mod sampling;
mod spool;
pub mod synthetic;
mod tool_models;
mod transcripts;
pub mod vault;
mod vectors;
pub mod world;
