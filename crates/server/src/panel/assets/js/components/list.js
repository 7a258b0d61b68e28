// A list of any length with rows of one height. Only visible rows are in the document; further pages are fetched while
// the person scrolls.
//
//   const list = new VirtualList({ … })      see `ListOptions`
//   root.append(list.node)
//   await list.reset()         starts at the top                  list.set(items)     a complete list
//   await list.refresh()       fetches what is loaded again and keeps place, focus and current row
//   list.repaint()             writes the visible rows again      list.move(1)        next row
//   list.replace(item)         the same item, newer               list.depth          the first visible row
import { fill, h } from "../dom.js";
import { isAborted } from "../api.js";
import { failed } from "./toast.js";

const OVERSCAN = 8;
const AHEAD = 120;
const SPARE_ROWS = 20;

/**
 * @template T
 * @typedef {HTMLElement & { item?: T }} Row an element that is used for one item after another
 */

/**
 * @template T
 * @typedef {object} ListOptions
 * @property {string} label
 * @property {number} rowHeight
 * @property {() => Row<T>} row makes an empty row
 * @property {(node: Row<T>, item: T) => void} show writes an item into a row that may have held another
 * @property {(item: T) => string} key
 * @property {(cursor: string | null) => Promise<{ items: T[], cursor?: string | null }>} more fetches the page after a
 *   cursor; a page without a cursor is the last
 * @property {(item: T) => unknown} onopen
 * @property {(item: T) => unknown} [oncurrent]
 * @property {() => Dom.Child} empty what an empty list shows
 * @property {AbortSignal} signal
 */

/** @template T */
export class VirtualList {
  /** @type {T[]} */
  items = [];
  /** Whether there are no more pages to fetch. */
  isWhole = true;
  /** @type {Map<number, Row<T>>} */
  #used = new Map();
  /** @type {Row<T>[]} */
  #spare = [];
  /** @type {string | null} */
  #cursor = null;
  /** @type {Promise<void> | null} */
  #loading = null;
  /** @type {string | null} */
  #currentKey = null;
  /** Changes whenever the items are replaced: pages that were asked for before are dropped. */
  #run = 0;
  #frame = 0;

