// Settings: how it is, what happens by itself, and what is in force. Nothing is configured here; the file is yours.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { bytes, count, plural } from "../format.js";
import { icon } from "../icons.js";
import { changedHere, onChange } from "../live.js";
import { card, coded, definition, segmented } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";
import { drawConfig } from "../settings/config.js";
import { drawJobs } from "../settings/jobs.js";

export const page = {
  title: "Settings",
  async show(view) {
    const { root, signal } = view;
    const [health, about, jobs, config] = ["health", "about", "jobs", "config"].map((name) =>
      h("div", { class: `settings-${name}` }),
    );
    const open = new Set();
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Settings"), h("p", "What is in force, and what happens by itself."))),
      h("div.settings-grid", health, about, jobs, config),
    );

    const get = (path) =>
      api.get(path, null, { signal }).catch((error) => {
        // One part that cannot be had leaves the others alone.
        if (!signal.aborted) failed(error);
        return null;
      });
    const parts = {
      async health() {
        const state = await get("/api/health");
        if (state) fill(health, healthCard(state, parts.health));
        return state !== null;
      },
      async about() {
        const status = await get("/api/status");
        if (status) fill(about, aboutCard(status));
      },
      async jobs() {
        const answer = await get("/api/jobs");
        if (answer)
          fill(jobs, card("What happens by itself", { action: backupButton() }, drawJobs(answer.jobs, { open })));
      },
      async config() {
        const answer = await get("/api/settings");
        if (answer) fill(config, configCard(answer, view));
      },
    };
    onChange("jobs", () => Promise.all([parts.jobs(), parts.health()]), signal);
    onChange(["memories", "documents", "sessions"], () => parts.about(), signal);
    await Promise.all(Object.values(parts).map((load) => load()));
  },
};

function healthCard({ problems = [], remarks = [] }, again) {
  const all = [...new Set([...problems, ...remarks])];
  const button = h(
    "button.small.quiet",
    {
      type: "button",
      onclick: async () => {
        button.disabled = true;
        if (await again()) toast("Checked");
        button.disabled = false;
      },
    },
    icon("refresh", 16),
    "Check again",
  );
  return card(
    "Health",
    { action: button },
    h(
      "p.health-line",
      { class: problems.length ? "is-bad" : "is-good" },
      icon(problems.length ? "warn" : "check"),
      problems.length ? plural(problems.length, "problem") : "All is well",
    ),
    all.length
      ? h(
          "ul.remarks",
          all.map((each) => h("li", coded(each))),
        )
      : h("p.muted.small-text", "Database, files, index and limits are sound."),
  );
}

function aboutCard({ memory, config, version, stats }) {
  return card(
    "About",
    {},
    definition([
      ["Version", `Throughline ${version}`],
      ["Memory", h("code", memory)],
      ["Settings", config ? h("code", config) : "defaults alone; there is no file"],
      [
        "Holds",
        `${plural(stats.knowledge + stats.archive + (stats.bullets ?? 0), "memory", "memories")}, ${plural(stats.turns, "turn")} of ${plural(stats.sessions, "conversation")}`,
      ],
      ["Changes", `${count(stats.changes)}, each with its history`],
      ["Size", bytes(stats.bytes ?? 0)],
    ]),
  );
}

function backupButton() {
  const button = h(
    "button.small",
    {
      type: "button",
      onclick: async () => {
        button.disabled = true;
        try {
          const { path } = await api.post("/api/backup");
          toast("A proved copy is written", { hint: path, ms: 8_000 });
          changedHere("jobs");
        } catch (error) {
          failed(error);
        } finally {
          button.disabled = false;
        }
      },
    },
    icon("vault", 16),
    "Back up now",
  );
  return button;
}

function configCard({ path, settings }, view) {
  const place = h("div.config-sections");
  const isOnlySet = () => view.query.get("only") === "set";
  const draw = () => fill(place, drawConfig(settings, { onlySet: isOnlySet() }));
  const which = segmented({
    label: "Which settings",
    options: [
      ["", "All"],
      ["set", "Not default"],
    ],
    value: isOnlySet() ? "set" : "",
    onchange: (value) => {
      view.setQuery({ only: value });
      draw();
    },
  });
  view.onQuery(() => {
    which.value = view.query.get("only") ?? "";
    draw();
  });
  draw();
  return card(
    "In force",
    { action: which },
    h(
      "p.config-path",
      path ? ["Change them in ", h("code", path), "."] : "There is no file; everything is as it comes.",
    ),
    place,
  );
}
