// The editor of one document. It saves against the version it opened and never overwrites another.
//
//   const editor = new DocumentEditor({ about, opened, onsaved })     editor.node, editor.isDirty
//   editor.tell(about)                  its line in the list of documents, when that was fetched again
//   editor.changedElsewhere(version)    what somebody else saved: shown, or announced if there are unsaved edits
import { fill, h } from "../dom.js";
import { api, ApiError, segments, statusOf } from "../api.js";
import { changedHere } from "../live.js";
import { count, DOCUMENT_TITLES, millis, roughTokens, span, wordCost } from "../format.js";
import { icon } from "../icons.js";
import { undoable, withSecrets } from "../undo.js";
import { bar, when } from "../components/parts.js";
import { attempt, failed, toast } from "../components/toast.js";
import { settle } from "./conflict.js";
import { showVersions } from "./versions.js";

/**
 * A text and the ETag it has; null where it was never written.
 * @typedef {{ text: string, etag: string | null }} SavedText
 */

/** @param {string} name */
export const titleOf = (name) => {
  const last = name.split("/").at(-1) ?? name;
  return name.startsWith("projects/") ? last : (DOCUMENT_TITLES[last] ?? last);
};

/** @type {Record<string, string>} */
const ABOUT = {
  profile: "Who you are. Every assistant gets this at the start of every conversation.",
  patterns: "How you work, noticed over many conversations.",
  working: "What has been going on lately. It expires by itself.",
  memory: "Notes that are kept whole.",
};

/** @param {string} name */
const aboutOf = (name) =>
  name.startsWith("projects/")
    ? "What is known about this project."
    : (ABOUT[name.split("/").slice(1).join("/")] ?? name);

export class DocumentEditor {
  #limits = h("div.doc-limits");
  #state = h("span.doc-state", { role: "status" });
  #notice = h("p.notice", { hidden: true, role: "status" });
  #facts = h("p.doc-facts.muted");
  #save = h("button.primary", { type: "button", onclick: () => this.#store() }, "Save");
  #discard = h("button.quiet", { type: "button", onclick: () => this.#take(this.#theirs ?? this.#base) }, "Discard");
  /** @type {SavedText} */
  #base;
  /**
   * What somebody else saved meanwhile.
   * @type {SavedText | null}
   */
  #theirs = null;
  /** The daemon counts what an assistant is given; while somebody types, only the difference is estimated here. */
  #extra = { chars: 0, tokens: 0 };

