// What can be done to memories. Each asks where it must, does it, tells the page, and offers to take it back.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { count, plural } from "../format.js";
import { undoable } from "../undo.js";
import { ask, dialog } from "../components/dialog.js";
import { tagEditor } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";

const path = (id, ...more) => ["/api/memories", encodeURIComponent(id), ...more].join("/");

export async function forget(memory) {
  await api.del(path(memory.id));
  changedHere("memories");
  await undoable("Forgotten. It is kept, inactive, and no longer recalled.");
}

export async function bringBack(memory) {
  const { failed: refused } = await api.post("/api/memories/bulk", { action: "restore", ids: [memory.id] });
  if (refused?.length) throw asError(refused[0].error);
  changedHere("memories");
  await undoable("Active again");
}

export async function restoreVersion(memory, version) {
  await api.post(path(memory.id, "restore"), { version });
  changedHere("memories");
  await undoable(`Version ${version} is back`);
}

function asError({ message, code, hint }) {
  return Object.assign(new Error(message), { code, hint });
}

/// What the daemon says that erasing would remove, as lines.
function erasureLines({ versions, recalls, documents, copies }) {
  const named = (title, all) => (all?.length ? h("li", `${title}: ${all.join(", ")}`) : null);
  return [
    versions
      ? h("li", versions === 1 ? "the one version that is kept" : `all ${count(versions)} versions that are kept`)
      : null,
    recalls ? h("li", `what ${plural(recalls, "recall")} said of it in the log`) : null,
    named("its line in", documents),
    copies?.length
      ? h(
          "li",
          `it from ${plural(copies.length, "backup or export", "backups and exports")}: `,
          h("span.small-text", copies.join(", ")),
        )
      : null,
  ].filter(Boolean);
}

export async function erase(memory) {
  const preview = await api.get(path(memory.id, "erasure"));
  const sources = preview.sources ?? [];
  const withSources = h("input", { type: "checkbox" });
  const stays = preview.unreached ?? [];
  const lines = erasureLines(preview);
  const agreed = await ask({
    title: "Erase for good",
    danger: true,
    action: "Erase",
    typed: "erase",
    body: [
      h("blockquote.quote", memory.content),
      h("p", "This leaves no byte and cannot be undone. It removes the memory itself", lines.length ? " and:" : "."),
      lines.length ? h("ul.bullets", lines) : null,
      stays.length
        ? [
            h("p", "The same words also stand elsewhere, and stay there:"),
            h(
              "ul.bullets",
              stays.map((place) => h("li", place)),
            ),
          ]
        : null,
      sources.length
        ? h(
            "label.row",
            withSources,
            h("span", `Also erase the ${plural(sources.length, "turn")} of conversation that it came from`),
          )
        : null,
    ],
  });
  if (!agreed) return false;
  const receipt = await api.del(path(memory.id), { erase: "true", with_sources: withSources.checked ? "true" : null });
  changedHere("memories");
  const left = receipt?.unreached ?? [];
  if (left.length) {
    dialog({
      title: "Erased, but not everywhere",
      body: [
        h("p", "These could not be reached:"),
        h(
          "ul.bullets",
          left.map((each) => h("li", String(each))),
        ),
      ],
    });
  } else {
    toast("Erased. Nothing of it is left.");
  }
  return true;
}

/// Puts what is right in the place of what is wrong. Gives the new memory, or null.
export function correct(memory) {
  return new Promise((resolve) => {
    let made = null;
    const text = h("textarea", { rows: 4, "aria-label": "What is right", value: memory.content });
    const save = async () => {
      try {
        made = await api.post(path(memory.id, "correct"), { content: text.value });
        changedHere("memories");
        close();
        await undoable("Corrected");
      } catch (error) {
        failed(error);
      }
    };
    const close = dialog({
      title: "Correct",
      body: [
        h(
          "p.soft",
          "What you write takes the place of this memory. The wrong one is kept for the record and no longer recalled.",
        ),
        h("blockquote.quote", memory.content),
        h("label.field", h("span", "What is right"), text),
      ],
      actions: [
        h("button", { type: "button", onclick: () => close() }, "Cancel"),
        h("button.primary", { type: "button", onclick: save }, "Correct"),
      ],
      onclose: () => resolve(made),
    });
    text.focus();
    text.select();
  });
}

