// Which memories are picked for an action on all of them, and the bar that offers those actions.
import { fill, h } from "../dom.js";
import { count } from "../format.js";
import { icon } from "../icons.js";
import { ask } from "../components/dialog.js";
import { failed } from "../components/toast.js";
import { bulk, merge } from "./actions.js";

export function picking({ items, onchange, known }) {
  const picked = new Map();
  let last = null;
  const bar = h("div.picked-bar", { hidden: true, role: "toolbar", "aria-label": "Actions on the selection" });

  function draw() {
    bar.hidden = picked.size === 0;
    if (bar.hidden) return;
    const all = [...picked.values()];
    const act = (name, title, run) =>
      h(
        "button.small",
        {
          type: "button",
          onclick: async () => {
            try {
              if ((await run()) !== false) clear();
            } catch (error) {
              failed(error);
            }
          },
        },
        icon(name, 16),
        title,
      );
    fill(
      bar,
      h("strong", `${count(picked.size)} selected`),
      act("tag", "Tag", () => withTag("Tag them", "Tag", (tag) => bulk("tag", all, tag))),
      act("close", "Untag", () => withTag("Take a tag away", "Untag", (tag) => bulk("untag", all, tag))),
      picked.size > 1 && picked.size <= 20 ? act("merge", "Merge", () => merge(all)) : null,
      all.some((memory) => memory.status === "inactive")
        ? act("restore", "Bring back", () => bulk("restore", all))
        : null,
      all.some((memory) => memory.status === "active")
        ? act("forget", "Forget", async () => {
            const agreed =
              picked.size < 10 ||
              (await ask({
                title: `Forget ${picked.size} memories?`,
                text: "They are kept, inactive, and no longer recalled. You can undo this.",
                action: "Forget",
              }));
            return agreed ? bulk("forget", all) : false;
          })
        : null,
      h("button.small.quiet", { type: "button", onclick: clear }, "Clear"),
    );
  }

  async function withTag(title, action, run) {
    const field = h("input", { type: "text", list: "bulk-tags", autocomplete: "off", "aria-label": "Tag" });
    const body = [
      field,
      h(
        "datalist",
        { id: "bulk-tags" },
        known.tags().map((tag) => h("option", { value: tag })),
      ),
    ];
    const agreed = ask({ title, action, body });
    field.focus();
    if (!(await agreed) || !field.value.trim()) return false;
    return run(field.value.trim());
  }

  function pick(memory, isOn, withRange) {
    const all = items();
    const at = all.indexOf(memory);
    const from = withRange && last !== null ? all.findIndex((each) => each.id === last) : at;
    const [low, high] = from < 0 ? [at, at] : [Math.min(from, at), Math.max(from, at)];
    for (const each of all.slice(low, high + 1)) {
      if (each.kind === "turn" || each.kind === "chunk") continue;
      if (isOn) picked.set(each.id, each);
      else picked.delete(each.id);
    }
    last = memory.id;
    draw();
    onchange();
  }

  function clear() {
    picked.clear();
    draw();
    onchange();
  }

  return {
    bar,
    pick,
    clear,
    has: (memory) => picked.has(memory.id),
    get size() {
      return picked.size;
    },
  };
}
