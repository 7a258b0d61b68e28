// Home: who the assistants think you are, what has been going on, what changed, how much, and whether all is well.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { bytes, changeName, count, plural, span, viaName } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { href } from "../router.js";
import { undoLast } from "../undo.js";
import { activityChart } from "../components/charts.js";
import { bar, card, coded, when } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { remember } from "../memories/actions.js";
import { documentLines } from "../documents/lines.js";

const DAYS = 90;
const CHANGES = 7;

export const page = {
  title: "Home",
  async show(view) {
    const { root, signal } = view;
    const ask = (path, query) =>
      api.get(path, query, { signal }).catch((error) => {
        // One part that cannot be had leaves the others alone; an absent document is no failure.
        if (error.status === 404) return null;
        failed(error);
        return undefined;
      });
    const place = (name) => h("div", { class: `home-${name}` });
    const [hello, steps, profile, working, changes, activity, health] = [
      "hello",
      "steps",
      "profile",
      "working",
      "changes",
      "activity",
      "health",
    ].map(place);
    fill(root, hello, steps, h("div.home-grid", profile, working, activity, changes, health));

    const parts = {
      async stats() {
        const stats = await ask("/api/stats");
        if (stats) fill(hello, greeting(stats));
        if (stats) fill(steps, nextSteps(stats));
      },
      async documents() {
        const [all, stats] = await Promise.all([ask("/api/documents"), ask("/api/stats")]);
        // Whatever the person's namespace is called, their own documents come first.
        const find = (last) => all?.documents.find(({ name }) => name.endsWith(`/${last}`));
        const [who, lately] = await Promise.all(
          ["profile", "working"].map(
            async (last) => all && (find(last)?.exists ? ask(`/api/documents/${find(last).name}`) : null),
          ),
        );
        if (who !== undefined) fill(profile, profileCard(who, who?.usage ?? find("profile")?.usage ?? stats?.identity));
        if (lately !== undefined)
          fill(
            working,
            workingCard(lately, lately?.expires_at ?? find("working")?.expires_at ?? stats?.working_expires_at),
          );
      },
      async changes() {
        const answer = await ask("/api/changes", { limit: CHANGES });
        if (answer) fill(changes, changesCard(answer.changes.slice(0, CHANGES)));
      },
      async activity() {
        const answer = await ask("/api/activity", { days: DAYS });
        if (answer)
          fill(activity, card("Activity", { action: h("span.muted", `${DAYS} days`) }, activityChart(answer.days)));
      },
      async health() {
        const [state, jobs] = await Promise.all([ask("/api/health"), ask("/api/jobs")]);
        if (state) fill(health, healthCard(state, jobs?.jobs ?? []));
      },
    };
    const load = (...names) => Promise.all(names.map((name) => parts[name]()));
    onChange(["memories", "sessions", "recalls"], () => load("stats", "activity"), signal);
    onChange(["memories", "documents", "tasks", "changes"], () => load("changes"), signal);
    onChange("documents", () => load("documents", "stats"), signal);
    onChange("jobs", () => load("health"), signal);
    await load(...Object.keys(parts));
  },
};

function greeting(stats) {
  const figures = [
    ["knowledge", "thing known", "things known", "memories", { layer: "knowledge" }],
    ["archive", "thing that happened", "things that happened", "memories", { layer: "archive" }],
    ["sessions", "conversation", "conversations", "conversations"],
    ["recalls", "recall", "recalls", null],
  ];
  return h(
    "header.page-head",
    h(
      "div",
      h("h1", "Your memory"),
      h("p", `Everything your assistants share about you, on this machine. ${bytes(stats.bytes ?? 0)}.`),
    ),
    h(
      "ul.figures",
      figures.map(([key, one, several, to, query]) => {
        const inner = [h("strong", count(stats[key])), h("span", stats[key] === 1 ? one : several)];
        return h("li", to ? h("a", { href: href(to, query) }, inner) : h("div", inner));
      }),
    ),
  );
}

