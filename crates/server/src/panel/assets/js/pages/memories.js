// All memories: search as you type, filters, a list of any length, and a pane with everything about one.
import { blur, debounce, fill, h } from "../dom.js";
import { api, isAborted } from "../api.js";
import { count, memoryCount, plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { keys } from "../components/keys.js";
import { VirtualList } from "../components/list.js";
import { empty } from "../components/parts.js";
import { attempt, failed } from "../components/toast.js";
import { pathOf } from "../memories/actions.js";
import { DetailsPane } from "../memories/details.js";
import { filterBar, NO_FILTERS, setFilters } from "../memories/filters.js";
import { remember } from "../memories/forms.js";
import { Selection } from "../memories/picked.js";
import { memoryRow, ROW_HEIGHT } from "../memories/row.js";
import { MemorySource, MOST_HITS } from "../memories/source.js";

/** @import { Page, View } from "../router.js" */
/** @import { Filters } from "../memories/filters.js" */
/** @import { Item } from "../memories/source.js" */

const TYPING_MS = 80;
/** Below this row, a change elsewhere does not fetch everything above again; it is offered. */
const DEEP = 1_500;
const DISCARD = "Discard what you wrote?";

/** @type {Page} */
export const page = {
  title: "Memories",
  show: (view) => new MemoriesPage(view).start(),
};

class MemoriesPage {
  /** @type {{ tags: Set<string>, projects: Set<string> }} */
  #seen = { tags: new Set(), projects: new Set() };
  #known = { tags: () => [...this.#seen.tags].sort(), projects: () => [...this.#seen.projects].sort() };
  /** Whether dates are being picked. */
  #between = { isOpen: false };
  /** @type {number | null} */
  #total = null;
  #isNarrow = window.matchMedia("(max-width: 820px)");
  #status = h("p.result-line", { role: "status" });
  #filterPlace = h("div");
  #clear = h("button.link.small-text", { type: "button", onclick: () => this.#unfilter() }, "Clear filters");
  #stale = h(
    "button.link.small-text",
    { type: "button", hidden: true, onclick: () => this.#again() },
    "Something changed: show from the top",
  );
  #again = debounce(TYPING_MS, () => this.#load());
  #add = attempt(async () => {
    const made = await remember({ tags: this.#known.tags(), projects: this.#known.projects() });
    if (made) await this.#open(made.id);
  });

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { signal } = view;
    this.field = h("input.search", {
      type: "search",
      placeholder: "Search your memory",
      "aria-label": "Search memories",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
    });
    this.source = new MemorySource({
      text: () => this.#text,
      query: () => view.query,
      onseen: (memories) => this.#learn(memories),
      signal,
    });
    this.selection = new Selection({
      items: () => this.list.items,
      onchange: () => this.list.repaint(),
      tags: this.#known.tags,
    });
    this.pane = new DetailsPane({
      onclose: () => this.#close(),
      onopen: (id) => this.#open(id),
      onfilter: (filters) => this.#filter(filters),
      onrenamed: (id) => this.#follow(id),
      known: this.#known.tags,
      words: () => this.source.words,
      signal,
    });
    this.list = this.#makeList();
    this.body = h("div.mem-body", this.list.node, this.pane.node);
  }

  async start() {
    const { view, list, field } = this;
    view.root.classList.add("is-fixed");
    fill(view.root, this.#head(), this.body, this.selection.bar);
    this.#drawFilters();
    this.#listen();
    this.#countAll();
    this.#learnProjects();
    await list.reset();
    this.#say();
    const id = view.query.get("id");
    if (id) await this.#open(id);
    if (view.query.get("focus") === "search") field.focus();
  }

  get #text() {
    return this.field.value.trim();
  }

  #makeList() {
    const row = memoryRow({
      isPicked: (memory) => this.selection.has(memory),
      onpick: (memory, isOn, withRange) => this.selection.pick(memory, isOn, withRange),
      words: () => this.source.words,
      onPhone: () => this.#isNarrow.matches,
    });
    /** @type {VirtualList<Item>} */
    const list = new VirtualList({
      label: "Memories",
      rowHeight: ROW_HEIGHT,
      row: row.make,
      show: row.show,
      key: (memory) => memory.id,
      more: (cursor) => this.source.page(cursor),
      onopen: (memory) => this.#reveal(memory),
      oncurrent: (memory) => {
        if (this.pane.id && !this.pane.isDirty) this.#reveal(memory);
      },
      empty: () => this.#nothing(),
      signal: this.view.signal,
    });
    return list;
  }

  #head() {
    return h(
      "header.mem-head",
      h(
        "div.spread",
        h("h1", "Memories"),
        h("button.primary", { type: "button", onclick: this.#add }, icon("plus", 18), "Remember"),
      ),
      h("label.search-box", icon("search"), this.field, h("kbd", "/")),
      this.#filterPlace,
      h("div.row", this.#status, this.#clear, this.#stale),
    );
  }

  #nothing() {
    if (this.#text)
      return empty({
        icon: "search",
        title: "Nothing found",
        text: "Other words may find it: a recall looks for the words themselves and their stems.",
      });
    if (this.view.query.get("kind") === "conversations")
      return empty({
        icon: "search",
        title: "Search your conversations",
        text: "What was said is found by its words.",
      });
    if (setFilters(this.view.query))
      return empty({ title: "Nothing fits these filters", text: "Clear some of them to see more." });
    return empty({
      title: "Nothing is remembered yet",
      text: "Tell an assistant something, or write it down here.",
      action: h("button.primary", { type: "button", onclick: this.#add }, "Remember something"),
    });
  }

  #listen() {
    const { view, field } = this;
    field.addEventListener("input", this.#again);
    field.addEventListener("keydown", (event) => this.#onFieldKey(event));
    view.signal.addEventListener("abort", this.#again.cancel);
    view.guard(() => (this.pane.isDirty ? "What you wrote is not saved." : null));
    view.onQuery((query) => this.#onQuery(query));
    this.#bindKeys();
    onChange("memories", () => this.#onChange(), view.signal);
  }

  #bindKeys() {
    const { list, pane, selection } = this;
    const edit = async () => {
      if (!pane.id && list.current) await this.#reveal(list.current);
      pane.edit();
    };
    const escape = () => {
      if (pane.id) this.#close();
      else if (selection.size) selection.clear();
      else blur();
    };
    keys(
      {
        j: ["next", () => list.move(1)],
        k: ["previous", () => list.move(-1)],
        Enter: ["show details", () => list.current && this.#reveal(list.current)],
        e: ["edit", edit],
        x: ["select", () => list.current && selection.pick(list.current, !selection.has(list.current))],
        n: ["remember something new", this.#add],
        Escape: ["close", escape],
      },
      this.view.signal,
    );
  }

  /** @param {KeyboardEvent} event */
  #onFieldKey(event) {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      this.list.node.focus();
      this.list.move(0);
    } else if (event.key === "Escape" && this.field.value) {
      event.stopPropagation();
      this.field.value = "";
      this.#again();
    }
  }

  /** @param {URLSearchParams} query */
  #onQuery(query) {
    const id = query.get("id");
    this.field.value = query.get("q") ?? "";
    this.#drawFilters();
    this.#again();
    if (id) this.#open(id);
    else if (this.pane.id) this.#close();
  }

  async #onChange() {
    const { list, pane } = this;
    this.#countAll();
    await pane.refresh();
    if (list.depth > DEEP) {
      this.#stale.hidden = false;
      if (pane.memory) list.replace(pane.memory);
      return;
    }
    try {
      await list.refresh();
      this.#say();
    } catch (error) {
      failed(error);
    }
  }

  async #load() {
    this.view.setQuery({ q: this.#text, focus: null });
    this.#stale.hidden = true;
    try {
      // The hits replace the list when they arrive: no flicker while somebody types.
      if (this.#text) this.list.set(await this.source.search());
      else await this.list.reset();
      this.#say();
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }

  /** @param {{ tags?: string[], project?: string | null }[]} memories */
  #learn(memories) {
    const { tags, projects } = this.#seen;
    const before = tags.size + projects.size;
    for (const memory of memories) {
      for (const tag of memory.tags ?? []) tags.add(tag);
      if (memory.project) projects.add(memory.project);
    }
    const isNew = tags.size + projects.size !== before;
    if (isNew && !this.#filterPlace.contains(document.activeElement)) this.#drawFilters();
  }

  async #learnProjects() {
    try {
      const { projects } = await api.get("/api/projects", null, { signal: this.view.signal });
      this.#learn(projects.map(({ name }) => ({ project: name })));
    } catch {
      // The projects are suggestions only.
    }
  }

  async #countAll() {
    try {
      const stats = await api.get("/api/stats", null, { signal: this.view.signal });
      this.#total = memoryCount(stats);
      if (!this.#text) this.#say();
    } catch {
      // The count is an extra: the list shows what there is.
    }
  }

  #say() {
    const { items, isWhole } = this.list;
    if (this.#text) {
      const many = items.length === MOST_HITS ? `The best ${MOST_HITS}` : found(items);
      const note = this.view.query.get("status") ? ". A search finds what is active." : "";
      this.#status.textContent = `${many}, in ${Math.max(1, Math.round(this.source.took))} ms${note}`;
    } else if (setFilters(this.view.query)) {
      const all = plural(items.length, "memory", "memories");
      this.#status.textContent = isWhole ? all : `More than ${count(items.length)} memories`;
    } else {
      this.#status.textContent = this.#total === null ? "" : plural(this.#total, "memory", "memories");
    }
  }

  #drawFilters() {
    const { query } = this.view;
    this.#clear.hidden = setFilters(query) === 0;
    /** @param {Partial<Filters>} changes */
    const onchange = (changes) => this.#filter(changes);
    fill(this.#filterPlace, filterBar({ query, known: this.#known, onchange, between: this.#between }));
  }

  /** @param {Partial<Filters>} changes */
  #filter(changes) {
    this.view.setQuery(changes);
    this.#drawFilters();
    this.list.node.scrollTop = 0;
    this.#again();
  }

  #unfilter() {
    this.#between.isOpen = false;
    this.#filter(NO_FILTERS);
  }

  /** @param {Item} memory */
  async #reveal(memory) {
    const { pane } = this;
    if (pane.id === memory.id) return;
    if (pane.isDirty && !window.confirm(DISCARD)) return;
    this.body.classList.add("has-details");
    this.#follow(memory.id);
    await pane.show(memory);
  }

  /** @param {string} id */
  async #open(id) {
    try {
      await this.#reveal(await api.get(pathOf(id), null, { signal: this.view.signal }));
    } catch (error) {
      failed(error);
    }
  }

  /** @param {string} id */
  #follow(id) {
    this.view.setQuery({ id });
    this.list.select(id);
  }

  #close() {
    if (this.pane.isDirty && !window.confirm(DISCARD)) return;
    this.body.classList.remove("has-details");
    this.pane.clear();
    // The row stays current: the keys continue from there.
    this.view.setQuery({ id: null });
    this.list.node.focus({ preventScroll: true });
  }
}

/**
 * @param {Item[]} items
 * @returns {string} "2 memories and 3 turns"
 */
function found(items) {
  const turns = items.filter(({ kind }) => kind === "turn").length;
  const memories = items.length - turns;
  const said = turns ? plural(turns, "turn") : null;
  return [memories || !turns ? plural(memories, "memory", "memories") : null, said].filter(Boolean).join(" and ");
}
