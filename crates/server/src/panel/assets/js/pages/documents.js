// Documents: profile, patterns, recent context, notes and the memory of projects, each with an editor.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { ask } from "../components/dialog.js";
import { keys } from "../components/keys.js";
import { attempt } from "../components/toast.js";
import { DocumentEditor, fetchDocument, titleOf } from "../documents/editor.js";

/** @import { Page, View } from "../router.js" */

/** @param {Api.ListedDocument} document */
const isProject = ({ name }) => name.startsWith("projects/");

/**
 * The whole name. The namespace of the person's own documents is configurable: `#/documents/profile` is in it.
 * @param {string} rest
 * @param {Api.ListedDocument[]} documents
 */
const named = (rest, documents) =>
  (rest.includes("/") ? rest : documents.find(({ name }) => !rest || name.endsWith(`/${rest}`))?.name) ??
  `user/${rest || "profile"}`;

/** @type {Page} */
export const page = {
  title: "Documents",
  async show(view) {
    const { root, signal } = view;
    const nav = h("nav.doc-list", { "aria-label": "Documents" });
    const place = h("div.doc-place");
    const about = "Short texts that are read whole. They are Markdown files; edit them here or in any editor.";
    const add = h("button", { type: "button", onclick: attempt(create) }, icon("plus", 18), "New document");
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Documents"), h("p", about)), add),
      h("div.doc-grid", nav, place),
    );
    const { documents } = await api.get("/api/documents", null, { signal });
    const name = named(view.rest, documents);
    fill(nav, drawList(documents, name));
    await edit(view, name, lineOf(documents, name), nav, place);
  },
};

/**
 * @param {Api.ListedDocument[]} documents
 * @param {string} name
 * @returns {Api.ListedDocument}
 */
function lineOf(documents, name) {
  const unwritten = { name, limit: {}, exists: false, chars: 0, tokens: 0 };
  return documents.find((each) => each.name === name) ?? unwritten;
}

/**
 * @param {View} view
 * @param {string} name
 * @param {Api.ListedDocument} about
 * @param {HTMLElement} nav
 * @param {HTMLElement} place
 */
async function edit(view, name, about, nav, place) {
  const { signal } = view;
  const refresh = async () => {
    const { documents } = await api.get("/api/documents", null, { signal });
    const now = lineOf(documents, name);
    fill(nav, drawList(documents, name));
    editor.tell(now);
    return now;
  };
  const opened = await fetchDocument(name, signal, about);
  const editor = new DocumentEditor({ about, opened, onsaved: attempt(refresh) });
  fill(place, editor.node);
  view.guard(() => (editor.isDirty ? "What you wrote is not saved." : null));
  keys({ e: ["edit", () => editor.focus()] }, signal);
  const changed = async () => {
    try {
      editor.changedElsewhere(await fetchDocument(name, signal, await refresh()));
    } catch {
      // Away for the moment: when the daemon is back, everything counts as changed and this runs again.
    }
  };
  onChange("documents", changed, signal);
}

/**
 * @param {Api.ListedDocument[]} documents
 * @param {string} current
 */
function drawList(documents, current) {
  /** @type {(title: string, all: Api.ListedDocument[]) => Dom.Child} */
  const group = (title, all) => {
    const items = all.map((each) => item(each, current));
    return items.length ? [h("h3", title), h("ul", items)] : null;
  };
  const own = documents.filter((each) => !isProject(each));
  return [group("About you", own), group("Projects", documents.filter(isProject))];
}

/**
 * @param {Api.ListedDocument} document
 * @param {string} current
 */
function item({ name, exists, limit, usage, chars, tokens }, current) {
  const used = usage?.chars ?? chars;
  const part = limit.chars ? used / limit.chars : limit.tokens ? tokens / limit.tokens : null;
  const size = limit.chars ? `${count(used)} of ${count(limit.chars)}` : `${count(chars)} characters`;
  const width = `${Math.min(100, (part ?? 0) * 100)}%`;
  return h(
    "li",
    h(
      "a.doc-item",
      {
        href: href(`documents/${name}`),
        class: exists ? "" : "is-absent",
        "aria-current": name === current ? "true" : null,
      },
      h("span.doc-item-name", titleOf(name)),
      h("small", exists ? size : "not written yet"),
      part === null || !exists ? null : h("i.doc-item-bar", { style: { "--part": width } }),
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
  const typed = (await agreed) ? field.value.trim() : "";
  if (!typed) return;
  const { documents } = await api.get("/api/documents");
  const own = documents.find((each) => !isProject(each))?.name.split("/")[0] ?? "user";
  go(`documents/${own}/${typed.toLowerCase().replaceAll(/[^\p{L}\p{N}_-]+/gu, "-")}`);
}
