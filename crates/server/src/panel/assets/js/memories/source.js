// Where the list of memories comes from: pages of everything, or the hits of a recall.
//
//   const source = memorySource({ text: () => field.value.trim(), query: () => view.query, onseen, signal })
//   await source.page(cursor)     { items, cursor }, for a virtual list
//   await source.search()         the hits, best first; rejects as aborted when a newer search overtakes it
//   source.words, source.best, source.took       about the last search: what to mark, the highest score, milliseconds
import { api, newest } from "../api.js";
import { wordsOf } from "../components/parts.js";
import { filtersOf } from "./filters.js";

const FIRST_PAGE = 100;
const NEXT_PAGE = 1_000;
export const MOST_HITS = 100;

export function memorySource({ text, query, onseen, signal }) {
  const asked = newest(signal);

  function question() {
    const { layer, source: from, tag, project, since, until } = filtersOf(query());
    // Nobody asked yet: they are typing. The log is for questions.
    const body = { query: text(), limit: MOST_HITS, peek: true };
    if (tag) body.tags = [tag];
    for (const [name, value] of Object.entries({ layer, source: from, project, since, until })) {
      if (value) body[name] = value;
    }
    return body;
  }

  const source = {
    words: [],
    best: 1,
    took: 0,
    async page(cursor) {
      if (text()) return { items: await source.search(), cursor: null };
      source.forget();
      const limit = cursor ? NEXT_PAGE : FIRST_PAGE;
      const answer = await api.get("/api/memories", { ...filtersOf(query()), limit, cursor }, { signal });
      onseen(answer.memories);
      return { items: answer.memories, cursor: answer.cursor };
    },
    async search() {
      const body = question();
      const started = performance.now();
      const { hits } = await asked((abort) => api.post("/api/recall", body, { signal: abort }));
      source.took = performance.now() - started;
      source.words = wordsOf(body.query);
      source.best = Math.max(1e-9, ...hits.map((hit) => hit.score));
      for (const hit of hits) hit.best = source.best;
      onseen(hits);
      return hits;
    },
    /// Drops a search that is under way, and what the last one left.
    forget() {
      asked(() => {});
      source.words = [];
      source.best = 1;
    },
  };
  return source;
}
