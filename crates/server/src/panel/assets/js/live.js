// Changes made elsewhere, as they happen: by other assistants, the command line, an editor.
//
//   onChange(["memories", "documents"], () => reload(), signal)     until `signal` is aborted
//
// Changes in quick succession are reported once. After the daemon was away, everything counts as changed.
import { api, ApiError, isAborted, setDaemon } from "./api.js";
import { events } from "./stream.js";

/**
 * What can change; `changes` is only reported by this page, the others by the daemon too.
 * @typedef {"memories" | "documents" | "sessions" | "tasks" | "projects" | "recalls" | "reflections" | "vault" | "jobs"
 *   | "changes"} Kind
 */

const QUIET_MS = 180;
/** A browser allows six connections to one host: a tab in the background gives its own back. */
const AWAY_MS = 20_000;
const RETRY_MS = 3_000;

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

/** @type {AbortController | null} */
let listening = null;
let pending = 0;

function close() {
  clearTimeout(pending);
  listening?.abort();
  listening = null;
}

/**
 * Reports changes until the stream ends.
 * @param {AbortSignal} signal
 */
async function listen(signal) {
  const response = await api.raw("GET", "/api/events", { signal });
  if (wasLost) everythingChanged();
  wasLost = false;
  for await (const { data } of events(response)) note(data.kinds ?? ["everything"]);
  setDaemon("away");
}

async function open() {
  clearTimeout(pending);
  if (listening) return;
  const mine = new AbortController();
  listening = mine;
  try {
    await listen(mine.signal);
  } catch (error) {
    if (isAborted(error)) return;
    // Cut off; a refusal is reported by the request itself.
    if (!(error instanceof ApiError)) setDaemon("away");
  }
  if (listening !== mine) return;
  listening = null;
  wasLost = true;
  pending = setTimeout(open, RETRY_MS);
}

export function start() {
  open();
  addEventListener("pagehide", close);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") {
      // Changes in the meantime were missed.
      wasLost = wasLost || !listening;
      open();
    } else {
      clearTimeout(pending);
      pending = setTimeout(close, AWAY_MS);
    }
  });
  addEventListener("pageshow", open);
}
