// Everything about one memory: text, fields, where it came from, its history, and what can be done to it.
//
//   const pane = new DetailsPane({ onclose, onopen, onfilter, onrenamed, known, words, signal })      pane.node
//   pane.show(memory)      pane.refresh()      pane.edit()      pane.isDirty      pane.clear()
import { fill, h } from "../dom.js";
import { api, isAborted, messageOf, Newest, statusOf } from "../api.js";
import { exactTime, LAYERS, plural, sourceName } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { chip, definition, marked, when } from "../components/parts.js";
import { scoreDetails } from "../components/score.js";
import { attempt, failed } from "../components/toast.js";
import { nameOf, titleOf } from "../conversations/names.js";
import { documentLines } from "../documents/lines.js";
import { withoutStamp } from "../documents/marks.js";
import { showVersions } from "../documents/versions.js";
import { bringBack, forget, pathOf, restoreVersion } from "./actions.js";
import { MemoryEditor } from "./editor.js";
import { erase } from "./erase.js";
import { correct } from "./forms.js";
import { drawVersions } from "./versions.js";
import { giveAgain, isMuted, mute, mutedChip, mutedWhere } from "../sees/mute.js";

/** @import { IconName } from "../icons.js" */
/** @import { Item } from "./source.js" */

/** @param {Item} memory parts of conversations and files are found, but are no memories of their own */
const isOwn = ({ kind }) => kind !== "turn" && kind !== "chunk";

/** @param {Item} memory what is muted, and where, in one text */
const mutes = ({ muted, muted_in: projects = [] }) => [Boolean(muted), ...projects].join();

/**
 * @typedef {object} PaneOptions
 * @property {() => void} onclose
 * @property {(id: string) => unknown} onopen
 * @property {(filters: { tag: string }) => void} onfilter
 * @property {(id: string) => void} onrenamed
 * @property {() => string[]} known tags to suggest
 * @property {() => string[]} words to mark
 * @property {AbortSignal} signal
 */

