// What is open, by project: threads of conversations and tasks in hand.
//
//   threadsCard(threads, tasks, onclosed)
import { h } from "../dom.js";
import { api } from "../api.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { card, when } from "../components/parts.js";
import { attempt, toast } from "../components/toast.js";

const EACH = 6;

/** @typedef {{ threads: Api.Thread[], tasks: Api.Task[] }} Open */

/**
 * @param {Api.Thread[]} threads
 * @param {Api.Task[]} tasks
 * @param {() => unknown} onclosed
 */
export function threadsCard(threads, tasks, onclosed) {
  /** @type {Map<string, Open>} */
  const projects = new Map();
  const of = (/** @type {string} */ name) => {
    const found = projects.get(name) ?? { threads: [], tasks: [] };
    projects.set(name, found);
    return found;
  };
  for (const task of tasks) of(task.project ?? "").tasks.push(task);
  for (const thread of threads) of(thread.project ?? "").threads.push(thread);
  const nothing = "Nothing is open. Conversations leave their open ends here, until they are done or old.";
  const sections = [...projects]
    .sort(([a], [b]) => Number(a === "") - Number(b === "") || a.localeCompare(b))
    .map(([name, open]) => project(name, open, onclosed));
  return card("What is open", {}, sections.length ? sections : h("p.muted", nothing));
}

/**
 * @param {string} name
 * @param {Open} open
 * @param {() => unknown} onclosed
 */
function project(name, { threads, tasks }, onclosed) {
  const title = name || "Everything else";
  const more = threads.length > EACH ? h("li.muted", `${threads.length - EACH} more`) : null;
  return h(
    "section.open-project",
    { "aria-label": title },
    h("h3", name ? h("a", { href: href("memories", { project: name }) }, name) : title),
    h(
      "ul.open-list",
      tasks.map(taskLine),
      threads.slice(0, EACH).map((thread) => threadLine(thread, onclosed)),
      more,
    ),
  );
}

/** @param {Api.Task} task */
function taskLine({ id, title, updated_at: at }) {
  return h("li", icon("tasks", 16), h("a.grow", { href: href(`tasks/${id}`) }, title), when(at));
}

/**
 * @param {Api.Thread} thread
 * @param {() => unknown} onclosed
 */
function threadLine({ id, session, title, updated_at: at }, onclosed) {
  const close = attempt(async () => {
    await api.del(`/api/threads/${encodeURIComponent(id)}`);
    toast("Closed: it is no longer told");
    await onclosed();
  });
  return h(
    "li",
    icon("conversations", 16),
    h("a.grow", { href: href("conversations", { id: session }) }, title),
    when(at),
    h(
      "button.bare",
      { type: "button", title: "Done with it", "aria-label": `Close: ${title}`, onclick: close },
      icon("check", 16),
    ),
  );
}
