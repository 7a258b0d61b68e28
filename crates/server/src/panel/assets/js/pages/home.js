// Home: what happened, what is open, what memory did, who the assistants think you are, and how all of it is.
import { fill, h } from "../dom.js";
import { api, segments, statusOf } from "../api.js";
import { bytes, count, jobName, memoryCount, plural, viaName, whoName } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { href } from "../router.js";
import { activityChart } from "../components/charts.js";
import { bar, card, coded, when } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { titleOf } from "../conversations/names.js";
import { changeSentence, folded } from "../home/changes.js";
import { threadsCard } from "../home/threads.js";
import { undoButton } from "../home/undo.js";
import { remember } from "../memories/forms.js";
import { documentLines } from "../documents/lines.js";

/** @import { IconName } from "../icons.js" */
/** @import { Page, View } from "../router.js" */

const DAYS = 90;
const CHANGES = 10;
/** More are asked for: verdicts are folded into one line, and what was undone is passed over. */
const CHANGES_READ = 40;
/** Of the profile; the rest is one step away. */
const PROFILE_LINES = 8;
/** Conversations that are named in sentences. */
const NAMED = 200;

/** @type {Page} */
export const page = {
  title: "Home",
  show: (view) => new HomePage(view).start(),
};

class HomePage {
  #hello = h("div.home-hello");
  #steps = h("div.home-steps");
  #profile = h("div.home-profile");
  #open = h("div.home-open");
  #changes = h("div.home-changes");
  #activity = h("div.home-activity");
  #health = h("div.home-health");

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.options = { signal: view.signal };
  }

  async start() {
    const { root, signal } = this.view;
    const beside = h("div.home-beside", this.#profile, this.#health);
    const grid = h("div.home-grid", h("div.home-main", this.#changes, this.#open), beside, this.#activity);
    fill(root, this.#hello, this.#steps, grid);
    const counted = () => Promise.all([this.#loadStats(), this.#loadActivity()]);
    const written = () => Promise.all([this.#loadDocuments(), this.#loadStats()]);
    onChange(["memories", "sessions", "recalls"], counted, signal);
    onChange(["memories", "documents", "tasks", "changes"], () => this.#loadChanges(), signal);
    onChange("documents", written, signal);
    onChange(["sessions", "tasks", "documents"], () => this.#loadOpen(), signal);
    onChange("jobs", () => this.#loadHealth(), signal);
    await Promise.all([
      this.#loadStats(),
      this.#loadDocuments(),
      this.#loadChanges(),
      this.#loadOpen(),
      this.#loadActivity(),
      this.#loadHealth(),
    ]);
  }

  async #loadStats() {
    const [stats, news] = await Promise.all([
      soft(api.get("/api/stats", null, this.options)),
      soft(api.get("/api/review", { limit: 0 }, this.options)),
    ]);
    if (!stats) return;
    fill(this.#hello, greeting(stats, news?.count ?? 0));
    fill(this.#steps, nextSteps(stats));
  }

  async #loadDocuments() {
    const list = await soft(api.get("/api/documents", null, this.options));
    if (!list) return;
    // Whatever the person's namespace is called, their own documents come first.
    const profile = list.documents.find(({ name }) => name.endsWith("/profile"));
    const who = await this.#textOf(profile);
    if (who !== undefined) fill(this.#profile, profileCard(who, profile));
  }

  async #loadOpen() {
    const [threads, tasks] = await Promise.all([
      soft(api.get("/api/threads", null, this.options)),
      soft(api.get("/api/tasks", { status: "open" }, this.options)),
    ]);
    if (threads && tasks)
      fill(
        this.#open,
        threadsCard(threads.threads, tasks.tasks, () => this.#loadOpen()),
      );
  }

  /**
   * Gives an empty text for a document that was never written; undefined where it cannot be had.
   * @param {Api.ListedDocument | undefined} about
   */
  async #textOf(about) {
    if (!about?.exists) return "";
    const document = await soft(api.get(`/api/documents/${segments(about.name)}`, null, this.options));
    return document === null ? "" : document?.text;
  }

  async #loadChanges() {
    const [answer, named] = await Promise.all([
      soft(api.get("/api/changes", { limit: CHANGES_READ, touched: true }, this.options)),
      soft(api.get("/api/sessions", { limit: NAMED }, this.options)),
    ]);
    const titles = new Map(named?.sessions.map((session) => [session.id, titleOf(session)]));
    if (answer) fill(this.#changes, changesCard(answer.changes, titles));
  }

  async #loadActivity() {
    const answer = await soft(api.get("/api/activity", { days: DAYS }, this.options));
    if (!answer) return;
    const chart = activityChart(answer.days);
    const lately = h("span.muted", `the last ${DAYS} days`);
    fill(this.#activity, card("What memory did for you", { action: lately }, servedList(answer.served), chart));
  }

  async #loadHealth() {
    const [state, answer] = await Promise.all([
      soft(api.get("/api/health", null, this.options)),
      soft(api.get("/api/jobs", null, this.options)),
    ]);
    if (state) fill(this.#health, healthCard(state, answer?.jobs ?? []));
  }
}

/**
 * Gives null for what does not exist, and undefined for a part that cannot be had; the others are shown.
 * @template T
 * @param {Promise<T>} request
 */
async function soft(request) {
  try {
    return await request;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    failed(error);
    return undefined;
  }
}

/**
 * @param {Api.Overview} stats
 * @param {number} news how much was learnt that nobody has seen
 */
function greeting(stats, news) {
  /** @type {(value: number, one: string, several: string, to: string, kind?: string) => HTMLElement} */
  const figure = (value, one, several, to, kind = "") =>
    h("li", { class: kind }, h("a", { href: to }, h("strong", count(value)), h("span", value === 1 ? one : several)));
  const about = `Everything your assistants share about you, on this machine. ${bytes(stats.bytes)}.`;
  return h(
    "header.page-head",
    h("div", h("h1", "Your memory"), h("p", about)),
    h(
      "ul.figures",
      news ? figure(news, "new to look at", "new to look at", href("review"), "is-new") : null,
      figure(memoryCount(stats), "memory", "memories", href("memories")),
      figure(stats.sessions, "conversation", "conversations", href("conversations")),
    ),
  );
}

/** @param {Api.Served} served */
function servedList({ messages, given, again, used, corrected }) {
  /** @type {(value: number, text: string) => HTMLElement} */
  const line = (value, text) => h("li", h("strong", count(value)), h("span", text));
  return h(
    "ul.figures.served",
    line(messages, `${messages === 1 ? "message" : "messages"} came with something you said before`),
    line(given, `${given === 1 ? "memory" : "memories"} given, ${count(again)} of them more than once`),
    line(used, `${used === 1 ? "search" : "searches"} by an assistant itself`),
    line(corrected, corrected === 1 ? "memory corrected" : "memories corrected"),
  );
}

/** @param {Api.Overview} stats */
function nextSteps({ identity, knowledge, sessions }) {
  /** @type {(name: IconName, title: string, text: string, action: Dom.Child) => HTMLElement} */
  const step = (name, title, text, action) =>
    h("li", h("span.step-icon", icon(name)), h("div", h("strong", title), h("p", coded(text))), action);
  const about = "A few lines that every assistant gets at the start of a conversation.";
  const connect = "It is given this memory and adds to it by itself.";
  const bring = "Exports of other assistants, notes and chats.";
  const link = (/** @type {string} */ page, /** @type {string} */ text) => h("a.button", { href: href(page) }, text);
  const write = h("a.button", { href: href("documents/profile") }, "Write profile");
  const first = h("button", { type: "button", onclick: () => remember() }, "Remember");
  const left = [
    identity ? null : step("person", "Say who you are", about, write),
    knowledge
      ? null
      : step("memories", "Remember a first thing", "Something an assistant should know next time.", first),
    sessions ? null : step("connections", "Connect an assistant", connect, link("connections", "Connect")),
    sessions ? null : step("import", "Bring what you have", bring, link("import", "Import")),
  ];
  if (left.every((each) => each === null)) return null;
  return h("section.card.steps", { "aria-label": "Next steps" }, h("h2", "To begin with"), h("ol", left));
}

/**
 * @param {string} text
 * @param {Api.ListedDocument} [about]
 */
function profileCard(text, about) {
  const isEmpty = !text.trim();
  const action = h("a.card-link", { href: href("documents/profile") }, about?.exists ? "Edit" : "Write it");
  if (isEmpty) return card("Who you are", { action }, h("p.muted", "The assistants have not been told yet."));
  const usage = about?.usage;
  const short = documentLines(text);
  const left = short.children.length - PROFILE_LINES;
  while (short.children.length > PROFILE_LINES) short.lastElementChild?.remove();
  const label = usage ? `${count(usage.chars)} of ${count(usage.limit)} characters` : "";
  return card(
    "Who you are",
    { action, class: "profile-card" },
    short,
    left > 0 ? h("p.profile-more", h("a", { href: href("documents/profile") }, `${plural(left, "more line")}`)) : null,
    usage ? bar({ value: usage.chars, limit: usage.limit, label }) : null,
  );
}

/**
 * @param {Api.ToldChange[]} changes
 * @param {Map<string, string>} titles of conversations
 */
function changesCard(changes, titles) {
  if (!changes.length) return card("What happened", {}, h("p.muted", "Nothing has changed yet."));
  const undone = new Set(changes.flatMap(({ undoes }) => undoes ?? []));
  /** @type {(who: string, many: number) => Dom.Child} */
  const reviewed = (who, many) => [`${whoName(who)} reviewed `, h("a", { href: href("review") }, `${many} things`)];
  const items = folded(changes, undone)
    .slice(0, CHANGES)
    .map(({ change, many }) =>
      h(
        "li",
        { class: undone.has(change.id) ? "is-undone" : "" },
        h(
          "span",
          { title: viaName(change) },
          many > 1 ? reviewed(change.actor.who, many) : changeSentence(change, titles),
        ),
        when(change.at),
      ),
    );
  return card("What happened", { action: undoButton(changes, titles) }, h("ol.change-list", items));
}

/**
 * @param {Api.Health} health
 * @param {Api.Job[]} jobs
 */
function healthCard({ problems, remarks }, jobs) {
  const isBad = problems.length > 0;
  const title = isBad ? plural(problems.length, "problem") : "All is well";
  const lines = [...new Set([...problems, ...remarks])].map((each) => h("li", coded(each)));
  const jobLines = jobs.map((job) => h("li", h("span", jobName(job.name)), jobState(job)));
  return card(
    "Health",
    { action: h("a.card-link", { href: href("settings") }, "Settings") },
    h("p.health-line", { class: isBad ? "is-bad" : "is-good" }, icon(isBad ? "warn" : "check"), title),
    lines.length ? h("ul.remarks", lines) : null,
    jobLines.length ? h("ul.job-lines", jobLines) : null,
  );
}

/** @param {Api.Job} job */
function jobState(job) {
  const title = job.log.at(0)?.what ?? "";
  if (job.running) return h("span.muted", "running now");
  if (job.last_outcome === "failed")
    return h("span.job-failed", { title }, when(job.last_run_at, { prefix: "failed " }));
  if (job.last_run_at) return h("span.muted", { title }, when(job.last_run_at));
  return job.next_run_at ? h("span.muted", when(job.next_run_at, { prefix: "first " })) : h("span.muted", "not yet");
}
