// A message of the person, and the reply to it while the model writes, with what memory gave and what tools did.
//
//   personTurn(text)                 a node
//   const reply = new Reply(find)    reply.node; injected(parts), tool(call), more(text) and end(…) as they happen
import { fill, h } from "../dom.js";
import { plural, timeOf, wordCost } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { markdown } from "../components/markdown.js";
import { coded } from "../components/parts.js";
import { attempt } from "../components/toast.js";
import { plainText } from "../documents/marks.js";

/** @import { Lookup } from "../memories/lookup.js" */

/** @type {Record<string, [title: string, path: string]>} */
const PARTS = {
  profile: ["Profile", "documents/profile"],
  working: ["Recent context", "documents/working"],
  patterns: ["Patterns", "documents/patterns"],
  task: ["Task", "tasks"],
};

/** @param {string} who */
const head = (who) => {
  const at = new Date().toISOString();
  return h("div.turn-head", h("strong", who), h("time", { dateTime: at }, timeOf(at)));
};

/** @param {string} text */
export function personTurn(text) {
  return h("li.turn", { dataset: { role: "user" } }, head("You"), h("p.turn-text", text));
}

export class Reply {
  /** @param {Lookup} find */
  constructor(find) {
    this.find = find;
    this.text = h("div.turn-text");
    this.asides = h("div.chat-asides");
    this.wait = h("span.chat-wait", { role: "status", "aria-label": "The model is thinking" }, h("i"), h("i"), h("i"));
    this.node = h(
      "li.turn",
      { dataset: { role: "assistant" }, "aria-busy": "true" },
      head("Assistant"),
      this.asides,
      this.text,
      this.wait,
    );
  }

  /** @param {Api.Part[]} parts */
  injected(parts) {
    if (parts.length) this.asides.append(given(parts, this.find));
  }

  /** @param {{ name: string, summary: string }} call */
  tool({ name, summary }) {
    this.asides.append(h("p.chat-tool", icon("play", 13), h("code", name), h("span", summary)));
  }

  /** @param {string} part */
  more(part) {
    this.wait.hidden = true;
    this.text.append(part);
  }

  /** @param {{ text?: string, note?: string, error?: { message: string, hint?: string | null } }} how */
  end({ text, note, error }) {
    this.node.setAttribute("aria-busy", "false");
    this.wait.remove();
    // While it grows it is plain text; what it means shows when it is whole.
    fill(this.text, markdown(text ?? this.text.textContent ?? ""));
    if (note) this.node.append(h("p.turn-into", note));
    if (error) {
      const hint = error.hint ? h("small", coded(error.hint)) : null;
      this.node.append(h("p.notice.chat-error", coded(error.message), hint));
    }
  }
}

/**
 * What the message was given; the memories are fetched when it is opened.
 * @param {Api.Part[]} parts
 * @param {Lookup} find
 */
function given(parts, find) {
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const memories = parts.filter((part) => part.id).length;
  const others = parts.filter((part) => !part.id).map((part) => (PARTS[part.what]?.[0] ?? part.what).toLowerCase());
  const said = [...others, memories ? plural(memories, "memory", "memories") : null].filter(Boolean).join(", ");
  const body = h("div.given-body");
  const node = h("details.given", h("summary", icon("memories", 16), h("span", `Given: ${said}`)), body);
  const load = attempt(async () => {
    if (!node.open || body.hasChildNodes()) return;
    const lines = await Promise.all(parts.map(async (part) => line(part, part.id ? await find(part.id) : null)));
    fill(body, h("ul.given-list", lines), h("small.muted", `${wordCost(tokens)} in all`));
  });
  node.addEventListener("toggle", load);
  return node;
}

/**
 * @param {Api.Part} part
 * @param {Api.Memory | null} memory
 */
function line(part, memory) {
  const [name, path] = PARTS[part.what] ?? [part.what, null];
  const what = memory
    ? h("a", { href: href("memories", { id: memory.id }) }, plainText(memory.content))
    : path
      ? h("a", { href: href(path) }, name)
      : name;
  return h("li", h("div.given-text", what), h("small.muted", part.why));
}
