//! `throughline report`

use clap::Args;
use throughline_core::engine::ReportBy;
use throughline_core::when;

use super::Answer;
use super::failure::Failure;
use super::reply::Reply;
use crate::world::World;

/// What was done, day by day or week by week
#[derive(Args)]
pub(super) struct Report {
    /// From this time on: a date, or words such as "last week"; without it, since Monday
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Up to this time; without it, until now
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// A part for each day
    #[arg(long, conflicts_with = "weekly")]
    daily: bool,
    /// A part for each week
    #[arg(long)]
    weekly: bool,
}

impl Report {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        let time = |text: &str| when::parse(text, &now).map_err(Failure::from);
        let since = self.since.as_deref().map(time).transpose()?;
        let until = self.until.as_deref().map(time).transpose()?;
        let by = if self.weekly && !self.daily { ReportBy::Week } else { ReportBy::Day };
        let report = world.engine.tasks().report_since(since, until, by)?;
        let nothing = report.periods.is_empty();
        let markdown = report.markdown.clone();
        Ok(Reply::new(&report, "").with_data(markdown).or_nothing(nothing))
    }
}
