// Ctrl-K: one field over memories, conversations, documents and actions. Arrows choose, Enter goes there, Esc closes.
//
//   startPalette(actions)      actions: () => [{ title, icon, run }]
import { debounce, fill, h } from "../dom.js";
import { api, isAborted, Newest } from "../api.js";
import { ago } from "../format.js";
import { icon } from "../icons.js";
import { go } from "../router.js";
import { failed } from "./toast.js";
import { marked, wordsOf } from "./parts.js";
import { channelName, channelOf, nameOf, titleOf } from "../conversations/names.js";
import { plainText } from "../documents/marks.js";

/** @import { IconName } from "../icons.js" */

/**
 * @typedef {object} Choice
 * @property {string} title
 * @property {string} [note]
 * @property {IconName} icon
 * @property {() => unknown} run
 * @typedef {{ title: string, choices: Choice[] }} Group
 * @typedef {object} Found
 * @property {Api.ListedSession[]} sessions by their titles
 * @property {Api.Hit[]} memories
 * @property {{ turn: Api.Hit, title: string }[]} said
 * @property {Api.ListedDocument[]} documents
 */

const TYPING_MS = 90;
const EACH = 6;

/** @param {() => Choice[]} actions */
export function startPalette(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    const open = document.querySelector("dialog.palette");
    if (open instanceof HTMLDialogElement) open.close();
    else if (!document.querySelector("dialog[open]")) openPalette(actions);
  });
}

/** @param {() => Choice[]} actions */
export function openPalette(actions) {
  new Palette(actions()).open();
}

