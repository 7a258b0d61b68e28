// One conversation: what was said, what memory gave to each message, what became of it, and what can be done with it.
//
//   const pane = new ConversationPane({ onclose, signal })      pane.node
//   await pane.show(id)      await pane.refresh()       pane.clear()      pane.id
import { fill, h } from "../dom.js";
import { api, isAborted, messageOf, Newest, statusOf } from "../api.js";
import { changedHere } from "../live.js";
import { exactTime, LAYERS, plural } from "../format.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { ask } from "../components/dialog.js";
import { chip, empty, when } from "../components/parts.js";
import { attemptOnce, failed, toast } from "../components/toast.js";
import { plainText } from "../documents/marks.js";
import { lookup } from "../memories/lookup.js";
import { channelName, channelOf, nameOf, titleOf } from "./names.js";
import { drawTurns } from "./turns.js";

const PAGE = 500;
const RECALLS = 1_000;
/** So far a turn is looked for. */
const MOST_PAGES = 40;
/** How far from the end, in pixels, still counts as being at the end. */
const AT_END = 40;

/**
 * @typedef {Api.ShownSession & { recalls: Api.Recall[], made: Api.Memory[] }} Loaded
 */

export class ConversationPane {
  node = h("section.conversation", { "aria-label": "Conversation", tabIndex: -1 });
  /** @type {string | null} */
  id = null;
  /** How many pages of turns are shown. */
  #pages = 1;
  /**
   * What is drawn, as text.
   * @type {string | null}
   */
  #shown = null;
  /** @type {Set<string>} */
  #open = new Set();

  /** @param {{ onclose: () => void, signal: AbortSignal }} options */
  constructor({ onclose, signal }) {
    this.onclose = onclose;
    this.latest = new Newest(signal);
    this.find = lookup(signal);
  }

  /**
   * @param {string} id
   * @param {string | null} [turn] what to show of it
   */
  async show(id, turn = null) {
    if (id !== this.id || this.#shown === null) {
      this.id = id;
      this.#pages = 1;
      this.#shown = null;
      this.#open = new Set();
      fill(this.node, h("p.muted.conversation-wait", "…"));
      await this.refresh();
      this.node.scrollTop = 0;
    }
    if (turn && id === this.id) await this.#find(turn);
  }

