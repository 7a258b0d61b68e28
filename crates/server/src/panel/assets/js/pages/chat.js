// Chat: a web channel with memory. What memory gives and what tools do is shown beside the reply.
import { fill, h } from "../dom.js";
import { api, isAborted, statusOf } from "../api.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { keys } from "../components/keys.js";
import { select } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { absentModel } from "../chat/absent.js";
import { personTurn, Reply } from "../chat/reply.js";
import { events } from "../stream.js";
import { nameOf } from "../conversations/names.js";
import { drawTurns } from "../conversations/turns.js";
import { millis } from "../format.js";
import { lookup } from "../memories/lookup.js";

/** @import { Page, View } from "../router.js" */
/** @import { Option } from "../components/parts.js" */

const CHANNEL = "web";
const PAGE = 1_000;
/** How much of a long conversation is shown; the page of conversations has all of it. */
const SHOWN = 200;
const RECENT = 20;
/** How far from the end, in pixels, still counts as being at the end. */
const AT_END = 60;
const BROKE_OFF = { message: "The reply broke off.", hint: "What was said until then is kept." };

/** @type {Page} */
export const page = {
  title: "Chat",
  async show(view) {
    const { root, signal } = view;
    const model = await api.get("/api/chat", null, { signal });
    if (model.available) {
      new Chat(view, model).start();
      return;
    }
    const settings = await api.get("/api/settings", null, { signal }).catch(() => null);
    fill(root, h("header.page-head", h("h1", "Chat")), absentModel(model, settings?.path));
  },
};

