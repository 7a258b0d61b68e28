// Small parts that many pages use.
//
//   when("2026-11-16T04:14:41Z")              relative, keeps itself up to date, exact on hover
//   bar({ value: 670, limit: 1000, label: "670 of 1,000 characters" })
//   empty({ icon: "tasks", title: "No tasks yet", text: "…", action: node })
//   chip("label", { onremove })               a tag
//   tagEditor({ tags, known, onchange })      chips and a field; Enter or comma adds, Backspace removes
//   segmented({ label, options: [["", "All"], …], value, onchange })
//   select({ label, options, value, onchange })
//   card("Title", { action: node }, ...children)
//   definition([["Key", value], …])           leaves out what is null
//   coded("run `x`")                          text with <code> for what stands in backticks: our own texts and hints
//   marked(text, words)                       text nodes and <mark>
import { h } from "../dom.js";
import { ago, exactTime } from "../format.js";
import { icon } from "../icons.js";

export function when(at, { prefix = "" } = {}) {
  if (!at) return h("span");
  return h("time", { dateTime: at, title: exactTime(at), dataset: { prefix } }, prefix + ago(at));
}

/// Once a minute, every time that is shown is told anew.
export function startClock() {
  setInterval(() => {
    const now = Date.now();
    for (const node of document.querySelectorAll("time[data-prefix]"))
      node.textContent = node.dataset.prefix + ago(node.dateTime, now);
  }, 60_000);
}

export function bar({ value, limit, label }) {
  const part = limit > 0 ? value / limit : 0;
  return h(
    "div.bar",
    { class: part > 1 ? "over" : part > 0.9 ? "near" : "", style: { "--part": `${Math.min(100, part * 100)}%` } },
    h(
      "div.bar-track",
      { role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": limit, "aria-valuenow": value },
      h("div.bar-fill"),
    ),
    h("span.bar-label", label),
  );
}

export function empty({ icon: name = "memories", title, text, action }) {
  return h("div.empty", h("div.empty-icon", icon(name, 28)), h("h2", title), text ? h("p", text) : null, action);
}

export function chip(text, { onremove, onclick, kind = "" } = {}) {
  return h(
    onclick ? "button.chip" : "span.chip",
    { class: kind, onclick, ...(onclick ? { type: "button" } : {}) },
    text,
    onremove
      ? h("button.chip-x", { type: "button", "aria-label": `Remove ${text}`, onclick: onremove }, icon("close", 12))
      : null,
  );
}

let datalists = 0;

export function tagEditor({ tags, known = [], label = "Tags", onchange }) {
  const list = [...tags];
  const id = `known-tags-${(datalists += 1)}`;
  const chips = h("span.tag-chips");
  const field = h("input", {
    type: "text",
    placeholder: "Add a tag",
    "aria-label": label,
    list: id,
    autocomplete: "off",
  });
  const draw = () => {
    chips.replaceChildren(
      ...list.map((tag) =>
        chip(tag, {
          onremove: () => {
            list.splice(list.indexOf(tag), 1);
            changed();
          },
        }),
      ),
    );
  };
  const changed = () => {
    draw();
    onchange?.([...list]);
  };
  const take = () => {
    const given = field.value
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag && !list.includes(tag));
    field.value = "";
    if (given.length) {
      list.push(...given);
      changed();
    }
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === ",") {
      if (!field.value.trim()) return;
      event.preventDefault();
      take();
    } else if (event.key === "Backspace" && !field.value && list.length) {
      list.pop();
      changed();
    }
  });
  field.addEventListener("change", take);
  draw();
  const node = h(
    "div.tag-editor",
    chips,
    field,
    h(
      "datalist",
      { id },
      known.map((tag) => h("option", { value: tag })),
    ),
  );
  node.tags = () => {
    take();
    return [...list];
  };
  return node;
}

export function segmented({ label, options, value, onchange }) {
  const buttons = options.map(([key, text]) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": key === value,
        dataset: { key },
        onclick: () => {
          node.value = key;
          onchange(key);
        },
      },
      text,
    ),
  );
  const node = h("div.segmented", { role: "group", "aria-label": label }, buttons);
  Object.defineProperty(node, "value", {
    set(next) {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.key === next));
    },
  });
  return node;
}

export function select({ label, options, value, onchange }) {
  const node = h(
    "select",
    { "aria-label": label, onchange: () => onchange(node.value) },
    options.map(([key, text]) => h("option", { value: key }, text)),
  );
  node.value = value ?? "";
  const sync = () => node.classList.toggle("is-set", node.value !== options[0][0]);
  node.addEventListener("change", sync);
  sync();
  return node;
}

export function card(title, { action, class: name = "", id } = {}, ...children) {
  return h(
    "section.card",
    { class: name, ...(id ? { id } : {}), "aria-label": title },
    h("header.card-head", h("h2", title), action),
    ...children,
  );
}

export function definition(rows) {
  return h(
    "dl.definition",
    rows
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [h("dt", name), h("dd", value)]),
  );
}

export function coded(text) {
  return text.split("`").map((part, at) => (at % 2 ? h("code", part) : part));
}

const WORD = /[\p{L}\p{N}]+/gu;
const fold = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/// The words of a query, ready for `marked`; the shortest count only where there are no others.
export function wordsOf(query) {
  const all = [...new Set((query.match(WORD) ?? []).map(fold))];
  const long = all.filter((word) => word.length > 2);
  return long.length ? long : all;
}

/// A word is marked when it and a word of the query begin alike: the index knows words by their stems.
function fits(word, wanted) {
  const folded = fold(word);
  return wanted.some((each) => {
    if (folded === each) return true;
    const shared = Math.max(4, Math.min(folded.length, each.length) - 2);
    return (
      each.length >= 4 &&
      folded.length >= 4 &&
      folded.slice(0, shared) === each.slice(0, shared) &&
      Math.abs(folded.length - each.length) <= 4
    );
  });
}

export function marked(text, wanted) {
  if (!wanted?.length) return [text];
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(WORD)) {
    if (!fits(match[0], wanted)) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(h("mark", match[0]));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}
