// Passages that a search of the vault found, best first, each with where it stands and how its score came about.
//
//   drawHits(answer, words)      answer: { hits, searched_by, remark }
import { h } from "../dom.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { coded, marked } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";

const byMeaning = (answer) => String(answer.searched_by).includes("meaning");

/// How the search was done, in a sentence.
export function searchedBy(answer) {
  const how = byMeaning(answer) ? "by words and by meaning" : "by words alone";
  return `${plural(answer.hits.length, "passage")}, found ${how}`;
}

export function drawHits(answer, words) {
  const best = Math.max(1e-9, ...answer.hits.map((hit) => hit.score));
  return [
    answer.remark ? h("p.notice", coded(answer.remark)) : null,
    h(
      "ol.passages",
      answer.hits.map((hit) => passage(hit, best, words)),
    ),
  ];
}

function passage(hit, best, words) {
  const titles = hit.titles?.length ? hit.titles : [hit.title];
  return h(
    "li.passage",
    h(
      "p.passage-titles",
      titles.flatMap((title, at) => (at ? [h("span", { "aria-hidden": "true" }, " › "), title] : [title])),
    ),
    h("p.passage-text", marked(hit.content, words)),
    h("div.passage-foot", citation(hit), score(hit, best)),
  );
}

function citation(hit) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(hit.citation);
      toast("Copied");
    } catch (error) {
      failed(error);
    }
  };
  const lines = hit.page
    ? `page ${hit.page}`
    : hit.last_line > hit.first_line
      ? `lines ${hit.first_line}–${hit.last_line}`
      : `line ${hit.first_line}`;
  return h(
    "button.citation",
    { type: "button", title: `${lines}. Click to copy`, "aria-label": `Copy ${hit.citation}`, onclick: copy },
    icon("file", 15),
    h("span", hit.citation),
  );
}

function score({ why, score: value }, best) {
  const parts = [
    ["words", "bm25", why.bm25],
    ["meaning", "significance", why.similarity],
  ].filter(([, , part]) => part !== null && part !== undefined && part > 0);
  const told = parts.map(([name, , part]) => `${name} ${part.toFixed(2)}`).join(", ");
  const share = Math.max(0.04, Math.min(1, value / best));
  const found = why.found_by === "substring" ? "a piece of text" : null;
  return h(
    "div.passage-score",
    h(
      "div.score-bar",
      { role: "img", "aria-label": `Score ${value.toFixed(2)}: ${told}`, style: { "--share": `${share * 100}%` } },
      h(
        "div.score-fill",
        parts.map(([, name]) => h("i", { class: `factor-${name}`, style: { "--part": `${100 / parts.length}%` } })),
      ),
    ),
    h("small", `score ${value.toFixed(2)}: ${found ?? told}`),
  );
}