/// Adds a memory. Gives it, or null.
export function remember({ known = [], projects = [] } = {}) {
  return new Promise((resolve) => {
    let made = null;
    const text = h("textarea", { rows: 4, placeholder: "Prefers window seats on trains" });
    const tags = tagEditor({ tags: [], known });
    const weight = weightSelect(3);
    const project = h("input", { type: "text", list: "remember-projects", autocomplete: "off" });
    const layer = h(
      "select",
      h("option", { value: "knowledge" }, "Found when it fits"),
      h("option", { value: "identity" }, "Always told: who you are"),
    );
    const save = async () => {
      if (!text.value.trim()) return text.focus();
      const body = {
        content: text.value.trim(),
        significance: Number(weight.value),
        layer: layer.value,
        source: "user",
      };
      const given = tags.tags();
      if (given.length) body.tags = given;
      if (project.value.trim()) body.project = project.value.trim();
      try {
        made = await api.post("/api/memories", body);
        changedHere("memories");
        close();
        await undoable(made.outcome === "created" || !made.outcome ? "Remembered" : `Remembered (${made.outcome})`);
      } catch (error) {
        failed(error);
      }
    };
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    });
    const close = dialog({
      title: "Remember",
      body: [
        h("label.field", h("span", "What should be remembered"), text),
        h("div.field", h("span", "Tags"), tags),
        h(
          "div.mem-form-row",
          h("label.field", h("span", "Project"), project),
          h("label.field", h("span", "Significance"), weight),
          h("label.field", h("span", "How it is used"), layer),
        ),
        h(
          "datalist",
          { id: "remember-projects" },
          projects.map((name) => h("option", { value: name })),
        ),
      ],
      actions: [
        h("button", { type: "button", onclick: () => close() }, "Cancel"),
        h("button.primary", { type: "button", onclick: save }, "Remember"),
      ],
      onclose: () => resolve(made),
    });
    text.focus();
  });
}

export function weightSelect(value) {
  const names = ["1 · trivial", "2 · minor", "3 · ordinary", "4 · important", "5 · essential"];
  const node = h(
    "select",
    { "aria-label": "Significance" },
    names.map((name, at) => h("option", { value: at + 1 }, name)),
  );
  node.value = String(value ?? 3);
  return node;
}

const OPPOSITE = { forget: "restore", restore: "forget", tag: "untag", untag: "tag" };
const SAID = {
  forget: () => "Forgot",
  restore: () => "Brought back",
  tag: (tag) => `Tagged “${tag}”:`,
  untag: (tag) => `Took “${tag}” from`,
};

/// In parts that the daemon takes at once.
async function bulkAll(action, ids, tag) {
  const done = [];
  const refused = [];
  for (let from = 0; from < ids.length; from += 500) {
    const answer = await api.post("/api/memories/bulk", {
      action,
      ids: ids.slice(from, from + 500),
      ...(tag ? { tag } : {}),
    });
    done.push(...answer.done);
    refused.push(...answer.failed);
  }
  changedHere("memories");
  return { done, refused };
}

/// One action on many memories. Taking it back does the opposite to those that it changed, and to no other.
export async function bulk(action, memories, tag) {
  const changes = {
    forget: (memory) => memory.status === "active",
    restore: (memory) => memory.status === "inactive",
    tag: (memory) => !memory.tags?.includes(tag),
    untag: (memory) => memory.tags?.includes(tag),
  }[action];
  const ids = memories.filter(changes).map((memory) => memory.id);
  if (!ids.length) {
    toast("Nothing to change");
    return;
  }
  const { done, refused } = await bulkAll(action, ids, tag);
  const hint = refused.length ? `${refused.length} could not be changed: ${refused[0].error.message}` : null;
  const undo = async () => {
    const back = await bulkAll(OPPOSITE[action], done, tag);
    toast(`Undone: ${plural(back.done.length, "memory", "memories")}`);
  };
  if (done.length) toast(`${SAID[action](tag)} ${plural(done.length, "memory", "memories")}`, { undo, hint });
  else if (refused.length) failed(asError(refused[0].error));
}

export async function merge(memories) {
  const text = h("textarea", {
    rows: 4,
    value: memories.map((memory) => memory.content).sort((a, b) => b.length - a.length)[0],
  });
  const agreed = await ask({
    title: `Merge ${memories.length} memories into one`,
    action: "Merge",
    body: [
      h(
        "ul.bullets",
        memories.map((memory) => h("li", memory.content)),
      ),
      h("label.field", h("span", "What the one memory says"), text),
    ],
  });
  if (!agreed) return false;
  await api.post("/api/memories/merge", { ids: memories.map((memory) => memory.id), content: text.value });
  changedHere("memories");
  await undoable("Merged");
  return true;
}
