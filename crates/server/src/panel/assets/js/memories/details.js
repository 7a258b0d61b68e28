// Everything about one memory: text, fields, where it came from, its history, and what can be done to it.
//
//   const pane = details({ onclose, onopen, onrenamed, known, words, signal })      pane.node
//   pane.show(memory, hit?)      pane.refresh()      pane.edit()      pane.isDirty()      pane.clear()
import { fill, h } from "../dom.js";
import { api, isAborted, newest } from "../api.js";
import { changeName, exactTime, LAYERS, plural, sourceName, viaName } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { scoreBar } from "../components/charts.js";
import { wordDiff } from "../components/diff.js";
import { chip, definition, marked, when } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { showVersions } from "../documents/versions.js";
import * as actions from "./actions.js";
import { memoryEditor } from "./editor.js";

export function details({ onclose, onopen, onrenamed, known, words, signal }) {
  const node = h("aside.details", { "aria-label": "Details", tabIndex: -1 });
  const latest = newest(signal);
  let memory = null;
  let hit = null;
  let editor = null;

  const run = (action) => async () => {
    try {
      await action();
    } catch (error) {
      failed(error);
    }
  };

  async function show(next, found) {
    memory = next;
    hit = found ?? (next.why ? next : null);
    editor = null;
    draw();
    node.scrollTop = 0;
    if (memory.kind !== "turn" && memory.kind !== "chunk") await loadHistory();
  }

  /// Fetches it again. While it is being edited, nothing is replaced; a change elsewhere is only said.
  async function refresh() {
    if (!memory || memory.kind === "turn" || memory.kind === "chunk") return;
    try {
      const fresh = await api.get(`/api/memories/${encodeURIComponent(memory.id)}`, null, { signal });
      if (fresh.id !== memory?.id) return;
      const isChanged = fresh.version !== memory.version || fresh.status !== memory.status;
      if (editor) {
        if (isChanged) notice.hidden = false;
        return;
      }
      if (!isChanged && fresh.recall_count === memory.recall_count) return;
      const top = node.scrollTop;
      memory = fresh;
      draw();
      await loadHistory();
      node.scrollTop = top;
    } catch (error) {
      if (error.status === 404) {
        memory = null;
        onclose();
      } else {
        failed(error);
      }
    }
  }

  const notice = h(
    "p.notice",
    { hidden: true, role: "status" },
    "This memory was changed elsewhere. Saving will show you both versions.",
  );
  const history = h("div.versions");

  function edit() {
    if (!memory || editor || memory.status !== "active" || memory.kind === "turn" || memory.kind === "chunk") return;
    notice.hidden = true;
    editor = memoryEditor(memory, {
      known: known(),
      onsaved: (saved) => {
        editor = null;
        // A line of a document is known by its text: edited, it is another.
        if (saved.id !== memory.id) onrenamed(saved.id);
        show({ ...memory, ...saved });
      },
      oncancel: () => {
        editor = null;
        draw();
        refresh();
      },
    });
    draw();
    editor.focus();
  }

  function buttons() {
    if (memory.kind === "turn" || memory.kind === "chunk") return null;
    const isActive = memory.status === "active";
    const button = (name, title, action, kind = "") =>
      h("button.small", { type: "button", class: kind, onclick: run(action) }, icon(name, 16), title);
    return h(
      "div.row.wrap.details-actions",
      isActive ? button("edit", "Edit", edit) : null,
      isActive
        ? button("correct", "Correct", async () => {
            const made = await actions.correct(memory);
            if (made) onopen(made.id ?? made.memory?.id);
          })
        : null,
      isActive
        ? button("forget", "Forget", () => actions.forget(memory))
        : button("restore", "Bring back", () => actions.bringBack(memory)),
      button(
        "erase",
        "Erase…",
        async () => {
          if (await actions.erase(memory)) onclose();
        },
        "quiet",
      ),
    );
  }

  function draw() {
    const layer = LAYERS[memory.layer];
    fill(
      node,
      h(
        "header.details-head",
        h(
          "span.details-layer",
          { dataset: { layer: memory.layer } },
          h("i"),
          layer ? `${layer.name}, ${layer.about}` : memory.kind,
        ),
        memory.status === "inactive" ? chip("inactive", { kind: "bad" }) : null,
        h("button.bare", { type: "button", "aria-label": "Close details", onclick: onclose }, icon("close")),
      ),
      editor ? [notice, editor.node] : [h("p.details-text", marked(memory.content, words())), buttons()],
      editor
        ? null
        : h(
            "div.chips",
            (memory.tags ?? []).map((tag) => chip(tag, { onclick: () => onopen(null, { tag }) })),
          ),
      hit?.why
        ? h(
            "section",
            h("h3", "Why it was found"),
            scoreBar(hit.why, hit.score, hit.best ?? hit.score, { isLarge: true }),
          )
        : null,
      h("section", h("h3", "About it"), facts()),
      provenance(),
      h("section", h("h3", "History"), history),
    );
  }

  function facts() {
    return definition([
      ["Source", sourceName(memory.source)],
      [
        "Significance",
        memory.significance ? `${memory.significance} of 5${memory.significance >= 4 ? ", protected" : ""}` : null,
      ],
      ["Importance", memory.importance?.toFixed(2)],
      [
        "Recalled",
        memory.recall_count
          ? [
              plural(memory.recall_count, "time"),
              memory.last_recalled_at ? [", last ", when(memory.last_recalled_at)] : null,
            ]
          : "never",
      ],
      [
        "Project",
        memory.project ? h("a", { href: href("memories", { project: memory.project }) }, memory.project) : null,
      ],
      ["Key", memory.key ? h("code", memory.key) : null],
      ["Created", exactTime(memory.created_at)],
      ["Updated", memory.updated_at !== memory.created_at ? exactTime(memory.updated_at) : null],
      ["Expires", memory.expires_at ? when(memory.expires_at) : null],
      [
        "Kept in",
        memory.kind === "bullet"
          ? h("a", { href: href(`documents/${memory.namespace}`) }, memory.namespace)
          : memory.namespace,
      ],
      ["Version", memory.version],
      ["Id", h("code", memory.id)],
    ]);
  }

  function provenance() {
    const turns = memory.provenance ?? [];
    const replaced = memory.supersedes ?? [];
    if (!turns.length && !replaced.length && !memory.session && !memory.task) return null;
    return h(
      "section",
      h("h3", "Where it came from"),
      definition([
        [
          "Conversation",
          memory.session ? h("a", { href: href(`conversations/${memory.session}`) }, memory.session) : null,
        ],
        ["Turns", turns.length ? plural(turns.length, "turn") : null],
        ["Task", memory.task ? h("a", { href: href(`tasks/${memory.task}`) }, memory.task) : null],
        [
          "Replaces",
          replaced.length
            ? replaced.map((id) => h("button.link.mono", { type: "button", onclick: () => onopen(id) }, id.slice(0, 8)))
            : null,
        ],
      ]),
    );
  }

  async function loadHistory() {
    const id = memory.id;
    if (memory.kind === "bullet") {
      const name = memory.namespace;
      const open = () => showVersions(name, name).catch(failed);
      fill(
        history,
        h(
          "p.muted",
          "It is a line of a document, which has the history. ",
          h("button.link", { type: "button", onclick: open }, `History of ${name}`),
        ),
      );
      return;
    }
    fill(history, h("p.muted", "…"));
    try {
      const { versions } = await latest((abort) =>
        api.get(`/api/memories/${encodeURIComponent(id)}/history`, null, { signal: abort }),
      );
      if (memory?.id === id) fill(history, drawVersions(versions));
    } catch (error) {
      if (isAborted(error)) return;
      fill(history, h("p.muted", error.message));
    }
  }

  function drawVersions(versions) {
    return h(
      "ol.version-list",
      versions
        .map((version, at) => {
          const before = versions[at - 1]?.entry;
          const { entry, change } = version;
          const isLast = at === versions.length - 1;
          const other = before ? differences(before, entry) : [];
          return h(
            "li",
            h(
              "div.version-head",
              h("strong", `${entry.version}`),
              h("span", { title: viaName(change) }, changeName(change)),
              when(change.at),
            ),
            before
              ? before.content === entry.content
                ? null
                : wordDiff(before.content, entry.content)
              : h("p.diff-words", entry.content),
            other.length ? h("p.muted", other.join("; ")) : null,
            isLast
              ? null
              : h(
                  "button.link.small-text",
                  { type: "button", onclick: run(() => actions.restoreVersion(memory, entry.version)) },
                  "Restore this version",
                ),
          );
        })
        .reverse(),
    );
  }

  return {
    node,
    show,
    refresh,
    edit,
    isDirty: () => Boolean(editor?.isDirty()),
    clear() {
      memory = null;
      editor = null;
      fill(node);
    },
    get id() {
      return memory?.id ?? null;
    },
    get memory() {
      return memory;
    },
  };
}

function differences(before, after) {
  const told = [];
  const say = (value) => (Array.isArray(value) ? value.join(", ") : value) || "none";
  for (const [name, title] of [
    ["tags", "tags"],
    ["status", "status"],
    ["importance", "importance"],
    ["key", "key"],
    ["project", "project"],
    ["layer", "layer"],
    ["source", "source"],
  ]) {
    if (JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      told.push(`${title}: ${say(before[name])} → ${say(after[name])}`);
  }
  return told;
}
