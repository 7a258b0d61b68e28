// The last change that can be taken back: its name on a button, and a question where it is more than one's own step.
//
//   undoButton(changes, titles)      null where there is nothing to take back
import { h } from "../dom.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { undoLast } from "../undo.js";
import { ask } from "../components/dialog.js";
import { when } from "../components/parts.js";
import { attempt } from "../components/toast.js";
import { plainText } from "../documents/marks.js";
import { changeSentence, documentName, shortName } from "./changes.js";

const LONGEST = 64;

/** @param {Api.ToldChange[]} changes newest first, with what they touched */
function lastStanding(changes) {
  const undone = new Set(changes.map(({ undoes }) => undoes));
  return changes.find(({ id, verb }) => verb !== "undo" && !undone.has(id));
}

/** @param {Api.Touched} touched */
const manyIn = ({ count, documents, tasks, projects }) => count + documents.length + tasks.length + projects.length;

/**
 * @param {Api.ToldChange[]} changes
 * @param {Map<string, string>} titles of conversations
 */
export function undoButton(changes, titles) {
  const change = lastStanding(changes);
  // What was erased stays erased.
  if (!change || change.verb === "erase") return null;
  const name = `Undo: ${shortName(change, titles)}`;
  const run = attempt(async () => {
    const isOwnStep = change.actor.who === "user" && change.touched && manyIn(change.touched) <= 1;
    if (isOwnStep || (await agreed(change, titles))) await undoLast(changes[0].id);
  });
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST).trimEnd()}…` : name;
  return h(
    "button.small.quiet.undo-last",
    { type: "button", title: name, onclick: run },
    icon("undo", 16),
    h("span", shown),
  );
}

/**
 * @param {Api.ToldChange} change
 * @param {Map<string, string>} titles
 */
function agreed(change, titles) {
  const { touched } = change;
  const memories = touched?.memories.map(({ content }) => plainText(content)) ?? [];
  const left = (touched?.count ?? 0) - memories.length;
  const items = [
    ...memories,
    ...(left > 0 ? [plural(left, "more memory", "more memories")] : []),
    ...(touched?.documents.map(documentName) ?? []),
    ...(touched?.tasks.map(({ title }) => title) ?? []),
    ...(touched?.projects ?? []),
  ];
  // The sentence leads nowhere here: it is what the question is about.
  const sentence = h("span", changeSentence(change, titles)).textContent;
  return ask({
    title: "Undo this?",
    body: [
      h("p", `${sentence}, `, when(change.at), "."),
      touched ? h("p", "All of it is taken back:") : h("p", "Everything that came with it is taken back."),
      items.length
        ? h(
            "ul.bullets",
            items.map((text) => h("li", text)),
          )
        : null,
    ],
    action: "Undo all of it",
  });
}
