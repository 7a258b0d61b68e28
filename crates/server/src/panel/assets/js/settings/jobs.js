// The background jobs: each with its last run, its next one, its log, and a button to run it now.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { exactTime, jobName, millis } from "../format.js";
import { icon } from "../icons.js";
import { chip, when } from "../components/parts.js";
import { attemptOnce, toast } from "../components/toast.js";

/** @type {Record<string, string>} */
const ABOUT = {
  consolidation: "Sums up conversations that have gone quiet",
  retention: "Retires old parts of the timeline",
  reflection: "Looks back on memory and tidies it",
  backup: "Writes a copy, and proves that it can be restored",
  embedding: "Reads the vault for its meaning",
};
/** @type {Record<Api.RunOutcome, string>} */
const KINDS = { done: "good", failed: "bad", waiting: "" };

/**
 * @param {Api.Job[]} jobs
 * @param {{ open: Set<string> }} options names of the jobs whose logs are unfolded, kept between drawings
 */
export function drawJobs(jobs, { open }) {
  return h(
    "ul.jobs",
    jobs.map((job) => drawJob(job, open)),
  );
}

/**
 * @param {Api.Job} job
 * @param {Set<string>} open
 */
function drawJob(job, open) {
  const onclick = attemptOnce(() => run(job));
  return h(
    "li.job",
    h(
      "div.job-main",
      h("p.job-name", h("strong", jobName(job.name)), state(job)),
      h("p.job-about", ABOUT[job.name] ?? ""),
    ),
    h(
      "dl.job-times",
      h("div", h("dt", "How often"), h("dd", every(job.every))),
      h("div", h("dt", "Last"), h("dd", job.last_run_at ? when(job.last_run_at) : "not yet")),
      h("div", h("dt", "Next"), h("dd", next(job))),
    ),
    h(
      "button.small",
      { type: "button", disabled: job.running, "aria-label": `Run now: ${jobName(job.name)}`, onclick },
      icon("play", 15),
      "Run now",
    ),
    job.log.length ? log(job, open) : null,
  );
}

/** @param {Api.Job} job */
function state({ running, last_outcome: outcome }) {
  if (running) return chip("running", { kind: "accent" });
  return outcome ? chip(outcome, { kind: KINDS[outcome] }) : null;
}

/** @param {Api.Job} job */
function next({ running, every: often, next_run_at: at }) {
  if (running) return "now";
  if (!at) return often === "never" ? "never" : "when needed";
  return millis(at) > Date.now() ? when(at) : "soon";
}

/** @param {string} text */
function every(text) {
  if (!/^\d+h$/.test(text)) return text;
  return text === "24h" ? "every day" : `every ${text.slice(0, -1)} hours`;
}

/**
 * @param {Api.Job} job
 * @param {Set<string>} open
 */
function log(job, open) {
  const lines = job.log.map((line) =>
    h(
      "li",
      { dataset: { outcome: line.outcome } },
      h("time", { dateTime: line.started_at }, exactTime(line.started_at)),
      h("span", line.what),
      h("span.muted", lasted(line)),
    ),
  );
  const node = h("details.job-log", { open: open.has(job.name) }, h("summary", "Log"), h("ol", { tabIndex: 0 }, lines));
  node.addEventListener("toggle", () => (node.open ? open.add(job.name) : open.delete(job.name)));
  return node;
}

/** @param {Api.Run} run */
function lasted({ started_at: from, ended_at: to }) {
  const ms = millis(to) - millis(from);
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** @param {Api.Job} job */
async function run({ name }) {
  const { outcome, what } = await api.post(`/api/jobs/${encodeURIComponent(name)}/run`);
  toast(`${jobName(name)}: ${outcome}`, { hint: what, ms: 6_000 });
  changedHere("jobs");
}
