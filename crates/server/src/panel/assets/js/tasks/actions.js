// What can be done with tasks. Each tells the page, and offers to take it back.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { undoable } from "../undo.js";
import { ask, dialog } from "../components/dialog.js";
import { lineDiff } from "../components/diff.js";
import { failed } from "../components/toast.js";

const path = (task, ...more) => ["/api/tasks", encodeURIComponent(task.id), ...more].join("/");

async function told(message) {
  changedHere("tasks", "memories", "changes");
  await undoable(message);
}

/// A form in a dialog, which stays open where `save` throws or gives false. Resolves when it is closed.
function form({ title, action, body, save, focus, isDirty }) {
  return new Promise((resolve) => {
    const submit = async () => {
      button.disabled = true;
      try {
        if ((await save()) !== false) close();
      } catch (error) {
        failed(error);
      } finally {
        button.disabled = false;
      }
    };
    const button = h("button.primary", { type: "button", onclick: submit }, action);
    const inner = h(
      "div.stack",
      {
        onkeydown: (event) => {
          const isText = event.target.matches("textarea");
          if (event.key === "Enter" && (!isText || event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            submit();
          }
        },
      },
      body,
    );
    const close = dialog({
      title,
      body: inner,
      actions: [h("button", { type: "button", onclick: () => close() }, "Cancel"), button],
      onclose: resolve,
      canClose: () => !isDirty() || window.confirm("Discard what you wrote?"),
    });
    focus.focus();
  });
}

function fields(task, projects) {
  const title = h("input", {
    type: "text",
    value: task?.title ?? "",
    maxLength: 400,
    placeholder: "Order new calipers",
  });
  const state = h("textarea", {
    rows: task ? 8 : 4,
    value: task?.state ?? "",
    placeholder: "Where it stands: what is done, what is next",
  });
  const project = h("input", { type: "text", value: task?.project ?? "", list: "task-projects", autocomplete: "off" });
  const body = [
    h("label.field", h("span", "What is to be done"), title),
    h("label.field", h("span", "Where it stands"), state),
    h("label.field", h("span", "Project"), project),
    h(
      "datalist",
      { id: "task-projects" },
      projects.map((name) => h("option", { value: name })),
    ),
  ];
  return { title, state, project, body };
}

export function addTask(projects, chosen) {
  const { title, state, project, body } = fields(chosen ? { project: chosen } : null, projects);
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
      await api.post("/api/tasks", {
        title: title.value.trim(),
        state: state.value.trim(),
        ...(project.value.trim() ? { project: project.value.trim() } : {}),
      });
      await told("Added");
      return true;
    },
  });
}

export function editTask(task, projects) {
  const { title, state, project, body } = fields(task, projects);
  return form({
    title: "Edit task",
    action: "Save",
    body,
    focus: state,
    isDirty: () => title.value !== task.title || state.value !== task.state,
    async save() {
      const changes = {};
      if (title.value.trim() !== task.title) changes.title = title.value.trim();
      if (state.value !== task.state) changes.state = state.value;
      if (project.value.trim() !== (task.project ?? "")) changes.project = project.value.trim() || null;
      if (!Object.keys(changes).length) return true;
      if ("state" in changes && !(await mayReplace(task, changes.state))) return false;
      await api.patch(path(task), changes);
      await told("Saved");
      return true;
    },
  });
}

/// An assistant may have said where the task stands while the form was open: both are shown before one replaces the other.
async function mayReplace(task, mine) {
  const now = await api.get(path(task));
  if (now.state === task.state) return true;
  return ask({
    title: "This task changed while you edited it",
    wide: true,
    action: "Put mine on top of theirs",
    body: [h("p.soft", "Nothing was overwritten. From theirs to yours:"), lineDiff(now.state, mine)],
  });
}

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
      await api.post(path(task, "done"), conclusion.value.trim() ? { conclusion: conclusion.value.trim() } : {});
      await told("Done");
      return true;
    },
  });
}

export async function removeTask(task) {
  await api.del(path(task));
  await told("Removed");
}

export async function reopenTask(task) {
  await api.patch(path(task), { status: "open" });
  await told("Open again");
}
