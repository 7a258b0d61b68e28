// One task in the list.
import { h } from "../dom.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { when } from "../components/parts.js";
import { attempt } from "../components/toast.js";
import { documentLines } from "../documents/lines.js";
import { editTask, finishTask, removeTask, reopenTask } from "./actions.js";

/** @import { IconName } from "../icons.js" */

/**
 * @param {Api.Task} task
 * @param {object} options
 * @param {boolean} options.isAsked whether the address names it
 * @param {string[]} options.projects to suggest
 */
export function drawTask(task, { isAsked, projects }) {
  return h(
    "li.task",
    { class: isAsked ? "is-asked" : "", dataset: { status: task.status } },
    check(task),
    h("div.task-main", h("h2.task-title", task.title), state(task), facts(task), actions(task, projects)),
  );
}

/** @param {Api.Task} task */
function check(task) {
  const isDone = task.status === "done";
  if (task.status !== "open")
    return h("span.task-check", { title: isDone ? "Done" : "Removed" }, icon(isDone ? "check" : "forget", 14));
  return h(
    "button.task-check",
    {
      type: "button",
      "aria-label": `Done: ${task.title}`,
      title: "Done",
      onclick: attempt(() => finishTask(task)),
    },
    icon("check", 14),
  );
}

/** @param {Api.Task} task */
function state({ state: text, status }) {
  if (text?.trim()) {
    const lines = documentLines(text);
    // It may scroll.
    lines.tabIndex = 0;
    return lines;
  }
  return status === "open" ? h("p.muted", "Nothing is said yet about where it stands.") : null;
}

/** @param {Api.Task} task */
function facts({ project, archive, done_at: doneAt, updated_at: updatedAt }) {
  return h(
    "p.task-facts",
    project ? h("a", { href: href("tasks", { project }) }, icon("project", 15), project) : null,
    doneAt ? when(doneAt, { prefix: "done " }) : when(updatedAt, { prefix: "changed " }),
    archive ? h("a", { href: href("memories", { id: archive }) }, icon("timeline", 15), "in the timeline") : null,
  );
}

/**
 * @param {Api.Task} task
 * @param {string[]} projects
 */
function actions(task, projects) {
  /** @type {(name: IconName, title: string, action: () => unknown, kind?: string) => HTMLElement} */
  const button = (name, title, action, kind = "") =>
    h("button.small", { type: "button", class: kind, onclick: attempt(action) }, icon(name, 16), title);
  return h(
    "div.row.wrap.task-actions",
    task.status === "open"
      ? button("edit", "Edit", () => editTask(task, projects))
      : button("restore", "Open again", () => reopenTask(task)),
    task.status === "removed" ? null : button("forget", "Remove", () => removeTask(task), "quiet"),
  );
}
