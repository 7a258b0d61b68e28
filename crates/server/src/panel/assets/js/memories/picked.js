// Which memories are selected, and the bar with actions on all of them.
import { fill, h } from "../dom.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { ask } from "../components/dialog.js";
import { attempt } from "../components/toast.js";
import { bulk, merge } from "./actions.js";

/** @import { IconName } from "../icons.js" */
/** @import { Item } from "./source.js" */

/** How many can be merged at once. */
const MOST_MERGED = 20;
/** Forgetting as many as this is confirmed first. */
const MANY = 10;

/**
 * @typedef {object} SelectionOptions
 * @property {() => Item[]} items of the list
 * @property {() => void} onchange
 * @property {() => string[]} tags to suggest
 */

export class Selection {
  bar = h("div.picked-bar", { hidden: true, role: "toolbar", "aria-label": "Actions on the selection" });
  /** @type {Map<string, Item>} */
  #picked = new Map();
  /** @type {string | null} */
  #last = null;

  /** @param {SelectionOptions} options */
  constructor({ items, onchange, tags }) {
    this.items = items;
    this.onchange = onchange;
    this.tags = tags;
  }

  get size() {
    return this.#picked.size;
  }

  /** @param {Item} memory */
  has(memory) {
    return this.#picked.has(memory.id);
  }

  /**
   * @param {Item} memory
   * @param {boolean} isOn
   * @param {boolean} [withRange] also everything between this and the one before
   */
  pick(memory, isOn, withRange = false) {
    const all = this.items();
    const at = all.indexOf(memory);
    const from = withRange ? all.findIndex((each) => each.id === this.#last) : at;
    const [low, high] = from < 0 ? [at, at] : [Math.min(from, at), Math.max(from, at)];
    for (const each of all.slice(low, high + 1)) {
      if (each.kind === "turn" || each.kind === "chunk") continue;
      if (isOn) this.#picked.set(each.id, each);
      else this.#picked.delete(each.id);
    }
    this.#last = memory.id;
    this.#draw();
    this.onchange();
  }

  clear() {
    this.#picked.clear();
    this.#draw();
    this.onchange();
  }

  #draw() {
    this.bar.hidden = this.size === 0;
    if (this.bar.hidden) return;
    const all = [...this.#picked.values()];
    fill(
      this.bar,
      h("strong", `${count(all.length)} selected`),
      this.#action("tag", "Tag", () => this.#withTag("Tag them", "Tag", (tag) => bulk("tag", all, tag))),
      this.#action("close", "Untag", () => this.#withTag("Take a tag away", "Untag", (tag) => bulk("untag", all, tag))),
      all.length > 1 && all.length <= MOST_MERGED ? this.#action("merge", "Merge", () => merge(all)) : null,
      all.some((memory) => memory.status === "inactive")
        ? this.#action("restore", "Bring back", () => bulk("restore", all))
        : null,
      all.some((memory) => memory.status === "active") ? this.#action("forget", "Forget", () => forget(all)) : null,
      h("button.small.quiet", { type: "button", onclick: () => this.clear() }, "Clear"),
    );
  }

  /**
   * @param {IconName} name
   * @param {string} title
   * @param {() => Promise<boolean>} run gives false where the person changed their mind
   */
  #action(name, title, run) {
    const onclick = attempt(async () => {
      if (await run()) this.clear();
    });
    return h("button.small", { type: "button", onclick }, icon(name, 16), title);
  }

  /**
   * @param {string} title
   * @param {string} action
   * @param {(tag: string) => Promise<boolean>} run
   */
  async #withTag(title, action, run) {
    const field = h("input", { type: "text", list: "bulk-tags", autocomplete: "off", "aria-label": "Tag" });
    const suggestions = this.tags().map((tag) => h("option", { value: tag }));
    const agreed = ask({ title, action, body: [field, h("datalist", { id: "bulk-tags" }, suggestions)] });
    field.focus();
    if (!(await agreed) || !field.value.trim()) return false;
    return run(field.value.trim());
  }
}

/** @param {Item[]} all */
async function forget(all) {
  const agreed =
    all.length < MANY ||
    (await ask({
      title: `Forget ${all.length} memories?`,
      text: "They are kept, inactive, and no longer recalled. You can undo this.",
      action: "Forget",
    }));
  return agreed && bulk("forget", all);
}
