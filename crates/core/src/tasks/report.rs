//! Reports: what was done in a range of time, day by day or week by week, from the archive.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use serde::Serialize;

use crate::consolidation::SESSION_TAG;
use crate::error::{Done, EngineError};
use crate::model::{Entry, Layer, Memory};
use crate::ports::Page;
use crate::recall::Filter;
use crate::tasks::{TASK_TAG, TaskService};

/// How a report is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportBy {
    /// A part for each day.
    #[default]
    Day,
    /// A part for each week, which begins on Monday.
    Week,
}

/// One day or week of a report.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Period {
    /// Its first day.
    pub from: Date,
    /// Tasks that were done.
    pub tasks: Vec<Memory>,
    /// Conversations that were summed up.
    pub sessions: Vec<Memory>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Report {
    /// The first moment.
    pub since: Timestamp,
    /// The first moment after.
    pub until: Timestamp,
    /// How it is divided.
    pub by: ReportBy,
    /// Those days or weeks in which something was done, the earliest first.
    pub periods: Vec<Period>,
    /// All of it, for reading.
    pub markdown: String,
}

impl TaskService<'_> {
    /// What was done since Monday and until now, unless other moments are given.
    pub fn report_since(&self, since: Option<Timestamp>, until: Option<Timestamp>, by: ReportBy) -> Done<Report> {
        let now = self.kernel.local_now();
        // The present moment belongs to a report that is asked for now.
        let until = until.unwrap_or_else(|| now.timestamp() + jiff::SignedDuration::from_millis(1));
        let since = since.unwrap_or_else(|| week_start(&now).timestamp());
        self.report(since, until, by, now.time_zone())
    }

    /// What was done between two moments, as the archive has it.
    pub fn report(&self, since: Timestamp, until: Timestamp, by: ReportBy, zone: &TimeZone) -> Done<Report> {
        if since >= until {
            return Err(EngineError::EmptyRange { since, until });
        }
        let mut periods: BTreeMap<Date, Period> = BTreeMap::new();
        let first_day = |at: Timestamp| {
            let day = at.to_zoned(zone.clone()).date();
            if by == ReportBy::Week { monday(day) } else { day }
        };
        for (at, memory) in self.tasks_done(since, until)? {
            period(&mut periods, first_day(at)).tasks.push(memory);
        }
        for memory in self.archived(SESSION_TAG, Some((since, until)))? {
            period(&mut periods, first_day(memory.entry.created_at)).sessions.push(memory);
        }
        let periods: Vec<Period> = periods.into_values().collect();
        let range = (since.to_zoned(zone.clone()).date(), last_day(until, zone));
        let markdown = markdown(range, by, &periods);
        Ok(Report { since, until, by, periods, markdown })
    }

    /// What the archive keeps of tasks, with the day each was last done, the earliest first.
    fn tasks_done(&self, since: Timestamp, until: Timestamp) -> Done<Vec<(Timestamp, Memory)>> {
        let done: BTreeMap<String, Timestamp> = self
            .task_store
            .done_tasks(usize::MAX)?
            .into_iter()
            .filter_map(|task| Some((task.id.to_string(), task.done_at?)))
            .collect();
        let dated = |memory: Memory| {
            let task = memory.entry.task.as_ref().and_then(|task| done.get(task));
            (task.copied().unwrap_or(memory.entry.created_at), memory)
        };
        let mut tasks: Vec<_> = self.archived(TASK_TAG, None)?.into_iter().map(dated).collect();
        tasks.retain(|(at, _)| (since..until).contains(at));
        tasks.sort_by_key(|(at, _)| *at);
        Ok(tasks)
    }

    /// What the archive keeps under a label, the earliest first.
    fn archived(&self, tag: &str, range: Option<(Timestamp, Timestamp)>) -> Done<Vec<Memory>> {
        let filter = Filter {
            layers: vec![Layer::Archive],
            tags: vec![tag.to_owned()],
            since: range.map(|(since, _)| since),
            until: range.map(|(_, until)| until),
            ..Filter::recallable(self.kernel.now)
        };
        let mut memories = self.entries.list(&filter, &Page { limit: usize::MAX, cursor: None })?.memories;
        memories.sort_by(|a, b| (a.entry.created_at, &a.entry.id).cmp(&(b.entry.created_at, &b.entry.id)));
        Ok(memories)
    }
}

fn period(periods: &mut BTreeMap<Date, Period>, from: Date) -> &mut Period {
    periods.entry(from).or_insert_with(|| Period { from, tasks: Vec::new(), sessions: Vec::new() })
}

fn monday(day: Date) -> Date {
    let back = day.weekday().to_monday_zero_offset();

    day.checked_sub(jiff::Span::new().days(back)).unwrap_or(day)
}

/// The day in which the last moment before `until` falls.
fn last_day(until: Timestamp, zone: &TimeZone) -> Date {
    let last = until.checked_sub(jiff::SignedDuration::from_millis(1)).unwrap_or(until);
    last.to_zoned(zone.clone()).date()
}

fn markdown((first, last): (Date, Date), by: ReportBy, periods: &[Period]) -> String {
    let date = |date: Date| date.strftime("%-d %B %Y").to_string();
    let title = if first == last { date(first) } else { format!("{} to {}", date(first), date(last)) };
    let mut text = format!("# What was done, {title}\n");
    if periods.is_empty() {
        text.push_str("\nNothing in the archive.\n");
    }
    for period in periods {
        let heading = match by {
            ReportBy::Day => period.from.strftime("%A, %-d %B %Y").to_string(),
            ReportBy::Week => format!("Week of {}", date(period.from)),
        };
        let _ = write!(text, "\n## {heading}\n");
        for (title, memories) in [("Tasks done", &period.tasks), ("Conversations", &period.sessions)] {
            if !memories.is_empty() {
                let _ = write!(text, "\n### {title}\n\n");
                memories.iter().for_each(|memory| text.push_str(&item(&memory.entry)));
            }
        }
    }
    text
}

/// One thing of a report: its first line as the bullet, the rest below it.
fn item(entry: &Entry) -> String {
    let text = entry.content.split_once("] ").map_or(entry.content.as_str(), |(_, text)| text);
    let text = text.strip_prefix("Task done: ").unwrap_or(text);
    let name = entry.session.as_ref().filter(|_| entry.tags.iter().any(|tag| tag == SESSION_TAG));
    let (head, rest) = match name {
        Some(session) => (session.to_string(), text),
        None => text.split_once('\n').map_or((text.to_owned(), ""), |(head, rest)| (head.to_owned(), rest)),
    };
    let project = entry.project.as_ref().map(|project| format!(" ({project})")).unwrap_or_default();
    let mut out = format!("- **{}**{project}\n", head.trim());
    for line in rest.trim().lines().map(str::trim_end) {
        // Headings of what was summed up are no headings of the report.
        let line =
            if line.starts_with('#') { format!("*{}*", line.trim_start_matches('#').trim()) } else { line.to_owned() };
        out.push_str(if line.is_empty() { "" } else { "  " });
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// The beginning of the week.
fn week_start(now: &Zoned) -> Zoned {
    let back = i64::from(now.weekday().to_monday_zero_offset());
    let start = now.start_of_day().unwrap_or_else(|_| now.clone());
    start.checked_sub(back.days()).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_begins_on_monday() {
        let date = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(monday(date("2026-11-16")), date("2026-11-16"));
        assert_eq!(monday(date("2026-11-22")), date("2026-11-16"));
    }
}
