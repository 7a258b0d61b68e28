// What happened lately, as sentences that lead somewhere.
//
//   changeSentence(change, titles)      nodes of one sentence, with links
//   whatHappened(change, titles)        the same without who did it
//   folded(changes)                     looking through what was learnt is one change, however many verdicts it took
import { h } from "../dom.js";
import { plural, whoName } from "../format.js";
import { href } from "../router.js";
import { plainText } from "../documents/marks.js";

const LONGEST = 90;

/** @param {string} text */
function short(text) {
  const plain = plainText(text).replaceAll(/\s+/g, " ");
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST).trimEnd()}…` : plain;
}

/** @param {Api.TouchedMemory} memory */
const memoryLink = ({ id, content }) => h("a", { href: href("memories", { id }) }, `“${short(content)}”`);

/** @param {string} name */
const documentLink = (name) => h("a", { href: href(`documents/${name}`) }, documentName(name));

/** @param {string} name */
export function documentName(name) {
  const project = /^projects\/([^/]+)/.exec(name);
  if (project) return `the notes on ${project[1]}`;
  /** @type {Record<string, string>} */
  const known = { profile: "your profile", working: "recent context", patterns: "your patterns" };
  return known[name.split("/").at(-1) ?? ""] ?? name;
}

/**
 * The first of them, and how many more there are.
 * @param {Api.TouchedMemory[]} memories
 * @param {number} count of all
 */
function named(memories, count) {
  const [first] = memories;
  if (!first) return plural(count, "memory", "memories");
  return count > 1 ? [memoryLink(first), ` and ${plural(count - 1, "more", "more")}`] : memoryLink(first);
}

/** @param {string[]} names */
function documents(names) {
  return names.flatMap((name, at) => [at ? (at === names.length - 1 ? " and " : ", ") : "", documentLink(name)]);
}

/**
 * What a verb did to a memory, or else to a document.
 * @type {Record<string, string>}
 */
const DID = {
  remember: "remembered",
  edit: "edited",
  forget: "forgot",
  restore: "brought back",
  write: "wrote",
  correct: "corrected",
  merge: "merged",
  review: "reviewed",
};

/**
 * @param {Api.ToldChange} change
 * @param {Map<string, string>} titles of conversations
 * @returns {Dom.Child}
 */
export const changeSentence = (change, titles) => [whoName(change.actor.who), " ", whatHappened(change, titles)];

/**
 * @param {Api.ToldChange} change
 * @param {Map<string, string>} titles of conversations
 * @returns {Dom.Child}
 */
export function whatHappened(change, titles) {
  const { verb, touched } = change;
  if (verb === "consolidate" || verb === "fill") return [summedUp(touched, titles), review(touched)];
  if (verb === "reflect")
    return ["tidied ", touched?.documents.length ? documents(touched.documents) : "your memory", review(touched)];
  if (verb === "import") return h("a", { href: href("memories") }, "imported memories");
  if (verb === "undo") return "undid a change";
  if (verb === "erase") return "erased something";
  if (verb === "task" || verb === "done")
    return [verb === "done" ? "finished " : "wrote down where the task stands: ", task(touched)];
  if (verb === "project") return ["set up the project ", touched?.projects.join(", ") ?? ""];
  return [DID[verb] ?? verb, " ", what(change)];
}

/**
 * What a change is called where there is little room: a summing-up without what was learnt by it.
 * @param {Api.ToldChange} change
 * @param {Map<string, string>} titles of conversations
 */
export function shortName(change, titles) {
  const { verb, touched } = change;
  const isSummary = verb === "consolidate" || verb === "fill";
  const text = h("span", isSummary ? summedUp(touched, titles) : whatHappened(change, titles)).textContent ?? "";
  const many = touched?.count ?? 0;
  return isSummary && many ? `${text} (${plural(many, "memory", "memories")})` : text;
}

/**
 * @typedef {object} Told
 * @property {Api.ToldChange} change the newest of them
 * @property {number} many how many changes it stands for
 */

/**
 * Verdicts in a row, each of the same person, are told as one. One that was taken back stands by itself.
 * @param {Api.ToldChange[]} changes
 * @param {Set<string>} undone ids
 * @returns {Told[]}
 */
export function folded(changes, undone) {
  /** @type {Told[]} */
  const told = [];
  for (const change of changes) {
    const last = told.at(-1);
    const isVerdict = change.verb === "review" && !undone.has(change.id);
    const goesOn = last?.change.verb === "review" && !undone.has(last.change.id);
    if (last && isVerdict && goesOn && last.change.actor.who === change.actor.who) last.many += 1;
    else told.push({ change, many: 1 });
  }
  return told;
}

/** @param {Api.ToldChange} change */
function what({ verb, touched }) {
  if (!touched) return verb === "write" ? "a document" : "a memory, which was taken back";
  const { memories, count } = touched;
  if (verb === "correct") {
    const [right, wrong] = [memories.find((each) => each.is_new), memories.find((each) => !each.is_new)];
    if (right && wrong) return [memoryLink(wrong), " to ", memoryLink(right)];
  }
  if (count) return named(memories, count);
  return touched.documents.length ? documents(touched.documents) : "a memory that is gone";
}

/**
 * @param {Api.Touched | null | undefined} touched
 * @param {Map<string, string>} titles
 * @returns {Dom.Child[]}
 */
function summedUp(touched, titles) {
  const talk = touched?.threads.at(0);
  // A conversation may also close the thread of another.
  const session = touched?.memories.find((memory) => memory.session)?.session ?? talk?.session;
  const title = titles.get(session ?? "") ?? (session === talk?.session ? talk?.title : undefined);
  const name = title ? `“${short(title)}”` : "a conversation";
  const link = session ? h("a", { href: href("conversations", { id: session }) }, name) : name;
  return ["summed up ", link];
}

/** @param {Api.Touched | null | undefined} touched */
function review(touched) {
  if (!touched?.learnt) return null;
  const learnt = touched.memories.filter((memory) => memory.layer !== "archive" && memory.is_new);
  return [" and learnt ", named(learnt, touched.learnt)];
}

/** @param {Api.Touched | null | undefined} touched */
function task(touched) {
  const [first] = touched?.tasks ?? [];
  return first ? h("a", { href: href(`tasks/${first.id}`) }, `“${short(first.title)}”`) : "a task";
}
