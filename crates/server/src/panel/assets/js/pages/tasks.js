// Tasks: what is to be done, where it stands, and what came of it.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { keys } from "../components/keys.js";
import { empty, segmented, select } from "../components/parts.js";
import { attempt, failed } from "../components/toast.js";
import { addTask } from "../tasks/actions.js";
import { drawTask } from "../tasks/item.js";

/** @import { Page, View } from "../router.js" */
/** @import { Option } from "../components/parts.js" */

/** @type {Option[]} */
const STATES = [
  ["open", "Open"],
  ["done", "Done"],
  ["removed", "Removed"],
  ["all", "All"],
];
/** @type {Record<string, [title: string, text: string]>} */
const NONE = {
  open: ["Nothing is open", "What you and your assistants have in hand appears here."],
  done: ["Nothing is done yet", "Finished tasks stay here, with what came of them."],
  removed: ["Nothing was removed", ""],
  all: ["No tasks yet", "What you and your assistants have in hand appears here."],
};

/** @type {Page} */
export const page = {
  title: "Tasks",
  show: (view) => new TasksPage(view).start(),
};

class TasksPage {
  /** @type {Set<string>} */
  #projects = new Set();
  #list = h("ul.task-list");
  #filters = h("div.filters");
  #status = h("p.result-line", { role: "status" });
  #add = attempt(() => addTask([...this.#projects].sort(), this.#project));

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  async start() {
    const { root, signal } = this.view;
    const about = "What is in hand and where it stands. An assistant that works on one begins with its state.";
    const add = h("button.primary", { type: "button", onclick: this.#add }, icon("plus", 18), "New task");
    const head = h("header.page-head", h("div", h("h1", "Tasks"), h("p", about)), add);
    fill(root, head, this.#filters, this.#status, this.#list);
    this.view.onQuery(() => {
      this.#drawFilters();
      this.#load();
    });
    keys({ n: ["new task", this.#add] }, signal);
    onChange(["tasks", "projects"], () => this.#load(), signal);
    this.#drawFilters();
    await this.#load();
    this.#list.querySelector(".is-asked")?.scrollIntoView({ block: "center" });
  }

  get #state() {
    return this.view.query.get("status") ?? (this.view.rest ? "all" : "open");
  }

  get #project() {
    return this.view.query.get("project") ?? "";
  }

  async #load() {
    const { signal } = this.view;
    try {
      const [{ tasks }, known] = await Promise.all([
        api.get("/api/tasks", { status: this.#state, project: this.#project }, { signal }),
        api.get("/api/projects", null, { signal }),
      ]);
      for (const { name } of known.projects) this.#projects.add(name);
      for (const { project } of tasks) if (project) this.#projects.add(project);
      if (!this.#filters.contains(document.activeElement)) this.#drawFilters();
      this.#draw(tasks);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** @param {Api.Task[]} tasks */
  #draw(tasks) {
    const projects = [...this.#projects];
    const items = tasks.map((task) => drawTask(task, { isAsked: task.id === this.view.rest, projects }));
    this.#status.textContent = tasks.length ? plural(tasks.length, "task") : "";
    fill(this.#list, items.length ? items : h("li", this.#nothing()));
  }

  #nothing() {
    if (this.#project) return empty({ icon: "tasks", title: `Nothing here for ${this.#project}` });
    const [title, text] = NONE[this.#state] ?? NONE.all;
    const add = h("button.primary", { type: "button", onclick: this.#add }, "New task");
    return empty({ icon: "tasks", title, text, action: this.#state === "open" ? add : null });
  }

  #drawFilters() {
    const names = [...this.#projects].sort().map((name) => /** @type {Option} */ ([name, name]));
    /** @param {Record<string, string>} changes */
    const narrow = (changes) => {
      this.view.setQuery(changes);
      this.#load();
    };
    fill(
      this.#filters,
      segmented({
        label: "Which tasks",
        options: STATES,
        value: this.#state,
        onchange: (status) => narrow({ status }),
      }).node,
      names.length
        ? select({
            label: "Project",
            options: [["", "Any project"], ...names],
            value: this.#project,
            onchange: (project) => narrow({ project }),
          })
        : null,
    );
  }
}
