// Home: profile, recent context, latest changes, activity and health.
import { fill, h } from "../dom.js";
import { api, segments, statusOf } from "../api.js";
import { bytes, changeName, count, millis, plural, span, viaName } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { href } from "../router.js";
import { undoLast } from "../undo.js";
import { activityChart } from "../components/charts.js";
import { bar, card, coded, when } from "../components/parts.js";
import { attempt, failed } from "../components/toast.js";
import { remember } from "../memories/forms.js";
import { documentLines } from "../documents/lines.js";

/** @import { IconName } from "../icons.js" */
/** @import { Page, View } from "../router.js" */

const DAYS = 90;
const CHANGES = 7;

/** @type {Page} */
export const page = {
  title: "Home",
  show: (view) => new HomePage(view).start(),
};

class HomePage {
  #hello = h("div.home-hello");
  #steps = h("div.home-steps");
  #profile = h("div.home-profile");
  #working = h("div.home-working");
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
    const grid = h("div.home-grid", this.#profile, this.#working, this.#activity, this.#changes, this.#health);
    fill(root, this.#hello, this.#steps, grid);
    const counted = () => Promise.all([this.#loadStats(), this.#loadActivity()]);
    const written = () => Promise.all([this.#loadDocuments(), this.#loadStats()]);
    onChange(["memories", "sessions", "recalls"], counted, signal);
    onChange(["memories", "documents", "tasks", "changes"], () => this.#loadChanges(), signal);
    onChange("documents", written, signal);
    onChange("jobs", () => this.#loadHealth(), signal);
    await Promise.all([
      this.#loadStats(),
      this.#loadDocuments(),
      this.#loadChanges(),
      this.#loadActivity(),
      this.#loadHealth(),
    ]);
  }

  async #loadStats() {
    const stats = await soft(api.get("/api/stats", null, this.options));
    if (!stats) return;
    fill(this.#hello, greeting(stats));
    fill(this.#steps, nextSteps(stats));
  }

  async #loadDocuments() {
    const list = await soft(api.get("/api/documents", null, this.options));
    if (!list) return;
    // Whatever the person's namespace is called, their own documents come first.
    /** @param {string} last */
    const find = (last) => list.documents.find(({ name }) => name.endsWith(`/${last}`));
    const [profile, working] = [find("profile"), find("working")];
    const [who, lately] = await Promise.all([this.#textOf(profile), this.#textOf(working)]);
    if (who !== undefined) fill(this.#profile, profileCard(who, profile));
    if (lately !== undefined) fill(this.#working, workingCard(lately, working));
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
    const answer = await soft(api.get("/api/changes", { limit: CHANGES }, this.options));
    if (answer) fill(this.#changes, changesCard(answer.changes));
  }

  async #loadActivity() {
    const answer = await soft(api.get("/api/activity", { days: DAYS }, this.options));
    if (!answer) return;
    fill(this.#activity, card("Activity", { action: h("span.muted", `${DAYS} days`) }, activityChart(answer.days)));
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

/** @param {Api.Overview} stats */
function greeting({ knowledge, archive, sessions, recalls, bytes: size }) {
  /** @type {(value: number, one: string, several: string, to?: string) => HTMLElement} */
  const figure = (value, one, several, to) => {
    const inner = [h("strong", count(value)), h("span", value === 1 ? one : several)];
    return h("li", to ? h("a", { href: to }, inner) : h("div", inner));
  };
  const about = `Everything your assistants share about you, on this machine. ${bytes(size)}.`;
  return h(
    "header.page-head",
    h("div", h("h1", "Your memory"), h("p", about)),
    h(
      "ul.figures",
      figure(knowledge, "thing known", "things known", href("memories", { layer: "knowledge" })),
      figure(archive, "thing that happened", "things that happened", href("memories", { layer: "archive" })),
      figure(sessions, "conversation", "conversations", href("conversations")),
      figure(recalls, "recall", "recalls"),
    ),
  );
}

/** @param {Api.Overview} stats */
function nextSteps({ identity, knowledge, sessions }) {
  /** @type {(name: IconName, title: string, text: string, action: Dom.Child) => HTMLElement} */
  const step = (name, title, text, action) =>
    h("li", h("span.step-icon", icon(name)), h("div", h("strong", title), h("p", coded(text))), action);
  const about = "A few lines that every assistant gets at the start of a conversation.";
  const connect = "`throughline connect claude-code`, or another client, gives it this memory.";
  const bring = "`throughline import FILE` takes exports of other assistants, notes and chats.";
  const write = h("a.button", { href: href("documents/profile") }, "Write profile");
  const first = h("button", { type: "button", onclick: () => remember() }, "Remember");
  const left = [
    identity ? null : step("person", "Say who you are", about, write),
    knowledge
      ? null
      : step("memories", "Remember a first thing", "Something an assistant should know next time.", first),
    sessions ? null : step("conversations", "Connect an assistant", connect, null),
    sessions ? null : step("export", "Bring what you have", bring, null),
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
  const label = usage ? `${count(usage.chars)} of ${count(usage.limit)} characters` : "";
  return card(
    "Who you are",
    { action, class: "profile-card" },
    documentLines(text),
    usage ? bar({ value: usage.chars, limit: usage.limit, label }) : null,
  );
}

/**
 * @param {string} text
 * @param {Api.ListedDocument} [about]
 */
function workingCard(text, about) {
  const isEmpty = !text.trim();
  const action = h("a.card-link", { href: href("documents/working") }, isEmpty ? "Write it" : "Edit");
  const nothing = "Nothing is going on. It fills by itself as you talk, and fades when it is old.";
  if (isEmpty) return card("Recent context", { action }, h("p.muted", nothing));
  return card("Recent context", { action }, documentLines(text), timeLeft(about?.expires_at));
}

/** @param {Api.Instant | null | undefined} expiresAt */
function timeLeft(expiresAt) {
  if (!expiresAt) return null;
  const left = millis(expiresAt) - Date.now();
  const said = left > 0 ? `${span(left)} left` : "expired: it is no longer told to assistants";
  return h("p.time-left", { class: left > 0 ? "" : "is-over" }, icon("clock", 16), said);
}

/** @param {Api.Change[]} changes */
function changesCard(changes) {
  if (!changes.length) return card("Lately", {}, h("p.muted", "Nothing has changed yet."));
  const undone = new Set(changes.map(({ undoes }) => undoes));
  const undo = attempt(() => undoLast(changes[0].id));
  const items = changes.map((change) =>
    h(
      "li",
      { class: undone.has(change.id) ? "is-undone" : "" },
      h("span", { title: viaName(change) }, changeName(change)),
      when(change.at),
    ),
  );
  return card(
    "Lately",
    { action: h("button.small.quiet", { type: "button", onclick: undo }, icon("undo", 16), "Undo the last") },
    h("ol.change-list", items),
  );
}

/**
 * @param {Api.Health} health
 * @param {Api.Job[]} jobs
 */
function healthCard({ problems, remarks }, jobs) {
  const isBad = problems.length > 0;
  const title = isBad ? plural(problems.length, "problem") : "All is well";
  const lines = [...new Set([...problems, ...remarks])].map((each) => h("li", each));
  const jobLines = jobs.map((job) => h("li", h("span", job.name), jobState(job)));
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
