// The documents of the vault: what is in it, how something comes in, how it is taken out.
//
//   drawFiles(documents)      addFiles()
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { bytes, plural } from "../format.js";
import { icon } from "../icons.js";
import { ask, dialog } from "../components/dialog.js";
import { when } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";

export function drawFiles(documents) {
  const collections = Map.groupBy ? Map.groupBy(documents, (each) => each.collection) : grouped(documents);
  return [...collections].map(([name, all]) =>
    h(
      "section.vault-group",
      { "aria-label": name },
      h(
        "header.vault-group-head",
        h("h2", name),
        h("span", `${plural(all.length, "document")}, ${bytes(all.reduce((sum, each) => sum + each.bytes, 0))}`),
      ),
      h("ul.vault-files", all.map(file)),
    ),
  );
}

function grouped(documents) {
  const groups = new Map();
  for (const each of documents) groups.set(each.collection, [...(groups.get(each.collection) ?? []), each]);
  return groups;
}

function file(each) {
  return h(
    "li",
    h("span.vault-icon", icon("file", 18)),
    h(
      "div.grow",
      h("p.vault-title", each.title),
      h(
        "p.vault-facts",
        h("code", each.path),
        h("span", bytes(each.bytes)),
        h("span", plural(each.chunks, "passage")),
        when(each.updated_at, { prefix: "indexed " }),
      ),
    ),
    h(
      "button.bare",
      {
        type: "button",
        "aria-label": `Take ${each.title} out of the vault`,
        title: "Take out of the vault",
        onclick: () => remove(each).catch(failed),
      },
      icon("close", 18),
    ),
  );
}

async function remove(each) {
  const agreed = await ask({
    title: "Take it out of the vault?",
    body: [
      h("blockquote.quote", each.title),
      h("p.soft", "Searches no longer find it. The file itself stays where it is: "),
      h("code", each.path),
    ],
    action: "Take out",
  });
  if (!agreed) return;
  await api.del(`/api/vault/${encodeURIComponent(each.id)}`);
  changedHere("vault");
  toast("Taken out; the file is untouched");
}

export function addFiles() {
  const paths = h("textarea", { rows: 3, spellcheck: false, placeholder: "/home/you/notes" });
  const into = h("input", { type: "text", autocomplete: "off", placeholder: "notes" });
  const save = async () => {
    const given = paths.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (!given.length) {
      paths.focus();
      return;
    }
    button.disabled = true;
    try {
      const answer = await api.post("/api/vault", {
        paths: given,
        ...(into.value.trim() ? { into: into.value.trim() } : {}),
      });
      changedHere("vault");
      close();
      tell(answer);
    } catch (error) {
      failed(error);
    } finally {
      button.disabled = false;
    }
  };
  const button = h("button.primary", { type: "button", onclick: save }, "Add");
  const close = dialog({
    title: "Add to the vault",
    body: [
      h(
        "p.soft",
        "Files and folders of the machine that this memory runs on: text, Markdown, code, PDF. They are read, not moved.",
      ),
      h("label.field", h("span", "Absolute paths, one per line"), paths),
      h("label.field", h("span", "Collection (may stay empty)"), into),
    ],
    actions: [h("button", { type: "button", onclick: () => close() }, "Cancel"), button],
  });
  paths.focus();
}

function tell({ indexed, unchanged, dropped, skipped, unreadable, embeddings }) {
  const said =
    [
      indexed ? `${plural(indexed, "document")} read` : null,
      unchanged ? `${unchanged} unchanged` : null,
      dropped ? `${dropped} gone` : null,
    ]
      .filter(Boolean)
      .join(", ") || "Nothing to read there";
  const left = Object.entries({
    too_large: "too large",
    binary: "not text",
    empty: "empty",
    private: "the memory's own",
  })
    .filter(([key]) => skipped?.[key])
    .map(([key, name]) => `${skipped[key]} ${name}`)
    .join(", ");
  if (unreadable?.length || embeddings?.problem) {
    dialog({
      title: said,
      body: [
        left ? h("p", `Left out: ${left}.`) : null,
        unreadable?.length
          ? [
              h("p", "These could not be read:"),
              h(
                "ul.bullets",
                unreadable.map(({ path, why }) => h("li", h("code", path), `: ${why}`)),
              ),
            ]
          : null,
        embeddings?.problem ? h("p.notice", `Found by words only for now: ${embeddings.problem}`) : null,
      ],
    });
  } else {
    toast(said, { hint: left ? `Left out: ${left}` : null });
  }
}
