// Small parts that many pages use.
//
//   when("2026-11-16T04:14:41Z")              relative, kept up to date, exact on hover
//   bar({ value: 670, limit: 1000, label: "670 of 1,000 characters" })
//   empty({ icon: "tasks", title: "No tasks yet", text: "…", action: node })
//   chip("label", { onremove })               a tag
//   new TagEditor({ tags, known })            chips and a field; Enter or comma adds, Backspace removes
//   segmented({ label, options: [["", "All"], …], value, onchange })
//   select({ label, options, value, onchange })
//   card("Title", { action: node }, ...children)
//   definition([["Key", value], …])           leaves out what is null
//   coded("run `x`")                          text with <code> for what stands in backticks: our own texts and hints
//   marked(text, words)                       text with <mark> around words
//   excerpt(text, words)                      one line, begun shortly before the first of the words
import { h } from "../dom.js";
import { ago, exactTime } from "../format.js";
import { icon } from "../icons.js";

/** @import { IconName } from "../icons.js" */

/** @typedef {[key: string, text: string]} Option */

/**
 * @param {Api.Instant | null | undefined} at
 * @param {{ prefix?: string }} [options]
 */
export function when(at, { prefix = "" } = {}) {
  if (!at) return h("span");
  return h("time", { dateTime: at, title: exactTime(at), dataset: { prefix } }, prefix + ago(at));
}

/** Updates every relative time on the page once a minute. */
export function startClock() {
  setInterval(() => {
    const now = Date.now();
    for (const node of document.querySelectorAll("time")) {
      const { prefix } = node.dataset;
      if (prefix !== undefined) node.textContent = prefix + ago(node.dateTime, now);
    }
  }, 60_000);
}

/** @param {{ value: number, limit: number, label: string }} options */
export function bar({ value, limit, label }) {
  const part = limit > 0 ? value / limit : 0;
  const meter = {
    role: "meter",
    "aria-label": label,
    "aria-valuemin": 0,
    "aria-valuemax": limit,
    "aria-valuenow": value,
  };
  return h(
    "div.bar",
    { class: part > 1 ? "over" : part > 0.9 ? "near" : "", style: { "--part": `${Math.min(100, part * 100)}%` } },
    h("div.bar-track", meter, h("div.bar-fill")),
    h("span.bar-label", label),
  );
}

/** @param {{ icon?: IconName, title: string, text?: Dom.Child, action?: Dom.Child }} options */
export function empty({ icon: name = "memories", title, text, action }) {
  return h("div.empty", h("div.empty-icon", icon(name, 28)), h("h2", title), text ? h("p", text) : null, action);
}

/**
 * @param {string} text
 * @param {{ onremove?: () => void, onclick?: () => void, kind?: string }} [options]
 */
export function chip(text, { onremove, onclick, kind = "" } = {}) {
  if (onclick) return h("button.chip", { type: "button", class: kind, onclick }, text);
  const label = `Remove ${text}`;
  return h(
    "span.chip",
    { class: kind },
    text,
    onremove ? h("button.chip-x", { type: "button", "aria-label": label, onclick: onremove }, icon("close", 12)) : null,
  );
}

let datalists = 0;

export class TagEditor {
  /** @param {{ tags: string[], known: string[] }} options */
  constructor({ tags, known }) {
    this.list = [...tags];
    datalists += 1;
    const id = `known-tags-${datalists}`;
    this.chips = h("span.tag-chips");
    this.field = h("input", {
      type: "text",
      placeholder: "Add a tag",
      "aria-label": "Tags",
      list: id,
      autocomplete: "off",
    });
    this.field.addEventListener("keydown", (event) => this.#onKey(event));
    this.field.addEventListener("change", () => this.#take());
    this.node = h(
      "div.tag-editor",
      this.chips,
      this.field,
      h(
        "datalist",
        { id },
        known.map((tag) => h("option", { value: tag })),
      ),
    );
    this.#draw();
  }

  /** The tags, with what is still in the field. */
  get tags() {
    this.#take();
    return [...this.list];
  }

  #draw() {
    /** @param {string} tag */
    const remove = (tag) => {
      this.list.splice(this.list.indexOf(tag), 1);
      this.#draw();
    };
    this.chips.replaceChildren(...this.list.map((tag) => chip(tag, { onremove: () => remove(tag) })));
  }

  #take() {
    const given = this.field.value.split(",").map((tag) => tag.trim());
    const added = given.filter((tag) => tag && !this.list.includes(tag));
    this.field.value = "";
    if (!added.length) return;
    this.list.push(...new Set(added));
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key === "Enter" || event.key === ",") {
      if (!this.field.value.trim()) return;
      event.preventDefault();
      this.#take();
    } else if (event.key === "Backspace" && !this.field.value && this.list.length) {
      this.list.pop();
      this.#draw();
    }
  }
}

