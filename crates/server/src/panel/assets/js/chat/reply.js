// What happens while a model answers: a message of the person, and a reply that grows, with small asides.
//
//   personTurn(text)                      a node
//   const reply = replyTurn({ find })     reply.node, reply.injected(parts), reply.tool(event), reply.more(text), reply.end({ text, note, error })
import { fill, h } from "../dom.js";
import { isAborted } from "../api.js";
import { count, plural, timeOf } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { coded } from "../components/parts.js";
import { failed } from "../components/toast.js";

const PARTS = {
  profile: ["Profile", "documents/profile"],
  working: ["Recent context", "documents/working"],
  patterns: ["Patterns", "documents/patterns"],
  task: ["Task", "tasks"],
};

const head = (who) => {
  const at = new Date().toISOString();
  return h("div.turn-head", h("strong", who), h("time", { dateTime: at }, timeOf(at)));
};

export function personTurn(text) {
  return h("li.turn", { dataset: { role: "user" } }, head("You"), h("p.turn-text", text));
}

export function replyTurn({ find }) {
  const text = h("p.turn-text");
  const wait = h("span.chat-wait", { role: "status", "aria-label": "The model is thinking" }, h("i"), h("i"), h("i"));
  const asides = h("div.chat-asides");
  const node = h(
    "li.turn",
    { dataset: { role: "assistant" }, "aria-busy": "true" },
    head("Assistant"),
    asides,
    text,
    wait,
  );

  return {
    node,
    injected(parts) {
      if (parts.length) asides.append(given(parts, find));
    },
    tool({ name, summary }) {
      asides.append(h("p.chat-tool", icon("play", 13), h("code", name), h("span", summary)));
    },
    more(part) {
      wait.hidden = true;
      text.append(part);
    },
    end({ text: whole, note, error } = {}) {
      node.setAttribute("aria-busy", "false");
      wait.remove();
      if (whole !== undefined && text.textContent !== whole) text.textContent = whole;
      if (note) node.append(h("p.turn-into", note));
      if (error)
        node.append(
          h(
            "p.notice.chat-error",
            coded(error.message ?? String(error)),
            error.hint ? h("small", coded(error.hint)) : null,
          ),
        );
    },
  };
}

function given(parts, find) {
  const tokens = parts.reduce((sum, part) => sum + (part.tokens ?? 0), 0);
  const memories = parts.filter((part) => part.id).length;
  const others = parts.filter((part) => !part.id).map((part) => (PARTS[part.what]?.[0] ?? part.what).toLowerCase());
  const said = [...others, memories ? plural(memories, "memory", "memories") : null].filter(Boolean).join(", ");
  const body = h("div.given-body");
  const node = h("details.given", h("summary", icon("memories", 16), h("span", `Given: ${said}`)), body);
  node.addEventListener("toggle", async () => {
    if (!node.open || body.hasChildNodes()) return;
    try {
      const lines = await Promise.all(parts.map(async (part) => line(part, part.id ? await find(part.id) : null)));
      fill(body, h("ul.given-list", lines), h("small.muted", `about ${count(tokens)} tokens`));
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  });
  return node;
}

function line(part, memory) {
  const [name, path] = PARTS[part.what] ?? [part.what, null];
  const what = memory
    ? h("a", { href: href("memories", { id: memory.id }) }, memory.content)
    : path
      ? h("a", { href: href(path) }, name)
      : name;
  return h("li", h("div.given-text", what), h("small.muted", part.why));
}
