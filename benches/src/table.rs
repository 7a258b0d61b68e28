//! Times, and the Markdown that they end up in.

use std::time::{Duration, Instant};

/// The times of one contender.
#[derive(Debug, Default, Clone)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// Runs `work` and notes how long it took.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = work();
        self.push(start.elapsed());
        value
    }

    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1000.0);
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time in milliseconds that a share of the runs stayed below.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }
}

/// Milliseconds with three significant figures or so.
pub(crate) fn ms(value: f64) -> String {
    if value < 1.0 { format!("{value:.3}") } else { format!("{value:.2}") }
}

pub(crate) fn ratio(ours: f64, theirs: f64) -> String {
    format!("{:.2}×", ours / theirs)
}

/// A Markdown table.
pub(crate) fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    line(&head) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}
