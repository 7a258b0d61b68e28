//! How much something matters, as a request says it.

use throughline_core::model::{Importance, Significance};

use crate::problem::{Code, Problem};

/// How much something matters, in either spelling.
pub(super) fn weight(
    significance: Option<Significance>,
    importance: Option<Importance>,
) -> Result<Option<Importance>, Problem> {
    match (significance, importance) {
        (Some(_), Some(_)) => {
            Err(Problem::new(Code::Invalid, "both significance and importance are given", "give one of them"))
        }
        (significance, importance) => Ok(importance.or(significance.map(Importance::from))),
    }
}
