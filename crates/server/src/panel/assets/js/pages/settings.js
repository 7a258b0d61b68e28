// Settings: health, background jobs, and the settings in force. Nothing is configured here, only in the file.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { bytes, count, memoryCount, plural } from "../format.js";
import { icon } from "../icons.js";
import { changedHere, onChange } from "../live.js";
import { card, coded, definition, segmented } from "../components/parts.js";
import { attemptOnce, failed, toast } from "../components/toast.js";
import { drawConfig } from "../settings/config.js";
import { drawJobs } from "../settings/jobs.js";

/** @import { Page, View } from "../router.js" */
/** @import { Change } from "../settings/config.js" */

/** @type {Page} */
export const page = {
  title: "Settings",
  show: (view) => new SettingsPage(view).start(),
};

class SettingsPage {
  #health = h("div.settings-health");
  #about = h("div.settings-about");
  #jobs = h("div.settings-jobs");
  #config = h("div.settings-config");
  /**
   * Names of the jobs whose logs are unfolded.
   * @type {Set<string>}
   */
  #open = new Set();

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.options = { signal: view.signal };
  }

  async start() {
    const { root, signal } = this.view;
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Settings"), h("p", "What is in force, and what happens by itself."))),
      h("div.settings-grid", this.#health, this.#about, this.#jobs, this.#config),
    );
    onChange("jobs", () => Promise.all([this.#loadJobs(), this.#loadHealth()]), signal);
    onChange(["memories", "documents", "sessions"], () => this.#loadAbout(), signal);
    await Promise.all([this.#loadHealth(), this.#loadAbout(), this.#loadJobs(), this.#loadConfig()]);
  }

  /**
   * Gives null for a part that cannot be had; the others are shown.
   * @template T
   * @param {Promise<T>} request
   */
  async #soft(request) {
    try {
      return await request;
    } catch (error) {
      if (!this.view.signal.aborted) failed(error);
      return null;
    }
  }

  async #loadHealth() {
    const state = await this.#soft(api.get("/api/health", null, this.options));
    const again = async () => {
      if (await this.#loadHealth()) toast("Checked");
    };
    if (state) fill(this.#health, healthCard(state, again));
    return state !== null;
  }

  async #loadAbout() {
    const about = await this.#soft(api.get("/api/status", null, this.options));
    if (about) fill(this.#about, aboutCard(about));
  }

  async #loadJobs() {
    const answer = await this.#soft(api.get("/api/jobs", null, this.options));
    if (!answer) return;
    const jobs = drawJobs(answer.jobs, { open: this.#open });
    fill(this.#jobs, card("What happens by itself", { action: backupButton() }, jobs));
  }

  async #loadConfig() {
    const answer = await this.#soft(api.get("/api/settings", null, this.options));
    if (answer) this.#drawConfig(answer);
  }

  /** @param {{ path?: string | null, settings: Api.Setting[] }} answer */
  #drawConfig({ path, settings }) {
    const focused = document.activeElement?.getAttribute("aria-label");
    fill(
      this.#config,
      configCard(path, settings, this.view, (setting, value) => this.#change(setting, value)),
    );
    const again = [...this.#config.querySelectorAll("input")].find(
      (node) => node.getAttribute("aria-label") === focused,
    );
    again?.focus();
  }

  /**
   * @param {Api.Setting} setting
   * @param {boolean | number | null} value null for the default
   */
  async #change(setting, value) {
    const path = /** @type {const} */ (`/api/settings/${encodeURIComponent(setting.key)}`);
    const put = async (/** @type {boolean | number | null} */ next) => {
      const { body } = await api.ask("PUT", path, { body: { value: next } });
      this.#drawConfig(body);
    };
    try {
      await put(value);
      const { from, next } = setting;
      const before = next ?? (from === "default" ? null : setting.value);
      toast("Saved in the file", {
        hint: "It holds from the next start of `throughline serve` on.",
        undo: () => put(before === null ? null : JSON.parse(before)),
      });
    } catch (error) {
      if (!this.view.signal.aborted) failed(error);
      await this.#loadConfig();
    }
  }
}

/**
 * @param {Api.Health} health
 * @param {() => Promise<void>} again
 */
function healthCard({ problems, remarks }, again) {
  const all = [...new Set([...problems, ...remarks])].map((each) => h("li", coded(each)));
  const isBad = problems.length > 0;
  const button = h(
    "button.small.quiet",
    { type: "button", onclick: attemptOnce(again) },
    icon("refresh", 16),
    "Check again",
  );
  return card(
    "Health",
    { action: button },
    h(
      "p.health-line",
      { class: isBad ? "is-bad" : "is-good" },
      icon(isBad ? "warn" : "check"),
      isBad ? plural(problems.length, "problem") : "All is well",
    ),
    all.length ? h("ul.remarks", all) : h("p.muted.small-text", "Database, files, index and limits are sound."),
  );
}

/** @param {Api.About} about */
function aboutCard({ memory, config, version, stats }) {
  const memories = plural(memoryCount(stats), "memory", "memories");
  const turns = plural(stats.turns, "turn");
  return card(
    "About",
    {},
    definition([
      ["Version", `Throughline ${version}`],
      ["Memory", h("code", memory)],
      ["Settings", config ? h("code", config) : "defaults alone; there is no file"],
      ["Holds", `${memories}, ${turns} of ${plural(stats.sessions, "conversation")}`],
      ["Changes", `${count(stats.changes)}, each with its history`],
      ["Size", bytes(stats.bytes)],
    ]),
  );
}

function backupButton() {
  const onclick = attemptOnce(async () => {
    const { path } = await api.post("/api/backup");
    toast("A proved copy is written", { hint: path, ms: 8_000 });
    changedHere("jobs");
  });
  return h("button.small", { type: "button", onclick }, icon("vault", 16), "Back up now");
}

/**
 * @param {string | null | undefined} path
 * @param {Api.Setting[]} settings
 * @param {View} view
 * @param {Change} onchange
 */
function configCard(path, settings, view, onchange) {
  const place = h("div.config-sections");
  const only = () => view.query.get("only") ?? "";
  const draw = () => fill(place, drawConfig(settings, { onlySet: only() === "set", onchange }));
  const which = segmented({
    label: "Which settings",
    options: [
      ["", "All"],
      ["set", "Not default"],
    ],
    value: only(),
    onchange: (value) => {
      view.setQuery({ only: value });
      draw();
    },
  });
  view.onQuery(() => {
    which.press(only());
    draw();
  });
  draw();
  const file = path ? h("code", path) : "a file that is made with the first change";
  const where = ["Numbers and switches of how memory works are changed here, the others in ", file, "."];
  return card("In force", { action: which.node }, h("p.config-path", where), place);
}
