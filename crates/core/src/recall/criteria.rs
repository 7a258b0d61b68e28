//! A filter as people, programs and assistants write it: the options of a command, the parameters of a request, the
//! arguments of a tool.
//!
//! Words go in, a [`Filter`] comes out, or an error that says which of them do not fit. Nothing is looked up.

use std::str::FromStr;

use jiff::Zoned;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{Kind, Layer, NameError, Namespace, Source, Status};
use crate::when::{self, WhenError};

use super::filter::{Filter, Projects, Scope};

/// A time as programs write it: words and dates, or Unix seconds as a number.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema, utoipa::ToSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum TimeGiven {
    /// A date such as 2026-05-07, or words such as "last week".
    Text(String),
    /// Unix seconds.
    Seconds(f64),
}

impl From<TimeGiven> for String {
    fn from(given: TimeGiven) -> Self {
        match given {
            TimeGiven::Text(text) => text,
            // Whole seconds: nobody remembers more.
            TimeGiven::Seconds(seconds) => format!("{:.0}", seconds.floor()),
        }
    }
}

/// Why a filter makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// Two words for the same thing.
    #[error("both a layer and a category are given")]
    LayerAndCategory,
    /// A memory belongs to one project at most.
    #[error("more than one project is given")]
    SeveralProjects,
    /// A category that does not exist.
    #[error("unknown category `{0}`: expected knowledge or timeline")]
    Category(String),
    /// A status that does not exist.
    #[error("unknown status `{0}`: expected active, inactive or any")]
    Status(String),
    /// More than is given at once.
    #[error("`limit` {asked} is more than {most}")]
    Limit {
        /// What was asked for.
        asked: usize,
        /// What is given at most.
        most: usize,
    },
    /// `since` or `until` is no date.
    #[error(transparent)]
    When(#[from] WhenError),
    /// The namespace is no address.
    #[error(transparent)]
    Namespace(#[from] NameError),
}

impl FilterError {
    /// What to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::LayerAndCategory => "give one of them",
            Self::SeveralProjects => "give one, as the project or as the tag `project:NAME`",
            Self::Category(_) | Self::Status(_) => "use one of those",
            Self::Limit { .. } => "ask for that many at most",
            Self::When(error) => error.hint(),
            Self::Namespace(error) => error.hint(),
        }
    }
}

/// What assistants call a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Facts, conventions, corrections.
    Knowledge,
    /// What happened.
    Timeline,
}

impl Category {
    /// Its words, for a surface that lists them.
    pub const WORDS: [&str; 2] = ["knowledge", "timeline"];

    /// The layer that it means.
    pub const fn layer(self) -> Layer {
        match self {
            Self::Knowledge => Layer::Knowledge,
            Self::Timeline => Layer::Archive,
        }
    }
}

impl FromStr for Category {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        match text {
            "knowledge" => Ok(Self::Knowledge),
            "timeline" => Ok(Self::Timeline),
            other => Err(FilterError::Category(other.to_owned())),
        }
    }
}

/// Which status is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusFilter {
    /// Active and not expired.
    #[default]
    Active,
    /// Inactive alone.
    Inactive,
    /// Any status, expired or not.
    Any,
}

impl FromStr for StatusFilter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        match text {
            "any" | "all" => Ok(Self::Any),
            other => match other.parse() {
                Ok(Status::Active) => Ok(Self::Active),
                Ok(Status::Inactive) => Ok(Self::Inactive),
                Err(_) => Err(FilterError::Status(other.to_owned())),
            },
        }
    }
}

/// What may be found, as it was given. The default is everything that a recall may return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Only this layer.
    pub layer: Option<Layer>,
    /// Only this category; not together with a layer.
    pub category: Option<Category>,
    /// Only with all of these tags; `project:NAME` and `task:NAME` are links.
    pub tags: Vec<String>,
    /// Only of this project.
    pub project: Option<String>,
    /// Only of this task.
    pub task: Option<String>,
    /// Only at this address.
    pub namespace: Option<String>,
    /// Only of this source.
    pub source: Option<Source>,
    /// Only of these kinds; all of them unless given.
    pub kinds: Vec<Kind>,
    /// Only of this status.
    pub status: StatusFilter,
    /// Only stored at this time or later, as people write times.
    pub since: Option<String>,
    /// Only stored before this time.
    pub until: Option<String>,
}

impl Criteria {
    /// The filter that is meant. `now` gives the time zone, and the moment at which memories must not have expired.
    pub fn filter(&self, now: &Zoned) -> Result<Filter, FilterError> {
        self.check()?;
        let time = |text: &Option<String>| text.as_deref().map(|text| when::parse(text, now)).transpose();
        let (status, live_at) = match self.status {
            StatusFilter::Active => (Some(Status::Active), Some(now.timestamp())),
            StatusFilter::Inactive => (Some(Status::Inactive), None),
            StatusFilter::Any => (None, None),
        };
        let filter = Filter {
            scope: match &self.namespace {
                Some(address) => Scope::Only(address.parse::<Namespace>()?),
                None => Scope::Everything,
            },
            kinds: self.kinds.clone(),
            layers: self.layer.or(self.category.map(Category::layer)).into_iter().collect(),
            since: time(&self.since)?,
            until: time(&self.until)?,
            source: self.source,
            status,
            live_at,
            ..Filter::default()
        };
        let mut filter = self.tags.iter().fold(filter, |filter, tag| filter.tagged(tag));
        if let Some(project) = &self.project {
            filter.projects = Projects::Only(project.clone());
        }
        if self.task.is_some() {
            filter.task.clone_from(&self.task);
        }
        Ok(filter)
    }

