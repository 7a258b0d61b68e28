//! The options that narrow: shared by `recall` and `list`.

use clap::Args;
use jiff::Zoned;
use throughline_core::model::{Layer, Namespace};
use throughline_core::recall::{Filter, Scope};
use throughline_core::when;

use super::failure::Failure;

/// What may be found.
#[derive(Args)]
pub(super) struct Filters {
    /// Only this layer: identity, knowledge or archive
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Only this category: knowledge or timeline
    #[arg(long, value_name = "CATEGORY", conflicts_with = "layer")]
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

/// The other word for a layer.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Category {
    Knowledge,
    Timeline,
}

impl Filters {
    /// Narrows `filter` by the options.
    pub(super) fn apply(&self, mut filter: Filter, now: &Zoned) -> Result<Filter, Failure> {
        filter.layers.extend(self.layer);
        filter.layers.extend(self.category.map(|category| match category {
            Category::Knowledge => Layer::Knowledge,
            Category::Timeline => Layer::Archive,
        }));
        if let Some(namespace) = &self.namespace {
            filter.scope = Scope::Only(namespace.parse::<Namespace>()?);
        }
        for tag in &self.tags {
            filter = filter.tagged(tag);
        }
        if let Some(project) = &self.project {
            filter = filter.tagged(&format!("project:{project}"));
        }
        if let Some(task) = &self.task {
            filter = filter.tagged(&format!("task:{task}"));
        }
        let given: Vec<&String> = self.tags.iter().filter(|tag| tag.starts_with("project:")).collect();
        if given.len() + usize::from(self.project.is_some()) > 1 {
            return Err(Failure::new("more than one project is given", "give one, by --project or --tag project:NAME"));
        }
        filter.since = self.since.as_deref().map(|text| when::parse(text, now)).transpose()?;
        filter.until = self.until.as_deref().map(|text| when::parse(text, now)).transpose()?;
        Ok(filter)
    }
}
