// Small drawings.
//
//   activityChart(days)      stacked bars, one per day
import { h, svg } from "../dom.js";
import { count, dayOf, plural } from "../format.js";

/** @type {[key: "remembered" | "turns" | "recalls" | "changes", name: string, style: string][]} */
const SERIES = [
  ["remembered", "Remembered", "a"],
  ["turns", "Said", "b"],
  ["recalls", "Recalled", "c"],
  ["changes", "Changed", "d"],
];
const monthName = new Intl.DateTimeFormat("en-GB", { month: "short", timeZone: "UTC" });

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
  return `${dayOf(`${day.day}T12:00:00`)}: ${parts.join(", ") || "a quiet day"}`;
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
