// Conversations: sessions by channel, and one of them with what memory did in it.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { plural } from "../format.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { keys } from "../components/keys.js";
import { virtualList } from "../components/list.js";
import { empty, segmented, when } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { conversation } from "../conversations/pane.js";
import { channelName, channelOf, nameOf } from "../conversations/names.js";

const PAGE = 200;
const ROW_HEIGHT = 64;

export const page = {
  title: "Conversations",
  async show(view) {
    const { root, signal } = view;
    if (view.rest) {
      // Elsewhere they are named by a path; here the one that is open is a part of the query, so that the list stays.
      location.replace(href("conversations", { id: view.rest }));
      return;
    }
    root.classList.add("is-fixed");
    const channels = new Set();
    const pane = conversation({ onclose: close, signal });
    const list = virtualList({
      label: "Conversations",
      rowHeight: ROW_HEIGHT,
      row: makeRow,
      show: showRow,
      key: (session) => session.id,
      signal,
      more,
      onopen: (session) => open(session.id),
      empty: () =>
        empty({
          icon: "conversations",
          title: "No conversations yet",
          text: "They appear here when an assistant that shares this memory talks to you.",
        }),
    });
    const filterPlace = h("div.filters");
    const body = h("div.talks", list.node, pane.node);
    fill(root, h("header.mem-head", h("div.spread", h("h1", "Conversations"), filterPlace)), body);

    // The channel that is in the list: the address may ask for another.
    let shown = null;
    async function more(cursor) {
      shown = view.query.get("channel") ?? "";
      const { sessions, cursor: next } = await api.get(
        "/api/sessions",
        { channel: view.query.get("channel"), limit: PAGE, cursor },
        { signal },
      );
      const before = channels.size;
      for (const { id } of sessions) channels.add(channelOf(id));
      if (channels.size !== before) drawFilter();
      return { items: sessions, cursor: next };
    }

    function drawFilter() {
      const chosen = view.query.get("channel") ?? "";
      if (chosen) channels.add(chosen);
      if (channels.size < 2) return;
      const options = [["", "All"], ...[...channels].sort().map((channel) => [channel, channelName(channel)])];
      fill(
        filterPlace,
        segmented({
          label: "Channel",
          options,
          value: chosen,
          onchange: (channel) => {
            view.setQuery({ channel });
            list.reset().catch(failed);
          },
        }),
      );
    }

    function open(id) {
      if (id !== view.query.get("id")) go("conversations", { ...Object.fromEntries(view.query), id });
    }

    async function reveal(id) {
      body.classList.toggle("has-open", Boolean(id));
      list.select(id);
      if (id) await pane.show(id);
      else pane.clear();
    }

    function close() {
      go("conversations", { ...Object.fromEntries(view.query), id: null });
    }

    view.onQuery((query) => {
      if ((query.get("channel") ?? "") !== shown) {
        drawFilter();
        list.reset().catch(failed);
      }
      if ((query.get("id") ?? null) !== pane.id) reveal(query.get("id"));
    });
    keys(
      {
        j: ["next", () => list.move(1)],
        k: ["previous", () => list.move(-1)],
        Enter: [
          "open",
          () => {
            if (list.current) open(list.current.id);
          },
        ],
        Escape: ["close", () => (pane.id ? close() : false)],
      },
      signal,
    );
    onChange(
      ["sessions", "recalls", "memories"],
      async () => {
        await pane.refresh();
        await list.refresh().catch(failed);
      },
      signal,
    );

    drawFilter();
    pane.clear();
    const wanted = view.query.get("id");
    await Promise.all([list.reset(), wanted ? reveal(wanted) : null]);
  },
};

function makeRow() {
  return h("div.talk", h("i.talk-node"), h("div.talk-main", h("p.talk-name"), h("p.talk-meta")));
}

function showRow(node, session) {
  node.dataset.state = session.ended_at ? "ended" : "open";
  fill(node.querySelector(".talk-name"), nameOf(session.id));
  fill(
    node.querySelector(".talk-meta"),
    h("span", channelName(channelOf(session.id))),
    h("span", plural(session.turns, "turn")),
    when(session.updated_at),
    session.project ? h("span.chip.accent", session.project) : null,
  );
}