function nextSteps(stats) {
  const step = (name, title, text, action) =>
    h("li", h("span.step-icon", icon(name)), h("div", h("strong", title), h("p", coded(text))), action);
  const left = [
    stats.identity
      ? null
      : step(
          "person",
          "Say who you are",
          "A few lines that every assistant gets at the start of a conversation.",
          h("a.button", { href: href("documents/profile") }, "Write profile"),
        ),
    stats.knowledge
      ? null
      : step(
          "memories",
          "Remember a first thing",
          "Something an assistant should know next time.",
          h("button", { type: "button", onclick: () => remember() }, "Remember"),
        ),
    stats.sessions
      ? null
      : step(
          "conversations",
          "Connect an assistant",
          "`throughline connect claude-code`, or another client, gives it this memory.",
          null,
        ),
    stats.sessions
      ? null
      : step(
          "export",
          "Bring what you have",
          "`throughline import FILE` takes exports of other assistants, notes and chats.",
          null,
        ),
  ].filter(Boolean);
  if (!left.length) return null;
  return h("section.card.steps", { "aria-label": "Next steps" }, h("h2", "To begin with"), h("ol", left));
}

function profileCard(document, usage) {
  const edit = h("a.card-link", { href: href("documents/profile") }, document ? "Edit" : "Write it");
  if (!document?.text?.trim())
    return card("Who you are", { action: edit }, h("p.muted", "The assistants have not been told yet."));
  return card(
    "Who you are",
    { action: edit, class: "profile-card" },
    documentLines(document.text),
    usage
      ? bar({
          value: usage.chars,
          limit: usage.limit,
          label: `${count(usage.chars)} of ${count(usage.limit)} characters`,
        })
      : null,
  );
}

function workingCard(document, expires) {
  const edit = h("a.card-link", { href: href("documents/working") }, document?.text?.trim() ? "Edit" : "Write it");
  if (!document?.text?.trim())
    return card(
      "Recent context",
      { action: edit },
      h("p.muted", "Nothing is going on. It fills by itself as you talk, and fades when it is old."),
    );
  const left = expires ? new Date(expires).getTime() - Date.now() : null;
  return card(
    "Recent context",
    { action: edit },
    documentLines(document.text),
    left === null
      ? null
      : h(
          "p.time-left",
          { class: left <= 0 ? "is-over" : "" },
          icon("clock", 16),
          left > 0 ? `${span(left)} left` : "expired: it is no longer told to assistants",
        ),
  );
}

function changesCard(changes) {
  if (!changes.length) return card("Lately", {}, h("p.muted", "Nothing has changed yet."));
  const undone = new Set(changes.map(({ undoes }) => undoes).filter(Boolean));
  return card(
    "Lately",
    {
      action: h(
        "button.small.quiet",
        {
          type: "button",
          onclick: async () => {
            try {
              await undoLast(changes[0].id);
            } catch (error) {
              failed(error);
            }
          },
        },
        icon("undo", 16),
        "Undo the last",
      ),
    },
    h(
      "ol.change-list",
      changes.map((change) =>
        h(
          "li",
          { class: undone.has(change.id) ? "is-undone" : "" },
          h("span", { title: viaName(change) }, changeName(change)),
          when(change.at),
        ),
      ),
    ),
  );
}

function healthCard(state, jobs) {
  const problems = state.problems ?? [];
  const remarks = [...new Set(state.remarks ?? [])];
  const title = problems.length ? plural(problems.length, "problem") : "All is well";
  return card(
    "Health",
    { action: h("a.card-link", { href: href("settings") }, "Settings") },
    h(
      "p.health-line",
      { class: problems.length ? "is-bad" : "is-good" },
      icon(problems.length ? "warn" : "check"),
      title,
    ),
    problems.length || remarks.length
      ? h(
          "ul.remarks",
          [...problems, ...remarks].map((each) =>
            h("li", typeof each === "string" ? each : (each.message ?? JSON.stringify(each))),
          ),
        )
      : null,
    jobs.length
      ? h(
          "ul.job-lines",
          jobs.map((job) => h("li", h("span", job.name), jobState(job))),
        )
      : null,
  );
}

function jobState(job) {
  if (job.running) return h("span.muted", "running now");
  if (job.last_outcome === "failed")
    return h("span.job-failed", { title: job.log?.[0]?.what ?? "" }, when(job.last_run_at, { prefix: "failed " }));
  if (job.last_run_at) return h("span.muted", { title: job.log?.[0]?.what ?? "" }, when(job.last_run_at));
  return job.next_run_at ? h("span.muted", when(job.next_run_at, { prefix: "first " })) : h("span.muted", "not yet");
}
