//! Finding the right memory: analysis of text, the filter, the ranking formula, and the log of what was found.

pub mod analysis;
mod criteria;
mod explain;
mod features;
mod filter;
pub(crate) mod find;
pub(crate) mod fold;
mod joined;
mod log;
pub mod past;
mod pool;
mod question;
mod ranking;
mod request;
mod said;
mod short_forms;
mod similar;
pub mod times;
mod weights;

pub use analysis::Terms;
pub use criteria::{Category, Criteria, FilterError, StatusFilter, TimeGiven, limit};
pub(crate) use explain::OPENING;
pub use explain::{Explanation, OpeningPart, Used};
pub use features::{FEATURES, Feature, Features};
pub use filter::{Filter, Projects, Scope};
pub(crate) use find::check_range;
pub use find::{Measured, RecallService};
pub(crate) use log::RecallLog;
pub use log::{Explained, Recalls};
pub use pool::{Candidate, FoundBy, MeaningBy, Pool};
pub use question::{MAX_WORDS, Question};
pub use ranking::{CORRECTION_TAG, Contribution, Ranking, Why, measured, rank};
pub use request::{AskedBy, Beside, Hit, Recall, RecallRecord, RecallRequest, RecalledHit};
pub use similar::{distinct_words, overlap, similarity};
