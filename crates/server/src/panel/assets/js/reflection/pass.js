// One pass of reflection: what it did, line by line, and what it left alone.
//
//   drawPass(pass, onundo)                   on the page
//   passBody(pass, { isPreview: true })      what it would do, without links that lead away from the question
import { h } from "../dom.js";
import { plural, wordCost } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { lineDiff } from "../components/diff.js";
import { chip, when } from "../components/parts.js";
import { plainText } from "../documents/marks.js";

/** @type {Record<string, string>} */
const OPS = {
  add: "Added",
  reweigh: "Weighed",
  merge: "Merged",
  move: "Moved",
  prune: "Let go",
  promote: "Promoted",
};
/** @type {Record<Api.Reflection["outcome"], [title: string, kind: string]>} */
const OUTCOMES = {
  changed: ["Changed something", "accent"],
  unchanged: ["All well as it is", ""],
  failed: ["Failed; nothing was changed", "bad"],
};

/** @param {string} target */
export const targetName = (target) =>
  target.startsWith("projects/") ? target.slice("projects/".length) : "Your memory";

/**
 * @param {Api.Reflection} pass
 * @param {{ isPreview?: boolean }} [options]
 */
export function passBody({ reason, applied, documents, dropped }, { isPreview = false } = {}) {
  /** @param {string} name */
  const named = (name) => (isPreview ? h("code", name) : h("a", { href: href(`documents/${name}`) }, name));
  // Documents whose changes are shown line by line need no second link.
  const drawn = new Set(documents.map(({ name }) => name));
  const operations = applied.map(({ op, what, document }) =>
    h(
      "li",
      h("strong", OPS[op] ?? op),
      h("span", plainText(what), document && !drawn.has(document) ? named(document) : null),
    ),
  );
  const diffs = documents.map(({ name, before, after }) =>
    h("figure.pass-diff", h("figcaption", named(name)), lineDiff(before, after, 1)),
  );
  const left = dropped.map(({ op, reason: why }) => h("li", `${OPS[op] ?? op}: ${why}`));
  const leftTitle = `${plural(dropped.length, "proposal")} left alone`;
  return [
    reason ? h("p.notice", reason) : null,
    operations.length ? h("ul.applied", operations) : null,
    diffs,
    left.length ? h("details.dropped", h("summary", leftTitle), h("ul.bullets", left)) : null,
  ];
}

/**
 * @param {Api.Reflection} pass
 * @param {(() => void) | null} onundo null where it cannot be undone
 */
export function drawPass(pass, onundo) {
  const [title, kind] = OUTCOMES[pass.outcome];
  const words = `the model read ${wordCost(pass.tokens_in)} and wrote ${wordCost(pass.tokens_out)}`;
  const cost = pass.tokens_in || pass.tokens_out ? h("span", words) : null;
  return h(
    "li.pass",
    { dataset: { outcome: pass.outcome } },
    h(
      "div.pass-head",
      h("h2", targetName(pass.target)),
      chip(title, { kind }),
      h("span.pass-facts", when(pass.at), cost),
      onundo ? h("button.small", { type: "button", onclick: onundo }, icon("undo", 16), "Undo") : null,
    ),
    passBody(pass),
  );
}
