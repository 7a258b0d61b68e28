// The documents of the vault: listing, adding, removing.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { bytes, plural } from "../format.js";
import { icon } from "../icons.js";
import { ask, dialog } from "../components/dialog.js";
import { when } from "../components/parts.js";
import { attempt, attemptOnce, toast } from "../components/toast.js";

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

export function addFiles() {
  const paths = h("textarea", { rows: 3, spellcheck: false, placeholder: "/home/you/notes" });
  const into = h("input", { type: "text", autocomplete: "off", placeholder: "notes" });
  const save = attemptOnce(async () => {
    const given = paths.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (!given.length) {
      paths.focus();
      return;
    }
    const collection = into.value.trim();
    const answer = await api.post("/api/vault", { paths: given, ...(collection ? { into: collection } : {}) });
    changedHere("vault");
    close();
    tell(answer);
  });
  const about =
    "Files and folders of the machine that this memory runs on: text, Markdown, code, PDF. They are read, not moved.";
  const close = dialog({
    title: "Add to the vault",
    body: [
      h("p.soft", about),
      h("label.field", h("span", "Absolute paths, one per line"), paths),
      h("label.field", h("span", "Collection (may stay empty)"), into),
    ],
    actions: [
      h("button", { type: "button", onclick: () => close() }, "Cancel"),
      h("button.primary", { type: "button", onclick: save }, "Add"),
    ],
  });
  paths.focus();
}

/** @type {[key: keyof Api.VaultAdded["skipped"], name: string][]} */
const SKIPPED = [
  ["too_large", "too large"],
  ["binary", "not text"],
  ["empty", "empty"],
  ["private", "the memory's own"],
];

/** @param {Api.VaultAdded} added */
function tell({ indexed, unchanged, dropped, skipped, unreadable, embeddings }) {
  const read = [
    indexed ? `${plural(indexed, "document")} read` : null,
    unchanged ? `${unchanged} unchanged` : null,
    dropped ? `${dropped} gone` : null,
  ].filter(Boolean);
  const said = read.join(", ") || "Nothing to read there";
  const leftOut = SKIPPED.filter(([key]) => skipped[key]).map(([key, name]) => `${skipped[key]} ${name}`);
  const left = leftOut.length ? `Left out: ${leftOut.join(", ")}` : null;
  const problem = embeddings?.problem;
  if (!unreadable.length && !problem) {
    toast(said, { hint: left });
    return;
  }
  const lines = unreadable.map(({ path, why }) => h("li", h("code", path), `: ${why}`));
  dialog({
    title: said,
    body: [
      left ? h("p", `${left}.`) : null,
      lines.length ? [h("p", "These could not be read:"), h("ul.bullets", lines)] : null,
      problem ? h("p.notice", `Found by words only for now: ${problem}`) : null,
    ],
  });
}
