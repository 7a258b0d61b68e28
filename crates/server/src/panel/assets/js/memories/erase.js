// Erasing a memory for good: what it would remove is shown first, and a word has to be typed.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { count, plural } from "../format.js";
import { ask, dialog } from "../components/dialog.js";
import { toast } from "../components/toast.js";
import { pathOf } from "./actions.js";

/**
 * Gives whether it was erased.
 * @param {Api.Memory} memory
 */
export async function erase(memory) {
  const preview = await api.get(`${pathOf(memory.id)}/erasure`);
  const withSources = h("input", { type: "checkbox" });
  const turns = plural(preview.sources.length, "turn");
  const agreed = await ask({
    title: "Erase for good",
    danger: true,
    action: "Erase",
    typed: "erase",
    body: [
      h("blockquote.quote", memory.content),
      consequences(preview),
      preview.sources.length
        ? h("label.row", withSources, h("span", `Also erase the ${turns} of conversation that it came from`))
        : null,
    ],
  });
  if (!agreed) return false;
  const query = { erase: "true", with_sources: withSources.checked ? "true" : null };
  const { unreached = [] } = await api.del(pathOf(memory.id), query);
  changedHere("memories");
  if (unreached.length) {
    dialog({ title: "Erased, but not everywhere", body: [h("p", "These could not be reached:"), bullets(unreached)] });
  } else {
    toast("Erased. Nothing of it is left.");
  }
  return true;
}

/** @param {string[]} lines */
function bullets(lines) {
  return h(
    "ul.bullets",
    lines.map((line) => h("li", line)),
  );
}

/** @param {Api.Erasure} preview */
function consequences(preview) {
  const lines = removed(preview);
  const { unreached } = preview;
  return [
    h("p", "This leaves no byte and cannot be undone. It removes the memory itself", lines.length ? " and:" : "."),
    lines.length ? h("ul.bullets", lines) : null,
    unreached.length ? [h("p", "The same words also stand elsewhere, and stay there:"), bullets(unreached)] : null,
  ];
}

/**
 * What else would go, as lines.
 * @param {Api.Erasure} preview
 */
function removed({ versions, recalls, documents, copies }) {
  const inCopies = `it from ${plural(copies.length, "backup or export", "backups and exports")}: `;
  return [
    versions === 1 ? h("li", "the one version that is kept") : null,
    versions > 1 ? h("li", `all ${count(versions)} versions that are kept`) : null,
    recalls ? h("li", `what ${plural(recalls, "recall")} said of it in the log`) : null,
    documents.length ? h("li", `its line in: ${documents.join(", ")}`) : null,
    copies.length ? h("li", inCopies, h("span.small-text", copies.join(", "))) : null,
  ].filter((line) => line !== null);
}
