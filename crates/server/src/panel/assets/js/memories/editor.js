// Editing one memory in place. It saves against the version that was opened; a version that somebody else saved
// meanwhile is shown, never overwritten.
import { h } from "../dom.js";
import { api, statusOf } from "../api.js";
import { changedHere } from "../live.js";
import { undoable, withSecrets } from "../undo.js";
import { dialog } from "../components/dialog.js";
import { wordDiff } from "../components/diff.js";
import { TagEditor } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { plainText } from "../documents/marks.js";
import { pathOf } from "./actions.js";
import { weightSelect } from "./forms.js";

/**
 * @param {unknown} a
 * @param {unknown} b
 */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * @typedef {object} EditorOptions
 * @property {string[]} known tags to suggest
 * @property {(memory: Api.Memory) => void} onsaved
 * @property {() => void} oncancel
 */

export class MemoryEditor {
  #key = h("input", { type: "text", spellcheck: false, autocomplete: "off" });
  #project = h("input", { type: "text", autocomplete: "off" });
  #save = h("button.primary", { type: "button", onclick: () => this.#store() }, "Save");

  /**
   * @param {Api.Memory} memory
   * @param {EditorOptions} options
   */
  constructor(memory, { known, onsaved, oncancel }) {
    this.base = memory;
    this.onsaved = onsaved;
    this.oncancel = oncancel;
    this.text = h("textarea.mem-edit", { value: editable(memory), "aria-label": "Content" });
    this.tags = new TagEditor({ tags: memory.tags ?? [], known });
    this.weight = weightSelect(memory.significance);
    this.#key.value = memory.key ?? "";
    this.#project.value = memory.project ?? "";
    this.text.addEventListener("input", () => this.#grow());
    this.node = this.#frame();
    requestAnimationFrame(() => this.#grow());
  }

  get isDirty() {
    return Object.keys(this.#changes()).length > 0;
  }

  focus() {
    this.text.focus();
  }

  #frame() {
    return h(
      "form.mem-form",
      { onsubmit: (event) => event.preventDefault(), onkeydown: (event) => this.#onKey(event) },
      h("label.field", h("span", "Content"), this.text),
      h("div.field", h("span", "Tags"), this.tags.node),
      h(
        "div.mem-form-row",
        h("label.field", h("span", "Significance"), this.weight),
        h("label.field", h("span", "Project"), this.#project),
        h("label.field", h("span", "Key"), this.#key),
      ),
      h(
        "div.row",
        this.#save,
        h("button", { type: "button", onclick: () => this.oncancel() }, "Cancel"),
        h("small.muted", "Ctrl+Enter saves"),
      ),
    );
  }

  #grow() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(420, this.text.scrollHeight + 2)}px`;
  }

  /** The fields that differ from what was opened. */
  #changes() {
    const { base } = this;
    /** @type {Record<string, [now: unknown, before: unknown]>} */
    const fields = {
      content: [this.text.value.trim(), editable(base)],
      tags: [this.tags.tags, base.tags ?? []],
      significance: [Number(this.weight.value), base.significance],
      key: [this.#key.value.trim() || null, base.key ?? null],
      project: [this.#project.value.trim() || null, base.project ?? null],
    };
    const changed = Object.entries(fields).filter(([, [now, before]]) => !same(now, before));
    return Object.fromEntries(changed.map(([name, [now]]) => [name, now]));
  }

  async #store() {
    const body = this.#changes();
    if (!Object.keys(body).length) {
      this.oncancel();
      return;
    }
    this.#save.disabled = true;
    try {
      const headers = { "If-Match": `"${this.base.version}"` };
      const saved = await api.patch(pathOf(this.base.id), body, { headers });
      changedHere("memories");
      this.onsaved(saved);
      await undoable(withSecrets("Saved", saved));
    } catch (error) {
      if (statusOf(error) === 412) await this.#settle().catch(failed);
      else failed(error);
    } finally {
      this.#save.disabled = false;
    }
  }

  async #settle() {
    const theirs = await api.get(pathOf(this.base.id));
    const mine = this.text.value;
    const takeTheirs = () => {
      close();
      this.onsaved(theirs);
    };
    const putMine = () => {
      close();
      this.base = theirs;
      this.#store();
    };
    const close = dialog({
      title: "This memory changed while you edited it",
      wide: true,
      body: [
        h(
          "div.versus",
          h("section", h("h3", "Yours, not saved"), h("pre", mine)),
          h("section", h("h3", `Theirs, version ${theirs.version}`), h("pre", editable(theirs))),
        ),
        h("h3", "From theirs to yours"),
        wordDiff(editable(theirs), mine),
      ],
      actions: [
        h("button", { type: "button", onclick: () => close() }, "Go on editing"),
        h("button", { type: "button", onclick: takeTheirs }, "Take theirs"),
        h("button.primary", { type: "button", onclick: putMine }, "Put mine on top"),
      ],
    });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#store();
    else if (event.key !== "Escape") return;
    else if (!this.isDirty || window.confirm("Discard what you wrote?")) this.oncancel();
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * What is typed in: the words of a fact without marks; a summary is edited as the Markdown that it is.
 * @param {Api.Memory} memory
 */
function editable({ layer, content }) {
  return layer === "archive" ? content : plainText(content);
}
