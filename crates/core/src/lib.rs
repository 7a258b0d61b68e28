//! The memory itself: pure, with no file, network, clock, environment or SQL in it.
//!
//! [`model`] and [`ports`] say what there is; [`engine`] is the facade over one service per noun. A turn meets the nouns in
//! this order: [`off_record`] decides whether it is kept, [`sessions`] keep it, [`context`] gives what [`documents`], [`recall`] and [`vault`] have for it,
//! [`consolidation`] makes [`memories`] of it, [`reflection`] looks back on them, [`review`] shows what they
//! made to the person; [`history`], [`transfer`] and [`health`]
//! look after all of it. [`text`], [`when`] and [`prompts`] are beneath.

pub mod clock_trust;
pub mod consolidation;
pub mod context;
pub mod documents;
pub mod embedding;
pub mod engine;
mod error;
pub mod health;
pub mod history;
mod input;
mod kernel;
pub mod lineage;
pub mod memories;
pub mod model;
pub mod models;
pub mod off_record;
pub mod ports;
pub mod projects;
pub mod prompts;
pub mod recall;
pub mod reflection;
pub mod review;
pub mod sessions;
mod settings;
pub mod statements;
pub mod tasks;
pub mod text;
pub mod threads;
pub mod tools;
pub mod transfer;
pub mod vault;
pub mod when;
