// icon("search") gives a line drawing in the colour of the text around it, hidden from screen readers:
// the element that holds it needs a label of its own.
import { svg } from "./dom.js";

const PATHS = {
  home: "M3.5 9.5 10 4l6.5 5.5M5.5 8.5V16h9V8.5",
  memories: "M5 3v14M5 6h.01M9 6h7.5M9 10h7.5M9 14h5",
  review: "M3.5 5.5h9M3.5 10h6M3.5 14.5h4M11 13l2.2 2.2L17 11",
  sees: "M2.5 10c2-3.5 4.5-5 7.5-5s5.5 1.5 7.5 5c-2 3.5-4.5 5-7.5 5s-5.5-1.5-7.5-5M10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
  connections: "M7.5 12.5l5-5M8.5 6.5l1.7-1.7a3.2 3.2 0 0 1 4.6 4.6L13 11M11.5 13.5l-1.7 1.7a3.2 3.2 0 0 1-4.6-4.6L7 9",
  import: "M10 3.5v9M6.5 9l3.5 3.5L13.5 9M4 12v4.5h12V12",
  mute: "M3.5 8v4h3l4 3.5v-11L6.5 8zM13.5 8l4 4M17.5 8l-4 4",
  documents: "M5.5 3h6L15 6.5V17H5.5zM11 3v4h4M8 10.5h4.5M8 13.5h4.5",
  conversations: "M3.5 4.5h13v8.5h-7L6 16v-3H3.5z",
  timeline: "M4 10h12M6 10V6M10 10v4M14 10V7M6 6h.01M10 14h.01M14 7h.01",
  tasks: "m3.5 5.5 1.5 1.5L7.5 4M10.5 5.5h6M3.5 13l1.5 1.5 2.5-3M10.5 13h6",
  vault: "M3.5 4h13v12h-13zM10 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M10 7.5V6M10 14v-1.5M12.5 10H14M6 10h1.5",
  reflection: "M10 3.5v13M7 6.5c-3 1-3 6 0 7M13 6.5c3 1 3 6 0 7",
  chat: "M3.5 10c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6-2.9 6-6.5 6c-1 0-2-.2-2.9-.6L4 16l.7-2.7A5.9 5.9 0 0 1 3.5 10",
  settings: "M4 6h7M15 6h1M4 14h1M9 14h7M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4M7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
  export: "M10 12.5V3.5M6.5 7 10 3.5 13.5 7M4 12v4.5h12V12",
  search: "M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M13 13l4 4",
  close: "M5 5l10 10M15 5 5 15",
  check: "m4.5 10.5 3.5 3.5 7.5-8",
  edit: "M4 16l.7-3.2L13.3 4.2l2.5 2.5-8.6 8.6zM11.5 6l2.5 2.5",
  undo: "M7 4 3.5 7.5 7 11M3.5 7.5H12a4.25 4.25 0 0 1 0 8.5H8",
  forget: "M4 10h12",
  erase: "M4.5 6h11M8 6V4h4v2M6 6l.7 10.5h6.6L14 6M8.7 9v4.5M11.3 9v4.5",
  correct: "M4 6.5h9.5M10.5 3.5l3 3-3 3M16 13.5H6.5M9.5 10.5l-3 3 3 3",
  restore: "M4 4v4h4M4.3 8A6.2 6.2 0 1 1 4 12",
  tag: "M3.5 3.5h6l7 7-6 6-7-7zM7 7h.01",
  merge: "M5 3.5v3c0 3.5 5 3.5 5 7v3M15 3.5v3c0 3.5-5 3.5-5 7",
  plus: "M10 4.5v11M4.5 10h11",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  sun: "M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6M10 3v1.5M10 15.5V17M3 10h1.5M15.5 10H17M5 5l1 1m8 8 1 1M15 5l-1 1M6 14l-1 1",
  moon: "M16 11.5A6.5 6.5 0 1 1 8.5 4a5 5 0 0 0 7.5 7.5",
  auto: "M10 16.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M10 3.5v13M10 7h4.5M10 10h6M10 13h4.5",
  keys: "M3 6h14v8.5H3zM6 9h.01M9 9h.01M12 9h.01M14.5 9h.01M7 12h6",
  clock: "M10 16.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M10 6.5V10l2.5 1.5",
  person: "M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4.5 16.5c.5-3 2.6-4.5 5.5-4.5s5 1.5 5.5 4.5",
  warn: "M10 4 3 16h14zM10 9v3M10 14h.01",
  heart: "M3.5 10h3l2-4.5 3 9 2-4.5h3",
  left: "M12.5 4.5 7 10l5.5 5.5",
  right: "M7.5 4.5 13 10l-5.5 5.5",
  up: "M4.5 12.5 10 7l5.5 5.5",
  refresh: "M16 4v4h-4M15.7 8A6.2 6.2 0 1 0 16 12",
  send: "M3.5 10 16.5 4l-3.5 12-3.5-5zM9.5 11l7-7",
  play: "M6.5 4.5v11l9-5.5z",
  pin: "M7 3.5h6l-.7 5 2.2 2.5h-9L7.7 8.5zM10 11v6",
  project: "M3.5 5.5h5l1.5 2h6.5V16h-13z",
  file: "M5.5 3h6L15 6.5V17H5.5zM11 3v4h4",
};

/** @typedef {keyof typeof PATHS} IconName */

/**
 * @param {IconName} name
 * @param {number} [size]
 */
export function icon(name, size = 20) {
  return svg(
    "svg",
    {
      class: "icon",
      viewBox: "0 0 20 20",
      width: size,
      height: size,
      fill: "none",
      stroke: "currentColor",
      "stroke-width": name === "more" ? 2.6 : 1.5,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      "aria-hidden": "true",
    },
    svg("path", { d: PATHS[name] }),
  );
}

/**
 * The mark of the product, in the accent colour.
 * @param {number} [size]
 */
export function logo(size = 28) {
  return svg(
    "svg",
    { class: "logo", viewBox: "0 0 32 32", width: size, height: size, fill: "none", "aria-hidden": "true" },
    svg("path", {
      class: "logo-line",
      d: "M6 6v3c0 5.5 20 8.5 20 14v3",
      "stroke-width": 2.6,
      "stroke-linecap": "round",
    }),
    svg("circle", { class: "logo-node", cx: 6, cy: 6, r: 3.6 }),
    svg("circle", { class: "logo-ring", cx: 16, cy: 16, r: 4.2, "stroke-width": 2.6 }),
    svg("circle", { class: "logo-node", cx: 26, cy: 26, r: 3.6 }),
  );
}