  /**
   * Shows more until a turn is there, and goes to it.
   * @param {string} turn
   */
  async #find(turn) {
    const node = () => this.node.querySelector(`#turn-${CSS.escape(turn)}`);
    while (!node() && this.node.querySelector(".conversation-more") && this.#pages < MOST_PAGES) {
      this.#pages += 1;
      await this.refresh();
    }
    for (const each of this.node.querySelectorAll(".turn.is-found")) each.classList.remove("is-found");
    const found = node();
    found?.classList.add("is-found");
    found?.scrollIntoView({ block: "center" });
  }

  async refresh() {
    const { id, node } = this;
    if (!id) return;
    try {
      const answer = await this.latest.run((signal) => load(id, this.#pages, signal));
      const now = JSON.stringify(answer);
      if (id !== this.id || now === this.#shown) return;
      const isAtEnd = this.#shown !== null && node.scrollHeight - node.scrollTop - node.clientHeight < AT_END;
      const top = node.scrollTop;
      this.#shown = now;
      this.#draw(id, answer);
      node.scrollTop = isAtEnd ? node.scrollHeight : top;
    } catch (error) {
      if (isAborted(error)) return;
      if (statusOf(error) === 404) this.#drawMissing(id, messageOf(error));
      else failed(error);
    }
  }

  clear() {
    this.id = null;
    this.#shown = null;
    const title = "What was said, and what came of it";
    fill(this.node, empty({ icon: "conversations", title, text: "Choose a conversation." }));
  }

  /**
   * For a button: runs the action, then shows the conversation again.
   * @param {() => unknown} action
   */
  #run(action) {
    return attemptOnce(async () => {
      await action();
      changedHere("sessions", "memories");
      await this.refresh();
    });
  }

  /**
   * @param {string} id
   * @param {string} message
   */
  #drawMissing(id, message) {
    const title = "This conversation is not here";
    fill(this.node, this.#head(id, null, null), empty({ icon: "conversations", title, text: message }));
  }

  /**
   * @param {string} id
   * @param {Api.Session | null} session
   * @param {Dom.Child} actions
   */
  #head(id, session, actions) {
    const back = { type: /** @type {const} */ ("button"), "aria-label": "Back to the list", onclick: this.onclose };
    return h(
      "header.conversation-head",
      h("button.bare.conversation-back", back, icon("left")),
      h(
        "div.grow",
        h("h2.conversation-title", session ? titleOf(session) : nameOf(id)),
        session ? facts(session) : null,
      ),
      actions,
    );
  }

  /** @param {Api.Session} session */
  #actions({ id, ended_at: endedAt }) {
    return h(
      "div.row.conversation-actions",
      h("button.small", { type: "button", onclick: this.#run(() => compact(id)) }, "Sum up now"),
      endedAt ? null : h("button.small", { type: "button", onclick: this.#run(() => end(id)) }, "End"),
      h(
        "button.small.quiet",
        { type: "button", title: "What it begins with is computed anew", onclick: this.#run(() => reset(id)) },
        "Reset",
      ),
    );
  }

  /**
   * @param {string} id
   * @param {Loaded} loaded
   */
  #draw(id, { session, turns, more, recalls, made }) {
    const failures = `It could not be summed up ${plural(session.failures, "time")} in a row; it is tried again.`;
    const nothing = { title: "Nothing was said yet", text: "The turns appear here as they come." };
    const next = this.#run(() => {
      this.#pages += 1;
    });
    fill(
      this.node,
      this.#head(id, session, this.#actions(session)),
      h(
        "div.conversation-body",
        session.failures ? h("p.notice", failures) : null,
        turns.length
          ? drawTurns({ turns, recalls, made, find: this.find, open: this.#open })
          : empty({ icon: "conversations", ...nothing }),
        more
          ? h("div.row.conversation-more", h("button", { type: "button", onclick: next }, "Show what was said next"))
          : null,
        became(made),
      ),
    );
  }
}

/** @param {string} id */
const pathOf = (id) => /** @type {const} */ (`/api/sessions/${encodeURIComponent(id)}`);

/**
 * @param {string} id
 * @param {number} pages
 * @param {AbortSignal} signal
 * @returns {Promise<Loaded>}
 */
async function load(id, pages, signal) {
  const [said, { recalls }, { consolidations }] = await Promise.all([
    loadTurns(id, pages, signal),
    api.get("/api/recalls", { session: id, limit: RECALLS }, { signal }),
    api.get(`${pathOf(id)}/consolidations`, { limit: PAGE }, { signal }),
  ]);
  return { ...said, recalls, made: consolidations };
}

/**
 * @param {string} id
 * @param {number} pages
 * @param {AbortSignal} signal
 */
async function loadTurns(id, pages, signal) {
  let answer = await api.get(pathOf(id), { limit: PAGE }, { signal });
  const turns = answer.turns;
  for (let page = 1; page < pages && answer.more; page += 1) {
    answer = await api.get(pathOf(id), { limit: PAGE, turns_after: turns.at(-1)?.id }, { signal });
    turns.push(...answer.turns);
  }
  return { ...answer, turns };
}

/** @param {string} id */
async function compact(id) {
  const done = await api.post(`${pathOf(id)}/compact`);
  const kept = done.facts?.length ? `, ${plural(done.facts.length, "fact")} kept` : "";
  const said = {
    nothing: "Nothing was said since the last time",
    busy: "It is being summed up already",
    done: `${plural(done.compacted ?? 0, "turn")} summed up${kept}`,
    archived: "Kept word for word: no model would sum it up",
    failed: "It could not be summed up; nothing was changed",
  };
  toast(said[done.outcome] ?? "Done", { hint: done.reason });
}

/** @param {string} id */
async function end(id) {
  const agreed = await ask({
    title: "End this conversation?",
    text: "What was said is summed up and looked back on. Saying more opens it again.",
    action: "End it",
  });
  if (!agreed) return;
  const done = await api.post(`${pathOf(id)}/end`);
  const kept = done.consolidation.facts?.length ?? 0;
  toast("Ended", { hint: kept ? `${plural(kept, "fact")} kept` : null });
}

/** @param {string} id */
async function reset(id) {
  const agreed = await ask({
    title: "Begin anew?",
    text: "Profile, recent context and task are read afresh with the next message. Nothing that was said is lost.",
    action: "Reset",
  });
  if (!agreed) return;
  await api.post(`${pathOf(id)}/reset`);
  toast("It begins anew with the next message");
}

/** @param {Api.Session} session */
function facts({ id, created_at: createdAt, ended_at: endedAt, project, task }) {
  return h(
    "p.conversation-facts",
    h("span", channelName(channelOf(id))),
    h("span", { title: exactTime(createdAt) }, "began ", when(createdAt)),
    endedAt ? h("span", "ended ", when(endedAt)) : h("span.is-open", "open"),
    project ? h("a", { href: href("memories", { project }) }, icon("project", 15), project) : null,
    task ? h("a", { href: href(`tasks/${task}`) }, icon("tasks", 15), "task") : null,
  );
}

/**
 * Everything that memory keeps of it.
 * @param {Api.Memory[]} made
 */
function became(made) {
  if (!made.length) return null;
  const line = (/** @type {Api.Memory} */ memory) =>
    h(
      "li",
      { dataset: { layer: memory.layer } },
      h("a", { href: href("memories", { id: memory.id }) }, firstLine(memory)),
      h("small", LAYERS[memory.layer]?.name ?? memory.layer, ", ", when(memory.created_at)),
      memory.status === "inactive" ? chip("inactive", { kind: "bad" }) : null,
    );
  const title = `What memory keeps of it: ${plural(made.length, "memory", "memories")}`;
  return h("section.became", h("h3", title), h("ul", made.map(line)));
}

/** @param {Api.Memory} memory */
function firstLine(memory) {
  if (memory.layer !== "archive") return plainText(memory.content);
  const name = memory.key?.startsWith("session_") ? "The whole conversation, summed up" : "A part, summed up";
  const bullets = memory.content.split("\n").filter((line) => line.startsWith("- ")).length;
  return bullets ? `${name} in ${plural(bullets, "line")}` : name;
}
