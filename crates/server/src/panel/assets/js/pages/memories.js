// All memories: search as you type, filters, a list of any length, and a pane with everything about one.
import { debounce, fill, h } from "../dom.js";
import { api, isAborted } from "../api.js";
import { count, plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { keys } from "../components/keys.js";
import { virtualList } from "../components/list.js";
import { empty } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { remember } from "../memories/actions.js";
import { details } from "../memories/details.js";
import { filterBar, NO_FILTERS, setFilters } from "../memories/filters.js";
import { picking } from "../memories/picked.js";
import { memoryRow, ROW_HEIGHT } from "../memories/row.js";
import { memorySource, MOST_HITS } from "../memories/source.js";

const TYPING_MS = 80;
/// Below this row, a change elsewhere does not fetch everything above anew; it is offered.
const DEEP = 1_500;

export const page = {
  title: "Memories",
  async show(view) {
    const { root, signal } = view;
    root.classList.add("is-fixed");
    const seen = { tags: new Set(), projects: new Set() };
    const known = { tags: () => [...seen.tags].sort(), projects: () => [...seen.projects].sort() };
    const between = { isOpen: false };
    let total = null;

    const source = memorySource({ text: () => field.value.trim(), query: () => view.query, onseen: learn, signal });
    const isNarrow = window.matchMedia("(max-width: 820px)");
    const picked = picking({ items: () => list.items, onchange: () => list.repaint(), known });
    const row = memoryRow({
      isPicked: picked.has,
      onpick: picked.pick,
      words: () => source.words,
      best: () => source.best,
      onPhone: () => isNarrow.matches,
    });
    const pane = details({
      onclose: close,
      onopen: open,
      onrenamed: follow,
      known: known.tags,
      words: () => source.words,
      signal,
    });
    const list = virtualList({
      label: "Memories",
      rowHeight: ROW_HEIGHT,
      row: row.make,
      show: row.show,
      key: (memory) => memory.id,
      signal,
      more: source.page,
      onopen: (memory) => reveal(memory),
      oncurrent: (memory) => {
        if (pane.id && !pane.isDirty()) reveal(memory);
      },
      empty: nothing,
    });

    const field = h("input.search", {
      type: "search",
      placeholder: "Search your memory",
      "aria-label": "Search memories",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
    });
    const status = h("p.result-line", { role: "status" });
    const clear = h("button.link.small-text", { type: "button", onclick: unfilter }, "Clear filters");
    const stale = h(
      "button.link.small-text",
      { type: "button", hidden: true, onclick: () => again() },
      "Something changed: show from the top",
    );
    const filterPlace = h("div");
    const body = h("div.mem-body", list.node, pane.node);
    fill(
      root,
      h(
        "header.mem-head",
        h(
          "div.spread",
          h("h1", "Memories"),
          h("button.primary", { type: "button", onclick: add }, icon("plus", 18), "Remember"),
        ),
        h("label.search-box", icon("search"), field, h("kbd", "/")),
        filterPlace,
        h("div.row", status, clear, stale),
      ),
      body,
      picked.bar,
    );
    drawFilters();

    function query() {
      return field.value.trim();
    }

    function nothing() {
      if (query())
        return empty({
          icon: "search",
          title: "Nothing found",
          text: "Other words may find it: a recall looks for the words themselves and their stems.",
        });
      if (setFilters(view.query))
        return empty({ title: "Nothing fits these filters", text: "Clear some of them to see more." });
      return empty({
        title: "Nothing is remembered yet",
        text: "Tell an assistant something, or write it down here.",
        action: h("button.primary", { type: "button", onclick: add }, "Remember something"),
      });
    }

    function learn(memories) {
      const before = seen.tags.size + seen.projects.size;
      for (const memory of memories) {
        for (const tag of memory.tags ?? []) seen.tags.add(tag);
        if (memory.project) seen.projects.add(memory.project);
      }
      if (seen.tags.size + seen.projects.size !== before && !filterPlace.contains(document.activeElement))
        drawFilters();
    }

    function say() {
      if (query()) {
        const found = list.items.length;
        const isOdd = (view.query.get("status") ?? "") !== "";
        const many = found === MOST_HITS ? `The best ${MOST_HITS}` : plural(found, "memory", "memories");
        status.textContent = `${many}, in ${Math.max(1, Math.round(source.took))} ms${isOdd ? ". A search finds what is active." : ""}`;
      } else if (setFilters(view.query)) {
        status.textContent = list.isWhole
          ? plural(list.items.length, "memory", "memories")
          : `More than ${count(list.items.length)} memories`;
      } else {
        status.textContent = total === null ? "" : plural(total, "memory", "memories");
      }
    }

    const again = debounce(TYPING_MS, async () => {
      view.setQuery({ q: query(), focus: null });
      stale.hidden = true;
      try {
        // The hits replace the list when they are there: no flicker while somebody types.
        if (query()) list.set(await source.search());
        else await list.reset();
        say();
      } catch (error) {
        if (!isAborted(error)) failed(error);
      }
    });
    field.addEventListener("input", again);
    field.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        list.node.focus();
        list.move(0);
      } else if (event.key === "Escape" && field.value) {
        event.stopPropagation();
        field.value = "";
        again();
      }
    });
    signal.addEventListener("abort", again.cancel);

    function drawFilters() {
      clear.hidden = setFilters(view.query) === 0;
      fill(filterPlace, filterBar({ query: view.query, known, onchange: filter, between }));
    }

    function filter(changes) {
      view.setQuery(changes);
      drawFilters();
      list.node.scrollTop = 0;
      again();
    }

    function unfilter() {
      between.isOpen = false;
      filter(NO_FILTERS);
    }

    async function countAll() {
      try {
        const stats = await api.get("/api/stats", null, { signal });
        total = stats.knowledge + stats.archive + (stats.bullets ?? 0);
        if (!query()) say();
      } catch {
        // The count is an extra: the list shows what there is.
      }
    }

    async function reveal(memory) {
      if (pane.id === memory.id) return;
      if (pane.isDirty() && !window.confirm("Discard what you wrote?")) return;
      body.classList.add("has-details");
      follow(memory.id);
      await pane.show(memory);
    }

    async function open(id, narrowed) {
      if (narrowed) {
        filter(narrowed);
        return;
      }
      try {
        await reveal(await api.get(`/api/memories/${encodeURIComponent(id)}`, null, { signal }));
      } catch (error) {
        failed(error);
      }
    }

    function follow(id) {
      view.setQuery({ id });
      list.select(id);
    }

    function close() {
      if (pane.isDirty() && !window.confirm("Discard what you wrote?")) return;
      body.classList.remove("has-details");
      pane.clear();
      // The row stays current: the keys go on from there.
      view.setQuery({ id: null });
      list.node.focus({ preventScroll: true });
    }

    async function add() {
      const made = await remember({ known: known.tags(), projects: known.projects() });
      if (made?.id) await open(made.id);
    }

    view.guard(() => (pane.isDirty() ? "What you wrote is not saved." : null));
    view.onQuery((next) => {
      field.value = next.get("q") ?? "";
      drawFilters();
      again();
      if (next.get("id")) open(next.get("id"));
      else if (pane.id) close();
    });
    keys(
      {
        j: ["next", () => list.move(1)],
        k: ["previous", () => list.move(-1)],
        Enter: [
          "show details",
          () => {
            if (list.current) reveal(list.current);
          },
        ],
        e: [
          "edit",
          async () => {
            if (!pane.id && list.current) await reveal(list.current);
            pane.edit();
          },
        ],
        x: [
          "select",
          () => {
            if (list.current) picked.pick(list.current, !picked.has(list.current));
          },
        ],
        n: ["remember something new", add],
        Escape: [
          "close",
          () => {
            if (pane.id) close();
            else if (picked.size) picked.clear();
            else document.activeElement?.blur?.();
          },
        ],
      },
      signal,
    );
    onChange(
      "memories",
      async () => {
        countAll();
        await pane.refresh();
        if (list.depth > DEEP) {
          stale.hidden = false;
          if (pane.memory) list.replace(pane.memory);
          return;
        }
        try {
          await list.refresh();
          say();
        } catch (error) {
          failed(error);
        }
      },
      signal,
    );

    countAll();
    api
      .get("/api/projects", null, { signal })
      .then(({ projects }) => learn(projects.map(({ name }) => ({ project: name }))))
      .catch(() => {});
    await list.reset();
    say();
    if (view.query.get("id")) await open(view.query.get("id"));
    if (view.query.get("focus") === "search") field.focus();
  },
};
