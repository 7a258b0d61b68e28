//! A chart of lines over two logarithmic axes, as SVG.

use std::fmt::Write as _;

/// The picture, and the part of it that is plotted in.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 630.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = 420.0;

/// Names at the ends of lines are at least so far apart.
const LABEL: f64 = 20.0;

/// Colours that most people can tell apart (Okabe and Ito).
const COLOURS: [&str; 6] = ["#d55e00", "#e69f00", "#009e73", "#0072b2", "#cc79a7", "#555555"];

/// Lines over sizes.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) about: String,
    pub(super) lines: Vec<Line>,
}

/// One line: sizes with two times each.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) at: Vec<(f64, f64, f64)>,
    pub(super) stroke: Stroke,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stroke {
    Plain,
    Dashed,
}

/// Powers of ten that an axis goes over, and where it is in the picture.
struct Axis {
    from: i32,
    to: i32,
    start: f64,
    end: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (mut least, mut most) = (f64::MAX, f64::MIN_POSITIVE);
        values.filter(|value| *value > 0.0).for_each(|value| (least, most) = (least.min(value), most.max(value)));
        let from = least.min(most).log10().floor() as i32;
        Self { from, to: (most.log10().ceil() as i32).max(from + 1), start, end }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.max(1e-9).log10() - f64::from(self.from)) / f64::from(self.to - self.from);
        self.start + share * (self.end - self.start)
    }

    fn tens(&self) -> impl Iterator<Item = f64> + '_ {
        (self.from..=self.to).map(|power| 10_f64.powi(power))
    }
}

impl Chart {
    pub(super) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.at);
        let x = Axis::of(points().map(|point| point.0), LEFT, RIGHT);
        let y = Axis::of(points().flat_map(|point| [point.1, point.2]), BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"13\">\n\
             <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"30\" font-size=\"18\" font-weight=\"600\" fill=\"#111111\">{title}</text>\n\
             <text x=\"{LEFT}\" y=\"52\" fill=\"#555555\">{about}</text>\n",
            title = escaped(&self.title),
            about = escaped(&self.about),
        );
        grid(&mut svg, &x, &y);
        let names = self.names(&y);
        for (nth, line) in self.lines.iter().enumerate() {
            line.draw(&mut svg, (&x, &y), COLOURS[nth % COLOURS.len()], names[nth]);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Where the name of each line goes: beside its end, and below the one above it.
    fn names(&self, y: &Axis) -> Vec<f64> {
        let end = |line: &Line| line.at.last().map_or(BOTTOM, |point| y.place(point.1));
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        order.sort_by(|one, other| end(&self.lines[*one]).total_cmp(&end(&self.lines[*other])));
        let (mut places, mut above) = (vec![0.0; self.lines.len()], f64::MIN);
        for nth in order {
            above = end(&self.lines[nth]).max(above + LABEL);
            places[nth] = above;
        }
        places
    }
}

impl Line {
    fn draw(&self, svg: &mut String, (x, y): (&Axis, &Axis), colour: &str, name_at: f64) {
        let path: Vec<String> =
            self.at.iter().map(|(size, p50, _)| format!("{:.1},{:.1}", x.place(*size), y.place(*p50))).collect();
        let dashes = if self.stroke == Stroke::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"{dashes}/>",
            path.join(" ")
        );
        for (size, p50, p99) in &self.at {
            let at = x.place(*size);
            let (middle, high) = (y.place(*p50), y.place(*p99));
            let _ = writeln!(
                svg,
                "<line x1=\"{at:.1}\" y1=\"{middle:.1}\" x2=\"{at:.1}\" y2=\"{high:.1}\" stroke=\"{colour}\" stroke-opacity=\"0.35\"/>\
                 <circle cx=\"{at:.1}\" cy=\"{middle:.1}\" r=\"3.5\" fill=\"{colour}\"/>\
                 <circle cx=\"{at:.1}\" cy=\"{high:.1}\" r=\"3\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
            );
        }
        let Some((size, p50, _)) = self.at.last() else { return };
        let (end, middle) = (x.place(*size), y.place(*p50));
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{middle:.1}\" x2=\"{:.1}\" y2=\"{name_at:.1}\" stroke=\"{colour}\" stroke-opacity=\"0.5\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\" font-weight=\"600\">{} {}</text>",
            end + 6.0,
            RIGHT + 18.0,
            RIGHT + 22.0,
            name_at + 4.5,
            escaped(&self.name),
            milliseconds(*p50)
        );
    }
}

fn grid(svg: &mut String, x: &Axis, y: &Axis) {
    for ten in y.tens() {
        let at = y.place(ten);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"#e0e0e0\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555555\">{}</text>",
            LEFT - 8.0,
            at + 4.5,
            milliseconds(ten)
        );
    }
    for ten in x.tens() {
        let at = x.place(ten);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{BOTTOM}\" stroke=\"#e0e0e0\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\">{}</text>",
            BOTTOM + 20.0,
            thousands(ten)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\">memories</text>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 42.0
    );
}

fn milliseconds(value: f64) -> String {
    match value {
        value if value >= 9_950.0 => format!("{:.0} s", value / 1000.0),
        value if value >= 1_000.0 => format!("{:.1} s", value / 1000.0).replace(".0 ", " "),
        value if value >= 9.95 => format!("{value:.0} ms"),
        value if value >= 1.0 => format!("{value:.1} ms").replace(".0 ", " "),
        value if value >= 0.1 => format!("{value:.2} ms").replace("0 ms", " ms"),
        value => format!("{value:.2} ms"),
    }
}

fn thousands(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.0} million", value / 1e6),
        value if value >= 1e3 => format!("{:.0},000", value / 1e3),
        value => format!("{value:.0}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
