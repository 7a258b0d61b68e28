// Vault: documents that assistants may look things up in, and a search that says where each passage stands.
import { debounce, fill, h } from "../dom.js";
import { api, isAborted, newest } from "../api.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { keys } from "../components/keys.js";
import { coded, empty, wordsOf } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { addFiles, drawFiles } from "../vault/files.js";
import { drawHits, searchedBy } from "../vault/hits.js";

const PASSAGES = 20;
const TYPING_MS = 180;

export const page = {
  title: "Vault",
  async show(view) {
    const { root, signal } = view;
    const latest = newest(signal);
    const field = h("input.search", {
      type: "search",
      placeholder: "Search your documents",
      "aria-label": "Search the vault",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
    });
    const status = h("p.result-line", { role: "status" });
    const results = h("div.vault-results");
    const files = h("div.vault-groups");
    fill(
      root,
      h(
        "header.page-head",
        h(
          "div",
          h("h1", "Vault"),
          h("p", "Documents that your assistants can look things up in. They stay where they are."),
        ),
        h("button.primary", { type: "button", onclick: addFiles }, icon("plus", 18), "Add files"),
      ),
      h("div.timeline-search", h("label.search-box", icon("search"), field, h("kbd", "/")), status),
      results,
      files,
    );

    async function search() {
      const query = field.value.trim();
      view.setQuery({ q: query });
      files.hidden = Boolean(query);
      if (!query) {
        latest(() => {});
        status.textContent = "";
        fill(results);
        return;
      }
      try {
        const answer = await latest((abort) =>
          api.post("/api/vault/search", { query, limit: PASSAGES }, { signal: abort }),
        );
        status.textContent = searchedBy(answer);
        fill(
          results,
          answer.hits.length
            ? drawHits(answer, wordsOf(query))
            : empty({ icon: "search", title: "Nothing found", text: "Other words may find it." }),
        );
      } catch (error) {
        if (!isAborted(error)) failed(error);
      }
    }

    async function list() {
      try {
        const { documents } = await api.get("/api/vault", null, { signal });
        fill(
          files,
          documents.length
            ? drawFiles(documents)
            : empty({
                icon: "vault",
                title: "The vault is empty",
                text: coded("Add notes, manuals or a whole folder, here or with `throughline vault add`."),
                action: h("button.primary", { type: "button", onclick: addFiles }, "Add files"),
              }),
        );
      } catch (error) {
        if (!isAborted(error)) failed(error);
      }
    }

    const typed = debounce(TYPING_MS, search);
    field.addEventListener("input", typed);
    signal.addEventListener("abort", typed.cancel);
    view.onQuery((query) => {
      field.value = query.get("q") ?? "";
      search();
    });
    keys({ n: ["add files", addFiles] }, signal);
    onChange("vault", () => Promise.all([list(), search()]), signal);
    await Promise.all([list(), search()]);
  },
};
