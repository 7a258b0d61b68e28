// How surely a memory fits a question, and what made it so.
//
//   fit(why, score)             "fits 83 %" with a bar
//   scoreDetails(why, score)    the same, with a table of what adds to it and what takes from it
//   whyText(why, score)         the same in one line
//   fitsAtAll(hit)              whether it is more than the nearest of what does not fit
import { h } from "../dom.js";

/**
 * For people, and in full. What is not listed here is shown by its own name.
 * @type {Record<string, [name: string, about: string]>}
 */
const FEATURES = {
  own: ["its words", "The words of the question in it, rare ones worth more"],
  previous: ["the turn before", "The words of the question in the turn before"],
  next: ["the turn after", "The words of the question in the turn after"],
  near: ["turns nearby", "The share of the question two turns before or after"],
  session: ["its conversation", "The share of the question that its conversation has"],
  session_best: ["its conversation’s best", "How well the best turn of its conversation fits"],
  cover: ["share of the question", "The share of the question that it has"],
  cover_context: ["share with neighbours", "The share that it has together with the turns around it"],
  strength: ["strength", "How much the words say that it has"],
  passage: ["its best passage", "The share of the question that its best passage has"],
  phrase: ["phrase", "Words that stand side by side, as in the question"],
  speaker: ["speaker", "Said by the one whom the question names"],
  role: ["role", "Said by the one whose words are asked for"],
  time: ["time", "Said at a time that the question names"],
  answers: ["answers", "Follows a question that fits"],
  question: ["is a question", "It is a question itself"],
  short: ["is short", "It is short"],
  meaning: ["meaning", "How near its meaning is"],
  previous_meaning: ["meaning before", "How near the meaning of the turn before is"],
  next_meaning: ["meaning after", "How near the meaning of the turn after is"],
  session_meaning: ["meaning of its conversation", "How near the best of its conversation is"],
  asked: ["how much is asked", "How much the question says at all"],
  recency: ["recency", "Newer is a little better"],
  trust: ["source", "Your word before an assistant’s"],
  significance: ["weight", "What matters before what does not"],
  correction: ["correction", "It was corrected"],
  before_what_it_corrects: ["corrects another", "A correction stands before what it corrects"],
  one_sentence: ["one sentence", "It fits one sentence of the message better than the whole"],
  letters: ["letters", "How many pieces of the question it contains letter by letter"],
  rare: ["rare words", "Words that few of the other hits have; this decides the order, not the fit"],
  rare_context: ["rare words nearby", "Rare words in it and the turns around it; this decides the order, not the fit"],
  rare_session: [
    "rare words of its conversation",
    "Rare words in its conversation; this decides the order, not the fit",
  ],
  base: ["to begin with", "What everything begins with"],
};

/** @type {Record<Api.FoundBy, string>} */
const FOUND_BY = {
  words: "its words",
  substring: "its letters",
  date: "its date",
  meaning: "its meaning",
  beside: "its place beside what was found",
};

/** What only its meaning or its place brought must fit so much. */
const LEAST = 0.05;

/**
 * A search of turns alone answers with the nearest, however far; one of everything leaves those out.
 * @param {Api.Hit} hit
 */
export const fitsAtAll = ({ why, score }) =>
  (why.found_by !== "meaning" && why.found_by !== "beside") || score >= LEAST;

const nameOf = (/** @type {string} */ feature) => FEATURES[feature]?.[0] ?? feature.replaceAll("_", " ");
const foundBy = (/** @type {Api.Why} */ { found_by: by }) => `found by ${FOUND_BY[by] ?? by}`;
const signed = (/** @type {number} */ points) => `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(2)}`;

/**
 * The weightiest first; what everything begins with at the end. Records of older versions have none.
 * @param {Api.Why} why
 */
function weighed({ features = [] }) {
  const isBase = (/** @type {Api.Contribution} */ { name }) => Number(name === "base");
  return [...features].sort((a, b) => isBase(a) - isBase(b) || Math.abs(b.points) - Math.abs(a.points));
}

/**
 * Scores of older versions have no upper bound and no features.
 * @param {Api.Why} why
 * @param {number} score
 */
function fitText(why, score) {
  return why.features?.length ? `fits ${Math.round(score * 100)} %` : `score ${score.toFixed(2)}`;
}

/**
 * @param {Api.Why} why
 * @param {number} score
 */
export function whyText(why, score) {
  const most = weighed(why).slice(0, 3);
  const parts = most.map(({ name, points }) => `${nameOf(name)} ${signed(points)}`);
  return [`${fitText(why, score)}, ${foundBy(why)}`, parts.join(", ")].filter(Boolean).join(": ");
}

/**
 * @param {Api.Why} why
 * @param {number} score
 */
export function scoreBar(why, score) {
  const said = whyText(why, score);
  const share = Math.max(0.02, Math.min(1, score));
  return h(
    "div.score-bar",
    { title: said, role: "img", "aria-label": said, style: { "--share": `${share * 100}%` } },
    h("div.score-fill", h("i.part-words", { style: { "--part": "100%" } })),
  );
}

/**
 * @param {Api.Why} why
 * @param {number} score
 */
export function fit(why, score) {
  return h("div.fit", h("span", fitText(why, score)), scoreBar(why, score));
}

/**
 * @param {Api.Why} why
 * @param {number} score
 */
export function scoreDetails(why, score) {
  const features = weighed(why);
  const sizes = features.filter(({ name }) => name !== "base").map(({ points }) => Math.abs(points));
  const most = Math.max(1e-9, ...sizes);
  const sum = features.reduce((all, { points }) => all + points, 0);
  const table = h(
    "table.score-features",
    h("thead", h("tr", h("th", foundBy(why)), h("th", "value"), h("th", "points"), h("th"))),
    h(
      "tbody",
      features.map((feature) => featureRow(feature, most)),
    ),
    h(
      "tfoot",
      h("tr", h("td", { colSpan: 2 }, fitText(why, score)), h("td.points", signed(sum)), h("td")),
      (why.order ?? []).map((feature) => featureRow(feature, most)),
    ),
  );
  return h("div.score", fit(why, score), features.length ? table : h("p.muted", foundBy(why)));
}

/**
 * @param {Api.Contribution} feature
 * @param {number} most the points that fill a bar
 */
function featureRow({ name, value, points }, most) {
  const width = `${Math.min(1, Math.abs(points) / most) * 100}%`;
  return h(
    "tr",
    { class: points < 0 ? "is-minus" : "is-plus", dataset: { feature: name } },
    h("td", { title: FEATURES[name]?.[1] ?? "" }, nameOf(name)),
    h("td.value", value.toFixed(2)),
    h("td.points", signed(points)),
    h("td.points-bar", h("i", { style: { "--part": width } })),
  );
}
