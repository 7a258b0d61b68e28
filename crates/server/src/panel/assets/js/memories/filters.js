// The row of filters above the memories. Its state lives in the address: layer, source, status, tag, project, since, until.
import { h } from "../dom.js";
import { segmented, select } from "../components/parts.js";

const NAMES = ["layer", "source", "status", "tag", "project", "since", "until"];
const TIMES = [
  ["", "Any time"],
  ["today", "Today"],
  ["7 days ago", "Last 7 days"],
  ["30 days ago", "Last 30 days"],
  ["365 days ago", "Last year"],
  ["custom", "Between…"],
];

export function filtersOf(query) {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""]));
}

/// What `setQuery` needs to take all of them away.
export const NO_FILTERS = Object.fromEntries(NAMES.map((name) => [name, ""]));

/// How many filters are set.
export function setFilters(query) {
  return NAMES.filter((name) => query.get(name)).length;
}

/// `onchange({ name: value })` for every change; `known` are the tags and projects to suggest; `between` remembers that dates
/// are being picked while the bar is drawn anew: `{ isOpen: false }`.
export function filterBar({ query, onchange, known, between: picking }) {
  const state = filtersOf(query);
  const isCustom =
    picking.isOpen || Boolean(state.until) || (state.since && !TIMES.some(([key]) => key === state.since));
  const day = (name, label) =>
    h("input", {
      type: "date",
      "aria-label": label,
      value: state[name].slice(0, 10),
      onchange: (event) => onchange({ [name]: event.target.value }),
    });
  const between = h("span.row.between", { hidden: !isCustom }, day("since", "From"), "–", day("until", "Until"));
  const pick = (name, label, options) =>
    select({ label, options, value: state[name], onchange: (value) => onchange({ [name]: value }) });
  const named = (label, name, all) => {
    const options = [["", label], ...all.map((each) => [each, each])];
    if (state[name] && !all.includes(state[name])) options.push([state[name], state[name]]);
    return pick(name, label, options);
  };
  return h(
    "div.filters",
    { role: "group", "aria-label": "Filters" },
    segmented({
      label: "Layer",
      value: state.layer,
      onchange: (value) => onchange({ layer: value }),
      options: [
        ["", "All"],
        ["identity", "Identity"],
        ["knowledge", "Knowledge"],
        ["archive", "Archive"],
      ],
    }),
    pick("source", "Source", [
      ["", "Any source"],
      ["user", "From you"],
      ["agent", "From assistants"],
      ["system", "From Throughline"],
    ]),
    pick("status", "Status", [
      ["", "Active"],
      ["inactive", "Inactive"],
      ["any", "Active or not"],
    ]),
    named("Any tag", "tag", known.tags()),
    named("Any project", "project", known.projects()),
    select({
      label: "Time",
      options: TIMES,
      value: isCustom ? "custom" : state.since,
      onchange: (value) => {
        picking.isOpen = value === "custom";
        between.hidden = !picking.isOpen;
        if (!picking.isOpen) onchange({ since: value, until: "" });
      },
    }),
    between,
  );
}
