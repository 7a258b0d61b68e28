// Tasks: what is to be done, where it stands, and what came of it.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { href } from "../router.js";
import { keys } from "../components/keys.js";
import { empty, segmented, select, when } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { documentLines } from "../documents/lines.js";
import * as actions from "../tasks/actions.js";

const STATES = [
  ["open", "Open"],
  ["done", "Done"],
  ["removed", "Removed"],
  ["all", "All"],
];
const NONE = {
  open: ["Nothing is open", "What you and your assistants have in hand appears here."],
  done: ["Nothing is done yet", "Finished tasks stay here, with what came of them."],
  removed: ["Nothing was removed", ""],
  all: ["No tasks yet", "What you and your assistants have in hand appears here."],
};

export const page = {
  title: "Tasks",
  async show(view) {
    const { root, signal } = view;
    const list = h("ul.task-list");
    const filters = h("div.filters");
    const status = h("p.result-line", { role: "status" });
    const projects = new Set();
    const state = () => view.query.get("status") ?? (view.rest ? "all" : "open");
    const project = () => view.query.get("project") ?? "";
    const add = () => actions.addTask([...projects].sort(), project());
    fill(
      root,
      h(
        "header.page-head",
        h(
          "div",
          h("h1", "Tasks"),
          h("p", "What is in hand and where it stands. An assistant that works on one begins with its state."),
        ),
        h("button.primary", { type: "button", onclick: add }, icon("plus", 18), "New task"),
      ),
      filters,
      status,
      list,
    );

    async function load() {
      try {
        const [{ tasks }, known] = await Promise.all([
          api.get("/api/tasks", { status: state(), project: project() }, { signal }),
          api.get("/api/projects", null, { signal }),
        ]);
        for (const { name } of known.projects) projects.add(name);
        for (const task of tasks) if (task.project) projects.add(task.project);
        if (!filters.contains(document.activeElement)) drawFilters();
        status.textContent = tasks.length ? plural(tasks.length, "task") : "";
        const [title, text] = NONE[state()];
        const nothing = project()
          ? empty({ icon: "tasks", title: `Nothing here for ${project()}` })
          : empty({
              icon: "tasks",
              title,
              text,
              action: state() === "open" ? h("button.primary", { type: "button", onclick: add }, "New task") : null,
            });
        fill(
          list,
          tasks.length
            ? tasks.map((task) => drawTask(task, { isAsked: task.id === view.rest, projects: [...projects] }))
            : h("li", nothing),
        );
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
    }

    function narrow(changes) {
      view.setQuery(changes);
      load();
    }

    function drawFilters() {
      const all = [...projects].sort();
      fill(
        filters,
        segmented({
          label: "Which tasks",
          options: STATES,
          value: state(),
          onchange: (value) => narrow({ status: value }),
        }),
        all.length
          ? select({
              label: "Project",
              options: [["", "Any project"], ...all.map((name) => [name, name])],
              value: project(),
              onchange: (value) => narrow({ project: value }),
            })
          : null,
      );
    }

    view.onQuery(() => {
      drawFilters();
      load();
    });
    keys({ n: ["new task", add] }, signal);
    onChange(["tasks", "projects"], load, signal);
    drawFilters();
    await load();
    list.querySelector(".is-asked")?.scrollIntoView({ block: "center" });
  },
};

function drawTask(task, { isAsked, projects }) {
  const run = (action) => async () => {
    try {
      await action();
    } catch (error) {
      failed(error);
    }
  };
  const button = (name, title, action, kind = "") =>
    h("button.small", { type: "button", class: kind, onclick: run(action) }, icon(name, 16), title);
  const isOpen = task.status === "open";
  return h(
    "li.task",
    { class: isAsked ? "is-asked" : "", dataset: { status: task.status } },
    isOpen
      ? h(
          "button.task-check",
          {
            type: "button",
            "aria-label": `Done: ${task.title}`,
            title: "Done",
            onclick: run(() => actions.finishTask(task)),
          },
          icon("check", 14),
        )
      : h(
          "span.task-check",
          { title: task.status === "done" ? "Done" : "Removed" },
          icon(task.status === "done" ? "check" : "forget", 14),
        ),
    h(
      "div.task-main",
      h("h2.task-title", task.title),
      task.state?.trim()
        ? documentLines(task.state)
        : isOpen
          ? h("p.muted", "Nothing is said yet about where it stands.")
          : null,
      h(
        "p.task-facts",
        task.project
          ? h("a", { href: href("tasks", { project: task.project }) }, icon("project", 15), task.project)
          : null,
        task.done_at ? when(task.done_at, { prefix: "done " }) : when(task.updated_at, { prefix: "changed " }),
        task.archive
          ? h("a", { href: href("memories", { id: task.archive }) }, icon("timeline", 15), "in the timeline")
          : null,
      ),
      h(
        "div.row.wrap.task-actions",
        isOpen
          ? button("edit", "Edit", () => actions.editTask(task, projects))
          : button("restore", "Open again", () => actions.reopenTask(task)),
        task.status === "removed" ? null : button("forget", "Remove", () => actions.removeTask(task), "quiet"),
      ),
    ),
  );
}