    fn check(&self) -> Result<(), FilterError> {
        if self.layer.is_some() && self.category.is_some() {
            return Err(FilterError::LayerAndCategory);
        }
        let links = self.tags.iter().filter(|tag| tag.starts_with("project:")).count();
        if links + usize::from(self.project.is_some()) > 1 {
            return Err(FilterError::SeveralProjects);
        }
        Ok(())
    }
}

/// How many are given: as many as asked for, within bounds.
pub fn limit(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, FilterError> {
    match asked {
        Some(asked) if asked > most => Err(FilterError::Limit { asked, most }),
        asked => Ok(asked.unwrap_or(usual)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-03-01T12:00:00+00:00[UTC]".parse().unwrap()
    }

    fn check(criteria: &Criteria, expected: Result<Filter, FilterError>) {
        assert_eq!(criteria.filter(&now()), expected, "{criteria:?}");
    }

    fn live() -> Filter {
        Filter::recallable(now().timestamp())
    }

    #[test]
    fn the_default_is_what_a_recall_may_return() {
        check(&Criteria::default(), Ok(live()));
    }

    #[test]
    fn a_category_is_a_layer() {
        for (category, layer) in [(Category::Knowledge, Layer::Knowledge), (Category::Timeline, Layer::Archive)] {
            let criteria = Criteria { category: Some(category), ..Criteria::default() };
            check(&criteria, Ok(Filter { layers: vec![layer], ..live() }));
            let both = Criteria { layer: Some(layer), ..criteria };
            check(&both, Err(FilterError::LayerAndCategory));
        }
        assert_eq!(
            Category::WORDS.map(|word| word.parse().map(Category::layer)),
            [Ok(Layer::Knowledge), Ok(Layer::Archive)]
        );
        assert_eq!("facts".parse::<Category>(), Err(FilterError::Category("facts".to_owned())));
    }

    #[test]
    fn links_are_tags_or_options_and_one_project_alone() {
        let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let linked =
            Filter { projects: Projects::Only("a".into()), task: Some("b".into()), tags: tags(&["c"]), ..live() };
        check(&Criteria { tags: tags(&["project:a", "task:b", "c"]), ..Criteria::default() }, Ok(linked.clone()));
        let options =
            Criteria { project: Some("a".into()), task: Some("b".into()), tags: tags(&["c"]), ..Criteria::default() };
        check(&options, Ok(linked));
        check(&Criteria { tags: tags(&["project:d"]), ..options }, Err(FilterError::SeveralProjects));
        let twice = Criteria { tags: tags(&["project:a", "project:d"]), ..Criteria::default() };
        check(&twice, Err(FilterError::SeveralProjects));
    }

    #[test]
    fn what_is_active_has_not_expired() {
        let with = |status: &str| Criteria { status: status.parse().unwrap(), ..Criteria::default() };
        check(&with("active"), Ok(live()));
        check(&with("inactive"), Ok(Filter { status: Some(Status::Inactive), ..Filter::default() }));
        for any in ["any", "all"] {
            check(&with(any), Ok(Filter::default()));
        }
        assert_eq!("lost".parse::<StatusFilter>(), Err(FilterError::Status("lost".to_owned())));
    }

    #[test]
    fn times_and_addresses_are_read() {
        let criteria = Criteria {
            since: Some("yesterday".into()),
            until: Some("2026-03-01".into()),
            namespace: Some("global".into()),
            source: Some(Source::Agent),
            kinds: vec![Kind::Turn],
            ..Criteria::default()
        };
        let filter = Filter {
            since: Some("2026-02-28T00:00:00Z".parse().unwrap()),
            until: Some("2026-03-01T00:00:00Z".parse().unwrap()),
            scope: Scope::Only(Namespace::Global),
            source: Some(Source::Agent),
            kinds: vec![Kind::Turn],
            ..live()
        };
        check(&criteria, Ok(filter));
        let error = |criteria: Criteria| criteria.filter(&now()).unwrap_err();
        let whenever = error(Criteria { since: Some("whenever".into()), ..Criteria::default() });
        assert_eq!(whenever.to_string(), "`whenever` is not a date");
        let nowhere = error(Criteria { namespace: Some("nowhere".into()), ..Criteria::default() });
        assert!(matches!(nowhere, FilterError::Namespace(_)));
        let passages = vec![Kind::Chunk];
        check(&Criteria { kinds: passages.clone(), ..Criteria::default() }, Ok(Filter { kinds: passages, ..live() }));
    }

    #[test]
    fn a_limit_has_a_usual_value_and_a_bound() {
        assert_eq!([limit(None, 10, 50), limit(Some(0), 10, 50), limit(Some(50), 10, 50)], [Ok(10), Ok(0), Ok(50)]);
        let error = limit(Some(51), 10, 50).unwrap_err();
        assert_eq!(error.to_string(), "`limit` 51 is more than 50");
    }
}
