//! The memory itself: pure, with no file, network, clock, environment or SQL in it.
//!
//! A turn meets the modules in this order: [`model`] and [`ports`] say what there is, [`text`], [`when`] and [`working`]
//! read it, [`session`] says how the conversation stands, [`recall`] finds, [`vault`] looks into files, [`context`] gives,
//! [`tools`] and [`prompts`] ask, [`consolidate`] and [`reflect`] judge the answer. Stages never call each other; they meet
//! in [`engine`].

pub mod clock_trust;
pub mod consolidation;
pub mod context;
pub mod documents;
pub mod engine;
mod error;
pub mod health;
pub mod history;
mod input;
mod kernel;
pub mod memories;
pub mod model;
pub mod models;
pub mod ports;
pub mod projects;
pub mod prompts;
pub mod recall;
pub mod reflection;
pub mod sessions;
mod settings;
pub mod tasks;
pub mod text;
pub mod tools;
pub mod transfer;
pub mod vault;
pub mod when;
