//! Finding the right memory: analysis of text, the filter, the ranking formula, and the log of what was found.

pub mod analysis;
pub mod bm25;
mod criteria;
mod explain;
mod filter;
pub(crate) mod find;
mod log;
pub mod past;
mod ranking;
mod request;
mod similar;
pub mod times;

pub use analysis::Terms;
pub use criteria::{Category, Criteria, FilterError, StatusFilter, limit};
pub use explain::{Explanation, Used};
pub use filter::{Filter, Projects, Scope};
pub use find::RecallService;
pub(crate) use find::check_range;
pub(crate) use log::RecallLog;
pub use log::{Explained, Recalls};
pub use ranking::{CORRECTION_TAG, Candidate, FoundBy, Ranking, Why, rank};
pub use request::{AskedBy, Hit, Recall, RecallRecord, RecallRequest, RecalledHit};
pub use similar::{distinct_words, overlap, similarity};
