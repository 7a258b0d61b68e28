// The row of filters above the memories. Its state is kept in the address: kind, layer, source, status, tag, project,
// since, until.
import { h } from "../dom.js";
import { segmented, select } from "../components/parts.js";

/** @import { Option } from "../components/parts.js" */

/** @typedef {"kind" | "layer" | "source" | "status" | "tag" | "project" | "since" | "until"} FilterName */
/** @typedef {Record<FilterName, string>} Filters */

/** @type {FilterName[]} */
const NAMES = ["kind", "layer", "source", "status", "tag", "project", "since", "until"];
/** @type {Option[]} */
const TIMES = [
  ["", "Any time"],
  ["today", "Today"],
  ["7 days ago", "Last 7 days"],
  ["30 days ago", "Last 30 days"],
  ["365 days ago", "Last year"],
  ["custom", "Between…"],
];
/** @type {Option[]} */
const KINDS = [
  ["", "Everything"],
  ["memories", "Memories"],
  ["conversations", "Conversations"],
];
/** @type {Option[]} */
const LAYERS = [
  ["", "All"],
  ["identity", "Identity"],
  ["knowledge", "Knowledge"],
  ["archive", "Archive"],
];
/** @type {Option[]} */
const SOURCES = [
  ["", "Any source"],
  ["user", "From you"],
  ["agent", "From assistants"],
  ["system", "From Throughline"],
];
/** @type {Option[]} */
const STATUSES = [
  ["", "Active"],
  ["inactive", "Inactive"],
  ["any", "Active or not"],
];

/**
 * @param {URLSearchParams} query
 * @returns {Filters}
 */
export function filtersOf(query) {
  return /** @type {Filters} */ (Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""])));
}

/** For `setQuery`: removes all of them. */
export const NO_FILTERS = filtersOf(new URLSearchParams());

/**
 * How many filters are set.
 * @param {URLSearchParams} query
 */
export function setFilters(query) {
  return NAMES.filter((name) => query.get(name)).length;
}

/**
 * @typedef {object} FilterOptions
 * @property {URLSearchParams} query
 * @property {(changes: Partial<Filters>) => void} onchange
 * @property {{ tags: () => string[], projects: () => string[] }} known to choose from
 * @property {{ isOpen: boolean }} between whether dates are being picked, kept while the bar is drawn again
 */

/** @param {FilterOptions} options */
export function filterBar({ query, onchange, known, between }) {
  const state = filtersOf(query);
  /** @type {(name: FilterName, label: string, options: Option[]) => HTMLElement} */
  const pick = (name, label, options) =>
    select({ label, options, value: state[name], onchange: (value) => onchange({ [name]: value }) });
  const layers = { label: "Layer", value: state.layer, options: LAYERS };
  return h(
    "div.filters",
    { role: "group", "aria-label": "Filters" },
    segmented({ ...layers, onchange: (layer) => onchange({ layer }) }).node,
    pick("kind", "Kind", KINDS),
    pick("source", "Source", SOURCES),
    pick("status", "Status", STATUSES),
    pick("tag", "Any tag", withChosen("Any tag", state.tag, known.tags())),
    pick("project", "Any project", withChosen("Any project", state.project, known.projects())),
    timePicker(state, onchange, between),
  );
}

/**
 * @param {string} label
 * @param {string} chosen offered even if nothing else is known by that name
 * @param {string[]} all
 * @returns {Option[]}
 */
function withChosen(label, chosen, all) {
  const names = chosen && !all.includes(chosen) ? [...all, chosen] : all;
  return [["", label], ...names.map((name) => /** @type {Option} */ ([name, name]))];
}

/**
 * @param {Filters} state
 * @param {(changes: Partial<Filters>) => void} onchange
 * @param {{ isOpen: boolean }} between
 */
function timePicker(state, onchange, between) {
  const isNamed = TIMES.some(([key]) => key === state.since);
  const isCustom = between.isOpen || Boolean(state.until) || !isNamed;
  /** @type {(name: "since" | "until", label: string) => HTMLElement} */
  const day = (name, label) =>
    h("input", {
      type: "date",
      "aria-label": label,
      value: state[name].slice(0, 10),
      onchange: (event) => onchange({ [name]: event.currentTarget.value }),
    });
  const dates = h("span.row.between", { hidden: !isCustom }, day("since", "From"), "–", day("until", "Until"));
  const times = select({
    label: "Time",
    options: TIMES,
    value: isCustom ? "custom" : state.since,
    onchange: (value) => {
      between.isOpen = value === "custom";
      dates.hidden = !between.isOpen;
      if (!between.isOpen) onchange({ since: value, until: "" });
    },
  });
  return [times, dates];
}
