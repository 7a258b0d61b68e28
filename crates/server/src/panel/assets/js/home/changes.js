// What happened lately, as sentences that lead somewhere.
//
//   changeSentence(change, titles)      nodes of one sentence, with links
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
  review: "looked at",
};

/**
 * @param {Api.ToldChange} change
 * @param {Map<string, string>} titles of conversations
 * @returns {Dom.Child}
 */
export function changeSentence(change, titles) {
  const { verb, actor, touched } = change;
  const who = `${whoName(actor.who)} `;
  if (verb === "consolidate" || verb === "fill") return [who, ...consolidated(touched, titles)];
  if (verb === "reflect")
    return [who, "tidied ", touched?.documents.length ? documents(touched.documents) : "your memory", review(touched)];
  if (verb === "import") return [who, h("a", { href: href("memories") }, "imported memories")];
  if (verb === "undo") return [who, "undid a change"];
  if (verb === "erase") return [who, "erased something"];
  if (verb === "task" || verb === "done")
    return [who, verb === "done" ? "finished " : "wrote down where the task stands: ", task(touched)];
  if (verb === "project") return [who, "set up the project ", touched?.projects.join(", ") ?? ""];
  return [who, DID[verb] ?? verb, " ", what(change)];
}

/** @param {Api.ToldChange} change */
function what({ verb, touched }) {
  if (!touched) return "something";
  const { memories, count } = touched;
  if (verb === "correct") {
    const [right, wrong] = [memories.find((each) => each.is_new), memories.find((each) => !each.is_new)];
    if (right && wrong) return [memoryLink(wrong), " to ", memoryLink(right)];
  }
  if (count) return named(memories, count);
  return touched.documents.length ? documents(touched.documents) : "something";
}

/**
 * @param {Api.Touched | null | undefined} touched
 * @param {Map<string, string>} titles
 * @returns {Dom.Child[]}
 */
function consolidated(touched, titles) {
  const talk = touched?.threads.at(0);
  // A conversation may also close the thread of another.
  const session = touched?.memories.find((memory) => memory.session)?.session ?? talk?.session;
  const title = titles.get(session ?? "") ?? (session === talk?.session ? talk?.title : undefined);
  const name = title ? `“${short(title)}”` : "a conversation";
  const link = session ? h("a", { href: href("conversations", { id: session }) }, name) : name;
  return ["summed up ", link, review(touched)];
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
