//! The memory itself: pure, with no file, network, clock, environment or SQL in it.
//!
//! A turn meets the modules in this order: [`model`] and [`ports`] say what there is, [`text`], [`when`] and [`working`]
//! read it, [`recall`] finds, [`context`] gives. Stages never call each other; they meet in [`engine`].

pub mod context;
pub mod engine;
pub mod model;
pub mod ports;
pub mod recall;
pub mod text;
pub mod when;
pub mod working;
