// Small drawings.
//
//   activityChart(days)          stacked bars, one per day
//   scoreBar(why, score, best)   the factors of a score, as parts of one bar
import { h, svg } from "../dom.js";
import { count, plural } from "../format.js";

/** @type {[key: "remembered" | "turns" | "recalls" | "changes", name: string, style: string][]} */
const SERIES = [
  ["remembered", "Remembered", "a"],
  ["turns", "Said", "b"],
  ["recalls", "Recalled", "c"],
  ["changes", "Changed", "d"],
];
const dayName = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", timeZone: "UTC" });
const monthName = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });

const WIDTH = 900;
const HEIGHT = 150;
const FLOOR = 128;

/** @param {Api.DayActivity} day */
const total = (day) => SERIES.reduce((sum, [key]) => sum + day[key], 0);

/** @param {Api.DayActivity[]} days */
export function activityChart(days) {
  const step = WIDTH / Math.max(1, days.length);
  // Heights grow with the square root, so that one busy day does not flatten all others.
  const most = Math.sqrt(Math.max(1, ...days.map(total)));
  const active = days.filter(total).length;
  const readout = h("p.chart-readout", { "aria-live": "off" });
  const rest = () => {
    readout.textContent = active ? `${plural(active, "active day")} of ${days.length}` : "Nothing yet in these days";
  };
  const bars = days.map((day, index) =>
    svg(
      "g",
      { class: "chart-day", onpointerenter: () => (readout.textContent = sentence(day)), onpointerleave: rest },
      dayBars(day, index * step, step, most),
    ),
  );
  rest();
  return h(
    "figure.chart",
    svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `Activity over ${days.length} days: active on ${active} of them`,
        preserveAspectRatio: "none",
      },
      svg("line", { class: "chart-floor", x1: 0, x2: WIDTH, y1: FLOOR + 0.5, y2: FLOOR + 0.5 }),
      bars,
      monthLabels(days, step),
    ),
    h("figcaption", readout, legend()),
  );
}

/** @param {Api.DayActivity} day */
function sentence(day) {
  const parts = SERIES.filter(([key]) => day[key]).map(([key, name]) => `${count(day[key])} ${name.toLowerCase()}`);
  return `${dayName.format(new Date(`${day.day}T00:00:00Z`))}: ${parts.join(", ") || "a quiet day"}`;
}

/**
 * @param {Api.DayActivity} day
 * @param {number} left
 * @param {number} step the width of a day
 * @param {number} most the square root of the busiest day's total
 */
function dayBars(day, left, step, most) {
  const sum = total(day);
  const hit = svg("rect", { class: "chart-hit", x: left, y: 0, width: step, height: FLOOR });
  if (!sum) {
    const none = { class: "chart-none", x: left + step * 0.3, y: FLOOR - 1.5, width: step * 0.4, height: 1.5 };
    return [hit, svg("rect", none)];
  }
  const tall = Math.max(3, (Math.sqrt(sum) / most) * (FLOOR - 14));
  let top = FLOOR;
  const parts = SERIES.filter(([key]) => day[key]).map(([key, , style]) => {
    const height = (tall * day[key]) / sum;
    top -= height;
    return svg("rect", {
      class: `series-${style}`,
      x: left + step * 0.14,
      y: top,
      width: step * 0.72,
      height,
      rx: Math.min(1.5, height / 2),
    });
  });
  return [hit, ...parts];
}

/**
 * @param {Api.DayActivity[]} days
 * @param {number} step
 */
function monthLabels(days, step) {
  return days.flatMap((day, index) => {
    const date = new Date(`${day.day}T00:00:00Z`);
    if (date.getUTCDate() !== 1 || index > days.length - 4) return [];
    return [svg("text", { class: "chart-label", x: index * step, y: HEIGHT - 6 }, monthName.format(date))];
  });
}

function legend() {
  return h(
    "span.legend",
    SERIES.map(([, name, style]) => h("span", h("i", { class: `series-${style}` }), name)),
  );
}

/** @typedef {"recency" | "trust" | "significance" | "correction"} Factor */

/** @type {[key: Factor, name: string, about: string][]} */
export const FACTORS = [
  ["recency", "recency", "Newer is a little better"],
  ["trust", "source", "Your word before an assistant’s"],
  ["significance", "weight", "What matters before what does not"],
  ["correction", "correction", "What was corrected before what was not"],
];
const WORDS_ABOUT = "How well the words fit";

/**
 * The score is a product: each factor's part of the bar is the part of the score that it adds or takes.
 * @param {Api.Why} why
 * @param {number} score
 * @param {number} best the score that fills the bar
 */
export function scoreBar(why, score, best) {
  const factors = FACTORS.map(([key, name]) => ({ key, name, value: why[key] ?? 1 }));
  const lifts = factors.map(({ value }) => Math.max(0, Math.log(Math.max(value, 1e-9))));
  const lifted = lifts.reduce((sum, each) => sum + each, 0);
  const product = factors.reduce((all, { value }) => all * value, 1);
  const gained = Math.max(0, 1 - 1 / Math.max(1, product));
  const share = Math.max(0.04, Math.min(1, best ? score / best : 1));
  const parts = [
    { key: "bm25", part: (1 - gained) * 100 },
    ...factors.map(({ key }, at) => ({ key, part: lifted ? (lifts[at] / lifted) * gained * 100 : 0 })),
  ];
  const said = [
    `words ${why.bm25.toFixed(2)}`,
    ...factors.map(({ name, value }) => `${name} × ${value.toFixed(2)}`),
  ].join(", ");
  return h(
    "div.score-bar",
    {
      title: said,
      style: { "--share": `${share * 100}%` },
      role: "img",
      "aria-label": `Score ${score.toFixed(2)}: ${said}`,
    },
    h(
      "div.score-fill",
      parts
        .filter(({ part }) => part > 0.5)
        .map(({ key, part }) => h("i", { class: `factor-${key}`, style: { "--part": `${part}%` } })),
    ),
  );
}

/**
 * The bar with its factors as a table.
 * @param {Api.Why} why
 * @param {number} score
 * @param {number} best
 */
export function scoreDetails(why, score, best) {
  /** @type {(key: string, name: string, about: string, value: string) => Dom.Child} */
  const row = (key, name, about, value) => [
    h("dt", { title: about }, h("i", { class: `factor-${key}` }), name),
    h("dd", value),
  ];
  return h(
    "div.score",
    scoreBar(why, score, best),
    h(
      "dl.score-factors",
      row("bm25", why.found_by, WORDS_ABOUT, why.bm25.toFixed(2)),
      FACTORS.map(([key, name, about]) => row(key, name, about, `× ${(why[key] ?? 1).toFixed(2)}`)),
      h("dt.sum", "score"),
      h("dd.sum", score.toFixed(2)),
    ),
  );
}
