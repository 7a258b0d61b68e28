// Editing one memory in place. Saves against the version that was opened; what somebody else wrote meanwhile is shown, never overwritten.
import { h } from "../dom.js";
import { api, ApiError } from "../api.js";
import { changedHere } from "../live.js";
import { undoable } from "../undo.js";
import { dialog } from "../components/dialog.js";
import { wordDiff } from "../components/diff.js";
import { tagEditor } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { weightSelect } from "./actions.js";

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/// `{ node, isDirty(), focus() }`; `onsaved(memory)` and `oncancel()` end it.
export function memoryEditor(memory, { known, onsaved, oncancel }) {
  let base = memory;
  const text = h("textarea.mem-edit", { value: memory.content, "aria-label": "Content" });
  const tags = tagEditor({ tags: memory.tags ?? [], known });
  const weight = weightSelect(memory.significance);
  const key = h("input", { type: "text", value: memory.key ?? "", spellcheck: false, autocomplete: "off" });
  const project = h("input", { type: "text", value: memory.project ?? "", autocomplete: "off" });
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${Math.min(420, text.scrollHeight + 2)}px`;
  };
  text.addEventListener("input", grow);

  const changes = () => {
    const all = {
      content: text.value.trim(),
      tags: tags.tags(),
      significance: Number(weight.value),
      key: key.value.trim() || null,
      project: project.value.trim() || null,
    };
    const was = {
      content: base.content,
      tags: base.tags ?? [],
      significance: base.significance,
      key: base.key ?? null,
      project: base.project ?? null,
    };
    return Object.fromEntries(Object.entries(all).filter(([name, value]) => !same(value, was[name])));
  };
  const isDirty = () => Object.keys(changes()).length > 0;

  const save = async () => {
    const body = changes();
    if (!Object.keys(body).length) return oncancel();
    button.disabled = true;
    try {
      const saved = await api.patch(`/api/memories/${encodeURIComponent(memory.id)}`, body, {
        headers: { "If-Match": `"${base.version}"` },
      });
      changedHere("memories");
      onsaved(saved);
      await undoable("Saved");
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await settle();
      else failed(error);
    } finally {
      button.disabled = false;
    }
  };

  async function settle() {
    const theirs = await api.get(`/api/memories/${encodeURIComponent(memory.id)}`);
    const mine = text.value;
    const close = dialog({
      title: "This memory changed while you edited it",
      wide: true,
      body: [
        h(
          "div.versus",
          h("section", h("h3", "Yours, not saved"), h("pre", mine)),
          h("section", h("h3", `Theirs, version ${theirs.version}`), h("pre", theirs.content)),
        ),
        h("h3", "From theirs to yours"),
        wordDiff(theirs.content, mine),
      ],
      actions: [
        h("button", { type: "button", onclick: () => close() }, "Go on editing"),
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              close();
              onsaved(theirs);
            },
          },
          "Take theirs",
        ),
        h(
          "button.primary",
          {
            type: "button",
            onclick: () => {
              close();
              base = theirs;
              save();
            },
          },
          "Put mine on top",
        ),
      ],
    });
  }

  const button = h("button.primary", { type: "button", onclick: save }, "Save");
  const node = h(
    "form.mem-form",
    {
      onsubmit: (event) => event.preventDefault(),
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        else if (event.key === "Escape" && (!isDirty() || window.confirm("Discard what you wrote?"))) oncancel();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
    h("label.field", h("span", "Content"), text),
    h("div.field", h("span", "Tags"), tags),
    h(
      "div.mem-form-row",
      h("label.field", h("span", "Significance"), weight),
      h("label.field", h("span", "Project"), project),
      h("label.field", h("span", "Key"), key),
    ),
    h(
      "div.row",
      button,
      h("button", { type: "button", onclick: oncancel }, "Cancel"),
      h("small.muted", "Ctrl+Enter saves"),
    ),
  );
  requestAnimationFrame(grow);
  return { node, isDirty, focus: () => text.focus() };
}
