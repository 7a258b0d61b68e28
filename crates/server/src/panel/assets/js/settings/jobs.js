// What happens by itself: each job with its last run, its next one, its log, and a button to run it now.
//
//   drawJobs(jobs, { open })      open: a Set of the names whose logs are unfolded, kept between drawings
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { exactTime } from "../format.js";
import { icon } from "../icons.js";
import { chip, when } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";

const ABOUT = {
  consolidation: "Sums up conversations that have gone quiet",
  retention: "Retires old parts of the timeline",
  reflection: "Looks back on memory and tidies it",
  backup: "Writes a copy, and proves that it can be restored",
  embedding: "Reads the vault for its meaning",
};
const OUTCOMES = { done: ["done", "good"], failed: ["failed", "bad"], waiting: ["waiting", ""] };

export function drawJobs(jobs, { open }) {
  return h(
    "ul.jobs",
    jobs.map((job) => drawJob(job, open)),
  );
}

function drawJob(job, open) {
  const [said, kind] = OUTCOMES[job.last_outcome] ?? [job.last_outcome, ""];
  return h(
    "li.job",
    h(
      "div.job-main",
      h(
        "p.job-name",
        h("strong", job.name),
        job.running ? chip("running", { kind: "accent" }) : said ? chip(said, { kind }) : null,
      ),
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
      {
        type: "button",
        disabled: job.running,
        "aria-label": `Run ${job.name} now`,
        onclick: (event) => run(job, event.currentTarget),
      },
      icon("play", 15),
      "Run now",
    ),
    job.log?.length ? log(job, open) : null,
  );
}

function next(job) {
  if (job.running) return "now";
  if (!job.next_run_at) return job.every === "never" ? "never" : "when needed";
  return new Date(job.next_run_at) > Date.now() ? when(job.next_run_at) : "soon";
}

const every = (text) =>
  /^\d+h$/.test(text) ? (text === "24h" ? "every day" : `every ${text.slice(0, -1)} hours`) : text;

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
  const node = h("details.job-log", { open: open.has(job.name) }, h("summary", "Log"), h("ol", lines));
  node.addEventListener("toggle", () => (node.open ? open.add(job.name) : open.delete(job.name)));
  return node;
}

function lasted({ started_at: from, ended_at: to }) {
  const ms = new Date(to) - new Date(from);
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

async function run(job, button) {
  button.disabled = true;
  try {
    const done = await api.post(`/api/jobs/${encodeURIComponent(job.name)}/run`);
    toast(`${job.name}: ${OUTCOMES[done.outcome]?.[0] ?? done.outcome}`, { hint: done.what, ms: 6_000 });
    changedHere("jobs");
  } catch (error) {
    failed(error);
  } finally {
    button.disabled = false;
  }
}