class Chat {
  /**
   * Ids of the turns that are on the page.
   * @type {Set<string>}
   */
  #seen = new Set();
  /**
   * Stops the reply that is being written; null where the next message may be sent.
   * @type {AbortController | null}
   */
  #stop = null;
  #log = h("div.chat-log", { role: "log", "aria-label": "Conversation", tabIndex: 0 });
  /** The turns of this visit, below those that were there before. */
  #live = h("ol.turns");
  #top = h("header.chat-head");
  #text = h("textarea.chat-text", {
    rows: 1,
    placeholder: "Say something",
    "aria-label": "Your message",
    maxLength: 100_000,
  });
  #send = h(
    "button.primary.chat-send",
    { type: "button", "aria-label": "Send", title: "Send (Enter)", onclick: () => this.#say() },
    icon("send", 18),
  );
  #halt = h(
    "button.chat-send",
    { type: "button", hidden: true, onclick: () => this.#stop?.abort() },
    h("i.chat-square"),
    "Stop",
  );

  /**
   * @param {View} view
   * @param {Api.ChatModel} model
   */
  constructor(view, model) {
    this.view = view;
    this.model = model;
    this.find = lookup(view.signal);
    this.session = view.query.get("session");
  }

  start() {
    const { root } = this.view;
    const { model, provider } = this.model;
    const about = `${model ?? provider}, ${provider}. Enter sends, Shift+Enter begins a line.`;
    root.classList.add("is-fixed");
    const box = h("div.chat-box", this.#text, this.#send, this.#halt);
    fill(root, this.#top, this.#log, h("footer.chat-foot", box, h("p.muted", about)));
    this.#listen();
    this.#hello();
    this.#drawHead();
    if (this.session) this.#history(this.session).catch(unlessGone);
    this.#text.focus();
  }

  #listen() {
    const { view } = this;
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#say();
    });
    view.signal.addEventListener("abort", () => this.#stop?.abort());
    view.guard(() => {
      if (this.#stop) return "A reply is being written.";
      return this.#text.value.trim() ? "Your message is not sent." : null;
    });
    keys(
      {
        n: ["new conversation", () => go("chat")],
        Escape: ["stop the reply", () => (this.#stop ? this.#stop.abort() : false)],
      },
      view.signal,
    );
    onChange("sessions", () => this.#catchUp(), view.signal);
  }

  get #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < AT_END;
  }

  #toEnd() {
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  #hello() {
    const text =
      "This conversation shares the memory of all your assistants, and what you say here becomes part of it.";
    fill(
      this.#log,
      h("div.empty", h("div.empty-icon", icon("chat", 28)), h("h2", "What is on your mind?"), h("p", text)),
    );
  }

  async #drawHead() {
    const { session } = this;
    const known = await this.#recent();
    if (session && !known.some(([id]) => id === session)) known.unshift([session, nameOf(session)]);
    // The head may grow: the log stays at its end if it was there.
    const follows = this.#isAtEnd;
    /** @type {Option[]} */
    const options = [["", "New conversation"], ...known];
    const value = session ?? "";
    const onchange = (/** @type {string} */ id) => go("chat", { session: id });
    fill(
      this.#top,
      h("h1", "Chat"),
      h(
        "div.row.wrap",
        session ? h("a.card-link", { href: href(`conversations/${session}`) }, "Details") : null,
        known.length ? select({ label: "Conversation", options, value, onchange }) : null,
        session ? h("button.small", { type: "button", onclick: () => go("chat") }, icon("plus", 16), "New") : null,
      ),
    );
    if (follows && session) this.#toEnd();
  }

  /**
   * The latest conversations, each with what it is called.
   * @returns {Promise<Option[]>}
   */
  async #recent() {
    try {
      const query = { channel: CHANNEL, limit: RECENT };
      const { sessions } = await api.get("/api/sessions", query, { signal: this.view.signal });
      return sessions.map(({ id, title }) => [id, title ?? nameOf(id)]);
    } catch {
      return [];
    }
  }

  /** @param {string} id */
  async #turnsOf(id) {
    const { signal } = this.view;
    /** @type {Api.Turn[]} */
    const all = [];
    for (let more = true; more;) {
      const query = { limit: PAGE, turns_after: all.at(-1)?.id };
      const answer = await api.get(`/api/sessions/${encodeURIComponent(id)}`, query, { signal });
      all.push(...answer.turns);
      more = answer.more && answer.turns.length > 0;
    }
    return all;
  }

  /** @param {string} session */
  async #history(session) {
    const [turns, { recalls }] = await Promise.all([
      this.#turnsOf(session),
      api.get("/api/recalls", { session, limit: 1_000 }, { signal: this.view.signal }),
    ]);
    for (const { id } of turns) this.#seen.add(id);
    fill(this.#live);
    const shown = turns.slice(-SHOWN);
    const drawn = drawTurns({
      turns: shown,
      recalls: recallsSince(recalls, turns.length > SHOWN ? shown[0].at : null),
      made: [],
      find: this.find,
      open: new Set(),
    });
    fill(this.#log, h("div.chat-turns", drawn, this.#live));
    this.#toEnd();
  }

  /** Shows what was said in this conversation elsewhere, in another window for example. */
  async #catchUp() {
    if (this.#stop || !this.session) return;
    try {
      const turns = await this.#turnsOf(this.session);
      if (!this.#stop && turns.some(({ id }) => !this.#seen.has(id))) await this.#history(this.session);
    } catch (error) {
      unlessGone(error);
    }
  }

  async #say() {
    const message = this.#text.value.trim();
    if (!message || this.#stop) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#text.value = "";
    if (!this.#live.isConnected) fill(this.#log, h("div.chat-turns", this.#live));
    const mine = personTurn(message);
    const reply = new Reply(this.find);
    this.#live.append(mine, reply.node);
    this.#toEnd();
    this.#send.hidden = true;
    this.#halt.hidden = false;
    const wasNew = !this.session;
    let isAnswered = false;
    try {
      const body = { message, ...(this.session ? { session: this.session } : {}) };
      const response = await api.raw("POST", "/api/chat", { body, signal: stop.signal });
      isAnswered = true;
      await this.#follow(response, reply);
    } catch (error) {
      if (isAborted(error)) {
        reply.end({ note: "Stopped. What was said until then is kept." });
      } else if (isAnswered) {
        reply.end({ error: BROKE_OFF });
      } else {
        // It never began: the words go back to where they were typed.
        mine.remove();
        reply.node.remove();
        this.#text.value ||= message;
        failed(error);
      }
    } finally {
      await this.#settle(wasNew);
    }
  }

  /**
   * @param {Response} response
   * @param {Reply} reply
   */
  async #follow(response, reply) {
    let isOver = false;
    for await (const event of events(response)) {
      const follows = this.#isAtEnd;
      this.#show(/** @type {Api.ChatEvent} */ (event), reply);
      isOver ||= event.name === "done" || event.name === "failed";
      if (follows) this.#toEnd();
    }
    if (!isOver) reply.end({ error: BROKE_OFF });
  }

  /**
   * @param {Api.ChatEvent} event
   * @param {Reply} reply
   */
  #show({ name, data }, reply) {
    if (name === "session") {
      this.session = data.session;
      this.view.setQuery({ session: data.session });
    } else if (name === "injected") reply.injected(data.parts);
    else if (name === "tool") reply.tool(data);
    else if (name === "delta") reply.more(data.text);
    else if (name === "done") reply.end({ text: data.reply });
    else if (name === "failed") reply.end({ error: data.error });
  }

  /**
   * After a reply: what is on the page counts as seen, and the next message may be sent.
   * @param {boolean} wasNew
   */
  async #settle(wasNew) {
    const { session } = this;
    this.#text.focus();
    if (session) for (const { id } of await this.#turnsOf(session).catch(() => [])) this.#seen.add(id);
    this.#stop = null;
    this.#halt.hidden = true;
    this.#send.hidden = false;
    if (wasNew && session) this.#drawHead();
  }
}

/**
 * @param {Api.Recall[]} recalls
 * @param {Api.Instant | null} from null where nothing is left out
 */
function recallsSince(recalls, from) {
  return from === null ? recalls : recalls.filter(({ at }) => millis(at) >= millis(from));
}

/** @param {unknown} error a conversation that is gone is no failure */
function unlessGone(error) {
  if (statusOf(error) !== 404) failed(error);
}
