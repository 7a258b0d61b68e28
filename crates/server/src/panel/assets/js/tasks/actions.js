// Actions on tasks. Each reports the change to the page, and offers to undo it.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { undoable } from "../undo.js";
import { ask, dialog } from "../components/dialog.js";
import { lineDiff } from "../components/diff.js";
import { failed } from "../components/toast.js";

/** @param {Api.Task} task */
const pathOf = ({ id }) => /** @type {const} */ (`/api/tasks/${encodeURIComponent(id)}`);

/** @param {string} message */
async function told(message) {
  changedHere("tasks", "memories", "changes");
  await undoable(message);
}

/**
 * @typedef {object} FormOptions
 * @property {string} title
 * @property {string} action what the button says
 * @property {Dom.Child} body
 * @property {() => Promise<boolean>} save gives false where the form has to stay open
 * @property {HTMLElement} focus
 * @property {() => boolean} isDirty
 */

/**
 * A form in a dialog, which stays open where `save` fails. Resolves when it is closed.
 * @param {FormOptions} options
 * @returns {Promise<void>}
 */
function form({ title, action, body, save, focus, isDirty }) {
  return new Promise((resolve) => {
    const submit = async () => {
      button.disabled = true;
      try {
        if (await save()) close();
      } catch (error) {
        failed(error);
      } finally {
        button.disabled = false;
      }
    };
    /** @param {KeyboardEvent} event */
    const onkeydown = (event) => {
      const isText = event.target instanceof HTMLTextAreaElement;
      if (event.key !== "Enter" || (isText && !event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      submit();
    };
    const button = h("button.primary", { type: "button", onclick: submit }, action);
    const close = dialog({
      title,
      body: h("div.stack", { onkeydown }, body),
      actions: [h("button", { type: "button", onclick: () => close() }, "Cancel"), button],
      onclose: resolve,
      canClose: () => !isDirty() || window.confirm("Discard what you wrote?"),
    });
    focus.focus();
  });
}

/**
 * @param {{ title?: string, state?: string, project?: string | null }} task
 * @param {string[]} projects to suggest
 * @param {number} rows
 */
function fields(task, projects, rows) {
  const title = h("input", {
    type: "text",
    value: task.title ?? "",
    maxLength: 400,
    placeholder: "Order new calipers",
  });
  const state = h("textarea", {
    rows,
    value: task.state ?? "",
    placeholder: "Where it stands: what is done, what is next",
  });
  const project = h("input", {
    type: "text",
    value: task.project ?? "",
    list: "task-projects",
    autocomplete: "off",
  });
  const suggestions = projects.map((name) => h("option", { value: name }));
  const body = [
    h("label.field", h("span", "What is to be done"), title),
    h("label.field", h("span", "Where it stands"), state),
    h("label.field", h("span", "Project"), project),
    h("datalist", { id: "task-projects" }, suggestions),
  ];
  return { title, state, project, body };
}

/**
 * @param {string[]} projects to suggest
 * @param {string} chosen the project that is shown; may be empty
 */
export function addTask(projects, chosen) {
  const { title, state, project, body } = fields({ project: chosen }, projects, 4);
  return form({
    title: "New task",
    action: "Add",
    body,
    focus: title,
    isDirty: () => Boolean(title.value.trim() || state.value.trim()),
    async save() {
      if (!title.value.trim()) {
        title.focus();
        return false;
      }
      const into = project.value.trim();
      const given = { title: title.value.trim(), state: state.value.trim() };
      await api.post("/api/tasks", { ...given, ...(into ? { project: into } : {}) });
      await told("Added");
      return true;
    },
  });
}

/**
 * @param {Api.Task} task
 * @param {string[]} projects to suggest
 */
export function editTask(task, projects) {
  const { title, state, project, body } = fields(task, projects, 8);
  const before = { title: task.title, state: task.state ?? "", project: task.project ?? "" };
  return form({
    title: "Edit task",
    action: "Save",
    body,
    focus: state,
    isDirty: () => title.value !== before.title || state.value !== before.state,
    async save() {
      const into = project.value.trim();
      const changes = {
        ...(title.value.trim() !== before.title ? { title: title.value.trim() } : {}),
        ...(state.value !== before.state ? { state: state.value } : {}),
        ...(into !== before.project ? { project: into || null } : {}),
      };
      if (!Object.keys(changes).length) return true;
      if (changes.state !== undefined && !(await mayReplace(task, changes.state))) return false;
      await api.patch(pathOf(task), changes);
      await told("Saved");
      return true;
    },
  });
}

/**
 * An assistant may have changed the state while the form was open: both are shown before one replaces the other.
 * @param {Api.Task} task
 * @param {string} mine
 */
async function mayReplace(task, mine) {
  const { state: now = "" } = await api.get(pathOf(task));
  if (now === (task.state ?? "")) return true;
  return ask({
    title: "This task changed while you edited it",
    wide: true,
    action: "Put mine on top of theirs",
    body: [h("p.soft", "Nothing was overwritten. From theirs to yours:"), lineDiff(now, mine)],
  });
}

/** @param {Api.Task} task */
export function finishTask(task) {
  const conclusion = h("textarea", { rows: 4, placeholder: "What came of it (may stay empty)" });
  return form({
    title: "Done",
    action: "Done",
    focus: conclusion,
    isDirty: () => Boolean(conclusion.value.trim()),
    body: [
      h("blockquote.quote", task.title),
      h("label.field", h("span", "Conclusion"), conclusion),
      h("p.muted", "Where it stands and the conclusion go to the timeline."),
    ],
    async save() {
      const text = conclusion.value.trim();
      await api.post(`${pathOf(task)}/done`, text ? { conclusion: text } : {});
      await told("Done");
      return true;
    },
  });
}

/** @param {Api.Task} task */
export async function removeTask(task) {
  await api.del(pathOf(task));
  await told("Removed");
}

/** @param {Api.Task} task */
export async function reopenTask(task) {
  await api.patch(pathOf(task), { status: "open" });
  await told("Open again");
}