  /** @param {ListOptions<T>} options */
  constructor(options) {
    this.options = options;
    const { label, rowHeight, signal } = options;
    // Rows hold links and boxes of their own, which options of a list box may not.
    this.inner = h("div.vlist-inner", { role: "rowgroup" });
    this.blank = h("div.vlist-empty", { hidden: true });
    this.node = h(
      "div.vlist",
      { role: "grid", "aria-label": label, tabIndex: 0, style: { "--row": `${rowHeight}px` } },
      this.inner,
      this.blank,
    );
    this.node.addEventListener("scroll", () => this.#schedule(), { passive: true });
    this.node.addEventListener("keydown", (event) => this.#onKey(event));
    const watcher = new ResizeObserver(() => this.#schedule());
    watcher.observe(this.node);
    signal.addEventListener("abort", () => watcher.disconnect());
  }

  get current() {
    return this.items.find((item) => this.options.key(item) === this.#currentKey) ?? null;
  }

  /** The first visible row. */
  get depth() {
    return Math.floor(this.node.scrollTop / this.options.rowHeight);
  }

  async reset() {
    this.#replace([], false);
    await this.#fetchMore();
    this.repaint();
  }

  /** @param {T[]} all */
  set(all) {
    this.#replace(all, true);
    this.repaint();
  }

  /** Fetches again as much as was loaded, up to a bound: what is far below is fetched when it is scrolled to. */
  async refresh() {
    const mine = (this.#run += 1);
    this.#loading = null;
    const wanted = Math.min(this.items.length, this.#lastVisible() + AHEAD);
    /** @type {T[]} */
    let fresh = [];
    /** @type {string | null} */
    let next = null;
    do {
      /** @type {{ items: T[], cursor?: string | null }} */
      const page = await this.options.more(next);
      if (mine !== this.#run) return;
      fresh = fresh.concat(page.items);
      next = page.cursor ?? null;
    } while (next !== null && fresh.length < wanted);
    this.items = fresh;
    this.#cursor = next;
    this.isWhole = next === null;
    fill(this.blank);
    this.repaint();
  }

  repaint() {
    this.#paint(true);
  }

  /** @param {T} item */
  replace(item) {
    const { key } = this.options;
    const at = this.items.findIndex((each) => key(each) === key(item));
    if (at < 0) return;
    this.items[at] = item;
    this.repaint();
  }

  /** @param {string | null} wanted a key */
  select(wanted) {
    if (wanted === null) {
      this.#setCurrent(null);
    } else {
      this.#currentKey = wanted;
      this.repaint();
    }
  }

  /** @param {number} step */
  move(step) {
    if (!this.items.length) return;
    const at = this.items.findIndex((item) => this.options.key(item) === this.#currentKey);
    const next = Math.max(0, Math.min(this.items.length - 1, at < 0 ? 0 : at + step));
    this.#reveal(next);
    this.#setCurrent(this.items[next]);
  }

  /**
   * @param {T[]} items
   * @param {boolean} isWhole
   */
  #replace(items, isWhole) {
    this.#run += 1;
    this.#loading = null;
    this.#cursor = null;
    this.items = items;
    this.isWhole = isWhole;
    this.node.scrollTop = 0;
    fill(this.blank);
  }

  #schedule() {
    if (this.options.signal.aborted) return;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint(false);
    });
  }

  #lastVisible() {
    return Math.ceil((this.node.scrollTop + this.node.clientHeight) / this.options.rowHeight);
  }

  /** @param {boolean} again also rows that are unchanged */
  #paint(again) {
    const first = Math.max(0, this.depth - OVERSCAN);
    const last = Math.min(this.items.length, this.#lastVisible() + OVERSCAN);
    for (const [index, element] of this.#used) {
      if (index < first || index >= last) {
        this.#used.delete(index);
        this.#spare.push(element);
      }
    }
    for (let index = first; index < last; index += 1) {
      const element = this.#used.get(index);
      if (!element) this.#writeRow(this.#takeRow(index), index);
      else if (again || element.item !== this.items[index]) this.#writeRow(element, index);
    }
    for (const element of this.#spare) element.hidden = true;
    for (const element of this.#spare.splice(SPARE_ROWS)) element.remove();
    this.#paintEnd();
    if (!this.isWhole && last > this.items.length - AHEAD) this.#fetchMore();
  }

  #paintEnd() {
    const { rowHeight, empty } = this.options;
    this.inner.style.height = `${this.items.length * rowHeight + (this.isWhole ? 0 : rowHeight)}px`;
    this.inner.classList.toggle("has-more", !this.isWhole);
    this.blank.hidden = this.items.length > 0 || !this.isWhole || Boolean(this.#loading);
    this.node.setAttribute("role", this.items.length ? "grid" : "group");
    if (this.items.length) this.node.setAttribute("aria-rowcount", this.isWhole ? String(this.items.length) : "-1");
    else this.node.removeAttribute("aria-rowcount");
    if (!this.blank.hidden && !this.blank.hasChildNodes()) fill(this.blank, empty());
  }

  /** @param {number} index */
  #takeRow(index) {
    const element = this.#spare.pop() ?? this.#makeRow();
    this.#used.set(index, element);
    element.style.transform = `translateY(${index * this.options.rowHeight}px)`;
    return element;
  }

  #makeRow() {
    const element = this.options.row();
    element.classList.add("vrow");
    element.setAttribute("role", "row");
    for (const cell of element.children) cell.setAttribute("role", "gridcell");
    element.addEventListener("click", (event) => {
      const isOwn = event.target instanceof Element && event.target.closest("button, a, input, [data-own]");
      if (isOwn || element.item === undefined) return;
      this.#setCurrent(element.item);
      this.options.onopen(element.item);
    });
    this.inner.append(element);
    return element;
  }

  /**
   * @param {Row<T>} element
   * @param {number} index
   */
  #writeRow(element, index) {
    const item = this.items[index];
    const key = this.options.key(item);
    element.hidden = false;
    element.item = item;
    element.id = `row-${key}`;
    const isCurrent = key === this.#currentKey;
    element.classList.toggle("current", isCurrent);
    element.setAttribute("aria-selected", String(isCurrent));
    element.setAttribute("aria-rowindex", String(index + 1));
    this.options.show(element, item);
  }

  #fetchMore() {
    if (!this.#loading && !this.isWhole) this.#loading = this.#fetchPage();
    return this.#loading;
  }

  async #fetchPage() {
    const mine = this.#run;
    try {
      const page = await this.options.more(this.#cursor);
      if (mine !== this.#run) return;
      for (const item of page.items) this.items.push(item);
      this.#cursor = page.cursor ?? null;
      this.isWhole = this.#cursor === null;
      this.#loading = null;
      this.#schedule();
    } catch (error) {
      if (mine !== this.#run) return;
      // Scrolling or the next change asks for the page again.
      this.#loading = null;
      if (!isAborted(error)) failed(error);
    }
  }

  /** @param {T | null} item */
  #setCurrent(item) {
    const next = item === null ? null : this.options.key(item);
    if (next === this.#currentKey) return;
    this.#currentKey = next;
    if (next === null) this.node.removeAttribute("aria-activedescendant");
    else this.node.setAttribute("aria-activedescendant", `row-${next}`);
    this.repaint();
    if (item !== null) this.options.oncurrent?.(item);
  }

  /** @param {number} index */
  #reveal(index) {
    const { rowHeight } = this.options;
    const top = index * rowHeight;
    const isBelow = top + rowHeight > this.node.scrollTop + this.node.clientHeight;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (isBelow) this.node.scrollTop = top + rowHeight - this.node.clientHeight;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.options.rowHeight) - 1);
    const all = this.items.length;
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all, End: all };
    const { current } = this;
    if (event.key in steps) this.move(steps[event.key]);
    else if (event.key === "Enter" && current !== null) this.options.onopen(current);
    else return;
    event.preventDefault();
  }
}
