//! The memory itself: pure, with no file, network, clock, environment or SQL in it.
//!
//! A turn meets the modules in this order: [`model`] and [`ports`] say what there is, [`text`], [`when`] and [`working`]
//! read it, [`session`] says how the conversation stands, [`recall`] finds, [`vault`] looks into files, [`context`] gives,
//! [`tools`] and [`prompts`] ask, [`consolidate`] and [`reflect`] judge the answer. Stages never call each other; they meet
//! in [`engine`].

pub mod clock_trust;
pub mod consolidate;
pub mod context;
pub mod engine;
pub mod import;
pub mod model;
pub mod ports;
pub mod prompts;
pub mod recall;
pub mod reflect;
pub mod session;
pub mod text;
pub mod tools;
pub mod vault;
pub mod when;
pub mod working;
