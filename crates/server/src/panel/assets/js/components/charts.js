// Small drawings.
//
//   activityChart(days)      stacked bars, one per day: [{ day: "2026-11-16", remembered, turns, recalls, changes }]
//   scoreBar(why)            how a score came about, as parts of one bar with their names
import { h, svg } from "../dom.js";
import { count, plural } from "../format.js";

const SERIES = [
  ["remembered", "Remembered", "a"],
  ["turns", "Said", "b"],
  ["recalls", "Recalled", "c"],
  ["changes", "Changed", "d"],
];
const dayName = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", timeZone: "UTC" });
const monthName = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });

export function activityChart(days) {
  const width = 900;
  const height = 150;
  const floor = 128;
  const step = width / Math.max(1, days.length);
  const total = (day) => SERIES.reduce((sum, [key]) => sum + (day[key] ?? 0), 0);
  // One busy day must not flatten all others, so heights grow with the square root.
  const most = Math.sqrt(Math.max(1, ...days.map(total)));
  const readout = h("p.chart-readout", { "aria-live": "off" });
  const rest = () => {
    const sum = days.reduce((all, day) => all + total(day), 0);
    readout.textContent = sum
      ? `${plural(days.filter(total).length, "active day")} of ${days.length}`
      : "Nothing yet in these days";
  };
  const tell = (day) => {
    const parts = SERIES.filter(([key]) => day[key]).map(([key, name]) => `${count(day[key])} ${name.toLowerCase()}`);
    readout.textContent = `${dayName.format(new Date(`${day.day}T00:00:00Z`))}: ${parts.join(", ") || "a quiet day"}`;
  };
  const bars = days.map((day, index) => {
    const sum = total(day);
    const tall = sum ? Math.max(3, (Math.sqrt(sum) / most) * (floor - 14)) : 0;
    let top = floor;
    const parts = SERIES.map(([key, , name]) => {
      const share = sum ? (tall * (day[key] ?? 0)) / sum : 0;
      if (!share) return null;
      top -= share;
      return svg("rect", {
        class: `series-${name}`,
        x: index * step + step * 0.14,
        y: top,
        width: step * 0.72,
        height: share,
        rx: Math.min(1.5, share / 2),
      });
    });
    return svg(
      "g",
      { class: "chart-day", onpointerenter: () => tell(day), onpointerleave: rest },
      svg("rect", { class: "chart-hit", x: index * step, y: 0, width: step, height: floor }),
      sum
        ? null
        : svg("rect", {
            class: "chart-none",
            x: index * step + step * 0.3,
            y: floor - 1.5,
            width: step * 0.4,
            height: 1.5,
          }),
      parts,
    );
  });
  const months = days.flatMap((day, index) => {
    const date = new Date(`${day.day}T00:00:00Z`);
    if (date.getUTCDate() !== 1 || index > days.length - 4) return [];
    return [svg("text", { class: "chart-label", x: index * step, y: height - 6 }, monthName.format(date))];
  });
  const active = days.filter(total).length;
  rest();
  return h(
    "figure.chart",
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `Activity over ${days.length} days: active on ${active} of them`,
        preserveAspectRatio: "none",
      },
      svg("line", { class: "chart-floor", x1: 0, x2: width, y1: floor + 0.5, y2: floor + 0.5 }),
      bars,
      months,
    ),
    h(
      "figcaption",
      readout,
      h(
        "span.legend",
        SERIES.map(([, name, key]) => h("span", h("i", { class: `series-${key}` }), name)),
      ),
    ),
  );
}

const FACTORS = [
  ["bm25", "words", "How well the words fit"],
  ["recency", "recency", "Newer is a little better"],
  ["trust", "source", "Your word before an assistant’s"],
  ["significance", "weight", "What matters before what does not"],
  ["correction", "correction", "What was corrected before what was not"],
];

/// The score is a product: each factor's part of the bar is the part of the score that it adds or takes.
export function scoreBar(why, score, best, { isLarge = false } = {}) {
  const words = why.bm25 || 0;
  const others = FACTORS.slice(1).map(([key, name, about]) => ({ key, name, about, value: why[key] ?? 1 }));
  const lifts = others.map(({ value }) => Math.max(0, Math.log(Math.max(value, 1e-9))));
  const lifted = lifts.reduce((sum, each) => sum + each, 0);
  const product = others.reduce((all, { value }) => all * value, 1);
  const gained = Math.max(0, 1 - 1 / Math.max(1, product));
  const share = Math.max(0.04, Math.min(1, best ? score / best : 1));
  const parts = [
    ["bm25", (1 - gained) * 100],
    ...others.map(({ key }, at) => [key, lifted ? (lifts[at] / lifted) * gained * 100 : 0]),
  ];
  const told = [`words ${words.toFixed(2)}`, ...others.map(({ name, value }) => `${name} × ${value.toFixed(2)}`)].join(
    ", ",
  );
  const bar = h(
    "div.score-bar",
    {
      title: told,
      style: { "--share": `${share * 100}%` },
      role: "img",
      "aria-label": `Score ${score.toFixed(2)}: ${told}`,
    },
    h(
      "div.score-fill",
      parts
        .filter(([, part]) => part > 0.5)
        .map(([key, part]) => h("i", { class: `factor-${key}`, style: { "--part": `${part}%` } })),
    ),
  );
  if (!isLarge) return bar;
  const rows = [
    {
      key: "bm25",
      name: why.found_by === "words" || !why.found_by ? "words" : why.found_by,
      about: FACTORS[0][2],
      value: words,
    },
    ...others,
  ];
  return h(
    "div.score",
    bar,
    h(
      "dl.score-factors",
      rows.map(({ key, name, about, value }) => [
        h("dt", { title: about }, h("i", { class: `factor-${key}` }), name),
        h("dd", key === "bm25" ? value.toFixed(2) : `× ${value.toFixed(2)}`),
      ]),
      [h("dt.sum", "score"), h("dd.sum", score.toFixed(2))],
    ),
  );
}
