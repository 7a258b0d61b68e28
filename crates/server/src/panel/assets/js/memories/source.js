// Where the list of memories comes from: pages of everything, or the hits of a recall.
//
//   const source = new MemorySource({ text: () => field.value.trim(), query: () => view.query, onseen, signal })
//   await source.page(cursor)     { items, cursor }, for a virtual list
//   await source.search()         the hits, best first; rejects as aborted when a newer search starts
import { api, Newest } from "../api.js";
import { wordsOf } from "../components/parts.js";
import { fitsAtAll } from "../components/score.js";
import { filtersOf } from "./filters.js";

const FIRST_PAGE = 100;
const NEXT_PAGE = 1_000;
export const MOST_HITS = 100;

/** @type {Record<string, Api.Kind[]>} */
const KINDS = { memories: ["entry", "bullet"], conversations: ["turn"] };

/**
 * A memory, or a turn; with its score where a search found it.
 * @typedef {Api.Memory & Partial<Api.Hit>} Item
 */

/**
 * @typedef {object} SourceOptions
 * @property {() => string} text what is searched for
 * @property {() => URLSearchParams} query the filters
 * @property {(memories: Item[]) => void} onseen
 * @property {AbortSignal} signal
 */

export class MemorySource {
  /**
   * Of the last search, to be marked.
   * @type {string[]}
   */
  words = [];
  /** How many milliseconds the last search took. */
  took = 0;

  /** @param {SourceOptions} options */
  constructor({ text, query, onseen, signal }) {
    this.text = text;
    this.query = query;
    this.onseen = onseen;
    this.signal = signal;
    this.latest = new Newest(signal);
  }

  /**
   * @param {string | null} cursor
   * @returns {Promise<{ items: Item[], cursor?: string | null }>}
   */
  async page(cursor) {
    if (this.text()) return { items: await this.search(), cursor: null };
    this.forget();
    const { kind, ...filters } = filtersOf(this.query());
    // Conversations have a page of their own; what was said in them is searched here, not listed.
    if (kind === "conversations") return { items: [], cursor: null };
    const query = { ...filters, limit: cursor ? NEXT_PAGE : FIRST_PAGE, cursor };
    const answer = await api.get("/api/memories", query, { signal: this.signal });
    this.onseen(answer.memories);
    return { items: answer.memories, cursor: answer.cursor };
  }

  /** @returns {Promise<Item[]>} */
  async search() {
    const body = this.#question();
    const started = performance.now();
    const { hits: all } = await this.latest.run((signal) => api.post("/api/recall", body, { signal }));
    const hits = all.filter(fitsAtAll);
    this.took = performance.now() - started;
    this.words = wordsOf(body.query);
    this.onseen(hits);
    return hits;
  }

  /** Cancels a search that is running, and drops the words of the last one. */
  forget() {
    this.latest.cancel();
    this.words = [];
  }

  #question() {
    const { tag, kind, status: _, ...filters } = filtersOf(this.query());
    const set = Object.fromEntries(Object.entries(filters).filter(([, value]) => value));
    // A search while somebody types does not go to the log, which is for questions.
    const tags = tag ? [tag] : [];
    return { ...set, query: this.text(), limit: MOST_HITS, peek: true, tags, kinds: KINDS[kind] ?? [] };
  }
}
