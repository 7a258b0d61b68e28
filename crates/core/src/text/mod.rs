//! Text as such: its size in tokens, its secrets, its bullets.

pub mod bullets;
pub mod redact;
pub mod sections;
pub mod tokens;
