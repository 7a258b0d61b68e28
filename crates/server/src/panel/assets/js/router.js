// Which page is shown, from the part of the address after `#`: `#/memories?layer=knowledge&id=abc`.
//
// A page is a module with `export const page = { title: "Memories", show(view) {…} }`. `show` builds into `view.root` and
// may be async; it gets
//   view.root      an empty element
//   view.rest      what follows the page's name in the path, decoded: `#/documents/user/profile` → "user/profile"
//   view.query     URLSearchParams, as they are now
//   view.signal    aborted when the page is left: give it to every request, listener, `onChange` and `keys`
//   view.setQuery({ layer: "archive", id: null })   changes the address without showing the page anew
//   view.onQuery(listener)                          back and forward within the page; without it the page is shown anew
//   view.guard(() => "what would be lost" or null)  asked before the page is left
import { fill, h } from "./dom.js";
import { isAborted } from "./api.js";
import { failed } from "./components/toast.js";

let pages = {};
let root = null;
let current = null;
let onShown = () => {};

export function href(path, query) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(key, value);
  }
  const text = search.toString();
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `#/${encoded}${text ? `?${text}` : ""}`;
}

export function go(path, query) {
  location.hash = href(path, query);
}

function read() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decode);
  return { name: name || "home", rest: rest.join("/"), query: new URLSearchParams(search), hash: location.hash };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  const at = read();
  if (current && at.hash === current.hash) return;
  if (current && at.name === current.name && at.rest === current.rest && current.onQuery) {
    current.hash = at.hash;
    current.view.query = at.query;
    current.onQuery(at.query);
    return;
  }
  const lost = current?.guard?.();
  if (lost && !window.confirm(`${lost} Leave anyway?`)) {
    history.pushState(null, "", current.hash || "#/");
    return;
  }
  current?.controller.abort();
  const controller = new AbortController();
  const here = { name: at.name, rest: at.rest, hash: at.hash, controller };
  current = here;
  const section = h("div.page", { class: `page-${at.name}` });
  here.view = {
    root: section,
    rest: at.rest,
    query: at.query,
    signal: controller.signal,
    setQuery(changes) {
      for (const [key, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === "") this.query.delete(key);
        else this.query.set(key, value);
      }
      here.hash = href(here.rest ? `${here.name}/${here.rest}` : here.name, Object.fromEntries(this.query));
      history.replaceState(null, "", here.hash);
    },
    onQuery(listener) {
      here.onQuery = listener;
    },
    guard(check) {
      here.guard = check;
    },
  };
  const page = pages[at.name];
  fill(root, section);
  root.scrollTop = 0;
  document.title = `${page?.title ?? "Not found"} · Throughline`;
  onShown(at.name, page?.title ?? "Not found");
  if (!page) {
    fill(section, h("h1", "There is no such page"), h("p", h("a", { href: "#/" }, "Go home")));
    return;
  }
  try {
    await page.show(here.view);
  } catch (error) {
    if (controller.signal.aborted || isAborted(error)) return;
    failed(error);
    if (!section.hasChildNodes()) fill(section, problem(error));
  }
}

function problem(error) {
  return h(
    "div.empty",
    h("h2", "This could not be shown"),
    h("p", error.message),
    error.hint ? h("p.muted", error.hint) : null,
    h("button", { type: "button", onclick: reload }, "Try again"),
  );
}

/// Shows the current page anew.
export function reload() {
  if (current) current.hash = null;
  show();
}

export function start(into, all, shown) {
  root = into;
  pages = all;
  onShown = shown;
  window.addEventListener("hashchange", show);
  window.addEventListener("beforeunload", (event) => {
    if (current?.guard?.()) event.preventDefault();
  });
  show();
}
