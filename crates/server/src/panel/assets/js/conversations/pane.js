// One conversation: what was said, what memory gave to each message, what became of it, and what can be done with it.
//
//   const pane = conversation({ onclose, signal })      pane.node
//   await pane.show(id)      await pane.refresh()       pane.clear()      pane.id
import { fill, h } from "../dom.js";
import { api, isAborted, newest } from "../api.js";
import { changedHere } from "../live.js";
import { exactTime, LAYERS, plural } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { ask } from "../components/dialog.js";
import { chip, empty, when } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";
import { lookup } from "../memories/lookup.js";
import { channelName, channelOf, nameOf } from "./names.js";
import { drawTurns } from "./turns.js";

const PAGE = 500;
const RECALLS = 1_000;

export function conversation({ onclose, signal }) {
  const node = h("section.conversation", { "aria-label": "Conversation", tabIndex: -1 });
  const latest = newest(signal);
  const find = lookup(signal);
  let id = null;
  let pages = 1;
  let shown = null;
  let open = new Set();

  async function load(abort) {
    const path = `/api/sessions/${encodeURIComponent(id)}`;
    const ask = (rest, query) => api.get(path + rest, query, { signal: abort });
    const turns = async () => {
      let answer = await ask("", { limit: PAGE });
      const all = answer.turns;
      for (let page = 1; page < pages && answer.more; page += 1) {
        answer = await ask("", { limit: PAGE, turns_after: all.at(-1).id });
        all.push(...answer.turns);
      }
      return { ...answer, turns: all };
    };
    const [said, { recalls }, { consolidations }] = await Promise.all([
      turns(),
      api.get("/api/recalls", { session: id, limit: RECALLS }, { signal: abort }),
      ask("/consolidations", { limit: PAGE }),
    ]);
    return { ...said, recalls, made: consolidations };
  }

  async function show(next) {
    id = next;
    pages = 1;
    shown = null;
    open = new Set();
    fill(node, h("p.muted.conversation-wait", "…"));
    await refresh();
    node.scrollTop = 0;
  }

  async function refresh() {
    if (!id) return;
    const wanted = id;
    try {
      const answer = await latest(load);
      if (wanted !== id) return;
      const now = JSON.stringify(answer);
      if (now === shown) return;
      const isAtEnd = shown !== null && node.scrollHeight - node.scrollTop - node.clientHeight < 40;
      const top = node.scrollTop;
      shown = now;
      draw(answer);
      node.scrollTop = isAtEnd ? node.scrollHeight : top;
    } catch (error) {
      if (isAborted(error)) return;
      if (error.status === 404)
        fill(
          node,
          head(null),
          empty({ icon: "conversations", title: "This conversation is not here", text: error.message }),
        );
      else failed(error);
    }
  }

  const run = (action) => async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    try {
      await action();
      changedHere("sessions", "memories");
      await refresh();
    } catch (error) {
      failed(error);
    } finally {
      button.disabled = false;
    }
  };
  const post = (verb, body) => api.post(`/api/sessions/${encodeURIComponent(id)}/${verb}`, body);

  async function compact() {
    const done = await post("compact", {});
    const facts = done.facts?.length ? `, ${plural(done.facts.length, "fact")} kept` : "";
    const said = {
      nothing: "Nothing was said since the last time",
      busy: "It is being summed up already",
      done: `${plural(done.compacted ?? 0, "turn")} summed up${facts}`,
      archived: "Kept word for word: no model would sum it up",
      failed: "It could not be summed up; nothing was changed",
    };
    toast(said[done.outcome] ?? "Done", { hint: done.reason });
  }

  async function end() {
    const agreed = await ask({
      title: "End this conversation?",
      text: "What was said is summed up and looked back on. Saying more opens it again.",
      action: "End it",
    });
    if (!agreed) return;
    const done = await post("end");
    const facts = (done.filled?.facts?.length ?? 0) + (done.consolidation?.facts?.length ?? 0);
    toast("Ended", { hint: facts ? `${plural(facts, "fact")} kept` : null });
  }

  async function reset() {
    const agreed = await ask({
      title: "Begin anew?",
      text: "Profile, recent context and task are read afresh with the next message. Nothing that was said is lost.",
      action: "Reset",
    });
    if (!agreed) return;
    await post("reset");
    toast("It begins anew with the next message");
  }

  function head(session) {
    return h(
      "header.conversation-head",
      h(
        "button.bare.conversation-back",
        { type: "button", "aria-label": "Back to the list", onclick: onclose },
        icon("left"),
      ),
      h(
        "div.grow",
        h("h2.conversation-title", nameOf(id)),
        session
          ? h(
              "p.conversation-facts",
              h("span", channelName(channelOf(id))),
              h("span", { title: exactTime(session.created_at) }, "began ", when(session.created_at)),
              session.ended_at ? h("span", "ended ", when(session.ended_at)) : h("span.is-open", "open"),
              session.project
                ? h("a", { href: href("memories", { project: session.project }) }, icon("project", 15), session.project)
                : null,
              session.task ? h("a", { href: href(`tasks/${session.task}`) }, icon("tasks", 15), "task") : null,
            )
          : null,
      ),
      session
        ? h(
            "div.row.conversation-actions",
            h("button.small", { type: "button", onclick: run(compact) }, "Consolidate now"),
            session.ended_at ? null : h("button.small", { type: "button", onclick: run(end) }, "End"),
            h(
              "button.small.quiet",
              { type: "button", title: "What it begins with is computed anew", onclick: run(reset) },
              "Reset",
            ),
          )
        : null,
    );
  }

  function draw({ session, turns, more, recalls, made }) {
    fill(
      node,
      head(session),
      h(
        "div.conversation-body",
        session.failures
          ? h("p.notice", `It could not be summed up ${plural(session.failures, "time")} in a row; it is tried again.`)
          : null,
        turns.length
          ? drawTurns({ turns, recalls, made, find, open })
          : empty({
              icon: "conversations",
              title: "Nothing was said yet",
              text: "The turns appear here as they come.",
            }),
        more
          ? h(
              "div.row.conversation-more",
              h(
                "button",
                {
                  type: "button",
                  onclick: run(async () => {
                    pages += 1;
                  }),
                },
                "Show what was said next",
              ),
            )
          : null,
        became(made),
      ),
    );
  }

  return {
    node,
    show,
    refresh,
    clear() {
      id = null;
      shown = null;
      fill(
        node,
        empty({ icon: "conversations", title: "What was said, and what came of it", text: "Choose a conversation." }),
      );
    },
    get id() {
      return id;
    },
  };
}

/// Everything that memory keeps of it.
function became(made) {
  if (!made.length) return null;
  const line = (memory) =>
    h(
      "li",
      { dataset: { layer: memory.layer } },
      h("a", { href: href("memories", { id: memory.id }) }, firstLine(memory)),
      h("small", LAYERS[memory.layer]?.name ?? memory.layer, ", ", when(memory.created_at)),
      memory.status === "inactive" ? chip("inactive", { kind: "bad" }) : null,
    );
  return h(
    "section.became",
    h("h3", `What memory keeps of it: ${plural(made.length, "memory", "memories")}`),
    h("ul", made.map(line)),
  );
}

function firstLine(memory) {
  if (memory.layer !== "archive") return memory.content;
  const name = memory.key?.startsWith("session_") ? "The whole conversation, summed up" : "A part, summed up";
  const bullets = memory.content.split("\n").filter((line) => line.startsWith("- ")).length;
  return bullets ? `${name} in ${plural(bullets, "line")}` : name;
}
