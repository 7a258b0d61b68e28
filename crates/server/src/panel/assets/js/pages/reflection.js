// Reflection: what passes over memory changed, a way to run one, and a way back.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { icon } from "../icons.js";
import { changedHere, onChange } from "../live.js";
import { latestChange, undoLast, undoable } from "../undo.js";
import { ask } from "../components/dialog.js";
import { empty, select } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";
import { drawPass, passBody, targetName } from "../reflection/pass.js";

const PAGE = 30;
const MOST = 1_000;

export const page = {
  title: "Reflection",
  async show(view) {
    const { root, signal } = view;
    let wanted = PAGE;
    const place = h("div.row.wrap");
    const list = h("ol.passes");
    const more = h(
      "button",
      {
        type: "button",
        hidden: true,
        onclick: () => {
          wanted = Math.min(MOST, wanted + PAGE);
          load();
        },
      },
      "Show earlier passes",
    );
    const run = h("button.primary", { type: "button", onclick: start });
    const label = (text) =>
      fill(run, icon("reflection", 18), text ?? (project() ? `Reflect on ${project()}` : "Reflect on your memory"));
    fill(
      root,
      h(
        "header.page-head",
        h(
          "div",
          h("h1", "Reflection"),
          h("p", "Now and then memory is looked back on and tidied. Every change is here."),
        ),
        place,
      ),
      list,
      h("div.days-end", more),
    );

    const project = () => view.query.get("project") ?? "";

    async function drawTargets() {
      const { projects } = await api.get("/api/projects", null, { signal });
      const options = [["", "All passes"], ...projects.map(({ name }) => [name, name])];
      fill(
        place,
        options.length > 1
          ? select({
              label: "Which passes",
              options,
              value: project(),
              onchange: (value) => {
                view.setQuery({ project: value });
                label();
                load();
              },
            })
          : null,
        run,
      );
      label();
    }

    async function load() {
      try {
        const [{ passes }, last] = await Promise.all([
          api.get("/api/reflections", { project: project(), limit: wanted }, { signal }),
          latestChange(),
        ]);
        more.hidden = passes.length < wanted || wanted >= MOST;
        const back = (pass) => () => undoLast(pass.change).then(load).catch(failed);
        fill(
          list,
          passes.length
            ? passes.map((pass) =>
                drawPass(pass, { canUndo: Boolean(pass.change) && pass.change === last?.id, onundo: back(pass) }),
              )
            : h(
                "li",
                empty({
                  icon: "reflection",
                  title: "No pass yet",
                  text: "One runs by itself when there is enough to look back on, or when you ask for it.",
                }),
              ),
        );
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
    }

    /// Shows first what would change, and does it only after that.
    async function start() {
      const body = project() ? { project: project() } : {};
      run.disabled = true;
      label("Looking…");
      try {
        const preview = await api.post("/api/reflect", { ...body, dry_run: true });
        if (preview.outcome === "failed") {
          toast("It failed; nothing was changed", { hint: preview.reason });
        } else if (preview.outcome === "unchanged" && !preview.applied.length) {
          toast("All is well as it is", {
            hint: preview.dropped.length ? "What was proposed was not worth doing." : "Nothing would change.",
          });
        } else if (await agreed(preview)) {
          label("Reflecting…");
          const done = await api.post("/api/reflect", body);
          changedHere("reflections", "documents", "memories", "changes");
          if (done.change) await undoable("Done");
          else toast("Nothing was changed", { hint: done.reason });
        }
      } catch (error) {
        if (!signal.aborted) failed(error);
      } finally {
        label();
        run.disabled = false;
      }
    }

    onChange(["reflections", "documents", "memories", "tasks", "changes"], load, signal);
    view.onQuery(() => {
      drawTargets().catch(failed);
      load();
    });
    await Promise.all([drawTargets(), load()]);
  },
};

function agreed(preview) {
  return ask({
    title: `What would change: ${targetName(preview.target)}`,
    wide: true,
    action: "Do it",
    body: [
      passBody(preview, { isPreview: true }),
      h(
        "p.muted",
        "Nothing has been changed yet. A model may word it a little differently the second time; what it does can be undone.",
      ),
    ],
  });
}
