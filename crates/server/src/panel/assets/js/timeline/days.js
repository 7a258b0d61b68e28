// Entries of the archive, by day.
//
//   const days = new DayGroups()      days.add(memories)     days.draw(words)     days.size
//
// A conversation that was summed up once has an entry for that part and one for the whole, with the same text: it is
// shown once.
import { h } from "../dom.js";
import { dayOf, plural } from "../format.js";
import { href } from "../router.js";
import { icon } from "../icons.js";
import { marked } from "../components/parts.js";
import { channelName, channelOf, nameOf } from "../conversations/names.js";
import { documentLines } from "../documents/lines.js";

/** @typedef {{ memory: Api.Memory, text: string, day: string, time: string }} Entry */

/** Each entry begins with when it happened, in the person's own time. */
const STAMP = /^\[(\d{4}-\d\d-\d\d) (\d\d:\d\d)\]\s*/;
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "long", timeZone: "UTC" });
const pad = (/** @type {number} */ value) => String(value).padStart(2, "0");

/**
 * @param {Api.Memory} memory
 * @returns {Entry}
 */
function entryOf(memory) {
  const stamp = STAMP.exec(memory.content);
  const text = memory.content.replace(STAMP, "").trim();
  if (stamp) return { memory, text, day: stamp[1], time: stamp[2] };
  const at = new Date(memory.created_at);
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return { memory, text, day, time: `${pad(at.getHours())}:${pad(at.getMinutes())}` };
}

export class DayGroups {
  /** @type {Map<string, Entry[]>} */
  #days = new Map();
  /** @type {Set<string>} */
  #seen = new Set();

  get size() {
    return this.#seen.size;
  }

  /** @param {Api.Memory[]} memories */
  add(memories) {
    for (const memory of memories) {
      // Lines of documents are shown with their documents.
      if (memory.kind !== "entry") continue;
      const entry = entryOf(memory);
      const same = `${memory.session ?? memory.id} ${entry.text.replaceAll(/\s+/g, " ")}`;
      if (this.#seen.has(same)) continue;
      this.#seen.add(same);
      const entries = this.#days.get(entry.day) ?? [];
      entries.push(entry);
      this.#days.set(entry.day, entries);
    }
  }

  /** @param {string[]} words to mark */
  draw(words) {
    const sorted = [...this.#days].sort(([a], [b]) => (a < b ? 1 : -1));
    return sorted.map(([day, entries]) => drawDay(day, entries, words));
  }
}

/**
 * @param {string} day
 * @param {Entry[]} entries
 * @param {string[]} words
 */
function drawDay(day, entries, words) {
  const at = new Date(`${day}T00:00:00Z`);
  const latestFirst = entries.sort((a, b) => (a.time < b.time ? 1 : -1));
  return h(
    "section.day",
    { "aria-label": dayOf(`${day}T12:00:00`) },
    h("header.day-head", h("h2", dayOf(`${day}T12:00:00`)), h("span", weekday.format(at))),
    h(
      "ol.day-entries",
      latestFirst.map((entry) => drawEntry(entry, words)),
    ),
  );
}

/**
 * @param {Entry} entry
 * @param {string[]} words
 */
function drawEntry({ memory, text, time }, words) {
  const isTask = memory.tags?.includes("task");
  return h(
    "li.entry",
    { dataset: { kind: isTask ? "task" : "talk" } },
    h("time", { dateTime: memory.created_at }, time),
    h(
      "div.entry-main",
      words.length ? markedLines(text, words) : documentLines(text),
      h("p.entry-links", links(memory)),
    ),
  );
}

/** @param {Api.Memory} memory */
function links({ id, session, task, project, recall_count: recalls }) {
  const talk = session ? `${nameOf(session)}, ${channelName(channelOf(session))}` : "";
  return [
    session ? h("a", { href: href(`conversations/${session}`) }, icon("conversations", 15), talk) : null,
    task ? h("a", { href: href(`tasks/${task}`) }, icon("tasks", 15), "task") : null,
    project ? h("a", { href: href("memories", { project, layer: "archive" }) }, icon("project", 15), project) : null,
    h("a.entry-open", { href: href("memories", { id }) }, "Open"),
    recalls ? h("span", `recalled ${plural(recalls, "time")}`) : null,
  ];
}

/**
 * The lines of a text with the words of a search marked.
 * @param {string} text
 * @param {string[]} words
 */
function markedLines(text, words) {
  const node = documentLines(text);
  for (const line of node.children) line.replaceChildren(...marked(line.textContent ?? "", words));
  return node;
}
