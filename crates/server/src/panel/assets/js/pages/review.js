// Review: what was learnt and replaced since the person last looked, with its evidence. One key decides each.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { changedHere, onChange } from "../live.js";
import { latestChange, revert } from "../undo.js";
import { keys } from "../components/keys.js";
import { empty } from "../components/parts.js";
import { ask } from "../components/dialog.js";
import { plainText } from "../documents/marks.js";
import { attempt, failed, toast } from "../components/toast.js";
import { reviewItem, VERDICTS } from "../review/item.js";

/** @import { KeyMap } from "../components/keys.js" */
/** @import { Page, View } from "../router.js" */

const PAGE = 30;

/** @type {Record<Api.Verdict, string>} */
const SAID = { keep: "Kept", edit: "Changed", drop: "Dropped", rule: "A rule from now on" };

/** @type {Page} */
export const page = {
  title: "Review",
  show: (view) => new ReviewPage(view).start(),
};

/** @typedef {{ id: string, change: string | null }} Decided what a verdict was about, and the change that it made */

class ReviewPage {
  /** @type {Api.ReviewItem[]} */
  #items = [];
  #count = 0;
  /** @type {string | null} */
  #cursor = null;
  /** @type {string | null} the id of the one that the keys are for */
  #at = null;
  /** @type {Decided[]} */
  #decided = [];
  #isBusy = false;
  #list = h("ol.review-list", { "aria-label": "What was learnt" });
  #status = h("p.result-line", { role: "status" });
  #more = h("button", { type: "button", hidden: true, onclick: attempt(() => this.#next()) }, "Show more");
  #back = h(
    "button.quiet",
    { type: "button", hidden: true, onclick: attempt(() => this.#undo()) },
    icon("undo", 18),
    "Undo",
    h("kbd", { "aria-hidden": "true" }, "u"),
  );

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  async start() {
    const { root, signal } = this.view;
    const about = "What was learnt without being asked, newest first. It counts as known meanwhile.";
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Review"), h("p", about)), this.#back),
      this.#status,
      this.#list,
      h("div.days-end", this.#more),
    );
    this.#bindKeys();
    onChange(["memories", "documents"], () => this.#refresh(), signal);
    await this.#load();
  }

  #bindKeys() {
    /** @type {KeyMap} */
    const map = {
      j: ["next", () => this.#move(1)],
      ArrowDown: ["next", () => this.#move(1)],
      ArrowUp: ["previous", () => this.#move(-1)],
      u: ["undo the last decision", attempt(() => this.#undo())],
    };
    for (const [verdict, key, , , about] of VERDICTS) {
      map[key] = [about.toLowerCase(), () => this.#decide(this.#current, verdict)];
    }
    keys(map, this.view.signal);
  }

  get #current() {
    return this.#items.find((item) => item.memory.id === this.#at) ?? this.#items.at(0);
  }

  async #load() {
    const { items, cursor, count } = await api.get("/api/review", { limit: PAGE }, { signal: this.view.signal });
    this.#take(items, cursor, count);
  }

  /** Others learn meanwhile; what is decided here is shown at once. */
  async #refresh() {
    if (this.#isBusy) return;
    try {
      const limit = Math.max(PAGE, this.#items.length);
      const { items, cursor, count } = await api.get("/api/review", { limit }, { signal: this.view.signal });
      if (!this.#isBusy) this.#take(items, cursor, count);
    } catch (error) {
      if (!this.view.signal.aborted) failed(error);
    }
  }

  async #next() {
    const query = { limit: PAGE, cursor: this.#cursor };
    const { items, cursor, count } = await api.get("/api/review", query, { signal: this.view.signal });
    this.#take([...this.#items, ...items], cursor, count);
  }

  /**
   * @param {Api.ReviewItem[]} items
   * @param {string | null | undefined} cursor
   * @param {number} count
   */
  #take(items, cursor, count) {
    this.#items = items;
    this.#cursor = cursor ?? null;
    this.#count = count;
    this.#draw();
  }

  #draw() {
    const hadFocus = this.#list.contains(document.activeElement);
    const nodes = this.#items.map((item) =>
      reviewItem(item, {
        ondecide: (verdict) => this.#decide(item, verdict),
        onfocus: () => this.#mark(item.memory.id),
      }),
    );
    fill(this.#list, nodes);
    this.#more.hidden = !this.#cursor;
    this.#back.hidden = this.#decided.length === 0;
    const left = this.#count ? `${plural(this.#count, "thing")} to look at` : "";
    this.#status.textContent = left;
    if (!this.#items.length) fill(this.#list, h("li", allSeen()));
    const current = this.#current;
    this.#mark(current ? current.memory.id : null);
    if (hadFocus && current) this.#node(current.memory.id)?.focus({ preventScroll: true });
  }

  /** @param {string} id */
  #node(id) {
    const nodes = [...this.#list.children].filter((node) => node instanceof HTMLElement);
    return nodes.find((node) => node.dataset.id === id);
  }

  /** @param {string | null} id */
  #mark(id) {
    this.#at = id;
    for (const node of this.#list.children) {
      if (!(node instanceof HTMLElement)) continue;
      const isCurrent = node.dataset.id === id;
      node.classList.toggle("is-current", isCurrent);
      if (isCurrent) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
  }

  /** @param {number} by */
  #move(by) {
    const from = this.#items.findIndex((item) => item.memory.id === this.#at);
    const to = this.#items[Math.min(this.#items.length - 1, Math.max(0, from + by))];
    if (!to) return;
    this.#mark(to.memory.id);
    const node = this.#node(to.memory.id);
    node?.focus({ preventScroll: true });
    node?.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {Api.ReviewItem | undefined} item
   * @param {Api.Verdict} verdict
   */
  #decide(item, verdict) {
    if (!item || this.#isBusy) return;
    attempt(() => this.#settle(item, verdict))();
  }

  /**
   * @param {Api.ReviewItem} item
   * @param {Api.Verdict} verdict
   */
  async #settle(item, verdict) {
    const { id } = item.memory;
    const content = verdict === "edit" ? await reworded(item.memory) : undefined;
    if (content === null) return;
    this.#isBusy = true;
    try {
      const before = await latestChange();
      const done = await api.post(`/api/review/${encodeURIComponent(id)}`, { verdict, content });
      const after = await latestChange();
      this.#decided.push({ id, change: after && after.id !== before?.id ? after.id : null });
      this.#remove(item);
      const back = done.restored?.at(0);
      toast(SAID[verdict], {
        undo: () => this.#undo(),
        hint: back ? `It stands again: ${plainText(back.content)}` : null,
      });
    } finally {
      this.#isBusy = false;
      changedHere("memories", "documents", "changes");
    }
  }

  /**
   * The next one takes the place of what was decided.
   * @param {Api.ReviewItem} item
   */
  #remove(item) {
    const at = this.#items.indexOf(item);
    this.#items.splice(at, 1);
    this.#count = Math.max(0, this.#count - 1);
    const next = this.#items[Math.min(at, this.#items.length - 1)];
    this.#at = next?.memory.id ?? null;
    this.#draw();
    if (next) this.#node(next.memory.id)?.focus({ preventScroll: true });
  }

  async #undo() {
    const last = this.#decided.at(-1);
    if (!last || this.#isBusy) return;
    this.#isBusy = true;
    try {
      if (last.change && !(await revert(last.change))) return;
      this.#decided.pop();
      await api.del(`/api/review/${encodeURIComponent(last.id)}`);
      this.#at = last.id;
      await this.#load();
      this.#node(last.id)?.focus();
      toast("It is new again");
    } finally {
      this.#isBusy = false;
      changedHere("memories", "documents", "changes");
    }
  }
}

/**
 * The text as the person changes it; null where they changed their mind.
 * @param {Api.Memory} memory
 * @returns {Promise<string | null>}
 */
async function reworded({ content }) {
  const plain = plainText(content);
  const text = h("textarea", { rows: 4, value: plain, "aria-label": "What it says from now on" });
  const agreed = ask({ title: "Edit", action: "Save", body: [text], submit: text });
  text.focus();
  const typed = (await agreed) ? text.value.trim() : "";
  return typed === plain ? content : typed || null;
}

function allSeen() {
  return empty({
    icon: "check",
    title: "Nothing new",
    text: "You have seen everything that was learnt. What comes next appears here.",
  });
}
