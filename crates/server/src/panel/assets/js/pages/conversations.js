// Conversations: sessions by channel, and one of them with what memory did in it.
import { fill, get, h } from "../dom.js";
import { api } from "../api.js";
import { plural } from "../format.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { keys } from "../components/keys.js";
import { VirtualList } from "../components/list.js";
import { empty, segmented, when } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { ConversationPane } from "../conversations/pane.js";
import { channelName, channelOf, nameOf } from "../conversations/names.js";

/** @import { Page, View } from "../router.js" */
/** @import { Option } from "../components/parts.js" */
/** @import { Row } from "../components/list.js" */

const PAGE = 200;
const ROW_HEIGHT = 64;

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

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.pane = new ConversationPane({ onclose: () => this.#close(), signal: view.signal });
    /** @type {VirtualList<Api.ListedSession>} */
    this.list = new VirtualList({
      label: "Conversations",
      rowHeight: ROW_HEIGHT,
      row: makeRow,
      show: showRow,
      key: (session) => session.id,
      more: (cursor) => this.#more(cursor),
      onopen: (session) => this.#open(session.id),
      empty: nothing,
      signal: view.signal,
    });
    this.body = h("div.talks", this.list.node, this.pane.node);
  }

  async start() {
    const { view, list, pane } = this;
    view.root.classList.add("is-fixed");
    fill(view.root, h("header.mem-head", h("div.spread", h("h1", "Conversations"), this.#filterPlace)), this.body);
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
    await Promise.all([list.reset(), id ? this.#reveal(id) : null]);
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
        Enter: ["open", () => list.current && this.#open(list.current.id)],
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
    if (id !== this.pane.id) this.#reveal(id);
  }

  /** @param {string | null} cursor */
  async #more(cursor) {
    this.#shown = this.#channel;
    const query = { channel: this.#channel, limit: PAGE, cursor };
    const { sessions, cursor: next } = await api.get("/api/sessions", query, { signal: this.view.signal });
    const before = this.#channels.size;
    for (const { id } of sessions) this.#channels.add(channelOf(id));
    if (this.#channels.size !== before) this.#drawFilter();
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

  /** @param {string} id */
  #open(id) {
    const { query } = this.view;
    if (id !== query.get("id")) go("conversations", { ...Object.fromEntries(query), id });
  }

  #close() {
    go("conversations", { ...Object.fromEntries(this.view.query), id: null });
  }

  /** @param {string | null} id */
  async #reveal(id) {
    this.body.classList.toggle("has-open", Boolean(id));
    this.list.select(id);
    if (id) await this.pane.show(id);
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

/** @returns {Row<Api.ListedSession>} */
function makeRow() {
  return h("div.talk", h("i.talk-node"), h("div.talk-main", h("p.talk-name"), h("p.talk-meta")));
}

/**
 * @param {Row<Api.ListedSession>} node
 * @param {Api.ListedSession} session
 */
function showRow(node, session) {
  node.dataset.state = session.ended_at ? "ended" : "open";
  fill(get(".talk-name", node), session.title ?? nameOf(session.id));
  fill(
    get(".talk-meta", node),
    h("span", channelName(channelOf(session.id))),
    session.title ? h("span", nameOf(session.id)) : null,
    h("span", plural(session.turns, "turn")),
    when(session.updated_at),
    session.project ? h("span.chip.accent", session.project) : null,
  );
}
