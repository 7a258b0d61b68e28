// Changes made elsewhere, as they happen: by other assistants, the command line, an editor.
//
//   onChange(["memories", "documents"], () => reload(), signal)     until `signal` is aborted
//
// Changes in quick succession are reported once. After the daemon was away, everything counts as changed.
import { answered, setDaemon } from "./api.js";

/**
 * What can change; `changes` is only reported by this page, the others by the daemon too.
 * @typedef {"memories" | "documents" | "sessions" | "tasks" | "projects" | "recalls" | "reflections" | "vault" | "jobs"
 *   | "changes"} Kind
 */

const QUIET_MS = 180;
/** A browser allows six connections to one host: a tab in the background gives its own back. */
const AWAY_MS = 20_000;
const RETRY_MS = 5_000;

/** @type {Set<{ kinds: Set<string>, listener: () => unknown }>} */
const listeners = new Set();
/** @type {Set<string>} */
let waiting = new Set();
let timer = 0;
let wasLost = false;

/**
 * @param {Kind | Kind[]} kinds
 * @param {() => unknown} listener
 * @param {AbortSignal} signal
 */
export function onChange(kinds, listener, signal) {
  const entry = { kinds: new Set([kinds].flat()), listener };
  listeners.add(entry);
  signal.addEventListener("abort", () => listeners.delete(entry));
}

/** @param {string[]} kinds */
function note(kinds) {
  for (const kind of kinds) waiting.add(kind);
  if (timer) return;
  timer = setTimeout(() => {
    const changed = waiting;
    waiting = new Set();
    timer = 0;
    for (const { kinds: wanted, listener } of listeners) {
      if (changed.has("everything") || [...changed].some((kind) => wanted.has(kind))) listener();
    }
  }, QUIET_MS);
}

/**
 * Reports what the page changed itself, without waiting for the daemon's event.
 * @param {...Kind} kinds
 */
export function changedHere(...kinds) {
  note(kinds);
}

/** Reports that anything may have changed. */
export function everythingChanged() {
  note(["everything"]);
}

/** @type {EventSource | null} */
let source = null;
let pending = 0;

function close() {
  clearTimeout(pending);
  source?.close();
  source = null;
}

function open() {
  clearTimeout(pending);
  if (source) return;
  source = new EventSource("/api/events");
  source.addEventListener("change", (event) => {
    try {
      note(JSON.parse(event.data).kinds ?? ["everything"]);
    } catch {
      everythingChanged();
    }
  });
  source.addEventListener("open", () => {
    answered("/api/events");
    if (wasLost) everythingChanged();
    wasLost = false;
  });
  source.addEventListener("error", () => {
    wasLost = true;
    if (source?.readyState === EventSource.CLOSED) {
      // Refused, not cut off: the browser does not retry by itself then.
      close();
      pending = setTimeout(open, RETRY_MS);
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
      // Changes in the meantime were missed.
      wasLost = wasLost || !source;
      open();
    } else {
      clearTimeout(pending);
      pending = setTimeout(close, AWAY_MS);
    }
  });
  addEventListener("pageshow", open);
}
