// The history of a document: what each version changed, and the way back to it.
import { h } from "../dom.js";
import { api, segments } from "../api.js";
import { changedHere } from "../live.js";
import { changeName, viaName } from "../format.js";
import { undoable } from "../undo.js";
import { dialog } from "../components/dialog.js";
import { lineDiff } from "../components/diff.js";
import { when } from "../components/parts.js";
import { failed } from "../components/toast.js";

async function versionsOf(name) {
  try {
    return (await api.get(`/api/documents/${segments(name)}/history`)).versions;
  } catch (error) {
    if (error.status === 404) return [];
    throw error;
  }
}

export async function showVersions(name, title) {
  const versions = await versionsOf(name);
  const restore = async (version) => {
    try {
      await api.post(`/api/documents/${segments(name)}/restore`, { version });
      changedHere("documents");
      close();
      await undoable(`Version ${version} is back`);
    } catch (error) {
      failed(error);
    }
  };
  const items = versions.map((version, at) =>
    h(
      "li",
      h(
        "div.version-head",
        h("strong", String(version.version)),
        h("span", { title: viaName(version.change) }, changeName(version.change)),
        when(version.change?.at),
      ),
      h("div.version-diff", lineDiff(versions[at - 1]?.text ?? "", version.text ?? "", 1)),
      at === versions.length - 1 || version.text === null
        ? null
        : h(
            "button.link.small-text",
            { type: "button", onclick: () => restore(version.version) },
            "Restore this version",
          ),
    ),
  );
  const close = dialog({
    title: `History of ${title}`,
    wide: true,
    body: items.length ? h("ol.version-list.is-wide", items.reverse()) : h("p.muted", "There is no history yet."),
  });
}
