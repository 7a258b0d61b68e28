//! The month as it is written down in `month.toml`: scenes, each at its time, each a list of steps.

use jiff::civil::Time;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};
use serde::Deserialize;
use throughline_core::engine::Verdict;
use throughline_core::model::{MemorySection, Significance};

use super::DemoError;

/// The month, in the order in which it happened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Month {
    pub(super) scene: Vec<Scene>,
}

/// Something that happened at one time: a conversation, or what the person did by themselves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scene {
    when: When,
    /// The conversation, where it is one.
    pub(super) session: Option<String>,
    pub(super) project: Option<String>,
    pub(super) task: Option<String>,
    /// Whether the conversation is left as it is, to go on another time.
    #[serde(default)]
    pub(super) open: bool,
    pub(super) steps: Vec<Step>,
}

impl Scene {
    /// Its time, seen from the day on which the story is told.
    pub(super) fn begins(&self, today: &Zoned) -> Result<Timestamp, jiff::Error> {
        match self.when {
            When::Past { days, at } => {
                let day = today.date().checked_sub(i64::from(days).days())?;
                Ok(day.to_datetime(at).to_zoned(today.time_zone().clone())?.timestamp())
            }
            When::Lately { minutes } => today.timestamp().checked_sub(SignedDuration::from_mins(minutes.into())),
        }
    }
}

/// When a scene begins. What happened today counts back from now: no hour of the day is past at every hour.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum When {
    Past { days: u16, at: Time },
    Lately { minutes: u16 },
}

/// One thing that somebody says or does.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Step {
    /// The person says it.
    Me(String),
    /// The assistant says it.
    It(String),
    /// The assistant calls a tool.
    Call { tool: String, with: serde_json::Value },
    /// The person looks through everything that was learnt until then, and says this of each.
    Review(Verdict),
    /// The person asks the memory itself.
    Ask(String),
    /// The person stores a memory.
    Remember {
        text: String,
        #[serde(default)]
        tags: Vec<String>,
    },
    /// The person puts what is right in the place of the memory that says `wrong`, word for word.
    Correct { wrong: String, right: String },
    /// The person begins a project, with a directory of its own.
    Project(String),
    /// The person records facts in a project's memory file.
    Record {
        project: String,
        #[serde(default)]
        section: MemorySection,
        significance: Significance,
        facts: Vec<String>,
    },
    /// The person moves a fact of a project to what is done.
    Complete { project: String, fact: String },
    /// The person opens a task.
    Task {
        title: String,
        #[serde(default)]
        state: String,
        project: Option<String>,
    },
    /// The person writes down where a task stands.
    Progress { task: String, state: String },
    /// The person finishes a task.
    Done { task: String, conclusion: String },
    /// The person writes the profile or how they work.
    Write { document: Page, text: String },
    /// Memory is looked back on: the person's own, or a project's.
    Reflect { project: Option<String> },
}

/// A document of the person's own.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Page {
    Profile,
    Patterns,
}

/// How far ahead the story looks, in days.
const AHEAD: i64 = 31;

/// The month that comes with the program, with the dates that it has today.
pub(super) fn month(today: &Zoned) -> Result<Month, DemoError> {
    let mut text = include_str!("month.toml").to_owned();
    for days in 0..=AHEAD {
        let day = today.date().checked_add(days.days()).map_err(DemoError::story)?;
        text = text.replace(&format!("{{day+{days}}}"), &day.strftime("%-d %B").to_string());
        text = text.replace(&format!("{{日+{days}}}"), &day.strftime("%-m月%-d日").to_string());
    }
    toml::from_str(&text).map_err(DemoError::story)
}
