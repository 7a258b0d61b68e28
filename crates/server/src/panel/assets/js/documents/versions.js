// The history of a document: what each version changed, with a button to restore it.
import { h } from "../dom.js";
import { api, segments, statusOf } from "../api.js";
import { changedHere } from "../live.js";
import { changeName, viaName } from "../format.js";
import { undoable } from "../undo.js";
import { dialog } from "../components/dialog.js";
import { lineDiff } from "../components/diff.js";
import { when } from "../components/parts.js";
import { attempt } from "../components/toast.js";

/** @param {string} name */
const pathOf = (name) => /** @type {const} */ (`/api/documents/${segments(name)}`);

/** @param {string} name */
async function versionsOf(name) {
  try {
    return (await api.get(`${pathOf(name)}/history`)).versions;
  } catch (error) {
    if (statusOf(error) === 404) return [];
    throw error;
  }
}

/**
 * @param {string} name
 * @param {string} title
 */
export async function showVersions(name, title) {
  const versions = await versionsOf(name);
  const restore = (/** @type {number} */ version) =>
    attempt(async () => {
      await api.post(`${pathOf(name)}/restore`, { version });
      changedHere("documents");
      close();
      await undoable(`Version ${version} is back`);
    });
  const items = versions.map(({ version, change, text }, at) => {
    const isLast = at === versions.length - 1;
    const back = { type: /** @type {const} */ ("button"), onclick: restore(version) };
    return h(
      "li",
      h(
        "div.version-head",
        h("strong", String(version)),
        h("span", { title: viaName(change) }, changeName(change)),
        when(change.at),
      ),
      h("div.version-diff", lineDiff(versions[at - 1]?.text ?? "", text ?? "", 1)),
      isLast || typeof text !== "string" ? null : h("button.link.small-text", back, "Restore this version"),
    );
  });
  const close = dialog({
    title: `History of ${title}`,
    wide: true,
    body: items.length ? h("ol.version-list.is-wide", items.reverse()) : h("p.muted", "There is no history yet."),
  });
}
