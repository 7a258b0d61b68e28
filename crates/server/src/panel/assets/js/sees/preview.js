// What would be given, line by line.
//
//   draw(preview, { hasMessage, onmute })
import { h } from "../dom.js";
import { dayOf, plural, wordCost } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { card, coded, empty } from "../components/parts.js";
import { scoreBar, whyText } from "../components/score.js";
import { attempt } from "../components/toast.js";
import { lineNodes, plainText } from "../documents/marks.js";

/** @type {Record<string, [title: string, path: string]>} */
const BLOCKS = {
  profile: ["Who you are", "documents/profile"],
  project: ["The project", "documents"],
  working: ["Recent context", "documents/working"],
  task: ["The task in hand", "tasks"],
};
/** `- [id date] text`, as the model sees it. */
const LINE = /^- \[\S+(?: (\d{4}-\d\d-\d\d))?\] /;
const SCORE = /^score (\d\.\d+), /;
/** "fits 97 %, found by its words" */
const plainWhy = (/** @type {string} */ why) =>
  why.replace(SCORE, (_, score) => `fits ${Math.round(Number(score) * 100)} %, `);

/** Below this, what was found has nothing to do with the message. */
const LEAST_SHOWN = 0.02;

/** @typedef {{ hasMessage: boolean, onmute: (id: string) => unknown }} DrawOptions */

/**
 * @param {Api.Preview} preview
 * @param {DrawOptions} options
 */
export function draw(preview, options) {
  const { lines = [], given = [], off_record: off, failure } = preview;
  if (off) return nothing(off);
  return [
    failure ? h("p.notice", coded(failure)) : null,
    total(lines, given),
    h("div.sees-grid", begins(lines, options), options.hasMessage ? withMessage(preview, options) : unasked()),
  ];
}

/** @param {string} off */
function nothing(off) {
  const text =
    off === "paused"
      ? "Memory is paused: nothing is kept and nothing is given. `throughline resume` ends that."
      : "This place is excluded: nothing is kept and nothing is given there.";
  return empty({ icon: "forget", title: "Nothing is given", text: coded(text) });
}

const sum = (/** @type {{ tokens: number }[]} */ lines) => lines.reduce((all, { tokens }) => all + tokens, 0);

/**
 * @param {Api.OpeningLine[]} lines
 * @param {Api.GivenLine[]} given
 */
function total(lines, given) {
  const [opening, message] = [sum(lines), sum(given)];
  const cost = (/** @type {string} */ title, /** @type {number} */ tokens) =>
    h("li", h("strong", wordCost(tokens)), h("span", title));
  return h(
    "ul.figures.sees-total",
    { "aria-label": "What it costs" },
    cost("once, as the conversation begins", opening),
    cost("with this message", message),
  );
}

/**
 * @param {Api.OpeningLine[]} lines
 * @param {DrawOptions} options
 */
function begins(lines, { onmute }) {
  /** @type {Map<string, Api.OpeningLine[]>} */
  const blocks = new Map();
  for (const line of lines) blocks.set(line.block, [...(blocks.get(line.block) ?? []), line]);
  const drawn = [...blocks].map(([block, inside]) => {
    const [title, path] = BLOCKS[block] ?? [block, ""];
    return h(
      "section.sees-block",
      { "aria-label": title },
      h(
        "div.sees-block-head",
        h("h3", path ? h("a", { href: href(path) }, title) : title),
        h("span.muted", wordCost(sum(inside))),
      ),
      h(
        "ul.sees-lines",
        inside.map((line) => openingLine(line, onmute)),
      ),
    );
  });
  return card(
    "Every conversation begins with",
    { class: "sees-card" },
    drawn.length ? drawn : h("p.muted", "Nothing: the assistants have not been told who you are."),
  );
}

/**
 * @param {Api.OpeningLine} line
 * @param {(id: string) => unknown} onmute
 */
function openingLine({ id, text, tokens }, onmute) {
  const said = lineNodes(text.replace(/^[-*+>]\s+/, ""));
  return row({ id, said: id ? h("a", { href: href("memories", { id }) }, said) : said, tokens, onmute, name: text });
}

/**
 * @param {Api.Preview} preview
 * @param {DrawOptions} options
 */
function withMessage({ given = [], found_but_not_given: left = [] }, { onmute }) {
  const near = left.filter(({ score }) => score >= LEAST_SHOWN);
  const lines = given.map(({ id, text, tokens, why }) => {
    const date = LINE.exec(text)?.[1];
    const said = [
      h("a", { href: href("memories", { id }) }, plainText(text.replace(LINE, ""))),
      h("small.muted", [date ? dayOf(date) : "", plainWhy(why)].filter(Boolean).join(", ")),
    ];
    return row({ id, said, tokens, onmute, name: text.replace(LINE, "") });
  });
  return card(
    "With this message",
    { class: "sees-card", action: given.length ? h("span.muted", plural(given.length, "memory", "memories")) : null },
    lines.length ? h("ul.sees-lines", lines) : h("p.muted", "No memory fits it closely enough."),
    near.length
      ? h(
          "details.sees-left",
          h("summary", `${plural(near.length, "memory", "memories")} found, and not given`),
          h("ul.sees-lines", near.map(leftOut)),
        )
      : null,
  );
}

function unasked() {
  return card(
    "With this message",
    { class: "sees-card" },
    h("p.muted", "Type what you would say to an assistant, and see what memory would add to it."),
  );
}

/** @param {Api.LeftOut} left */
function leftOut({ id, content, score, why }) {
  return h(
    "li.sees-line.is-left",
    h("div.sees-said", h("a", { href: href("memories", { id }) }, plainText(content)), scoreBar(why, score)),
    h("small.muted", whyText(why, score)),
  );
}

/**
 * @param {{ id?: string | null, said: Dom.Child, tokens: number, onmute: (id: string) => unknown, name: string }} line
 */
function row({ id, said, tokens, onmute, name }) {
  const label = `Mute: ${plainText(name)}`;
  const button = id
    ? h(
        "button.bare",
        {
          type: "button",
          title: "Never give this",
          "aria-label": label,
          dataset: { mute: id },
          onclick: attempt(() => onmute(id)),
        },
        icon("mute", 18),
      )
    : h("span");
  return h("li.sees-line", h("div.sees-said", said), h("span.sees-cost", wordCost(tokens)), button);
}
