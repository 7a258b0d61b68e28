// Vault: documents that assistants may look things up in, and a search that cites each passage.
import { debounce, fill, h } from "../dom.js";
import { api, isAborted, Newest } from "../api.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { keys } from "../components/keys.js";
import { coded, empty, wordsOf } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { addFiles, drawFiles } from "../vault/files.js";
import { drawHits, searchedBy } from "../vault/hits.js";

/** @import { Page, View } from "../router.js" */

const PASSAGES = 20;
const TYPING_MS = 180;

/** @type {Page} */
export const page = {
  title: "Vault",
  show: (view) => new VaultPage(view).start(),
};

class VaultPage {
  #status = h("p.result-line", { role: "status" });
  #results = h("div.vault-results");
  #files = h("div.vault-groups");

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.latest = new Newest(view.signal);
    this.field = h("input.search", {
      type: "search",
      placeholder: "Search your documents",
      "aria-label": "Search the vault",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
    });
  }

  async start() {
    const { root, signal } = this.view;
    const about = "Documents that your assistants can look things up in. They stay where they are.";
    const add = h("button.primary", { type: "button", onclick: addFiles }, icon("plus", 18), "Add files");
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Vault"), h("p", about)), add),
      h("div.timeline-search", h("label.search-box", icon("search"), this.field, h("kbd", "/")), this.#status),
      this.#results,
      this.#files,
    );
    const typed = debounce(TYPING_MS, () => this.#search());
    this.field.addEventListener("input", typed);
    signal.addEventListener("abort", typed.cancel);
    this.view.onQuery((query) => {
      this.field.value = query.get("q") ?? "";
      this.#search();
    });
    keys({ n: ["add files", addFiles] }, signal);
    onChange("vault", () => this.#load(), signal);
    await this.#load();
  }

  async #load() {
    await Promise.all([this.#list(), this.#search()]);
  }

  async #search() {
    const query = this.field.value.trim();
    this.view.setQuery({ q: query });
    this.#files.hidden = Boolean(query);
    if (!query) {
      this.latest.cancel();
      this.#status.textContent = "";
      fill(this.#results);
      return;
    }
    const body = { query, limit: PASSAGES };
    try {
      const answer = await this.latest.run((signal) => api.post("/api/vault/search", body, { signal }));
      this.#status.textContent = searchedBy(answer);
      const nothing = { title: "Nothing found", text: "Other words may find it." };
      fill(
        this.#results,
        answer.hits.length ? drawHits(answer, wordsOf(query)) : empty({ icon: "search", ...nothing }),
      );
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }

  async #list() {
    try {
      const { documents } = await api.get("/api/vault", null, { signal: this.view.signal });
      fill(this.#files, documents.length ? drawFiles(documents) : nothingYet());
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }
}

function nothingYet() {
  return empty({
    icon: "vault",
    title: "The vault is empty",
    text: coded("Add notes, manuals or a whole folder with `throughline vault add`."),
    action: h("button.primary", { type: "button", onclick: addFiles }, "Add files"),
  });
}
