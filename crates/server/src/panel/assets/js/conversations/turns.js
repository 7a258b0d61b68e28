// The turns of a conversation on their thread, each with what memory had to do with it.
//
//   drawTurns({ turns, recalls, made, find, open })
//     recalls   what was looked for, from the log         made   memories that came of the conversation
//     open      a Set of what is unfolded, kept between drawings
import { h } from "../dom.js";
import { dayOf, exactTime, plural, timeOf } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { documentLines } from "../documents/lines.js";
import { givenTo, looked } from "./given.js";

const WHO = { user: "You", assistant: "Assistant", tool: "Tool", system: "System", summary: "Summed up" };
const STAMP = /^\[\d{4}-\d\d-\d\d \d\d:\d\d\]\s*/;

export function drawTurns({ turns, recalls, made, find, open }) {
  const waiting = [...recalls].sort((a, b) => (a.at < b.at ? -1 : 1));
  const fold = (id) => ({
    find,
    isOpen: open.has(id),
    ontoggle: (isOpen) => (isOpen ? open.add(id) : open.delete(id)),
  });
  const nodes = [];
  let since = [];
  let day = "";
  for (const turn of turns) {
    for (const recall of takeWhile(waiting, (each) => each.by !== "message" && each.at < turn.at)) {
      nodes.push(h("li.turn-aside", looked(recall, fold(recall.recall_id))));
    }
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
    nodes.push(spoken(turn, turn.role === "user" ? recallOf(turn, waiting) : null, made, fold));
  }
  for (const recall of waiting.filter((each) => each.by !== "message"))
    nodes.push(h("li.turn-aside", looked(recall, fold(recall.recall_id))));
  return h("ol.turns", nodes);
}

/// Takes from `all` what passes.
function takeWhile(all, passes) {
  const taken = all.filter(passes);
  for (const each of taken) all.splice(all.indexOf(each), 1);
  return taken;
}

/// The recall that this message caused: the same words, the nearest in time.
function recallOf(turn, waiting) {
  const words = turn.content.trim();
  const apart = (recall) => Math.abs(new Date(recall.at) - new Date(turn.at));
  const fitting = waiting
    .filter((recall) => recall.by === "message" && recall.query.trim() === words)
    .sort((a, b) => apart(a) - apart(b));
  return fitting[0] ?? null;
}

function spoken(turn, recall, made, fold) {
  const facts = made.filter((memory) => memory.layer !== "archive" && (memory.provenance ?? []).includes(turn.id));
  return h(
    "li.turn",
    { dataset: { role: turn.role }, id: `turn-${turn.id}` },
    h(
      "div.turn-head",
      h("strong", turn.speaker ?? WHO[turn.role] ?? turn.role),
      h("time", { dateTime: turn.at, title: exactTime(turn.at) }, timeOf(turn.at)),
    ),
    h("p.turn-text", turn.content),
    recall ? givenTo(recall, fold(recall.recall_id)) : null,
    facts.map((memory) =>
      h(
        "p.turn-fact",
        { class: memory.status === "inactive" ? "is-inactive" : "" },
        icon("pin", 15),
        "Remembered: ",
        h("a", { href: href("memories", { id: memory.id }) }, memory.content),
      ),
    ),
  );
}

function summary(turn, since, made) {
  const isOf = (memory) => (memory.provenance ?? []).some((id) => since.includes(id) || id === turn.id);
  const entry = made.find((memory) => memory.layer === "archive" && isOf(memory));
  const facts = made.filter(
    (memory) => memory.layer !== "archive" && (memory.provenance ?? []).some((id) => since.includes(id)),
  );
  const into = [
    entry ? h("a", { href: href("memories", { id: entry.id }) }, "an entry of the timeline") : null,
    facts.length ? h("span", plural(facts.length, "fact")) : null,
  ].filter(Boolean);
  return h(
    "li.turn",
    { dataset: { role: "summary" }, id: `turn-${turn.id}` },
    h(
      "div.turn-head",
      h("strong", since.length ? `${plural(since.length, "turn")} summed up` : "Summed up"),
      h("time", { dateTime: turn.at, title: exactTime(turn.at) }, timeOf(turn.at)),
    ),
    h("div.turn-summary", documentLines(turn.content.replace(STAMP, ""))),
    into.length
      ? h(
          "p.turn-into",
          "Became ",
          into.flatMap((node, at) => (at ? [" and ", node] : [node])),
        )
      : null,
  );
}
