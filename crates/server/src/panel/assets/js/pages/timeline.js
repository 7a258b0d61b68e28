// Timeline: what happened, day by day, newest first.
import { debounce, fill, h } from "../dom.js";
import { api, isAborted, newest } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { empty, wordsOf } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { dayGroups } from "../timeline/days.js";

const PAGE = 100;
const MOST_HITS = 100;
const TYPING_MS = 150;

export const page = {
  title: "Timeline",
  async show(view) {
    const { root, signal } = view;
    const latest = newest(signal);
    const field = h("input.search", {
      type: "search",
      placeholder: "Search what happened",
      "aria-label": "Search the timeline",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
    });
    const status = h("p.result-line", { role: "status" });
    const list = h("div.days");
    const more = h("button", { type: "button", onclick: () => next() }, "Show earlier days");
    const end = h("div.days-end", more);
    fill(
      root,
      h(
        "header.page-head",
        h("div", h("h1", "Timeline"), h("p", "What happened: conversations and finished tasks, summed up.")),
      ),
      h("div.timeline-search", h("label.search-box", icon("search"), field, h("kbd", "/")), status),
      list,
      end,
    );

    let days = dayGroups();
    let cursor = null;
    let isWhole = false;
    let pages = 0;
    let run = 0;

    function draw(words) {
      const drawn = days.draw(words);
      const nothing = words.length
        ? empty({ icon: "search", title: "Nothing found", text: "Other words may find it." })
        : empty({
            icon: "timeline",
            title: "Nothing has happened yet",
            text: "When a conversation is summed up or a task is finished, it appears here.",
          });
      fill(list, drawn.length ? drawn : nothing);
      end.hidden = isWhole;
    }

    /// Reads `count` pages more and shows them.
    async function next(count = 1) {
      const mine = run;
      more.disabled = true;
      try {
        for (let at = 0; at < count && !isWhole; at += 1) {
          const answer = await api.get("/api/memories", { category: "timeline", limit: PAGE, cursor }, { signal });
          if (mine !== run) return;
          days.add(answer.memories);
          cursor = answer.cursor ?? null;
          isWhole = cursor === null;
          pages += 1;
        }
        draw([]);
        status.textContent = "";
      } catch (error) {
        if (!isAborted(error)) failed(error);
      } finally {
        more.disabled = false;
      }
    }

    async function search(query) {
      try {
        const { hits } = await latest((abort) =>
          api.post("/api/recall", { query, category: "timeline", limit: MOST_HITS, peek: true }, { signal: abort }),
        );
        days = dayGroups();
        days.add(hits);
        isWhole = true;
        draw(wordsOf(query));
        status.textContent =
          hits.length === MOST_HITS ? `The best ${days.size}, by day` : plural(days.size, "entry", "entries");
      } catch (error) {
        if (!isAborted(error)) failed(error);
      }
    }

    async function again(keep = 1) {
      const query = field.value.trim();
      view.setQuery({ q: query });
      run += 1;
      if (query) return search(query);
      // A search that is still under way must not overwrite the days.
      latest(() => {});
      days = dayGroups();
      cursor = null;
      isWhole = false;
      pages = 0;
      return next(keep);
    }

    const typed = debounce(TYPING_MS, () => again());
    field.addEventListener("input", typed);
    signal.addEventListener("abort", typed.cancel);
    view.onQuery((query) => {
      field.value = query.get("q") ?? "";
      again();
    });
    onChange("memories", () => again(Math.max(1, pages)), signal);
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting) && pages && !isWhole && !more.disabled) next();
      },
      { rootMargin: "600px" },
    );
    watcher.observe(end);
    signal.addEventListener("abort", () => watcher.disconnect());
    await again();
  },
};