  /**
   * @param {object} options
   * @param {Api.ListedDocument} options.about
   * @param {SavedText} options.opened
   * @param {() => unknown} options.onsaved
   */
  constructor({ about, opened, onsaved }) {
    this.about = about;
    this.onsaved = onsaved;
    this.#base = opened;
    this.text = h("textarea.doc-text", {
      value: opened.text,
      "aria-label": `Text of ${titleOf(about.name)}`,
      spellcheck: true,
      placeholder: "- One thing per line",
    });
    this.text.addEventListener("input", () => this.#draw());
    this.text.addEventListener("keydown", (event) => this.#onKey(event));
    this.node = this.#frame();
    this.tell(about);
  }

  get isDirty() {
    return this.text.value !== this.#base.text;
  }

  focus() {
    this.text.focus();
  }

  /** @param {Api.ListedDocument} about */
  tell(about) {
    this.about = about;
    if (!this.isDirty) this.#extra = offsets(about, this.#base.text);
    const left = about.expires_at ? millis(about.expires_at) - Date.now() : null;
    const expiry = left === null || left > 0 ? `${span(left ?? 0)} left` : "expired";
    fill(
      this.#facts,
      h("code", about.name),
      about.updated_at ? when(about.updated_at, { prefix: "written " }) : null,
      left === null ? null : h("span.time-left", { class: left > 0 ? "" : "is-over" }, icon("clock", 16), expiry),
    );
    this.#draw();
  }

  /** @param {SavedText} next */
  changedElsewhere(next) {
    if (next.etag === this.#base.etag) return;
    if (!this.isDirty) {
      this.#take(next);
      return;
    }
    this.#theirs = next;
    fill(
      this.#notice,
      "This document was changed elsewhere. Your text is untouched. ",
      h("button.link", { type: "button", onclick: attempt(() => this.#resolve(next)) }, "See both"),
    );
    this.#notice.hidden = false;
  }

  #frame() {
    const { name } = this.about;
    const title = titleOf(name);
    const history = attempt(() => showVersions(name, title));
    return h(
      "section.doc-editor",
      { "aria-label": title },
      h("header.doc-head", h("div.grow", h("h2.doc-title", title), h("p.muted", aboutOf(name))), this.#state),
      this.#facts,
      this.#limits,
      this.#notice,
      this.text,
      h(
        "div.row.wrap",
        this.#save,
        this.#discard,
        h("button.quiet", { type: "button", onclick: history }, icon("clock", 16), "History"),
        h("small.muted", "Ctrl+S saves"),
      ),
    );
  }

  #draw() {
    const isChanged = this.isDirty;
    this.#save.disabled = !isChanged;
    this.#discard.hidden = !isChanged;
    this.#state.textContent = isChanged ? "Not saved" : this.#base.etag ? "Saved" : "Not written yet";
    this.#state.classList.toggle("is-dirty", isChanged);
    const { chars: mostChars, tokens: mostTokens } = this.about.limit;
    const chars = [...this.text.value].length + this.#extra.chars;
    const tokens = Math.max(0, roughTokens(this.text.value) + this.#extra.tokens);
    const charsLabel = `${count(chars)} of ${count(mostChars)} characters`;
    const tokensLabel = mostTokens ? `${wordCost(tokens)} of ${wordCost(mostTokens)}` : "";
    fill(
      this.#limits,
      mostChars ? bar({ value: chars, limit: mostChars, label: charsLabel }) : null,
      mostTokens ? bar({ value: tokens, limit: mostTokens, label: tokensLabel }) : null,
      !mostChars && !mostTokens ? h("span.bar-label", `${count(chars)} characters, ${wordCost(tokens)}`) : null,
    );
  }

  /** @param {SavedText} next */
  #take(next) {
    const { selectionStart, selectionEnd, scrollTop } = this.text;
    this.#setBase(next);
    this.#extra = offsets(this.about, next.text);
    this.text.value = next.text;
    this.text.setSelectionRange(selectionStart, selectionEnd);
    this.text.scrollTop = scrollTop;
    this.#draw();
  }

  /** @param {SavedText} next */
  #setBase(next) {
    this.#base = next;
    this.#theirs = null;
    this.#notice.hidden = true;
  }

  async #store() {
    const written = this.text.value;
    const { etag } = this.#base;
    this.#save.disabled = true;
    try {
      /** @type {Record<string, string>} */
      const headers = etag ? { "If-Match": etag } : { "If-None-Match": "*" };
      const path = /** @type {const} */ (`/api/documents/${segments(this.about.name)}`);
      const { body, etag: now } = await api.ask("PUT", path, { body: { text: written }, headers });
      const isStill = this.text.value === written;
      // What was saved may differ from what was typed: a secret is taken out.
      this.#setBase({ text: body.text, etag: now ?? `"${body.hash}"` });
      if (isStill) this.text.value = body.text;
      changedHere("documents");
      this.#draw();
      this.onsaved();
      await undoable(withSecrets("Saved", body));
    } catch (error) {
      if (statusOf(error) === 412) await this.#resolve(await this.#current(error));
      else failed(error);
    } finally {
      this.#draw();
    }
  }

  /**
   * The version that a write was refused for.
   * @param {unknown} error
   * @returns {Promise<SavedText>}
   */
  async #current(error) {
    const current = error instanceof ApiError ? error.body?.error?.current : null;
    if (current) return { text: current.text, etag: `"${current.hash}"` };
    return this.#theirs ?? fetchDocument(this.about.name);
  }

  /** @param {SavedText} current */
  async #resolve(current) {
    const choice = await settle({ base: this.#base.text, mine: this.text.value, theirs: current.text });
    if (!choice) {
      this.changedElsewhere(current);
    } else if (choice.from === "theirs") {
      this.#take(current);
      toast("Theirs is kept");
    } else {
      this.#base = current;
      this.text.value = choice.text;
      await this.#store();
    }
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (!(event.ctrlKey || event.metaKey) || (event.key !== "s" && event.key !== "Enter")) return;
    event.preventDefault();
    if (this.isDirty) this.#store();
  }
}

/**
 * @param {Api.ListedDocument} about
 * @param {string} text
 */
function offsets(about, text) {
  if (!about.exists) return { chars: 0, tokens: 0 };
  return {
    chars: about.usage ? about.usage.chars - [...text].length : 0,
    tokens: about.tokens - roughTokens(text),
  };
}

/**
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @param {Api.ListedDocument} [about] its line in the list of documents: a document that does not exist is not fetched
 * @returns {Promise<SavedText>}
 */
export async function fetchDocument(name, signal, about) {
  if (about?.exists === false) return { text: "", etag: null };
  try {
    const { body, etag } = await api.ask("GET", `/api/documents/${segments(name)}`, { signal });
    return { text: body.text, etag };
  } catch (error) {
    if (statusOf(error) === 404) return { text: "", etag: null };
    throw error;
  }
}
