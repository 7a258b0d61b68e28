//! The options that narrow: shared by `recall` and `list`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use throughline_core::model::Layer;
use throughline_core::recall::{Category, Criteria};

/// What may be found.
#[derive(Args)]
pub(super) struct Filters {
    /// Only this layer: identity, knowledge or archive
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Only this category: knowledge or timeline
    #[arg(long, value_name = "CATEGORY", conflicts_with = "layer", value_parser = category())]
    category: Option<Category>,
    /// Only with this tag (repeat for several)
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only of this project
    #[arg(long)]
    project: Option<String>,
    /// Only of this task
    #[arg(long)]
    task: Option<String>,
    /// Only at this address, such as user/facts or global
    #[arg(long, value_name = "ADDRESS")]
    namespace: Option<String>,
    /// Only stored at this time or later: 2026-03-01, yesterday, "3 days ago"
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only stored before this time
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
}

fn category() -> impl TypedValueParser<Value = Category> {
    PossibleValuesParser::new(Category::WORDS).try_map(|word| word.parse::<Category>())
}

impl Filters {
    /// The options as every surface gives them.
    pub(super) fn criteria(self) -> Criteria {
        Criteria {
            layer: self.layer,
            category: self.category,
            tags: self.tags,
            project: self.project,
            task: self.task,
            namespace: self.namespace,
            since: self.since,
            until: self.until,
            ..Criteria::default()
        }
    }
}
