// What a message was given from memory, and why: a line that opens into the memories with their scores.
//
//   givenTo(recall, options)     recall: a record of the log
//   looked(recall, options)      a recall that an assistant made with a tool
import { fill, h } from "../dom.js";
import { plural, sourceName } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { when } from "../components/parts.js";
import { scoreBar, whyText } from "../components/score.js";
import { attempt } from "../components/toast.js";
import { plainText } from "../documents/marks.js";

/** @import { IconName } from "../icons.js" */
/** @import { Lookup } from "../memories/lookup.js" */

/** @typedef {{ find: Lookup, isOpen: boolean, ontoggle: (isOpen: boolean) => void }} FoldOptions */

/**
 * @param {Api.Recall} recall
 * @param {FoldOptions} options
 */
export function givenTo(recall, options) {
  const given = recall.hits.filter((hit) => hit.given);
  const left = recall.hits.filter((hit) => !hit.given);
  if (!recall.hits.length) return h("p.given-none", "Nothing in memory fitted.");
  const said = given.length ? `Given ${plural(given.length, "memory", "memories")}` : "Nothing was given";
  const leftTitle = given.length ? "Found, and left out" : "Found, but not close enough or without room";
  return folded(`${said}${left.length ? `, ${left.length} left out` : ""}`, "memories", options, [
    ["", given],
    [leftTitle, left],
  ]);
}

/**
 * @param {Api.Recall} recall
 * @param {FoldOptions} options
 */
export function looked(recall, options) {
  const who = recall.by === "tool" ? "The assistant looked for" : "Somebody looked for";
  const found = plural(recall.hits.length, "memory", "memories");
  return folded(`${who} “${recall.query}”: ${found}`, "search", options, [["", recall.hits]]);
}

const GONE = "It has been erased, or its line was rewritten.";

/** @typedef {[title: string, hits: Api.RecalledHit[]]} Group */

/**
 * The memories are fetched when it is first opened.
 * @param {string} title
 * @param {IconName} name
 * @param {FoldOptions} options
 * @param {Group[]} groups
 */
function folded(title, name, { find, isOpen, ontoggle }, groups) {
  const body = h("div.given-body");
  const node = h("details.given", h("summary", icon(name, 16), h("span", title)), body);
  let isLoaded = false;
  const load = attempt(async () => {
    isLoaded = true;
    try {
      fill(body, await drawGroups(groups, find));
    } catch (error) {
      isLoaded = false;
      throw error;
    }
  });
  node.addEventListener("toggle", () => {
    ontoggle(node.open);
    if (node.open && !isLoaded) load();
  });
  node.open = isOpen;
  return node;
}

/**
 * @param {Group[]} groups
 * @param {Lookup} find
 */
function drawGroups(groups, find) {
  /** @param {Group} group */
  const draw = async ([title, hits]) => {
    const items = await Promise.all(hits.map(async (hit) => item(hit, await find(hit.id))));
    return [title ? h("h3", title) : null, h("ul.given-list", { class: title ? "is-left" : "" }, items)];
  };
  return Promise.all(groups.filter(([, hits]) => hits.length).map(draw));
}

/**
 * @param {Api.RecalledHit} hit
 * @param {Api.Memory | null} memory
 */
function item(hit, memory) {
  const score = h("div.given-score", scoreBar(hit.why, hit.score), h("small", whyText(hit.why, hit.score)));
  return h("li", h("div.given-text", memory ? textOf(memory) : h("span.muted", GONE)), score);
}

/**
 * A turn leads to its conversation, and says who spoke and when.
 * @param {Api.Memory} memory
 */
function textOf({ id, kind, session, content, source, created_at: at }) {
  const isTurn = kind === "turn" && session;
  const address = isTurn ? href("conversations", { id: session, turn: id }) : href("memories", { id });
  const said = isTurn ? h("small.muted", sourceName(source), ", ", when(at)) : null;
  return [h("a", { href: address }, plainText(content)), said && " ", said];
}
