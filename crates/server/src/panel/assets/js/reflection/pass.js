// One pass of reflection: what it did, line by line, and what it left alone.
//
//   drawPass(pass, { canUndo, onundo })      on the page
//   passBody(pass, { isPreview: true })      what it would do, without links that lead away from the question
import { h } from "../dom.js";
import { count, plural } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { lineDiff } from "../components/diff.js";
import { chip, when } from "../components/parts.js";

const OPS = { add: "Added", reweigh: "Weighed", merge: "Merged", move: "Moved", prune: "Let go", promote: "Promoted" };
const OUTCOMES = {
  changed: ["Changed something", "accent"],
  unchanged: ["All well as it is", ""],
  failed: ["Failed; nothing was changed", "bad"],
};

export const targetName = (target) =>
  target.startsWith("projects/") ? target.slice("projects/".length) : "Your memory";

export function passBody(pass, { isPreview = false } = {}) {
  const named = (name) => (isPreview ? h("code", name) : h("a", { href: href(`documents/${name}`) }, name));
  // What is drawn line by line below needs no second link.
  const drawn = new Set(pass.documents.map(({ name }) => name));
  return [
    pass.reason ? h("p.notice", pass.reason) : null,
    pass.applied.length
      ? h(
          "ul.applied",
          pass.applied.map(({ op, what, document }) =>
            h(
              "li",
              h("strong", OPS[op] ?? op),
              h("span", what, document && !drawn.has(document) ? named(document) : null),
            ),
          ),
        )
      : null,
    pass.documents.map(({ name, before, after }) =>
      h("figure.pass-diff", h("figcaption", named(name)), lineDiff(before, after, 1)),
    ),
    pass.dropped.length
      ? h(
          "details.dropped",
          h("summary", `${plural(pass.dropped.length, "proposal")} left alone`),
          h(
            "ul.bullets",
            pass.dropped.map(({ op, reason }) => h("li", `${OPS[op] ?? op}: ${reason}`)),
          ),
        )
      : null,
  ];
}

export function drawPass(pass, { canUndo, onundo }) {
  const [title, kind] = OUTCOMES[pass.outcome] ?? [pass.outcome, ""];
  const cost =
    pass.tokens_in || pass.tokens_out
      ? h(
          "span",
          { title: "Tokens read and written by the model" },
          `${count(pass.tokens_in)} + ${count(pass.tokens_out)} tokens`,
        )
      : null;
  return h(
    "li.pass",
    { dataset: { outcome: pass.outcome } },
    h(
      "div.pass-head",
      h("h2", targetName(pass.target)),
      chip(title, { kind }),
      h("span.pass-facts", when(pass.at), cost),
      canUndo ? h("button.small", { type: "button", onclick: onundo }, icon("undo", 16), "Undo") : null,
    ),
    passBody(pass),
  );
}
