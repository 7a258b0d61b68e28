// One memory in a list: a node on the thread, its text, and a line about it.
//
//   const row = memoryRow({ isPicked, onpick })    row.make(), row.show(node, memory)
import { fill, h } from "../dom.js";
import { plural, sourceName } from "../format.js";
import { scoreBar } from "../components/charts.js";
import { chip, marked, when } from "../components/parts.js";

const TAGS_SHOWN = 3;

export const ROW_HEIGHT = 78;

const STAMP = /^\[\d{4}-\d\d-\d\d \d\d:\d\d\]\s*/;

/// Two lines have no room for headings and bullets: a summary is told in one go.
function brief({ layer, content }) {
  if (layer !== "archive") return content;
  return content
    .replace(STAMP, "")
    .replaceAll(/^#{1,6}\s+(.*)$/gm, "$1:")
    .replaceAll(/^[-*]\s+/gm, "· ")
    .replaceAll(/:\n+· /g, ": ");
}

export function memoryRow({ isPicked, onpick, words, best, onPhone }) {
  return {
    make() {
      const box = h("input", { type: "checkbox", tabIndex: -1, "aria-label": "Select" });
      const node = h(
        "div.mem",
        h("label.mem-node", { dataset: { own: "" } }, box, h("i")),
        h("div.mem-main", h("p.mem-text"), h("p.mem-meta")),
        h("div.mem-side"),
      );
      box.addEventListener("click", (event) => onpick(node.item, box.checked, event.shiftKey));
      return node;
    },
    show(node, memory) {
      node.dataset.layer = memory.layer;
      node.dataset.status = memory.status;
      node.querySelector("input").checked = isPicked(memory);
      node.classList.toggle("picked", isPicked(memory));
      fill(node.querySelector(".mem-text"), marked(brief(memory), words()));
      fill(node.querySelector(".mem-meta"), metaOf(memory, onPhone()));
      const side = node.querySelector(".mem-side");
      if (memory.why) fill(side, scoreBar(memory.why, memory.score, best()));
      else
        fill(
          side,
          memory.recall_count
            ? h("span.muted", { title: "How many recalls returned it" }, plural(memory.recall_count, "recall"))
            : null,
        );
    },
  };
}

function metaOf(memory, isNarrow) {
  const tags = memory.tags ?? [];
  const shown = tags.slice(0, isNarrow ? (memory.project ? 0 : 1) : TAGS_SHOWN);
  return [
    when(memory.updated_at),
    h(
      "span",
      memory.kind === "bullet" ? String(memory.namespace ?? "document") : (memory.speaker ?? sourceName(memory.source)),
    ),
    memory.status === "inactive" ? chip("inactive", { kind: "bad" }) : null,
    memory.project ? chip(memory.project, { kind: "accent" }) : null,
    shown.map((tag) => chip(tag)),
    tags.length > shown.length ? h("span", `+${tags.length - shown.length}`) : null,
    memory.significance >= 4
      ? h(
          "span.weight",
          { title: `Significance ${memory.significance} of 5: never pruned` },
          "●".repeat(memory.significance - 3),
        )
      : null,
  ];
}
