// What a message was given from memory, and why: a line that opens into the memories with their scores.
//
//   givenTo(recall, { find, isOpen, ontoggle })     recall: a record of the log
//   looked(recall, { find })                        a recall that an assistant made with a tool
import { fill, h } from "../dom.js";
import { isAborted } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { scoreBar } from "../components/charts.js";
import { failed } from "../components/toast.js";

export function givenTo(recall, { find, isOpen, ontoggle }) {
  const given = recall.hits.filter((hit) => hit.given);
  const left = recall.hits.filter((hit) => !hit.given);
  if (!recall.hits.length) return h("p.given-none", "Nothing in memory fitted.");
  const said = given.length ? `Given ${plural(given.length, "memory", "memories")}` : "Nothing was given";
  return folded(`${said}${left.length ? `, ${left.length} left out` : ""}`, "memories", { isOpen, ontoggle }, (into) =>
    show(
      into,
      [
        ["", given],
        [given.length ? "Found, and left out" : "Found, but not close enough or without room", left],
      ],
      find,
    ),
  );
}

export function looked(recall, { find, isOpen, ontoggle }) {
  const who = recall.by === "tool" ? "The assistant looked for" : "Somebody looked for";
  return folded(
    `${who} “${recall.query}”: ${plural(recall.hits.length, "memory", "memories")}`,
    "search",
    { isOpen, ontoggle },
    (into) => show(into, [["", recall.hits]], find),
  );
}

/// The memories are fetched when it is first opened.
function folded(title, name, { isOpen, ontoggle }, load) {
  const body = h("div.given-body");
  const node = h("details.given", h("summary", icon(name, 16), h("span", title)), body);
  let isLoaded = false;
  node.addEventListener("toggle", async () => {
    ontoggle?.(node.open);
    if (!node.open || isLoaded) return;
    isLoaded = true;
    try {
      await load(body);
    } catch (error) {
      isLoaded = false;
      if (!isAborted(error)) failed(error);
    }
  });
  node.open = Boolean(isOpen);
  return node;
}

async function show(into, groups, find) {
  const best = Math.max(1e-9, ...groups.flatMap(([, hits]) => hits.map((hit) => hit.score)));
  const drawn = await Promise.all(
    groups
      .filter(([, hits]) => hits.length)
      .map(async ([title, hits]) => [
        title ? h("h3", title) : null,
        h(
          "ul.given-list",
          { class: title ? "is-left" : "" },
          await Promise.all(hits.map(async (hit) => item(hit, await find(hit.id), best))),
        ),
      ]),
  );
  fill(into, drawn);
}

function item(hit, memory, best) {
  const text = memory
    ? h("a", { href: href("memories", { id: memory.id }) }, memory.content)
    : h("span.muted", "It has been erased, or its line was rewritten.");
  return h(
    "li",
    h("div.given-text", text),
    hit.why ? h("div.given-score", scoreBar(hit.why, hit.score, best), h("small", whyText(hit))) : null,
  );
}

function whyText({ why, score }) {
  const factors = [
    ["recency", "recency"],
    ["trust", "source"],
    ["significance", "weight"],
    ["correction", "correction"],
  ];
  const told = factors
    .filter(([key]) => Math.abs((why[key] ?? 1) - 1) > 0.005)
    .map(([key, name]) => `${name} × ${why[key].toFixed(2)}`);
  return `score ${score.toFixed(2)}: ${why.found_by ?? "words"} ${(why.bm25 ?? 0).toFixed(2)}${told.length ? `, ${told.join(", ")}` : ""}`;
}
