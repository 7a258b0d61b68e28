// Conversations: sessions by channel, a search in what was said, and one of them with what memory did in it.
import { debounce, fill, get, h } from "../dom.js";
import { api, isAborted, Newest } from "../api.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { keys } from "../components/keys.js";
import { VirtualList } from "../components/list.js";
import { empty, excerpt, marked, segmented, when, wordsOf } from "../components/parts.js";
import { fitsAtAll } from "../components/score.js";
import { failed } from "../components/toast.js";
import { ConversationPane } from "../conversations/pane.js";
import { channelName, channelOf, titleOf } from "../conversations/names.js";

/** @import { Page, View } from "../router.js" */
/** @import { Option } from "../components/parts.js" */
/** @import { Row } from "../components/list.js" */

const PAGE = 200;
const ROW_HEIGHT = 64;
const TYPING_MS = 150;
const MOST_HITS = 100;

/**
 * A conversation, or a turn that was found in one.
 * @typedef {Api.ListedSession & { hit?: Api.Hit, words?: string[] }} Listed
 */

/** @type {Page} */
export const page = {
  title: "Conversations",
  async show(view) {
    // Elsewhere they are named by a path; here the open one is a part of the query, so that the list stays.
    if (view.rest) location.replace(href("conversations", { id: view.rest }));
    else await new ConversationsPage(view).start();
  },
};

