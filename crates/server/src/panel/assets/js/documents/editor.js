// The editor of one document. It saves against the version it opened and never overwrites another.
//
//   const editor = documentEditor({ about, document, etag, onsaved, signal })     editor.node, editor.isDirty()
//   editor.tell(about)                         its line in the list of documents, when that was fetched again
//   editor.changedElsewhere({ text, etag })    what was saved by somebody else: taken over, or told when there are unsaved edits
import { fill, h } from "../dom.js";
import { api, ApiError, segments } from "../api.js";
import { changedHere } from "../live.js";
import { count, DOCUMENT_TITLES, roughTokens, span } from "../format.js";
import { icon } from "../icons.js";
import { undoable } from "../undo.js";
import { bar, when } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";
import { settle } from "./conflict.js";
import { showVersions } from "./versions.js";

export const titleOf = (name) => {
  const last = name.split("/").at(-1);
  return name.startsWith("projects/") ? last : (DOCUMENT_TITLES[last] ?? last);
};

const ABOUT = {
  profile: "Who you are. Every assistant gets this at the start of every conversation.",
  patterns: "How you work, noticed over many conversations.",
  working: "What has been going on lately. It expires by itself.",
  memory: "Notes that are kept whole.",
};

export function documentEditor({ about, document: opened, etag, onsaved }) {
  const name = about.name;
  let base = { text: opened?.text ?? "", etag };
  let theirs = null;
  // The daemon counts what would be told to an assistant; while somebody types, only the difference is estimated here.
  let extra = offsets(about, opened, base.text);

  const text = h("textarea.doc-text", {
    value: base.text,
    "aria-label": `Text of ${titleOf(name)}`,
    spellcheck: true,
    placeholder: "- One thing per line",
  });
  const limits = h("div.doc-limits");
  const state = h("span.doc-state", { role: "status" });
  const notice = h("p.notice", { hidden: true, role: "status" });
  const save = h("button.primary", { type: "button", onclick: () => store() }, "Save");
  const discard = h("button.quiet", { type: "button", onclick: () => take(theirs ?? base) }, "Discard");
  const isDirty = () => text.value !== base.text;

  function draw() {
    const isChanged = isDirty();
    save.disabled = !isChanged;
    discard.hidden = !isChanged;
    state.textContent = isChanged ? "Not saved" : base.etag ? "Saved" : "Not written yet";
    state.classList.toggle("is-dirty", isChanged);
    const limit = about.limit ?? {};
    const chars = [...text.value].length + extra.chars;
    const tokens = Math.max(0, roughTokens(text.value) + extra.tokens);
    fill(
      limits,
      limit.chars
        ? bar({ value: chars, limit: limit.chars, label: `${count(chars)} of ${count(limit.chars)} characters` })
        : null,
      limit.tokens
        ? bar({ value: tokens, limit: limit.tokens, label: `about ${count(tokens)} of ${count(limit.tokens)} tokens` })
        : null,
      !limit.chars && !limit.tokens
        ? h("span.bar-label", `${count(chars)} characters, about ${count(tokens)} tokens`)
        : null,
    );
  }

  function take(next) {
    const { selectionStart, selectionEnd, scrollTop } = text;
    base = { text: next.text ?? "", etag: next.etag };
    theirs = null;
    notice.hidden = true;
    text.value = base.text;
    text.setSelectionRange(selectionStart, selectionEnd);
    text.scrollTop = scrollTop;
    draw();
  }

  async function store() {
    const written = text.value;
    save.disabled = true;
    try {
      const headers = base.etag ? { "If-Match": base.etag } : { "If-None-Match": "*" };
      const { body, etag: now } = await api.ask("PUT", `/api/documents/${segments(name)}`, {
        body: { text: written },
        headers,
      });
      // What was saved may differ from what was typed: a secret is taken out.
      const saved = body.text ?? written;
      const isStill = text.value === written;
      base = { text: saved, etag: now ?? `"${body.hash}"` };
      extra = offsets({ ...about, ...body }, body, saved);
      theirs = null;
      notice.hidden = true;
      if (isStill) text.value = saved;
      changedHere("documents");
      draw();
      onsaved?.(body);
      await undoable(body.redacted?.length ? "Saved, with a secret taken out" : "Saved");
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await resolve(error);
      else failed(error);
    } finally {
      draw();
    }
  }

  async function resolve(error) {
    let current = error?.body?.error?.current;
    let currentEtag = current?.hash ? `"${current.hash}"` : null;
    if (!current) {
      const fresh = theirs ?? (await fetchDocument(name));
      current = fresh.document ?? fresh;
      currentEtag = fresh.etag;
    }
    const choice = await settle({ base: base.text, mine: text.value, theirs: current.text ?? "" });
    if (!choice) {
      changedElsewhere({ text: current.text ?? "", etag: currentEtag });
    } else if (choice.from === "theirs") {
      take({ text: current.text, etag: currentEtag });
      toast("Theirs is kept");
    } else {
      base = { text: current.text ?? "", etag: currentEtag };
      text.value = choice.text;
      await store();
    }
    draw();
  }

  function changedElsewhere(next) {
    if (next.etag === base.etag) return;
    if (!isDirty()) {
      take(next);
      return;
    }
    theirs = next;
    fill(
      notice,
      "This document was changed elsewhere. Your text is untouched. ",
      h("button.link", { type: "button", onclick: () => resolve() }, "See both"),
    );
    notice.hidden = false;
  }

  text.addEventListener("input", draw);
  text.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && (event.key === "s" || event.key === "Enter")) {
      event.preventDefault();
      if (isDirty()) store();
    }
  });
  const facts = h("p.doc-facts.muted");
  function tell(now) {
    const left = now.expires_at ? new Date(now.expires_at).getTime() - Date.now() : null;
    fill(
      facts,
      h("code", name),
      now.updated_at ? when(now.updated_at, { prefix: "written " }) : null,
      left === null
        ? null
        : h(
            "span.time-left",
            { class: left <= 0 ? "is-over" : "" },
            icon("clock", 16),
            left > 0 ? `${span(left)} left` : "expired",
          ),
    );
  }

  const node = h(
    "section.doc-editor",
    { "aria-label": titleOf(name) },
    h(
      "header.doc-head",
      h(
        "div.grow",
        h("h2.doc-title", titleOf(name)),
        h(
          "p.muted",
          name.startsWith("projects/")
            ? "What is known about this project."
            : (ABOUT[name.split("/").slice(1).join("/")] ?? name),
        ),
      ),
      state,
    ),
    facts,
    limits,
    notice,
    text,
    h(
      "div.row.wrap",
      save,
      discard,
      h(
        "button.quiet",
        { type: "button", onclick: () => showVersions(name, titleOf(name)).catch(failed) },
        icon("clock", 16),
        "History",
      ),
      h("small.muted", "Ctrl+S saves"),
    ),
  );
  draw();
  tell(about);
  return { node, isDirty, changedElsewhere, tell, focus: () => text.focus() };
}

function offsets(about, document, text) {
  const chars = document?.usage?.chars ?? about.usage?.chars;
  const tokens = document?.tokens ?? about.tokens;
  return {
    chars: Number.isFinite(chars) ? chars - [...text].length : 0,
    tokens: Number.isFinite(tokens) ? tokens - roughTokens(text) : 0,
  };
}

/// The document and its ETag; `{ document: null, etag: null }` where there is none yet. `about` is its line in the list
/// of documents, which saves asking for what is not there.
export async function fetchDocument(name, signal, about) {
  if (about?.exists === false) return { document: null, text: "", etag: null };
  try {
    const { body, etag } = await api.ask("GET", `/api/documents/${segments(name)}`, { signal });
    return { document: body, text: body.text, etag };
  } catch (error) {
    if (error.status === 404) return { document: null, text: "", etag: null };
    throw error;
  }
}
