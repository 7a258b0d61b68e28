//! The filters that recalling and listing share.

use jiff::Timestamp;
use serde::Deserialize;
use throughline_core::model::{Importance, Layer, Significance};
use throughline_core::recall::Filter;
use utoipa::ToSchema;

use super::App;
use crate::problem::{Code, Problem};

/// The other word for a layer.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Category {
    /// What was learned.
    Knowledge,
    /// What happened.
    Timeline,
}

/// What may be found, as it was given.
pub(super) struct Narrow<'a> {
    pub(super) layer: Option<Layer>,
    pub(super) category: Option<Category>,
    pub(super) tags: &'a [String],
    pub(super) project: Option<&'a str>,
    pub(super) since: Option<&'a str>,
    pub(super) until: Option<&'a str>,
}

impl Narrow<'_> {
    /// Narrows a filter.
    pub(super) fn apply(&self, mut filter: Filter, app: &App) -> Result<Filter, Problem> {
        let of_category = self.category.map(|category| match category {
            Category::Knowledge => Layer::Knowledge,
            Category::Timeline => Layer::Archive,
        });
        if self.layer.is_some() && of_category.is_some() {
            return Err(Problem::new(Code::Invalid, "both a layer and a category are given", "give one of them"));
        }
        filter.layers.extend(self.layer.or(of_category));
        let links = self.tags.iter().filter(|tag| tag.starts_with("project:")).count();
        if links + usize::from(self.project.is_some()) > 1 {
            return Err(Problem::new(Code::Invalid, "more than one project is given", "give one"));
        }
        for tag in self.tags {
            filter = filter.tagged(tag);
        }
        if let Some(project) = self.project {
            filter = filter.tagged(&format!("project:{project}"));
        }
        let time = |text: Option<&str>| -> Result<Option<Timestamp>, Problem> { app.when(text) };
        filter.since = time(self.since)?;
        filter.until = time(self.until)?;
        Ok(filter)
    }
}

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
