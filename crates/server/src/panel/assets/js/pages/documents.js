// Documents: profile, patterns, recent context, notes and the memory of projects, each with an editor.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { ask } from "../components/dialog.js";
import { keys } from "../components/keys.js";
import { documentEditor, fetchDocument, titleOf } from "../documents/editor.js";

// The namespace of the person's own documents has the name that the config gives it: `#/documents/profile` is theirs.
const isProject = (each) => each.name.startsWith("projects/");
const named = (rest, documents) =>
  (rest.includes("/") ? rest : documents.find(({ name }) => !rest || name.endsWith(`/${rest}`))?.name) ??
  `user/${rest || "profile"}`;

export const page = {
  title: "Documents",
  async show(view) {
    const { root, signal } = view;
    const nav = h("nav.doc-list", { "aria-label": "Documents" });
    const place = h("div.doc-place");
    fill(
      root,
      h(
        "header.page-head",
        h(
          "div",
          h("h1", "Documents"),
          h("p", "Short texts that are read whole. They are Markdown files; edit them here or in any editor."),
        ),
        h("button", { type: "button", onclick: create }, icon("plus", 18), "New document"),
      ),
      h("div.doc-grid", nav, place),
    );

    const { documents: all } = await api.get("/api/documents", null, { signal });
    const name = named(view.rest, all);
    fill(nav, drawList(all, name));
    const about = (documents) => documents.find((each) => each.name === name) ?? { name, limit: {}, exists: false };
    const list = async () => {
      const { documents } = await api.get("/api/documents", null, { signal });
      fill(nav, drawList(documents, name));
      return documents;
    };

    const here = about(all);
    const opened = await fetchDocument(name, signal, here);
    const editor = documentEditor({ about: here, document: opened.document, etag: opened.etag, onsaved: refresh });
    fill(place, editor.node);
    async function refresh() {
      const now = about(await list());
      editor.tell(now);
      return now;
    }

    view.guard(() => (editor.isDirty() ? "What you wrote is not saved." : null));
    keys({ e: ["edit", editor.focus] }, signal);
    onChange(
      "documents",
      async () => {
        try {
          const fresh = await fetchDocument(name, signal, await refresh());
          editor.changedElsewhere({ text: fresh.text, etag: fresh.etag });
        } catch {
          // Away for the moment: when the daemon is back, everything counts as changed and this runs again.
        }
      },
      signal,
    );
  },
};

function drawList(documents, current) {
  const group = (title, all) =>
    all.length
      ? [
          h("h3", title),
          h(
            "ul",
            all.map((each) => item(each, current)),
          ),
        ]
      : null;
  return [
    group(
      "About you",
      documents.filter((each) => !isProject(each)),
    ),
    group("Projects", documents.filter(isProject)),
  ];
}

function item(each, current) {
  const limit = each.limit ?? {};
  const used = each.usage?.chars ?? each.chars ?? 0;
  const part = limit.chars ? used / limit.chars : limit.tokens ? (each.tokens ?? 0) / limit.tokens : null;
  const isThere = each.exists !== false;
  return h(
    "li",
    h(
      "a.doc-item",
      {
        href: href(`documents/${each.name}`),
        class: isThere ? "" : "is-absent",
        ...(each.name === current ? { "aria-current": "true" } : {}),
      },
      h("span.doc-item-name", titleOf(each.name)),
      h(
        "small",
        isThere
          ? limit.chars
            ? `${count(used)} of ${count(limit.chars)}`
            : `${count(each.chars ?? 0)} characters`
          : "not written yet",
      ),
      part === null || !isThere ? null : h("i.doc-item-bar", { style: { "--part": `${Math.min(100, part * 100)}%` } }),
    ),
  );
}

async function create() {
  const field = h("input", { type: "text", autocomplete: "off", placeholder: "travel", "aria-label": "Name" });
  const agreed = ask({
    title: "New document",
    action: "Write it",
    body: [h("p.soft", "A name in small letters; it becomes a file of that name beside the others."), field],
  });
  field.focus();
  if (!(await agreed) || !field.value.trim()) return;
  const { documents } = await api.get("/api/documents");
  const own = documents.find((each) => !isProject(each))?.name.split("/")[0] ?? "user";
  go(
    `documents/${own}/${field.value
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_-]+/gu, "-")}`,
  );
}
