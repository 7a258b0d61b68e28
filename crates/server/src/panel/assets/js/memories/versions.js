// The history of a memory: what each version changed, with a button to restore it.
import { h } from "../dom.js";
import { changeName, viaName } from "../format.js";
import { wordDiff } from "../components/diff.js";
import { when } from "../components/parts.js";
import { attempt } from "../components/toast.js";
import { plainText } from "../documents/marks.js";

/** @typedef {Api.MemoryVersion["entry"]} Entry */

/** @type {(keyof Entry)[]} */
const FIELDS = ["tags", "status", "importance", "key", "project", "layer", "source"];

/**
 * Newest first.
 * @param {Api.MemoryVersion[]} versions oldest first
 * @param {(version: number) => unknown} restore
 */
export function drawVersions(versions, restore) {
  const items = versions.map(({ entry, change }, at) => {
    const before = versions[at - 1]?.entry;
    const isLast = at === versions.length - 1;
    const other = before ? differences(before, entry) : [];
    const back = { type: /** @type {const} */ ("button"), onclick: attempt(() => restore(entry.version)) };
    return h(
      "li",
      h(
        "div.version-head",
        h("strong", String(entry.version)),
        h("span", { title: viaName(change) }, changeName(change)),
        when(change.at),
      ),
      textChange(before, entry),
      other.length ? h("p.muted", other.join("; ")) : null,
      isLast ? null : h("button.link.small-text", back, "Restore this version"),
    );
  });
  return h("ol.version-list", items.reverse());
}

/**
 * @param {Entry | undefined} before
 * @param {Entry} after
 */
function textChange(before, after) {
  if (!before) return h("p.diff-words", plainText(after.content));
  return before.content === after.content ? null : wordDiff(plainText(before.content), plainText(after.content));
}

/**
 * The other fields that changed, each in a few words.
 * @param {Entry} before
 * @param {Entry} after
 */
function differences(before, after) {
  /** @param {unknown} value */
  const say = (value) => (Array.isArray(value) ? value.join(", ") : String(value ?? "")) || "none";
  return FIELDS.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).map(
    (name) => `${name}: ${say(before[name])} → ${say(after[name])}`,
  );
}
