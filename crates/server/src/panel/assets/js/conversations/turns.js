// The turns of a conversation, each with what memory gave to it and what was kept of it.
import { h } from "../dom.js";
import { dayOf, exactTime, millis, plural, timeOf } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { markdown } from "../components/markdown.js";
import { documentLines } from "../documents/lines.js";
import { plainText, withoutStamp } from "../documents/marks.js";
import { givenTo, looked } from "./given.js";

/** @import { Lookup } from "../memories/lookup.js" */
/** @import { FoldOptions } from "./given.js" */

/** @type {Record<Api.Role, string>} */
const WHO = { user: "You", assistant: "Assistant", tool: "Tool", system: "System", summary: "Summed up" };

/**
 * @typedef {object} TurnsOptions
 * @property {Api.Turn[]} turns
 * @property {Api.Recall[]} recalls from the log
 * @property {Api.Memory[]} made memories that came of the conversation
 * @property {Lookup} find
 * @property {Set<string>} open ids of the recalls that are unfolded, kept between drawings
 */

/** @param {TurnsOptions} options */
export function drawTurns({ turns, recalls, made, find, open }) {
  const waiting = [...recalls].sort((a, b) => millis(a.at) - millis(b.at));
  /** @type {(recall: Api.Recall) => FoldOptions} */
  const fold = ({ recall_id: id }) => ({
    find,
    isOpen: open.has(id),
    ontoggle: (isOpen) => (isOpen ? open.add(id) : open.delete(id)),
  });
  const aside = (/** @type {Api.Recall} */ recall) => h("li.turn-aside", looked(recall, fold(recall)));
  const nodes = [];
  /** @type {string[]} */
  let since = [];
  let day = "";
  for (const turn of turns) {
    nodes.push(...take(waiting, (each) => each.by !== "message" && millis(each.at) < millis(turn.at)).map(aside));
    if (dayOf(turn.at) !== day) {
      day = dayOf(turn.at);
      nodes.push(h("li.turn-day", h("span", day)));
    }
    if (turn.role === "summary") {
      nodes.push(summary(turn, since, made));
      since = [];
      continue;
    }
    since.push(turn.id);
    const recall = turn.role === "user" ? recallOf(turn, waiting) : null;
    nodes.push(spoken(turn, recall ? givenTo(recall, fold(recall)) : null, made));
  }
  nodes.push(...waiting.filter((each) => each.by !== "message").map(aside));
  return h("ol.turns", nodes);
}

/**
 * Takes from `all` what passes.
 * @param {Api.Recall[]} all
 * @param {(recall: Api.Recall) => boolean} passes
 */
function take(all, passes) {
  const taken = all.filter(passes);
  for (const each of taken) all.splice(all.indexOf(each), 1);
  return taken;
}

/**
 * The recall that a message caused: the same words, the nearest in time.
 * @param {Api.Turn} turn
 * @param {Api.Recall[]} waiting
 */
function recallOf(turn, waiting) {
  const words = turn.content.trim();
  const apart = (/** @type {Api.Recall} */ recall) => Math.abs(millis(recall.at) - millis(turn.at));
  const fitting = waiting
    .filter((recall) => recall.by === "message" && recall.query.trim() === words)
    .sort((a, b) => apart(a) - apart(b));
  return fitting.at(0) ?? null;
}

/**
 * @param {string} who
 * @param {Api.Turn} turn
 */
function head(who, { at }) {
  return h("div.turn-head", h("strong", who), h("time", { dateTime: at, title: exactTime(at) }, timeOf(at)));
}

/**
 * @param {Api.Turn} turn
 * @param {Dom.Child} given
 * @param {Api.Memory[]} made
 */
function spoken(turn, given, made) {
  const facts = made.filter((memory) => memory.layer !== "archive" && memory.provenance?.includes(turn.id));
  const fact = (/** @type {Api.Memory} */ memory) =>
    h(
      "p.turn-fact",
      { class: memory.status === "inactive" ? "is-inactive" : "" },
      icon("pin", 15),
      "Remembered: ",
      h("a", { href: href("memories", { id: memory.id }) }, plainText(memory.content)),
    );
  return h(
    "li.turn",
    { dataset: { role: turn.role }, id: `turn-${turn.id}` },
    head(turn.speaker ?? WHO[turn.role] ?? turn.role, turn),
    textOf(turn),
    given,
    facts.map(fact),
  );
}

/**
 * What an assistant said is Markdown; a person's own words stay as they were typed.
 * @param {Api.Turn} turn
 */
function textOf({ role, content }) {
  if (role === "assistant") return h("div.turn-text", markdown(content));
  // Output of tools may be long, and scrolls.
  return h("p.turn-text", { tabIndex: role === "user" ? null : 0 }, content);
}

/**
 * @param {Api.Turn} turn
 * @param {string[]} since ids of the turns that it sums up
 * @param {Api.Memory[]} made
 */
function summary(turn, since, made) {
  const isOf = (/** @type {Api.Memory} */ memory, /** @type {string[]} */ turns) =>
    memory.provenance?.some((id) => turns.includes(id));
  const entry = made.find((memory) => memory.layer === "archive" && isOf(memory, [...since, turn.id]));
  const facts = made.filter((memory) => memory.layer !== "archive" && isOf(memory, since));
  const became = [
    entry ? h("a", { href: href("memories", { id: entry.id }) }, "an entry of the timeline") : null,
    facts.length ? h("span", plural(facts.length, "fact")) : null,
  ].filter((node) => node !== null);
  return h(
    "li.turn",
    { dataset: { role: "summary" }, id: `turn-${turn.id}` },
    head(since.length ? `${plural(since.length, "turn")} summed up` : "Summed up", turn),
    h("div.turn-summary", documentLines(withoutStamp(turn.content))),
    became.length
      ? h(
          "p.turn-into",
          "Became ",
          became.flatMap((node, at) => (at ? [" and ", node] : [node])),
        )
      : null,
  );
}
