// Dialogs that make a memory.
//
//   await correct(memory)       replaces a wrong memory; gives the new one, or null
//   await remember(options)     gives the new memory, or null
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { undoable, withSecrets } from "../undo.js";
import { dialog } from "../components/dialog.js";
import { TagEditor } from "../components/parts.js";
import { attempt } from "../components/toast.js";
import { plainText } from "../documents/marks.js";
import { pathOf } from "./actions.js";

/** @param {() => void} close */
const cancel = (close) => h("button", { type: "button", onclick: close }, "Cancel");

/**
 * @param {Api.Memory} memory
 * @returns {Promise<Api.Memory | null>}
 */
export function correct(memory) {
  return new Promise((resolve) => {
    /** @type {Api.Memory | null} */
    let made = null;
    const text = h("textarea", { rows: 4, "aria-label": "What is right", value: plainText(memory.content) });
    const save = attempt(async () => {
      const right = await api.post(`${pathOf(memory.id)}/correct`, { content: text.value });
      made = right;
      changedHere("memories");
      close();
      await undoable(withSecrets("Corrected", right));
    });
    const about =
      "What you write takes the place of this memory. The wrong one is kept for the record and no longer recalled.";
    const close = dialog({
      title: "Correct",
      body: [
        h("p.soft", about),
        h("blockquote.quote", plainText(memory.content)),
        h("label.field", h("span", "What is right"), text),
      ],
      actions: [cancel(() => close()), h("button.primary", { type: "button", onclick: save }, "Correct")],
      onclose: () => resolve(made),
    });
    text.focus();
    text.select();
  });
}

/** The fields of a new memory. */
class MemoryFields {
  text = h("textarea", { rows: 4, placeholder: "Prefers window seats on trains" });
  weight = weightSelect(3);
  project = h("input", { type: "text", list: "remember-projects", autocomplete: "off" });
  layer = h(
    "select",
    h("option", { value: "knowledge" }, "Found when it fits"),
    h("option", { value: "identity" }, "Always told: who you are"),
  );

  /**
   * @param {string[]} known tags
   * @param {string[]} projects
   */
  constructor(known, projects) {
    this.tags = new TagEditor({ tags: [], known });
    const suggestions = projects.map((name) => h("option", { value: name }));
    this.node = [
      h("label.field", h("span", "What should be remembered"), this.text),
      h("div.field", h("span", "Tags"), this.tags.node),
      h(
        "div.mem-form-row",
        h("label.field", h("span", "Project"), this.project),
        h("label.field", h("span", "Significance"), this.weight),
        h("label.field", h("span", "How it is used"), this.layer),
      ),
      h("datalist", { id: "remember-projects" }, suggestions),
    ];
  }

  get body() {
    const { tags } = this.tags;
    const project = this.project.value.trim();
    return {
      content: this.text.value.trim(),
      significance: Number(this.weight.value),
      layer: this.layer.value,
      source: "user",
      ...(tags.length ? { tags } : {}),
      ...(project ? { project } : {}),
    };
  }
}

/**
 * @param {{ tags?: string[], projects?: string[] }} [known] to suggest
 * @returns {Promise<Api.Memory | null>}
 */
export function remember({ tags = [], projects = [] } = {}) {
  return new Promise((resolve) => {
    /** @type {Api.Memory | null} */
    let made = null;
    const fields = new MemoryFields(tags, projects);
    const save = attempt(async () => {
      const { body } = fields;
      if (!body.content) return fields.text.focus();
      const { outcome, ...memory } = await api.post("/api/memories", body);
      made = memory;
      changedHere("memories");
      close();
      const said = outcome === "created" ? "Remembered" : `Remembered (${outcome})`;
      return undoable(withSecrets(said, memory));
    });
    fields.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    });
    const close = dialog({
      title: "Remember",
      body: fields.node,
      actions: [cancel(() => close()), h("button.primary", { type: "button", onclick: save }, "Remember")],
      onclose: () => resolve(made),
    });
    fields.text.focus();
  });
}

/** @param {number} value */
export function weightSelect(value) {
  const names = ["1 · trivial", "2 · minor", "3 · ordinary", "4 · important", "5 · essential"];
  const options = names.map((name, at) => h("option", { value: String(at + 1) }, name));
  const node = h("select", { "aria-label": "Significance" }, options);
  node.value = String(value);
  return node;
}
