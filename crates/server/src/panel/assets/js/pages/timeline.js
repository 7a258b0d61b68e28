// Timeline: what happened, day by day, newest first.
import { debounce, fill, h } from "../dom.js";
import { api, isAborted, Newest } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { empty, wordsOf } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { DayGroups } from "../timeline/days.js";

/** @import { Page, View } from "../router.js" */

const PAGE = 100;
const MOST_HITS = 100;
const TYPING_MS = 150;

/** @type {Page} */
export const page = {
  title: "Timeline",
  show: (view) => new TimelinePage(view).start(),
};

class TimelinePage {
  #days = new DayGroups();
  /** @type {string | null} */
  #cursor = null;
  #isWhole = false;
  /** How many pages are shown. */
  #pages = 0;
  /** Changes with every new list: pages that were asked for before are dropped. */
  #run = 0;
  #status = h("p.result-line", { role: "status" });
  #list = h("div.days");
  #more = h("button", { type: "button", onclick: () => this.#next() }, "Show earlier days");
  #end = h("div.days-end", this.#more);

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.latest = new Newest(view.signal);
    this.field = h("input.search", {
      type: "search",
      placeholder: "Search what happened",
      "aria-label": "Search the timeline",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
    });
  }

  async start() {
    const { root, signal } = this.view;
    const about = "What happened: conversations and finished tasks, summed up.";
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Timeline"), h("p", about))),
      h("div.timeline-search", h("label.search-box", icon("search"), this.field, h("kbd", "/")), this.#status),
      this.#list,
      this.#end,
    );
    const typed = debounce(TYPING_MS, () => this.#again());
    this.field.addEventListener("input", typed);
    signal.addEventListener("abort", typed.cancel);
    this.view.onQuery((query) => {
      this.field.value = query.get("q") ?? "";
      this.#again();
    });
    onChange("memories", () => this.#again(Math.max(1, this.#pages)), signal);
    this.#watchEnd();
    await this.#again();
  }

  /** Fetches the next page before the end is reached. */
  #watchEnd() {
    const watcher = new IntersectionObserver(
      (entries) => {
        const isNear = entries.some((entry) => entry.isIntersecting);
        if (isNear && this.#pages && !this.#isWhole && !this.#more.disabled) this.#next();
      },
      { rootMargin: "600px" },
    );
    watcher.observe(this.#end);
    this.view.signal.addEventListener("abort", () => watcher.disconnect());
  }

  /** @param {string[]} words to mark */
  #draw(words) {
    const drawn = this.#days.draw(words);
    const nothing = words.length
      ? empty({ icon: "search", title: "Nothing found", text: "Other words may find it." })
      : empty({
          icon: "timeline",
          title: "Nothing has happened yet",
          text: "When a conversation is summed up or a task is finished, it appears here.",
        });
    fill(this.#list, drawn.length ? drawn : nothing);
    this.#end.hidden = this.#isWhole;
  }

  /** @param {number} [pages] how many more to read and show */
  async #next(pages = 1) {
    const mine = this.#run;
    this.#more.disabled = true;
    try {
      for (let at = 0; at < pages && !this.#isWhole; at += 1) {
        const query = { category: "timeline", limit: PAGE, cursor: this.#cursor };
        const answer = await api.get("/api/memories", query, { signal: this.view.signal });
        if (mine !== this.#run) return;
        this.#days.add(answer.memories);
        this.#cursor = answer.cursor ?? null;
        this.#isWhole = this.#cursor === null;
        this.#pages += 1;
      }
      this.#draw([]);
      this.#status.textContent = "";
    } catch (error) {
      failed(error);
    } finally {
      if (mine === this.#run) this.#more.disabled = false;
    }
  }

  /** @param {string} query */
  async #search(query) {
    const body = { query, category: "timeline", kinds: ["entry"], limit: MOST_HITS, peek: true };
    try {
      const { hits } = await this.latest.run((signal) => api.post("/api/recall", body, { signal }));
      this.#days = new DayGroups();
      this.#days.add(hits);
      this.#isWhole = true;
      this.#draw(wordsOf(query));
      const { size } = this.#days;
      this.#status.textContent =
        hits.length === MOST_HITS ? `The best ${size}, by day` : plural(size, "entry", "entries");
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }

  /** @param {number} [keep] how many pages to show */
  async #again(keep = 1) {
    const query = this.field.value.trim();
    this.view.setQuery({ q: query });
    this.#run += 1;
    // A search that is still running must not overwrite the days.
    this.latest.cancel();
    if (query) {
      await this.#search(query);
      return;
    }
    this.#days = new DayGroups();
    this.#cursor = null;
    this.#isWhole = false;
    this.#pages = 0;
    await this.#next(keep);
  }
}
