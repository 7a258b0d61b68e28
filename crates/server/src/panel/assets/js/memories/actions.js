// Actions on memories. Each does its work, reports the change to the page, and offers to undo it.
import { h } from "../dom.js";
import { api, ApiError } from "../api.js";
import { changedHere } from "../live.js";
import { plural } from "../format.js";
import { undoable } from "../undo.js";
import { ask } from "../components/dialog.js";
import { failed, toast } from "../components/toast.js";

/** @import { Item } from "./source.js" */

/** How many memories the daemon changes in one request. */
const BULK = 500;

/** @param {string} id */
export const pathOf = (id) => /** @type {const} */ (`/api/memories/${encodeURIComponent(id)}`);

/** @param {Api.Memory} memory */
export async function forget(memory) {
  await api.del(pathOf(memory.id));
  changedHere("memories");
  await undoable("Forgotten. It is kept, inactive, and no longer recalled.");
}

/** @param {Api.Memory} memory */
export async function bringBack(memory) {
  const { failed: refused } = await api.post("/api/memories/bulk", { action: "restore", ids: [memory.id] });
  if (refused.length) throw new ApiError(0, refused[0]);
  changedHere("memories");
  await undoable("Active again");
}

/**
 * @param {Api.Memory} memory
 * @param {number} version
 */
export async function restoreVersion(memory, version) {
  await api.post(`${pathOf(memory.id)}/restore`, { version });
  changedHere("memories");
  await undoable(`Version ${version} is back`);
}

/** @typedef {"forget" | "restore" | "tag" | "untag"} BulkAction */

/** @type {Record<BulkAction, BulkAction>} */
const OPPOSITE = { forget: "restore", restore: "forget", tag: "untag", untag: "tag" };
/** @type {Record<BulkAction, (tag: string) => string>} */
const SAID = {
  forget: () => "Forgot",
  restore: () => "Brought back",
  tag: (tag) => `Tagged “${tag}”:`,
  untag: (tag) => `Took “${tag}” from`,
};
/** @type {Record<BulkAction, (memory: Item, tag: string) => boolean>} whether the action would change the memory */
const CHANGES = {
  forget: (memory) => memory.status === "active",
  restore: (memory) => memory.status === "inactive",
  tag: (memory, tag) => !memory.tags?.includes(tag),
  untag: (memory, tag) => Boolean(memory.tags?.includes(tag)),
};

/**
 * In as many requests as it takes.
 * @param {BulkAction} action
 * @param {string[]} ids
 * @param {string} tag
 */
async function bulkAll(action, ids, tag) {
  /** @type {string[]} */
  const done = [];
  /** @type {Api.BulkDone["failed"]} */
  const refused = [];
  for (let from = 0; from < ids.length; from += BULK) {
    const part = ids.slice(from, from + BULK);
    const answer = await api.post("/api/memories/bulk", { action, ids: part, ...(tag ? { tag } : {}) });
    done.push(...answer.done);
    refused.push(...answer.failed);
  }
  changedHere("memories");
  return { done, refused };
}

/**
 * One action on many memories. Undoing it does the opposite to those that it changed, and to no other.
 * @param {BulkAction} action
 * @param {Item[]} memories
 * @param {string} [tag]
 */
export async function bulk(action, memories, tag = "") {
  const ids = memories.filter((memory) => CHANGES[action](memory, tag)).map((memory) => memory.id);
  if (!ids.length) {
    toast("Nothing to change");
    return true;
  }
  const { done, refused } = await bulkAll(action, ids, tag);
  const hint = refused.length ? `${refused.length} could not be changed: ${refused[0].error.message}` : null;
  const undo = async () => {
    const back = await bulkAll(OPPOSITE[action], done, tag);
    toast(`Undone: ${plural(back.done.length, "memory", "memories")}`);
  };
  if (done.length) toast(`${SAID[action](tag)} ${plural(done.length, "memory", "memories")}`, { undo, hint });
  else if (refused.length) failed(new ApiError(0, refused[0]));
  return true;
}

/**
 * Gives false where the person changed their mind.
 * @param {Item[]} memories
 */
export async function merge(memories) {
  const longest = memories.map((memory) => memory.content).sort((a, b) => b.length - a.length)[0];
  const text = h("textarea", { rows: 4, value: longest });
  const items = memories.map((memory) => h("li", memory.content));
  const agreed = await ask({
    title: `Merge ${memories.length} memories into one`,
    action: "Merge",
    body: [h("ul.bullets", items), h("label.field", h("span", "What the one memory says"), text)],
  });
  if (!agreed) return false;
  await api.post("/api/memories/merge", { ids: memories.map((memory) => memory.id), content: text.value });
  changedHere("memories");
  await undoable("Merged");
  return true;
}
