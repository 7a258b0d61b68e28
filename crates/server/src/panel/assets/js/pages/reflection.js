// Reflection: what passes over memory changed, with buttons to run one and to undo the last.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { icon } from "../icons.js";
import { changedHere, onChange } from "../live.js";
import { latestChange, undoLast, undoable } from "../undo.js";
import { ask } from "../components/dialog.js";
import { empty, select } from "../components/parts.js";
import { attempt, failed, toast } from "../components/toast.js";
import { drawPass, passBody, targetName } from "../reflection/pass.js";

/** @import { Page, View } from "../router.js" */
/** @import { Option } from "../components/parts.js" */

const PAGE = 30;
const MOST = 1_000;

/** @type {Page} */
export const page = {
  title: "Reflection",
  show: (view) => new ReflectionPage(view).start(),
};

class ReflectionPage {
  /** How many passes are shown. */
  #wanted = PAGE;
  #place = h("div.row.wrap");
  #list = h("ol.passes");
  #more = h("button", { type: "button", hidden: true, onclick: () => this.#showMore() }, "Show earlier");
  #run = h("button.primary", { type: "button", onclick: () => this.#reflect() });

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  async start() {
    const { root, signal } = this.view;
    const about = "Now and then memory is looked back on and tidied. Every change is here.";
    fill(
      root,
      h("header.page-head", h("div", h("h1", "Reflection"), h("p", about)), this.#place),
      this.#list,
      h("div.days-end", this.#more),
    );
    onChange(["reflections", "documents", "memories", "tasks", "changes"], () => this.#load(), signal);
    this.view.onQuery(() => {
      this.#drawTargets().catch(failed);
      this.#load();
    });
    await Promise.all([this.#drawTargets(), this.#load()]);
  }

  get #project() {
    return this.view.query.get("project") ?? "";
  }

  /** @param {string} [text] */
  #label(text) {
    const target = this.#project || "your memory";
    fill(this.#run, icon("reflection", 18), text ?? `Reflect on ${target}`);
  }

  async #drawTargets() {
    const { projects } = await api.get("/api/projects", null, { signal: this.view.signal });
    const names = projects.map(({ name }) => /** @type {Option} */ ([name, name]));
    /** @param {string} project */
    const onchange = (project) => {
      this.view.setQuery({ project });
      this.#label();
      this.#load();
    };
    /** @type {Option[]} */
    const options = [["", "All of your memory"], ...names];
    const target = select({ label: "Which memory", options, value: this.#project, onchange });
    fill(this.#place, names.length ? target : null, this.#run);
    this.#label();
  }

  #showMore() {
    this.#wanted = Math.min(MOST, this.#wanted + PAGE);
    this.#load();
  }

  async #load() {
    const { signal } = this.view;
    try {
      const [{ passes }, last] = await Promise.all([
        api.get("/api/reflections", { project: this.#project, limit: this.#wanted }, { signal }),
        latestChange(),
      ]);
      this.#more.hidden = passes.length < this.#wanted || this.#wanted >= MOST;
      const items = passes.map((pass) => drawPass(pass, this.#undoOf(pass, last)));
      fill(this.#list, items.length ? items : h("li", nothingYet()));
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /**
   * Only the last change can be undone.
   * @param {Api.Reflection} pass
   * @param {Api.Change | null} last
   */
  #undoOf({ change }, last) {
    if (!change || change !== last?.id) return null;
    return attempt(async () => {
      await undoLast(change);
      await this.#load();
    });
  }

  /** Shows first what would change, and does it only after that. */
  async #reflect() {
    this.#run.disabled = true;
    this.#label("Looking…");
    try {
      const body = this.#project ? { project: this.#project } : {};
      const preview = await api.post("/api/reflect", { ...body, dry_run: true });
      if (preview.outcome === "failed") {
        toast("It failed; nothing was changed", { hint: preview.reason });
      } else if (preview.outcome === "unchanged" && !preview.applied.length) {
        const hint = preview.dropped.length ? "What was proposed was not worth doing." : "Nothing would change.";
        toast("All is well as it is", { hint });
      } else if (await agreed(preview)) {
        this.#label("Reflecting…");
        await this.#apply(body);
      }
    } catch (error) {
      if (!this.view.signal.aborted) failed(error);
    } finally {
      this.#label();
      this.#run.disabled = false;
    }
  }

  /** @param {{ project?: string }} body */
  async #apply(body) {
    const done = await api.post("/api/reflect", body);
    changedHere("reflections", "documents", "memories", "changes");
    if (done.change) await undoable("Done");
    else toast("Nothing was changed", { hint: done.reason });
  }
}

function nothingYet() {
  return empty({
    icon: "reflection",
    title: "Nothing was tidied yet",
    text: "It happens by itself when there is enough to look back on, or when you ask for it.",
  });
}

/** @param {Api.Reflection} preview */
function agreed(preview) {
  const note =
    "Nothing has been changed yet. A model may word it a little differently the second time; " +
    "what it does can be undone.";
  return ask({
    title: `What would change: ${targetName(preview.target)}`,
    wide: true,
    action: "Do it",
    body: [passBody(preview, { isPreview: true }), h("p.muted", note)],
  });
}
