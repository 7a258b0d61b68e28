// Which page is shown, from the part of the address after `#`: `#/memories?layer=knowledge&id=abc`.
//
// A page is a module with `export const page = { title: "Memories", show(view) {…} }`. `show` builds into `view.root`
// and may be async; `View` says what it is given.
import { fill, h } from "./dom.js";
import { hintOf, isAborted, messageOf } from "./api.js";
import { failed } from "./components/toast.js";

/**
 * @typedef {{ title: string, show: (view: View) => void | Promise<void> }} Page
 * @typedef {Record<string, string | null | undefined>} Query
 * @typedef {{ name: string, rest: string, query: URLSearchParams, hash: string }} Address
 */

/** A page as long as it is shown. */
export class View {
  #controller = new AbortController();
  /** @type {((query: URLSearchParams) => unknown) | null} */
  #queryListener = null;
  /** @type {() => string | null} */
  #lost = () => null;

  /** @param {Address} address */
  constructor({ name, rest, query, hash }) {
    this.name = name;
    /** What follows the page's name in the path, decoded: `#/documents/user/profile` gives "user/profile". */
    this.rest = rest;
    this.query = query;
    this.hash = hash;
    /** An empty element. */
    this.root = h("div.page", { class: `page-${name}` });
    /** Aborted when the page is left: for every request, listener, `onChange` and `keys`. */
    this.signal = this.#controller.signal;
  }

  /**
   * Changes the address without showing the page again.
   * @param {Query} changes
   */
  setQuery(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "") this.query.delete(key);
      else this.query.set(key, value);
    }
    // Somebody went elsewhere, and the event that says so is still to come.
    if (location.hash !== this.hash) return;
    const path = this.rest ? `${this.name}/${this.rest}` : this.name;
    history.replaceState(null, "", href(path, Object.fromEntries(this.query)));
    this.hash = location.hash;
  }

  /**
   * Called on back and forward within the page; without a listener the page is shown anew.
   * @param {(query: URLSearchParams) => unknown} listener
   */
  onQuery(listener) {
    this.#queryListener = listener;
  }

  /**
   * @param {() => string | null} lost asked before the page is left: what would be lost, or null
   */
  guard(lost) {
    this.#lost = lost;
  }

  /** What would be lost by leaving the page. */
  get unsaved() {
    return this.#lost();
  }

  /**
   * Goes to another query of the same page. Gives whether the page handles that itself.
   * @param {Address} to
   */
  follow(to) {
    if (to.name !== this.name || to.rest !== this.rest || !this.#queryListener) return false;
    this.hash = to.hash;
    this.query = to.query;
    this.#queryListener(to.query);
    return true;
  }

  leave() {
    this.#controller.abort();
  }
}

/** @type {Record<string, Page>} */
let pages = {};
/** @type {HTMLElement} */
let root;
/** @type {View | null} */
let current = null;
/** @type {(name: string, title: string) => void} */
let onShown = () => {};

/**
 * @param {string} path
 * @param {Query} [query]
 */
export function href(path, query) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(key, value);
  }
  const text = search.toString();
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `#/${encoded}${text ? `?${text}` : ""}`;
}

/**
 * @param {string} path
 * @param {Query} [query]
 */
export function go(path, query) {
  location.hash = href(path, query);
}

/** @returns {Address} */
function read() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decode);
  return { name: name || "home", rest: rest.join("/"), query: new URLSearchParams(search), hash: location.hash };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  const address = read();
  if (current && (address.hash === current.hash || current.follow(address))) return;
  const lost = current?.unsaved;
  if (current && lost && !window.confirm(`${lost} Leave anyway?`)) {
    history.pushState(null, "", current.hash || "#/");
    return;
  }
  current?.leave();
  const view = new View(address);
  current = view;
  fill(root, view.root);
  root.scrollTop = 0;
  const page = Object.hasOwn(pages, view.name) ? pages[view.name] : null;
  const title = page?.title ?? "Not found";
  document.title = `${title} · Throughline`;
  onShown(view.name, title);
  if (page) await showPage(page, view);
  else fill(view.root, h("h1", "There is no such page"), h("p", h("a", { href: "#/" }, "Go home")));
}

/**
 * @param {Page} page
 * @param {View} view
 */
async function showPage(page, view) {
  try {
    await page.show(view);
  } catch (error) {
    if (view.signal.aborted || isAborted(error)) return;
    failed(error);
    if (!view.root.hasChildNodes()) fill(view.root, problem(error));
  }
}

/** @param {unknown} error */
function problem(error) {
  const hint = hintOf(error);
  return h(
    "div.empty",
    h("h2", "This could not be shown"),
    h("p", messageOf(error)),
    hint ? h("p.muted", hint) : null,
    h("button", { type: "button", onclick: reload }, "Try again"),
  );
}

/** Shows the current page anew. */
export function reload() {
  current?.leave();
  current = null;
  show();
}

/**
 * @param {HTMLElement} into
 * @param {Record<string, Page>} all
 * @param {(name: string, title: string) => void} shown called with each page that is shown
 */
export function start(into, all, shown) {
  root = into;
  pages = all;
  onShown = shown;
  window.addEventListener("hashchange", show);
  window.addEventListener("beforeunload", (event) => {
    if (current?.unsaved) event.preventDefault();
  });
  show();
}
