//! Latency against size, as pictures: `docs/speed-search.svg` and `docs/speed-verbs.svg`, from the figures in `docs/speed.csv`.
//!
//! `scripts/plots` measures and draws; without `--measure`, the figures that are there are drawn again.

mod chart;

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use self::chart::{Chart, Line, Stroke};
use crate::Failure;
use crate::start::program;

#[derive(Args)]
pub(crate) struct Plot {
    /// Measure every verb at these sizes, with as many turns, and keep the figures
    #[arg(long, value_delimiter = ',', value_name = "N")]
    measure: Vec<u64>,
    /// Take in the figures of the bare search that `benches/index --csv` wrote
    #[arg(long, value_name = "FILE")]
    search: Option<PathBuf>,
    /// Where the figures and the pictures are
    #[arg(long, default_value = "docs")]
    dir: PathBuf,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    figure: String,
    series: String,
    size: f64,
    p50: f64,
    p99: f64,
}

const HEAD: &str = "figure,series,size,p50_ms,p99_ms";

/// What is drawn of the bare search, by what its name begins with, and what it is called there.
const ENGINES: [(&str, &str); 4] = [
    ("FTS5 every word", "FTS5, every word"),
    ("FTS5 without stop words", "FTS5, no stop words"),
    ("tantivy", "tantivy"),
    ("ours rows in SQLite 64 MB", "Throughline"),
];

/// What is drawn of the verbs.
const VERBS: [(&str, &str); 5] = [
    ("hook", "hook prompt (process)"),
    ("context", "context"),
    ("recall", "recall"),
    ("remember", "remember (durable)"),
    ("observe", "observe (durable)"),
];

impl Plot {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let file = self.dir.join("speed.csv");
        let mut points = if file.is_file() { read(&std::fs::read_to_string(&file)?)? } else { Vec::new() };
        if let Some(search) = &self.search {
            let found = searched(&std::fs::read_to_string(search)?)?;
            replace(&mut points, "search", found);
        }
        if !self.measure.is_empty() {
            let found = self.measure.iter().map(|size| verbs(*size)).collect::<Result<Vec<_>, _>>()?.concat();
            replace(&mut points, "verbs", found);
        }
        std::fs::write(&file, written(&points))?;
        self.draw("speed-search.svg", &search_chart(&points))?;
        self.draw("speed-verbs.svg", &verbs_chart(&points))?;
        Ok(format!("{} points in {}", points.len(), file.display()))
    }

    fn draw(&self, name: &str, chart: &Chart) -> Result<(), Failure> {
        if chart.lines.is_empty() {
            return Ok(());
        }
        Ok(std::fs::write(self.dir.join(name), chart.svg())?)
    }
}

fn replace(points: &mut Vec<Point>, figure: &str, found: Vec<Point>) {
    points.retain(|point| point.figure != figure);
    points.extend(found);
}

fn read(text: &str) -> Result<Vec<Point>, Failure> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(point).collect()
}

fn point(line: &str) -> Result<Point, Failure> {
    match line.split(',').collect::<Vec<_>>()[..] {
        [figure, series, size, p50, p99] => Ok(Point {
            figure: figure.to_owned(),
            series: series.to_owned(),
            size: size.parse()?,
            p50: p50.parse()?,
            p99: p99.parse()?,
        }),
        _ => Err(format!("`{line}` is not a measurement").into()),
    }
}

/// What `benches/index --csv` wrote.
fn searched(text: &str) -> Result<Vec<Point>, Failure> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| point(&format!("search,{line}"))).collect()
}

fn written(points: &[Point]) -> String {
    let line = |p: &Point| format!("{},{},{},{:.4},{:.4}\n", p.figure, p.series, p.size, p.p50, p.p99);
    format!("{HEAD}\n{}", points.iter().map(line).collect::<String>())
}

/// Measures every verb with `throughline bench speed`.
fn verbs(size: u64) -> Result<Vec<Point>, Failure> {
    let mut command = Command::new(program()?);
    command.args(["bench", "speed", "--json", "--entries", &size.to_string(), "--turns", &size.to_string()]);
    let output = command.output()?;
    let body: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let verbs = body["verbs"].as_object().ok_or("`bench speed` says nothing about verbs")?;
    let number = |value: &serde_json::Value| value.as_f64().ok_or("a time is missing");
    let point = |(verb, times): (&String, &serde_json::Value)| {
        Ok(Point {
            figure: "verbs".to_owned(),
            series: verb.clone(),
            size: size as f64,
            p50: number(&times["p50_ms"])?,
            p99: number(&times["p99_ms"])?,
        })
    };
    verbs.iter().map(point).collect()
}

fn search_chart(points: &[Point]) -> Chart {
    Chart {
        title: "Bare search: the best 20 of N memories".to_owned(),
        about: "CPU milliseconds of one thread, p50 (line) and p99 (dots); both axes logarithmic".to_owned(),
        lines: lines(points, "search", &ENGINES, Stroke::Plain),
    }
}

fn verbs_chart(points: &[Point]) -> Chart {
    Chart {
        title: "Throughline: whole verbs with N memories and N turns".to_owned(),
        about: "Milliseconds, p50 (line) and p99 (dots); both axes logarithmic".to_owned(),
        lines: lines(points, "verbs", &VERBS, Stroke::Plain)
            .into_iter()
            .chain(lines(points, "verbs", &[("version", "--version (process)")], Stroke::Dashed))
            .collect(),
    }
}

fn lines(points: &[Point], figure: &str, wanted: &[(&str, &str)], stroke: Stroke) -> Vec<Line> {
    wanted
        .iter()
        .map(|(begin, name)| {
            let of = points.iter().filter(|point| point.figure == figure && point.series.starts_with(begin));
            let mut at: Vec<(f64, f64, f64)> = of.map(|point| (point.size, point.p50, point.p99)).collect();
            at.sort_by(|one, other| one.0.total_cmp(&other.0));
            Line { name: (*name).to_owned(), at, stroke }
        })
        .filter(|line| !line.at.is_empty())
        .collect()
}
