// What would be given, line by line.
//
//   draw(preview, { hasMessage, onmute, muted })
import { h } from "../dom.js";
import { dayOf, plural, wordCost } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { card, chip, coded, empty } from "../components/parts.js";
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

/** Where what comes with the message is; the other places are blocks. */
const WITH_MESSAGE = "message";

/**
 * A line that was just muted: it stays where it was, with what takes it back.
 * @typedef {{ id: string, place: string, name: string, undo: () => unknown }} Muted
 * @typedef {(id: string, place: string, name: string) => unknown} OnMute
 * @typedef {{ hasMessage: boolean, onmute: OnMute, muted: Muted[] }} DrawOptions
 */

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
function begins(lines, { onmute, muted }) {
  /** @type {Map<string, Api.OpeningLine[]>} */
  const blocks = new Map();
  for (const line of lines) blocks.set(line.block, [...(blocks.get(line.block) ?? []), line]);
  for (const { place } of muted) {
    if (place !== WITH_MESSAGE && !blocks.has(place)) blocks.set(place, []);
  }
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
        muted.filter(({ place }) => place === block).map(mutedLine),
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
 * @param {OnMute} onmute
 */
function openingLine({ id, text, tokens, block: place }, onmute) {
  const said = lineNodes(text.replace(/^[-*+>]\s+/, ""));
  const shown = id ? h("a", { href: href("memories", { id }) }, said) : said;
  return row({ id, said: shown, tokens, onmute, place, name: text });
}

/** @param {Muted} muted */
function mutedLine({ id, name, undo }) {
  const title = plainText(name);
  return h(
    "li.sees-line.is-muted",
    h("div.sees-said", h("a", { href: href("memories", { id }) }, title)),
    h(
      "span.sees-back",
      chip("muted"),
      h(
        "button.link",
        { type: "button", "aria-label": `Give again: ${title}`, dataset: { mute: id }, onclick: attempt(undo) },
        "give again",
      ),
    ),
  );
}

/**
 * @param {Api.Preview} preview
 * @param {DrawOptions} options
 */
function withMessage({ given = [], found_but_not_given: left = [] }, { onmute, muted }) {
  const near = left.filter(({ score }) => score >= LEAST_SHOWN);
  const lines = given.map(({ id, text, tokens, why }) => {
    const date = LINE.exec(text)?.[1];
    const said = [
      h("a", { href: href("memories", { id }) }, plainText(text.replace(LINE, ""))),
      h("small.muted", [date ? dayOf(date) : "", plainWhy(why)].filter(Boolean).join(", ")),
    ];
    return row({ id, said, tokens, onmute, place: WITH_MESSAGE, name: text.replace(LINE, "") });
  });
  const silenced = muted.filter(({ place }) => place === WITH_MESSAGE).map(mutedLine);
  return card(
    "With this message",
    { class: "sees-card", action: given.length ? h("span.muted", plural(given.length, "memory", "memories")) : null },
    lines.length ? null : h("p.muted", "No memory fits it closely enough."),
    lines.length || silenced.length ? h("ul.sees-lines", lines, silenced) : null,
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
 * @param {{ id?: string | null, said: Dom.Child, tokens: number, onmute: OnMute, place: string, name: string }} line
 */
function row({ id, said, tokens, onmute, place, name }) {
  const label = `Mute: ${plainText(name)}`;
  const button = id
    ? h(
        "button.bare",
        {
          type: "button",
          title: "Never give this",
          "aria-label": label,
          dataset: { mute: id },
          onclick: attempt(() => onmute(id, place, name)),
        },
        icon("mute", 18),
      )
    : h("span");
  return h("li.sees-line", h("div.sees-said", said), h("span.sees-cost", wordCost(tokens)), button);
}
