// What changes elsewhere, as it happens: other assistants, the command line, an editor.
//
//   onChange(["memories", "documents"], (kinds) => reload(), signal)     until `signal` is aborted
//   onChange("any", listener, signal)
//
// Changes that come in quick succession are told once. After the daemon was away, everything counts as changed.
import { answered, setDaemon } from "./api.js";

const QUIET_MS = 180;
const listeners = new Set();
let waiting = new Set();
let timer = 0;
let wasLost = false;

export function onChange(kinds, listener, signal) {
  const entry = { kinds: kinds === "any" ? null : new Set([kinds].flat()), listener };
  listeners.add(entry);
  signal?.addEventListener("abort", () => listeners.delete(entry));
}

function note(kinds) {
  for (const kind of kinds) waiting.add(kind);
  if (timer) return;
  timer = setTimeout(() => {
    const told = waiting;
    waiting = new Set();
    timer = 0;
    for (const { kinds: wanted, listener } of listeners) {
      if (!wanted || told.has("everything") || [...told].some((kind) => wanted.has(kind))) listener(told);
    }
  }, QUIET_MS);
}

/// Tells the page at once about what it changed itself, without waiting for the daemon's event.
export function changedHere(...kinds) {
  note(kinds);
}

let source = null;
let parting = 0;

/// A browser keeps six connections to one place: a tab that nobody looks at gives its own back.
const AWAY_MS = 20_000;

function close() {
  clearTimeout(parting);
  source?.close();
  source = null;
}

function open() {
  clearTimeout(parting);
  if (source) return;
  source = new EventSource("/api/events");
  source.addEventListener("change", (event) => {
    try {
      note(JSON.parse(event.data).kinds ?? ["everything"]);
    } catch {
      note(["everything"]);
    }
  });
  source.addEventListener("open", () => {
    answered("/api/events");
    if (wasLost) note(["everything"]);
    wasLost = false;
  });
  source.addEventListener("error", () => {
    wasLost = true;
    if (source?.readyState === EventSource.CLOSED) {
      // Refused, not cut off: the browser gives up on such, so try again by hand.
      close();
      parting = setTimeout(open, 5_000);
    } else {
      setDaemon("away");
    }
  });
}

export function start() {
  open();
  addEventListener("pagehide", close);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") {
      // Whatever happened meanwhile was missed.
      wasLost = wasLost || !source;
      open();
    } else {
      clearTimeout(parting);
      parting = setTimeout(close, AWAY_MS);
    }
  });
  addEventListener("pageshow", open);
}