export class DetailsPane {
  node = h("aside.details", { "aria-label": "Details", tabIndex: -1 });
  /** @type {Item | null} */
  memory = null;
  /** What a search found says too little: whether it is muted, for one. Until the whole is there, some buttons wait. */
  #isWhole = false;
  /** @type {MemoryEditor | null} */
  #editor = null;
  #history = h("div.versions");
  #notice = h(
    "p.notice",
    { hidden: true, role: "status" },
    "This memory was changed elsewhere. Saving will show you both versions.",
  );

  /** @param {PaneOptions} options */
  constructor(options) {
    this.options = options;
    this.latest = new Newest(options.signal);
  }

  get id() {
    return this.memory?.id ?? null;
  }

  get isDirty() {
    return this.#editor?.isDirty ?? false;
  }

  /** @param {Item} memory */
  async show(memory) {
    this.memory = memory;
    this.#isWhole = !isOwn(memory);
    this.#editor = null;
    this.#draw(memory);
    this.node.scrollTop = 0;
    await Promise.all([this.#loadHistory(memory), this.refresh()]);
  }

  clear() {
    this.memory = null;
    this.#editor = null;
    fill(this.node);
  }

  /** Fetches it again. While it is being edited, nothing is replaced; a change elsewhere is only announced. */
  async refresh() {
    const { memory } = this;
    if (!memory || !isOwn(memory)) return;
    try {
      const fresh = await api.get(pathOf(memory.id), null, { signal: this.options.signal });
      if (this.memory === memory) await this.#update(memory, fresh);
    } catch (error) {
      if (this.memory !== memory) return;
      if (statusOf(error) === 404) {
        this.memory = null;
        this.options.onclose();
      } else {
        failed(error);
      }
    }
  }

  edit() {
    const { memory } = this;
    if (!memory || this.#editor || memory.status !== "active" || !isOwn(memory)) return;
    this.#notice.hidden = true;
    this.#editor = new MemoryEditor(memory, {
      known: this.options.known(),
      onsaved: (saved) => {
        // A line of a document is known by its text: edited, it has another id.
        if (saved.id !== memory.id) this.options.onrenamed(saved.id);
        this.show(saved);
      },
      oncancel: () => {
        this.#editor = null;
        this.#draw(memory);
        this.refresh();
      },
    });
    this.#draw(memory);
    this.#editor.focus();
  }

  /**
   * @param {Item} before
   * @param {Api.Memory} fresh
   */
  async #update(before, fresh) {
    const isChanged = fresh.version !== before.version || fresh.status !== before.status;
    if (this.#editor) {
      if (isChanged) this.#notice.hidden = false;
      return;
    }
    const isSame = !isChanged && fresh.recall_count === before.recall_count && mutes(fresh) === mutes(before);
    if (this.#isWhole && isSame) return;
    this.#isWhole = true;
    const top = this.node.scrollTop;
    // How it was found stays true of the same text.
    const { why, score } = before;
    this.memory = fresh.version === before.version && why ? { ...fresh, why, score } : fresh;
    this.#draw(this.memory);
    if (isChanged) await this.#loadHistory(this.memory);
    this.node.scrollTop = top;
  }

  /** @param {Item} memory */
  #draw(memory) {
    const { onclose, onfilter, words } = this.options;
    const tags = (memory.tags ?? []).map((tag) => chip(tag, { onclick: () => onfilter({ tag }) }));
    const { why, score } = memory;
    const focused = document.activeElement;
    const action = focused instanceof HTMLElement && this.node.contains(focused) ? focused.dataset.action : undefined;
    fill(
      this.node,
      head(memory, onclose),
      this.#editor
        ? [this.#notice, this.#editor.node]
        : [textOf(memory, words()), this.#buttons(memory), h("div.chips", tags)],
      why && score !== undefined ? h("section", h("h3", "Why it was found"), scoreDetails(why, score)) : null,
      h("section", h("h3", "About it"), facts(memory)),
      this.#provenance(memory),
      isOwn(memory) ? h("section", h("h3", "History"), this.#history) : null,
    );
    // Drawn again, it keeps the focus where it was.
    const again = action ? this.node.querySelector(`button[data-action=${action}]`) : null;
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {Item} memory */
  #buttons(memory) {
    if (!isOwn(memory)) return null;
    const { onopen, onclose } = this.options;
    /** @type {(name: IconName, title: string, action: () => unknown, kind?: string) => HTMLButtonElement} */
    const button = (name, title, action, kind = "") =>
      h("button.small", { type: "button", class: kind, onclick: attempt(action) }, icon(name, 16), title);
    const correctIt = async () => {
      const made = await correct(memory);
      if (made) onopen(made.id);
    };
    const eraseIt = async () => {
      if (await erase(memory)) onclose();
    };
    const giving = isMuted(memory)
      ? button("restore", "Give again", () => giveAgain(memory))
      : button("mute", "Mute", () => mute(memory.id, memory.project ?? ""));
    giving.dataset.action = "mute";
    giving.disabled = !this.#isWhole;
    const active = [
      button("edit", "Edit", () => this.edit()),
      button("correct", "Correct", correctIt),
      giving,
      button("forget", "Forget", () => forget(memory)),
    ];
    return h(
      "div.row.wrap.details-actions",
      memory.status === "active" ? active : button("restore", "Bring back", () => bringBack(memory)),
      button("erase", "Erase…", eraseIt, "quiet"),
    );
  }

  /** @param {Item} memory */
  #provenance({ session, task, provenance: turns = [], supersedes: replaced = [], evidence: same = [] }) {
    if (!turns.length && !replaced.length && !same.length && !session && !task) return null;
    /** @param {string} id */
    const link = (id) =>
      h("button.link.mono", { type: "button", onclick: () => this.options.onopen(id) }, id.slice(0, 8));
    return h(
      "section",
      h("h3", "Where it came from"),
      definition([
        ["Conversation", session ? this.#talk(session) : null],
        ["Turns", turns.length ? plural(turns.length, "turn") : null],
        ["Task", task ? h("a", { href: href(`tasks/${task}`) }, task) : null],
        ["Replaces", replaced.length ? replaced.map(link) : null],
        ["Also said in", same.length ? same.map(link) : null],
      ]),
    );
  }

  /**
   * A conversation by its title, as soon as that is known.
   * @param {string} session
   */
  #talk(session) {
    const link = h("a", { href: href(`conversations/${session}`) }, nameOf(session));
    const path = /** @type {const} */ (`/api/sessions/${encodeURIComponent(session)}`);
    api
      .get(path, { limit: 0 })
      .then(({ session: found }) => fill(link, titleOf(found)))
      .catch(() => {});
    return link;
  }

  /** @param {Item} memory */
  async #loadHistory(memory) {
    if (!isOwn(memory)) {
      fill(this.#history);
      return;
    }
    if (memory.kind === "bullet") {
      fill(this.#history, documentHistory(memory.namespace));
      return;
    }
    fill(this.#history, h("p.muted", "…"));
    try {
      const path = /** @type {const} */ (`${pathOf(memory.id)}/history`);
      const { versions } = await this.latest.run((signal) => api.get(path, null, { signal }));
      if (this.id !== memory.id) return;
      fill(
        this.#history,
        drawVersions(versions, (version) => restoreVersion(memory, version)),
      );
    } catch (error) {
      if (!isAborted(error)) fill(this.#history, h("p.muted", messageOf(error)));
    }
  }
}

/**
 * A summary has headings and bullets; all else is one text.
 * @param {Item} memory
 * @param {string[]} words to mark
 */
function textOf({ layer, kind, content }, words) {
  if (layer === "archive" && /^#|^[-*] /m.test(withoutStamp(content)))
    return h("div.details-text.is-long", documentLines(withoutStamp(content), words));
  const plain = kind === "turn" ? content : content.replaceAll(/\[sig:[1-5]\]\s*/g, "");
  return h("p.details-text", marked(withoutStamp(plain), words));
}

/**
 * @param {Item} memory
 * @param {() => void} onclose
 */
function head(memory, onclose) {
  const layer = LAYERS[memory.layer];
  return h(
    "header.details-head",
    h(
      "span.details-layer",
      { dataset: { layer: memory.layer } },
      h("i"),
      memory.kind === "turn" ? "Said in a conversation" : layer ? `${layer.name}, ${layer.about}` : memory.kind,
    ),
    memory.status === "inactive" ? chip("inactive", { kind: "bad" }) : null,
    mutedChip(memory),
    h("button.bare", { type: "button", "aria-label": "Close details", onclick: onclose }, icon("close")),
  );
}

/** @param {Item} memory */
function facts(memory) {
  if (memory.kind === "turn") return turnFacts(memory);
  const { significance, recall_count: recalls, last_recalled_at: lastRecalled, project, key, namespace } = memory;
  const last = lastRecalled ? [", last ", when(lastRecalled)] : null;
  return definition([
    ["Source", sourceName(memory.source)],
    ["Significance", significance ? `${significance} of 5${significance >= 4 ? ", protected" : ""}` : null],
    ["Importance", memory.importance?.toFixed(2)],
    ["Recalled", recalls ? [plural(recalls, "time"), last] : "never"],
    ["Given", isMuted(memory) ? mutedWhere(memory) : null],
    ["Project", project ? h("a", { href: href("memories", { project }) }, project) : null],
    ["Key", key ? h("code", key) : null],
    ["Created", exactTime(memory.created_at)],
    ["Updated", memory.updated_at !== memory.created_at ? exactTime(memory.updated_at) : null],
    ["Expires", memory.expires_at ? when(memory.expires_at) : null],
    ["Kept in", memory.kind === "bullet" ? h("a", { href: href(`documents/${namespace}`) }, namespace) : namespace],
    ["Version", memory.version],
    ["Id", h("code", memory.id)],
  ]);
}

/** @param {Item} turn */
function turnFacts({ id, speaker, source, project, created_at: at }) {
  return definition([
    ["Said by", speaker ?? sourceName(source)],
    ["Said", exactTime(at)],
    ["Project", project ? h("a", { href: href("memories", { project }) }, project) : null],
    ["Id", h("code", id)],
  ]);
}

/** @param {string} name of the document that the memory is a line of */
function documentHistory(name) {
  return h(
    "p.muted",
    "It is a line of a document, which has the history. ",
    h("button.link", { type: "button", onclick: attempt(() => showVersions(name, name)) }, `History of ${name}`),
  );
}
