// Undoing changes.
//
//   await undoable("Forgotten")      a toast whose button reverts the change that was just made, and no later one
//   await undoLast(changeId)         reverts the last change if it is still that one, and says what was undone
//   await revert(changeId)           the same without a word where it is done
import { api } from "./api.js";
import { changedHere } from "./live.js";
import { failed, toast } from "./components/toast.js";
import { changeName, plural } from "./format.js";

export async function latestChange() {
  const { changes } = await api.get("/api/changes", { limit: 1 });
  return changes.at(0) ?? null;
}

/**
 * What was done, and whether a secret was taken out of it.
 * @param {string} message
 * @param {{ redacted?: string[] }} saved
 */
export function withSecrets(message, { redacted = [] }) {
  return redacted.length ? `${message}, with a secret taken out (${redacted.join(", ")})` : message;
}

/** @param {string} message */
export async function undoable(message) {
  /** @type {Api.Change | null} */
  let change = null;
  try {
    change = await latestChange();
  } catch (error) {
    failed(error);
  }
  const id = change?.id;
  toast(message, id ? { undo: () => undoLast(id) } : {});
}

/**
 * Reverts the last change if it is still that one, and says so where it is not. Gives what was undone.
 * @param {string} id
 * @returns {Promise<Api.Undone | null>}
 */
export async function revert(id) {
  const latest = await latestChange();
  if (latest?.id !== id) {
    toast("Something else changed since", {
      hint: latest
        ? `${changeName(latest)}. Nothing was undone; Home shows the latest changes.`
        : "Nothing was undone.",
      ms: 8_000,
    });
    return null;
  }
  return api.post("/api/undo", {});
}

/** @param {string} id */
export async function undoLast(id) {
  const outcome = await revert(id);
  if (!outcome) return;
  const touched = [
    outcome.memories?.length ? plural(outcome.memories.length, "memory", "memories") : null,
    outcome.documents?.length ? plural(outcome.documents.length, "document") : null,
    outcome.tasks?.length ? plural(outcome.tasks.length, "task") : null,
  ].filter(Boolean);
  toast(touched.length ? `Undone: ${touched.join(", ")}` : "Undone");
  changedHere("memories", "documents", "tasks", "changes");
}
