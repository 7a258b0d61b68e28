// icon("search") gives a line drawing in the colour of the text around it, hidden from screen readers:
// whatever carries it has a label of its own.
import { svg } from "./dom.js";

const PATHS = {
  home: "M3.500 9.500 10 4l6.500 5.500M5.500 8.500V16h9V8.500",
  memories: "M5 3v14M5 6h.01M9 6h7.500M9 10h7.500M9 14h5",
  documents: "M5.500 3h6L15 6.500V17H5.500zM11 3v4h4M8 10.500h4.500M8 13.500h4.500",
  conversations: "M3.500 4.500h13v8.500h-7L6 16v-3H3.500z",
  timeline: "M4 10h12M6 10V6M10 10v4M14 10V7M6 6h.01M10 14h.01M14 7h.01",
  tasks: "m3.500 5.500 1.500 1.500L7.500 4M10.500 5.500h6M3.500 13l1.500 1.500 2.500-3M10.500 13h6",
  vault:
    "M3.500 4h13v12h-13zM10 12.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5M10 7.500V6M10 14v-1.500M12.500 10H14M6 10h1.500",
  reflection: "M10 3.500v13M7 6.500c-3 1-3 6 0 7M13 6.500c3 1 3 6 0 7",
  chat: "M3.500 10c0-3.600 2.900-6 6.500-6s6.500 2.400 6.500 6-2.900 6-6.500 6c-1 0-2-.2-2.900-.6L4 16l.7-2.700A5.900 5.900 0 0 1 3.500 10",
  settings: "M4 6h7M15 6h1M4 14h1M9 14h7M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4M7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
  export: "M10 12.500V3.500M6.500 7 10 3.500 13.500 7M4 12v4.500h12V12",
  search: "M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11M13 13l4 4",
  close: "M5 5l10 10M15 5 5 15",
  check: "m4.500 10.500 3.500 3.500 7.500-8",
  edit: "M4 16l.7-3.200L13.300 4.200l2.500 2.500-8.600 8.600zM11.500 6l2.500 2.500",
  undo: "M7 4 3.500 7.500 7 11M3.500 7.500H12a4.250 4.250 0 0 1 0 8.500H8",
  forget: "M4 10h12",
  erase: "M4.500 6h11M8 6V4h4v2M6 6l.7 10.500h6.600L14 6M8.700 9v4.500M11.300 9v4.500",
  correct: "M4 6.500h9.500M10.500 3.500l3 3-3 3M16 13.500H6.500M9.500 10.500l-3 3 3 3",
  restore: "M4 4v4h4M4.300 8A6.200 6.200 0 1 1 4 12",
  tag: "M3.500 3.500h6l7 7-6 6-7-7zM7 7h.01",
  merge: "M5 3.500v3c0 3.500 5 3.500 5 7v3M15 3.500v3c0 3.500-5 3.500-5 7",
  plus: "M10 4.500v11M4.500 10h11",
  more: "M4.500 10h.01M10 10h.01M15.500 10h.01",
  sun: "M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6M10 3v1.500M10 15.500V17M3 10h1.500M15.500 10H17M5 5l1 1M14 14l1 1M15 5l-1 1M6 14l-1 1",
  moon: "M16 11.500A6.500 6.500 0 1 1 8.500 4a5 5 0 0 0 7.500 7.500",
  auto: "M10 16.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13M10 3.500v13M10 7h4.500M10 10h6M10 13h4.500",
  keys: "M3 6h14v8.500H3zM6 9h.01M9 9h.01M12 9h.01M14.500 9h.01M7 12h6",
  clock: "M10 16.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13M10 6.500V10l2.500 1.500",
  person: "M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4.500 16.500c.5-3 2.600-4.500 5.500-4.500s5 1.500 5.500 4.500",
  warn: "M10 4 3 16h14zM10 9v3M10 14h.01",
  heart: "M3.500 10h3l2-4.500 3 9 2-4.500h3",
  left: "M12.500 4.500 7 10l5.500 5.500",
  right: "M7.500 4.500 13 10l-5.500 5.500",
  up: "M4.500 12.500 10 7l5.500 5.500",
  refresh: "M16 4v4h-4M15.700 8A6.200 6.200 0 1 0 16 12",
  send: "M3.500 10 16.500 4l-3.500 12-3.500-5zM9.500 11l7-7",
  play: "M6.500 4.500v11l9-5.500z",
  pin: "M7 3.500h6l-.7 5 2.200 2.500h-9L7.700 8.500zM10 11v6",
  project: "M3.500 5.500h5l1.500 2h6.500V16h-13z",
  file: "M5.500 3h6L15 6.500V17H5.500zM11 3v4h4",
};

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
    svg("path", { d: PATHS[name] ?? PATHS.more }),
  );
}

/// The mark of the product, drawn in the accent colour.
export function logo(size = 28) {
  return svg(
    "svg",
    { class: "logo", viewBox: "0 0 32 32", width: size, height: size, fill: "none", "aria-hidden": "true" },
    svg("path", {
      class: "logo-line",
      d: "M6 6v3c0 5.500 20 8.500 20 14v3",
      "stroke-width": 2.6,
      "stroke-linecap": "round",
    }),
    svg("circle", { class: "logo-node", cx: 6, cy: 6, r: 3.6 }),
    svg("circle", { class: "logo-ring", cx: 16, cy: 16, r: 4.2, "stroke-width": 2.6 }),
    svg("circle", { class: "logo-node", cx: 26, cy: 26, r: 3.6 }),
  );
}