class Palette {
  #gone = new AbortController();
  #latest = new Newest(this.#gone.signal);
  /** @type {Choice[]} */
  #shown = [];
  #at = 0;
  #before = document.activeElement;
  /**
   * What conversations are called, each asked for once.
   * @type {Map<string, Promise<string>>}
   */
  #titles = new Map();
  #field = h("input.search", {
    type: "search",
    role: "combobox",
    placeholder: "Search everything, or type what to do",
    "aria-label": "Search everything",
    "aria-expanded": true,
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: false,
    maxLength: 400,
  });
  #list = h("div.palette-list", { id: "palette-list", role: "listbox", "aria-label": "Found" });
  #node = h("dialog.dialog.palette", { "aria-label": "Search everything" });

  /** @param {Choice[]} actions */
  constructor(actions) {
    this.actions = actions;
  }

  open() {
    const hint = h(
      "p.palette-hint",
      h("span", h("kbd", "↑"), h("kbd", "↓"), " choose"),
      h("span", h("kbd", "↵"), " open"),
      h("span", h("kbd", "Esc"), " close"),
    );
    fill(this.#node, h("label.search-box", icon("search"), this.#field), this.#list, hint);
    const typed = debounce(TYPING_MS, () => this.#search());
    this.#field.addEventListener("input", typed);
    this.#node.addEventListener("keydown", (event) => this.#onKey(event));
    this.#node.addEventListener("pointerdown", (event) => {
      if (event.target === this.#node) this.#node.close();
    });
    this.#node.addEventListener("close", () => {
      typed.cancel();
      this.#gone.abort();
      this.#node.remove();
      if (this.#before instanceof HTMLElement && this.#before.isConnected) this.#before.focus();
    });
    document.body.append(this.#node);
    this.#node.showModal();
    this.#field.focus();
    this.#show([{ title: "Go to", choices: this.actions }]);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    event.stopPropagation();
    if (event.key === "ArrowDown") this.#choose(this.#at + 1);
    else if (event.key === "ArrowUp") this.#choose(this.#at - 1);
    else if (event.key === "Enter" && !event.isComposing) this.#run(this.#shown[this.#at]);
    // In a search field the browser would only clear it.
    else if (event.key === "Escape") this.#node.close();
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) this.#node.close();
    else return;
    event.preventDefault();
  }

  /** @param {Choice | undefined} choice */
  #run(choice) {
    if (!choice) return;
    this.#before = null;
    this.#node.close();
    choice.run();
  }

  /** @param {number} at */
  #choose(at) {
    if (!this.#shown.length) return;
    this.#at = (at + this.#shown.length) % this.#shown.length;
    this.#list.querySelectorAll("[role=option]").forEach((node, index) => {
      node.setAttribute("aria-selected", String(index === this.#at));
      if (index === this.#at) node.scrollIntoView({ block: "nearest" });
    });
    this.#field.setAttribute("aria-activedescendant", `palette-${this.#at}`);
  }

  async #search() {
    const text = this.#field.value.trim();
    const words = wordsOf(text);
    const actions = this.actions.filter(({ title }) => fits(title, words));
    if (!words.length) {
      this.#latest.cancel();
      this.#show([{ title: "Go to", choices: this.actions }]);
      return;
    }
    try {
      const found = await this.#latest.run((signal) => this.#find(text, signal));
      this.#show(groupsOf(actions, found), words);
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }

  /**
   * @param {string} text
   * @param {AbortSignal} signal
   * @returns {Promise<Found>}
   */
  async #find(text, signal) {
    const [{ hits }, { sessions }, { documents }] = await Promise.all([
      api.post("/api/recall", { query: text, limit: 24, peek: true }, { signal }),
      api.get("/api/sessions", { query: text, limit: EACH }, { signal }),
      api.get("/api/documents", { query: text }, { signal }),
    ]);
    const memories = hits.filter(({ kind }) => kind !== "turn").slice(0, EACH);
    const turns = hits.filter(({ kind, session }) => kind === "turn" && session).slice(0, EACH);
    const titles = await Promise.all(turns.map(({ session }) => this.#titleOf(session ?? "")));
    const said = turns.map((turn, at) => ({ turn, title: titles[at] }));
    return { memories, said, sessions, documents: documents.slice(0, EACH) };
  }

  /** @param {string} session */
  #titleOf(session) {
    const path = /** @type {const} */ (`/api/sessions/${encodeURIComponent(session)}`);
    const ask = async () => {
      try {
        return titleOf((await api.get(path, { limit: 0 }, { signal: this.#gone.signal })).session);
      } catch (error) {
        if (isAborted(error)) throw error;
        return nameOf(session);
      }
    };
    const known = this.#titles.get(session) ?? ask();
    this.#titles.set(session, known);
    return known;
  }

  /**
   * @param {Group[]} groups
   * @param {string[]} [words] to mark
   */
  #show(groups, words = []) {
    const full = groups.filter(({ choices }) => choices.length);
    this.#shown = full.flatMap(({ choices }) => choices);
    let index = -1;
    const option = (/** @type {Choice} */ choice) => {
      index += 1;
      const [at, id] = [index, `palette-${index}`];
      return h(
        "div.palette-option",
        {
          id,
          role: "option",
          "aria-selected": at === 0,
          onpointermove: () => at !== this.#at && this.#choose(at),
          onclick: () => this.#run(choice),
        },
        icon(choice.icon, 18),
        h("span.palette-title", marked(choice.title, words)),
        choice.note ? h("span.palette-note", choice.note) : null,
      );
    };
    fill(
      this.#list,
      full.map(({ title, choices }) =>
        h(
          "div",
          { role: "group", "aria-label": title },
          h("div.palette-group", { "aria-hidden": "true" }, title),
          choices.map(option),
        ),
      ),
      full.length ? null : h("p.muted.palette-none", "Nothing found"),
    );
    this.#choose(0);
  }
}

/**
 * @param {string} text
 * @param {string[]} words
 */
function fits(text, words) {
  const low = text.toLowerCase();
  return words.every((word) => low.includes(word));
}

/**
 * @param {Choice[]} actions
 * @param {Found} found
 * @returns {Group[]}
 */
function groupsOf(actions, { sessions, memories, said, documents }) {
  return [
    { title: "Go to", choices: actions.slice(0, EACH) },
    { title: "Conversations", choices: sessions.map(conversationChoice) },
    { title: "Memories", choices: memories.map(memoryChoice) },
    { title: "Said in conversations", choices: said.map(turnChoice) },
    { title: "Documents", choices: documents.map(documentChoice) },
  ];
}

/** @type {(session: Api.ListedSession) => Choice} */
const conversationChoice = (session) => ({
  title: titleOf(session),
  note: `${channelName(channelOf(session.id))}, ${ago(session.updated_at)}`,
  icon: "conversations",
  run: () => go("conversations", { id: session.id }),
});

/** @type {(memory: Api.Hit) => Choice} */
const memoryChoice = ({ id, content, updated_at: at }) => ({
  title: plainText(content),
  note: ago(at),
  icon: "memories",
  run: () => go("memories", { id }),
});

/** @type {(said: Found["said"][number]) => Choice} */
const turnChoice = ({ turn: { id, content, session, created_at: at }, title }) => ({
  title: plainText(content),
  note: `${title}, ${ago(at)}`,
  icon: "chat",
  run: () => go("conversations", { id: session, turn: id }),
});

/** @type {(document: Api.ListedDocument) => Choice} */
const documentChoice = ({ name, line }) => ({
  title: line ? plainText(line) : name,
  note: line ? name : undefined,
  icon: "documents",
  run: () => go(`documents/${name}`),
});