/**
 * Buttons of which one is pressed.
 * @param {{ label: string, options: Option[], value: string, onchange: (value: string) => void }} options
 */
export function segmented({ label, options, value, onchange }) {
  /** @param {string} next */
  const press = (next) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.key === next));
  };
  const buttons = options.map(([key, text]) => {
    const choose = () => {
      press(key);
      onchange(key);
    };
    return h("button", { type: "button", "aria-pressed": key === value, dataset: { key }, onclick: choose }, text);
  });
  return { node: h("div.segmented", { role: "group", "aria-label": label }, buttons), press };
}

/** @param {{ label: string, options: Option[], value: string, onchange: (value: string) => void }} options */
export function select({ label, options, value, onchange }) {
  const node = h(
    "select",
    { "aria-label": label, onchange: (event) => onchange(event.currentTarget.value) },
    options.map(([key, text]) => h("option", { value: key }, text)),
  );
  node.value = value;
  const sync = () => node.classList.toggle("is-set", node.value !== options[0][0]);
  node.addEventListener("change", sync);
  sync();
  return node;
}

/**
 * @param {string} title
 * @param {{ action?: Dom.Child, class?: string }} options
 * @param {...Dom.Child} children
 */
export function card(title, { action, class: name = "" }, ...children) {
  const head = h("header.card-head", h("h2", title), action);
  return h("section.card", { class: name, "aria-label": title }, head, ...children);
}

/** @param {[name: string, value: Dom.Child][]} rows */
export function definition(rows) {
  return h(
    "dl.definition",
    rows
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [h("dt", name), h("dd", value)]),
  );
}

/**
 * @param {string} text
 * @returns {Dom.Child[]}
 */
export function coded(text) {
  return text.split("`").map((part, at) => (at % 2 ? h("code", part) : part));
}

const WORD = /[\p{L}\p{N}]+/gu;
/** @param {string} word */
const fold = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * The words of a query, ready for `marked`; words of one or two letters count only where there are no others.
 * @param {string} query
 */
export function wordsOf(query) {
  const all = [...new Set((query.match(WORD) ?? []).map(fold))];
  const long = all.filter((word) => word.length > 2);
  return long.length ? long : all;
}

/**
 * A word is marked when it and a word of the query begin alike: the index knows words by their stems.
 * @param {string} word
 * @param {string[]} wanted
 */
function fits(word, wanted) {
  const folded = fold(word);
  return wanted.some((each) => {
    if (folded === each) return true;
    if (each.length < 4 || folded.length < 4 || Math.abs(folded.length - each.length) > 4) return false;
    const shared = Math.max(4, Math.min(folded.length, each.length) - 2);
    return folded.slice(0, shared) === each.slice(0, shared);
  });
}

/**
 * @param {string} text
 * @param {string[]} wanted
 * @returns {(string | HTMLElement)[]}
 */
export function marked(text, wanted) {
  if (!wanted.length) return [text];
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

/** Of what stands before the word, so much is shown. */
const LEAD = 18;

/**
 * @param {string} text
 * @param {string[]} wanted
 */
export function excerpt(text, wanted) {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const at = [...line.matchAll(WORD)].find((match) => fits(match[0], wanted))?.index ?? 0;
  if (at <= LEAD) return line;
  // From the beginning of a word, or of the word itself where the one before it is long.
  const from = line.indexOf(" ", at - LEAD - 1) + 1;
  return `…${line.slice(from > 0 ? Math.min(from, at) : at)}`;
}
