// Numbers, times and sizes as people read them, and names for codes of the API.

const number = new Intl.NumberFormat("en");
// One form of dates and of the clock everywhere: 16 Nov 2026, 04:14.
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const STEPS = [
  ["minute", 60],
  ["hour", 3_600],
  ["day", 86_400],
  ["week", 604_800],
  ["month", 2_629_800],
  ["year", 31_557_600],
];

/** @typedef {Api.Instant | null | undefined} MaybeInstant */

export const count = (/** @type {number | null | undefined} */ value) => number.format(value ?? 0);
export const exactTime = (/** @type {MaybeInstant} */ at) => (at ? `${dayOf(at)}, ${timeOf(at)}` : "");
export const dayOf = (/** @type {MaybeInstant} */ at) => (at ? day.format(new Date(at)) : "");
export const timeOf = (/** @type {MaybeInstant} */ at) => (at ? clock.format(new Date(at)) : "");

/**
 * For comparing instants: as texts, `41.5Z` would come before `41Z`.
 * @param {Api.Instant} at
 */
export const millis = (at) => new Date(at).getTime();

/**
 * `plural(3, "memory", "memories")` is "3 memories".
 * @param {number} value
 * @param {string} one
 * @param {string} [several]
 */
export function plural(value, one, several = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/**
 * "3 hours ago", "in 2 days".
 * @param {Api.Instant} at
 * @param {number} [now]
 */
export function ago(at, now = Date.now()) {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return seconds > 5 ? "in a moment" : "just now";
  let [unit, length] = STEPS[0];
  for (const [name, each] of STEPS) {
    if (size >= each) [unit, length] = [name, each];
  }
  return relative.format(Math.round(seconds / length), unit);
}

/**
 * "5 days", "3 hours": how long until then, without a direction.
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, ms / 1000);
  if (seconds < 60) return "less than a minute";
  let [unit, length] = STEPS[0];
  for (const [name, each] of STEPS.filter(([name]) => name !== "week" && name !== "month")) {
    if (seconds >= each) [unit, length] = [name, each];
  }
  return plural(Math.round(seconds / length), unit);
}

/** @param {number} value */
export function bytes(value) {
  if (value < 1024) return `${value} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let size = value / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/**
 * How many memories there are: one count for every page.
 * @param {Api.Overview} stats
 */
export const memoryCount = ({ knowledge, archive, bullets }) => knowledge + archive + bullets;

/** @type {Record<string, { name: string, about: string }>} */
export const LAYERS = {
  identity: { name: "Identity", about: "who you are" },
  knowledge: { name: "Knowledge", about: "what is known" },
  archive: { name: "Archive", about: "what happened" },
};

/** @type {Record<string, string>} */
const SOURCES = { user: "you", agent: "an assistant", system: "Throughline" };
export const sourceName = (/** @type {string} */ source) => SOURCES[source] ?? source;

/** @type {Record<string, string>} */
const VERBS = {
  remember: "remembered something",
  edit: "edited a memory",
  forget: "forgot something",
  restore: "brought a version back",
  undo: "undid a change",
  write: "wrote a document",
  import: "imported",
  consolidate: "summed up a conversation",
  erase: "erased something",
  correct: "corrected a memory",
  merge: "merged memories",
  task: "kept a task",
  done: "finished a task",
  project: "kept a project",
  fill: "looked back on a conversation",
  reflect: "tidied memory",
  review: "looked at what was learnt",
};

/**
 * What a change did, in the past tense; an unknown verb is shown as it is.
 * @param {string} verb
 */
export const verbName = (verb) => VERBS[verb] ?? verb;

/** @type {Record<string, string>} */
const WHO = { user: "You", agent: "An assistant", system: "Throughline" };
/** @type {Record<string, string>} */
const VIA = {
  cli: "command line",
  http: "HTTP",
  panel: "panel",
  mcp: "MCP",
  editor: "an editor",
  chat: "chat",
  hook: "a hook",
};

/** @type {Record<string, string>} */
const JOBS = {
  consolidation: "Summing up",
  retention: "Retiring what is old",
  reflection: "Tidying",
  backup: "Backups",
  embedding: "Search by meaning",
  tidying: "Upkeep of the database",
};
export const jobName = (/** @type {string} */ name) => JOBS[name] ?? name;

export const whoName = (/** @type {string} */ who) => WHO[who] ?? who;

/**
 * "You edited a memory".
 * @param {Api.Change} change
 */
export function changeName({ actor, verb }) {
  return `${whoName(actor.who)} ${verbName(verb)}`;
}

/**
 * How a change was made.
 * @param {Api.Change} change
 */
export function viaName({ actor }) {
  return VIA[actor.via] ?? actor.via;
}

/** A token is about three quarters of a word; people know words. */
const WORDS_BY_TOKEN = 0.75;

/**
 * What a text costs a model, in words.
 * @param {number} tokens
 */
export const wordCost = (tokens) =>
  `≈ ${plural(Math.max(tokens ? 1 : 0, Math.round(tokens * WORDS_BY_TOKEN)), "word")}`;

/**
 * A rough count of tokens, for showing while somebody types; the daemon counts exactly.
 * @param {string} text
 */
export function roughTokens(text) {
  return Math.ceil([...text].length / 4);
}

/** @type {Record<string, string>} */
export const DOCUMENT_TITLES = { profile: "Profile", patterns: "Patterns", working: "Recent context", memory: "Notes" };
