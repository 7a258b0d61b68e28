// One memory in a list: a mark for its layer, its text, and a line about it.
//
//   const row = memoryRow(options)    row.make(), row.show(node, memory)
import { fill, get, h } from "../dom.js";
import { plural, sourceName } from "../format.js";
import { href } from "../router.js";
import { chip, marked, when } from "../components/parts.js";
import { fit } from "../components/score.js";
import { nameOf } from "../conversations/names.js";
import { plainText } from "../documents/marks.js";
import { mutedChip } from "../sees/mute.js";

/** @import { Row } from "../components/list.js" */
/** @import { Item } from "./source.js" */

const TAGS_SHOWN = 3;

export const ROW_HEIGHT = 78;

/**
 * @typedef {object} RowOptions
 * @property {(memory: Item) => boolean} isPicked
 * @property {(memory: Item, isOn: boolean, withRange: boolean) => void} onpick
 * @property {() => string[]} words to mark
 * @property {() => boolean} onPhone
 */

/** @param {RowOptions} options */
export function memoryRow({ isPicked, onpick, words, onPhone }) {
  return {
    make() {
      const box = h("input", { type: "checkbox", tabIndex: -1, "aria-label": "Select" });
      /** @type {Row<Item>} */
      const node = h(
        "div.mem",
        h("label.mem-node", { dataset: { own: "" } }, box, h("i")),
        h("div.mem-main", h("p.mem-text"), h("p.mem-meta")),
        h("div.mem-side"),
      );
      box.addEventListener("click", (event) => {
        if (node.item) onpick(node.item, box.checked, event.shiftKey);
      });
      return node;
    },
    /**
     * @param {Row<Item>} node
     * @param {Item} memory
     */
    show(node, memory) {
      node.dataset.layer = memory.layer;
      node.dataset.status = memory.status;
      node.dataset.kind = memory.kind;
      const box = node.querySelector("input");
      if (box) {
        box.checked = isPicked(memory);
        box.hidden = memory.kind === "turn";
      }
      node.classList.toggle("picked", isPicked(memory));
      fill(get(".mem-text", node), marked(plainText(memory.content), words()));
      fill(get(".mem-meta", node), metaOf(memory, onPhone()));
      fill(get(".mem-side", node), side(memory));
    },
  };
}

/** @param {Item} memory */
function side({ why, score = 0, recall_count: recalls }) {
  if (why) return fit(why, score);
  return recalls ? h("span.muted", { title: "How many recalls returned it" }, plural(recalls, "recall")) : null;
}

/**
 * @param {Item} memory
 * @param {boolean} isNarrow
 */
function metaOf(memory, isNarrow) {
  const tags = memory.tags ?? [];
  const shown = tags.slice(0, isNarrow ? (memory.project ? 0 : 1) : TAGS_SHOWN);
  const protectedTitle = `Significance ${memory.significance} of 5: never pruned`;
  return [
    when(memory.updated_at),
    h("span", memory.kind === "bullet" ? memory.namespace : (memory.speaker ?? sourceName(memory.source))),
    conversation(memory),
    memory.status === "inactive" ? chip("inactive", { kind: "bad" }) : null,
    mutedChip(memory),
    memory.project ? chip(memory.project, { kind: "accent" }) : null,
    shown.map((tag) => chip(tag)),
    tags.length > shown.length ? h("span", `+${tags.length - shown.length}`) : null,
    memory.significance >= 4 ? h("span.weight", { title: protectedTitle }, "●".repeat(memory.significance - 3)) : null,
  ];
}

/**
 * Where it was said: for a turn.
 * @param {Item} memory
 */
function conversation({ id, kind, session }) {
  if (kind !== "turn" || !session) return null;
  return h(
    "a.mem-talk",
    { href: href("conversations", { id: session, turn: id }), title: session },
    `in ${nameOf(session)}`,
  );
}
