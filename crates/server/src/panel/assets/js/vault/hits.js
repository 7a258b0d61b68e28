// Passages that a search of the vault found, best first, each with its citation and the parts of its score.
import { h } from "../dom.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { coded, marked } from "../components/parts.js";
import { attempt, toast } from "../components/toast.js";

/**
 * How the search was done, in a sentence.
 * @param {Api.VaultAnswer} answer
 */
export function searchedBy({ hits, searched_by: by }) {
  const how = by === "words_and_meaning" ? "by words and by meaning" : "by words alone";
  return `${plural(hits.length, "passage")}, found ${how}`;
}

/**
 * @param {Api.VaultAnswer} answer
 * @param {string[]} words to mark
 */
export function drawHits({ hits, remark }, words) {
  const best = Math.max(1e-9, ...hits.map((hit) => hit.score));
  const passages = hits.map((hit) => passage(hit, best, words));
  return [remark ? h("p.notice", coded(remark)) : null, h("ol.passages", passages)];
}

/**
 * @param {Api.Passage} hit
 * @param {number} best
 * @param {string[]} words
 */
function passage(hit, best, words) {
  const titles = hit.titles.length ? hit.titles : [hit.title];
  return h(
    "li.passage",
    h(
      "p.passage-titles",
      titles.flatMap((title, at) => (at ? [h("span", { "aria-hidden": "true" }, " › "), title] : [title])),
    ),
    h("p.passage-text", { tabIndex: 0 }, marked(hit.content, words)),
    h("div.passage-foot", citation(hit), score(hit, best)),
  );
}

/** @param {Api.Passage} hit */
function placeOf({ page, first_line: first = 0, last_line: last = 0 }) {
  if (page) return `page ${page}`;
  return last > first ? `lines ${first}–${last}` : `line ${first}`;
}

/** @param {Api.Passage} hit */
function citation(hit) {
  const copy = attempt(async () => {
    await navigator.clipboard.writeText(hit.citation);
    toast("Copied");
  });
  return h(
    "button.citation",
    {
      type: "button",
      title: `${placeOf(hit)}. Click to copy`,
      "aria-label": `Copy ${hit.citation}`,
      onclick: copy,
    },
    icon("file", 15),
    h("span", hit.citation),
  );
}

/**
 * @param {Api.Passage} hit
 * @param {number} best
 */
function score({ why, score: value }, best) {
  const parts = [
    { name: "words", style: "words", part: why.bm25 },
    { name: "meaning", style: "meaning", part: why.similarity ?? 0 },
  ].filter(({ part }) => part > 0);
  const said = parts.map(({ name, part }) => `${name} ${part.toFixed(2)}`).join(", ");
  const share = Math.max(0.04, Math.min(1, value / best));
  const found = why.found_by === "substring" ? "a piece of text" : said;
  const width = `${100 / parts.length}%`;
  return h(
    "div.passage-score",
    h(
      "div.score-bar",
      { role: "img", "aria-label": `Score ${value.toFixed(2)}: ${said}`, style: { "--share": `${share * 100}%` } },
      h(
        "div.score-fill",
        parts.map(({ style }) => h("i", { class: `part-${style}`, style: { "--part": width } })),
      ),
    ),
    h("small", `score ${value.toFixed(2)}: ${found}`),
  );
}
