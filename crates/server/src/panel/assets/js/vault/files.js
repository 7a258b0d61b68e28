// The documents of the vault: listing, how to add, removing.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { bytes, plural } from "../format.js";
import { icon } from "../icons.js";
import { ask, dialog } from "../components/dialog.js";
import { when } from "../components/parts.js";
import { attempt, toast } from "../components/toast.js";

/** @param {Api.VaultDocument[]} documents */
export function drawFiles(documents) {
  return [...byCollection(documents)].map(([name, all]) => {
    const size = bytes(all.reduce((sum, each) => sum + each.bytes, 0));
    return h(
      "section.vault-group",
      { "aria-label": name },
      h("header.vault-group-head", h("h2", name), h("span", `${plural(all.length, "document")}, ${size}`)),
      h("ul.vault-files", all.map(file)),
    );
  });
}

/** @param {Api.VaultDocument[]} documents */
function byCollection(documents) {
  /** @type {Map<string, Api.VaultDocument[]>} */
  const groups = new Map();
  for (const each of documents) {
    const group = groups.get(each.collection) ?? [];
    group.push(each);
    groups.set(each.collection, group);
  }
  return groups;
}

/** @param {Api.VaultDocument} document */
function file(document) {
  const { title, path, bytes: size, chunks, updated_at: updatedAt } = document;
  return h(
    "li",
    h("span.vault-icon", icon("file", 18)),
    h(
      "div.grow",
      h("p.vault-title", title),
      h(
        "p.vault-facts",
        h("code", path),
        h("span", bytes(size)),
        h("span", plural(chunks, "passage")),
        when(updatedAt, { prefix: "indexed " }),
      ),
    ),
    h(
      "button.bare",
      {
        type: "button",
        "aria-label": `Take ${title} out of the vault`,
        title: "Take out of the vault",
        onclick: attempt(() => remove(document)),
      },
      icon("close", 18),
    ),
  );
}

/** @param {Api.VaultDocument} document */
async function remove({ id, title, path }) {
  const agreed = await ask({
    title: "Take it out of the vault?",
    body: [
      h("blockquote.quote", title),
      h("p.soft", "Searches no longer find it. The file itself stays where it is: "),
      h("code", path),
    ],
    action: "Take out",
  });
  if (!agreed) return;
  await api.del(`/api/vault/${encodeURIComponent(id)}`);
  changedHere("vault");
  toast("Taken out; the file is untouched");
}

/** How files come in: on the terminal, since a browser may not name files of the machine. */
export function addFiles() {
  const close = dialog({
    title: "Add to the vault",
    body: [
      h("p", "Files and folders are added on the terminal of the machine that keeps this memory:"),
      h("pre", { tabIndex: 0 }, "throughline vault add ~/notes\nthroughline vault add ~/manuals --into manuals"),
      h("p.soft", "Text, Markdown, code and PDF are read, not moved. A browser may not name files: no page should."),
    ],
    actions: [h("button.primary", { type: "button", onclick: () => close() }, "Done")],
  });
}
