// Entries of the archive, by the person's days.
//
//   const days = dayGroups()      days.add(memories)     days.draw(words)     days.size
//
// A conversation that was summed up once has an entry for that part and one for the whole, with the same text: it is shown once.
import { h } from "../dom.js";
import { dayOf, plural, timeOf } from "../format.js";
import { href } from "../router.js";
import { icon } from "../icons.js";
import { marked } from "../components/parts.js";
import { channelName, channelOf, nameOf } from "../conversations/names.js";
import { documentLines } from "../documents/lines.js";

/// Each entry begins with when it happened, in the person's own time.
const STAMP = /^\[(\d{4}-\d\d-\d\d) (\d\d:\d\d)\]\s*/;
const weekday = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });
const longDay = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const pad = (value) => String(value).padStart(2, "0");

function localDay(at) {
  const date = new Date(at);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

function entryOf(memory) {
  const stamp = STAMP.exec(memory.content);
  const text = memory.content.replace(STAMP, "").trim();
  return {
    memory,
    text,
    day: stamp?.[1] ?? localDay(memory.created_at),
    time: stamp?.[2] ?? timeOf(memory.created_at),
  };
}

export function dayGroups() {
  const days = new Map();
  const seen = new Map();

  return {
    add(memories) {
      for (const memory of memories) {
        // Lines of documents are shown with their documents; here is what happened.
        if (memory.kind !== "entry") continue;
        const entry = entryOf(memory);
        const same = `${memory.session ?? memory.id} ${entry.text}`;
        if (seen.has(same)) continue;
        seen.set(same, entry);
        if (!days.has(entry.day)) days.set(entry.day, []);
        days.get(entry.day).push(entry);
      }
    },
    get size() {
      return seen.size;
    },
    draw(words) {
      const sorted = [...days].sort(([a], [b]) => (a < b ? 1 : -1));
      return sorted.map(([day, entries]) =>
        h(
          "section.day",
          { "aria-label": dayOf(`${day}T12:00:00`) },
          h(
            "header.day-head",
            h("h2", longDay.format(new Date(`${day}T00:00:00Z`))),
            h("span", weekday.format(new Date(`${day}T00:00:00Z`))),
          ),
          h(
            "ol.day-entries",
            entries.sort((a, b) => (a.time < b.time ? 1 : -1)).map((entry) => drawEntry(entry, words)),
          ),
        ),
      );
    },
  };
}

function drawEntry({ memory, text, time }, words) {
  const isTask = memory.tags?.includes("task");
  const from = memory.session;
  const links = [
    from
      ? h(
          "a",
          { href: href(`conversations/${from}`) },
          icon("conversations", 15),
          `${nameOf(from)}, ${channelName(channelOf(from))}`,
        )
      : null,
    memory.task ? h("a", { href: href(`tasks/${memory.task}`) }, icon("tasks", 15), "task") : null,
    memory.project
      ? h(
          "a",
          { href: href("memories", { project: memory.project, layer: "archive" }) },
          icon("project", 15),
          memory.project,
        )
      : null,
    h("a.entry-open", { href: href("memories", { id: memory.id }) }, "Open"),
    memory.recall_count ? h("span", `recalled ${plural(memory.recall_count, "time")}`) : null,
  ];
  return h(
    "li.entry",
    { dataset: { kind: isTask ? "task" : "talk" } },
    h("time", { dateTime: memory.created_at }, time),
    h("div.entry-main", words.length ? markedLines(text, words) : documentLines(text), h("p.entry-links", links)),
  );
}

/// The same lines with the words of a search marked.
function markedLines(text, words) {
  const node = documentLines(text);
  for (const line of node.children) line.replaceChildren(...marked(line.textContent, words));
  return node;
}