class ConversationsPage {
  /** @type {Set<string>} */
  #channels = new Set();
  /**
   * The channel that is in the list: the address may ask for another.
   * @type {string | null}
   */
  #shown = null;
  #filterPlace = h("div.filters");
  #status = h("p.result-line", { role: "status", hidden: true });
  /**
   * Titles by session, for what a search finds.
   * @type {Map<string, Api.ListedSession>}
   */
  #known = new Map();
  #again = debounce(TYPING_MS, () => this.#search());

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.latest = new Newest(view.signal);
    this.field = h("input.search", {
      type: "search",
      placeholder: "Search what was said",
      "aria-label": "Search conversations",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 400,
      value: view.query.get("q") ?? "",
      oninput: this.#again,
    });
    this.pane = new ConversationPane({ onclose: () => this.#close(), signal: view.signal });
    /** @type {VirtualList<Listed>} */
    this.list = new VirtualList({
      label: "Conversations",
      rowHeight: ROW_HEIGHT,
      row: makeRow,
      show: showRow,
      key: (session) => session.hit?.id ?? session.id,
      more: (cursor) => this.#more(cursor),
      onopen: (session) => this.#open(session.id, session.hit?.id),
      empty: () => (this.#text ? notFound() : nothing()),
      signal: view.signal,
    });
    this.body = h("div.talks", this.list.node, this.pane.node);
  }

  async start() {
    const { view, list, pane } = this;
    view.root.classList.add("is-fixed");
    const search = h("label.search-box", icon("search"), this.field, h("kbd", "/"));
    fill(
      view.root,
      h("header.mem-head", h("div.spread", h("h1", "Conversations"), this.#filterPlace), search, this.#status),
      this.body,
    );
    view.signal.addEventListener("abort", this.#again.cancel);
    view.onQuery((query) => this.#onQuery(query));
    this.#bindKeys();
    const refresh = async () => {
      await pane.refresh();
      await list.refresh().catch(failed);
    };
    onChange(["sessions", "recalls", "memories"], refresh, view.signal);
    this.#drawFilter();
    pane.clear();
    const id = view.query.get("id");
    // A search, and the list of one channel, do not tell which others there are.
    const isPart = this.#text !== "" || this.#channel !== "";
    await Promise.all([list.reset(), isPart ? this.#learn() : null, id ? this.#reveal(id) : null]);
    if (view.query.get("focus") === "search") this.field.focus();
  }

  get #text() {
    return this.field.value.trim();
  }

  async #search() {
    this.view.setQuery({ q: this.#text, focus: null });
    try {
      await this.list.reset();
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }

  /**
   * What was said, best first.
   * @returns {Promise<Listed[]>}
   */
  async #found() {
    const query = this.#text;
    const body = { query, limit: MOST_HITS, peek: true, kinds: ["turn"] };
    const { hits } = await this.latest.run((signal) => api.post("/api/recall", body, { signal }));
    const words = wordsOf(query);
    const inChannel = (/** @type {Api.Hit} */ { session }) =>
      session && (!this.#channel || channelOf(session) === this.#channel);
    const found = hits.filter(fitsAtAll).filter(inChannel);
    await this.#nameAll(found.map(({ session }) => session ?? ""));
    return found.map((hit) => {
      const id = hit.session ?? "";
      const known = this.#known.get(id);
      return {
        ...(known ?? { created_at: hit.created_at, failures: 0, turns: 0 }),
        id,
        updated_at: hit.created_at,
        hit,
        words,
      };
    });
  }

  /** Which conversations and channels there are, where the list does not tell. */
  async #learn() {
    try {
      const { sessions } = await api.get("/api/sessions", { limit: PAGE }, { signal: this.view.signal });
      this.#note(sessions);
    } catch {
      // They are names alone: what was found is shown by its words.
    }
  }

  /** @param {Api.ListedSession[]} sessions */
  #note(sessions) {
    const before = this.#channels.size;
    for (const session of sessions) {
      this.#channels.add(channelOf(session.id));
      this.#known.set(session.id, session);
    }
    if (this.#channels.size !== before) this.#drawFilter();
  }

  /**
   * Titles of conversations that were not listed yet.
   * @param {string[]} ids
   */
  async #nameAll(ids) {
    const { signal } = this.view;
    const ask = async (/** @type {string} */ id) => {
      const path = /** @type {const} */ (`/api/sessions/${encodeURIComponent(id)}`);
      const answer = await api.get(path, { limit: 0 }, { signal }).catch(() => null);
      if (answer) this.#known.set(id, { ...answer.session, turns: 0 });
    };
    await Promise.all([...new Set(ids)].filter((id) => !this.#known.has(id)).map(ask));
  }

  /** @param {Listed[] | null} found null where nothing is searched for */
  #say(found) {
    this.#status.hidden = found === null;
    const talks = new Set(found?.map(({ id }) => id)).size;
    const many = found?.length ?? 0;
    const turns = many === MOST_HITS ? `The best ${MOST_HITS} turns` : plural(many, "turn");
    this.#status.textContent = found ? (many ? `${turns} in ${plural(talks, "conversation")}` : "Nothing found") : "";
  }

  get #channel() {
    return this.view.query.get("channel") ?? "";
  }

  #bindKeys() {
    const { list, pane } = this;
    keys(
      {
        j: ["next", () => list.move(1)],
        k: ["previous", () => list.move(-1)],
        Enter: ["open", () => list.current && this.#open(list.current.id, list.current.hit?.id)],
        Escape: ["close", () => (pane.id ? this.#close() : false)],
      },
      this.view.signal,
    );
  }

  /** @param {URLSearchParams} query */
  #onQuery(query) {
    const id = query.get("id");
    if (this.#channel !== this.#shown) {
      this.#drawFilter();
      this.list.reset().catch(failed);
    }
    const text = query.get("q") ?? "";
    if (text !== this.#text) {
      this.field.value = text;
      this.list.reset().catch(failed);
    }
    if (id !== this.pane.id || query.get("turn")) this.#reveal(id);
  }

  /** @param {string | null} cursor */
  async #more(cursor) {
    this.#shown = this.#channel;
    if (this.#text) {
      const items = await this.#found();
      this.#say(items);
      return { items, cursor: null };
    }
    this.latest.cancel();
    this.#say(null);
    const query = { channel: this.#channel, limit: PAGE, cursor };
    const { sessions, cursor: next } = await api.get("/api/sessions", query, { signal: this.view.signal });
    this.#note(sessions);
    return { items: sessions, cursor: next };
  }

  #drawFilter() {
    const chosen = this.#channel;
    if (chosen) this.#channels.add(chosen);
    if (this.#channels.size < 2) return;
    const channels = [...this.#channels].sort();
    /** @type {Option[]} */
    const options = [["", "All"], ...channels.map((name) => /** @type {Option} */ ([name, channelName(name)]))];
    /** @param {string} channel */
    const onchange = (channel) => {
      this.view.setQuery({ channel });
      this.list.reset().catch(failed);
    };
    fill(this.#filterPlace, segmented({ label: "Channel", options, value: chosen, onchange }).node);
  }

  /**
   * @param {string} id
   * @param {string} [turn] what was found in it
   */
  #open(id, turn) {
    const { query } = this.view;
    const at = turn ?? null;
    if (id !== query.get("id") || at !== query.get("turn")) {
      go("conversations", { ...Object.fromEntries(query), id, turn: at });
    }
  }

  #close() {
    go("conversations", { ...Object.fromEntries(this.view.query), id: null, turn: null });
  }

  /** @param {string | null} id */
  async #reveal(id) {
    this.body.classList.toggle("has-open", Boolean(id));
    const turn = this.view.query.get("turn");
    this.list.select(this.#text && turn ? turn : id);
    if (id) await this.pane.show(id, turn);
    else this.pane.clear();
  }
}

function nothing() {
  return empty({
    icon: "conversations",
    title: "No conversations yet",
    text: "They appear here when an assistant that shares this memory talks to you.",
  });
}

function notFound() {
  return empty({ icon: "search", title: "Nothing found", text: "What was said is found by its words." });
}

/** @returns {Row<Listed>} */
function makeRow() {
  return h("div.talk", h("i.talk-node"), h("div.talk-main", h("p.talk-name"), h("p.talk-meta")));
}

/**
 * @param {Row<Listed>} node
 * @param {Listed} session
 */
function showRow(node, session) {
  const { id, hit, words = [] } = session;
  const name = titleOf(session);
  node.dataset.state = session.ended_at ? "ended" : "open";
  fill(get(".talk-name", node), hit ? marked(excerpt(hit.content, words), words) : name);
  fill(
    get(".talk-meta", node),
    hit ? h("span.talk-title", name) : h("span", channelName(channelOf(id))),
    hit ? null : h("span", plural(session.turns, "turn")),
    when(session.updated_at),
    session.project && !hit ? h("span.chip.accent", session.project) : null,
  );
}
