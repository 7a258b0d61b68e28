//! The memory itself: pure, with no file, network, clock, environment or SQL in it.
//!
//! The modules stand in the order in which a turn meets them. Stages never call each other; they meet in [`engine`].

pub mod context;
pub mod engine;
pub mod model;
pub mod ports;
pub mod recall;
pub mod text;
pub mod when;
pub mod working;
