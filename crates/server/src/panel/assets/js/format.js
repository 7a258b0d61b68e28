// Numbers, times and sizes as people read them, and the words that codes stand for.

const number = new Intl.NumberFormat("en");
const dayAndTime = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const shortDay = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const STEPS = [
  ["minute", 60],
  ["hour", 3_600],
  ["day", 86_400],
  ["week", 604_800],
  ["month", 2_629_800],
  ["year", 31_557_600],
];

export const count = (value) => number.format(value ?? 0);
export const exactTime = (at) => (at ? dayAndTime.format(new Date(at)) : "");
export const dayOf = (at) => (at ? day.format(new Date(at)) : "");
export const shortDayOf = (at) => (at ? shortDay.format(new Date(at)) : "");
export const timeOf = (at) => (at ? clock.format(new Date(at)) : "");

/// `plural(3, "memory", "memories")` is "3 memories".
export function plural(value, one, several = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/// "3 hours ago", "in 2 days".
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

/// "5 days", "3 hours": how long until then, without a direction.
export function span(ms) {
  const seconds = Math.max(0, ms / 1000);
  if (seconds < 60) return "less than a minute";
  let [unit, length] = STEPS[0];
  for (const [name, each] of STEPS.filter(([name]) => name !== "week" && name !== "month")) {
    if (seconds >= each) [unit, length] = [name, each];
  }
  return plural(Math.round(seconds / length), unit);
}

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

export const LAYERS = {
  identity: { name: "Identity", about: "who you are" },
  knowledge: { name: "Knowledge", about: "what is known" },
  archive: { name: "Archive", about: "what happened" },
};

const SOURCES = { user: "you", agent: "an assistant", system: "Throughline" };
export const sourceName = (source) => SOURCES[source] ?? source ?? "";

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
  reflect: "reflected",
};

/// What a change did, in the past tense; a verb that is not known here is shown as it is.
export const verbName = (verb) => VERBS[verb] ?? verb;

const WHO = { user: "You", agent: "An assistant", system: "Throughline" };
const VIA = {
  cli: "command line",
  http: "HTTP",
  panel: "panel",
  mcp: "MCP",
  editor: "an editor",
  chat: "chat",
  hook: "a hook",
};

/// "You edited a memory".
export function changeName(change) {
  if (!change) return "";
  return `${WHO[change.actor?.who] ?? change.actor?.who ?? ""} ${verbName(change.verb)}`.trim();
}

/// Which way a change came.
export function viaName(change) {
  const via = change?.actor?.via;
  return via ? (VIA[via] ?? via) : "";
}

/// A rough count of tokens, for showing while somebody types; the daemon counts for real.
export function roughTokens(text) {
  return Math.ceil([...text].length / 4);
}

export const DOCUMENT_TITLES = { profile: "Profile", patterns: "Patterns", working: "Recent context", memory: "Notes" };
