// Chat: a web channel with memory. What memory gives and what tools do is shown beside the reply.
import { fill, h } from "../dom.js";
import { api, isAborted } from "../api.js";
import { icon } from "../icons.js";
import { onChange } from "../live.js";
import { go, href } from "../router.js";
import { keys } from "../components/keys.js";
import { select } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { absentModel } from "../chat/absent.js";
import { personTurn, replyTurn } from "../chat/reply.js";
import { events } from "../chat/stream.js";
import { nameOf } from "../conversations/names.js";
import { drawTurns } from "../conversations/turns.js";
import { lookup } from "../memories/lookup.js";

const CHANNEL = "web";
const PAGE = 1_000;
/// How much of a long conversation is shown; the page of conversations has all of it.
const SHOWN = 200;
const RECENT = 20;

export const page = {
  title: "Chat",
  async show(view) {
    const { root, signal } = view;
    const model = await api.get("/api/chat", null, { signal });
    if (!model.available) {
      const settings = await api.get("/api/settings", null, { signal }).catch(() => null);
      fill(root, h("header.page-head", h("h1", "Chat")), absentModel(model, settings?.path));
      return;
    }
    root.classList.add("is-fixed");
    talk(view, model);
  },
};

function talk(view, model) {
  const { root, signal } = view;
  const find = lookup(signal);
  const seen = new Set();
  let session = view.query.get("session");
  let stop = null;

  const log = h("div.chat-log", { role: "log", "aria-label": "Conversation", tabIndex: 0 });
  const live = h("ol.turns");
  const text = h("textarea.chat-text", {
    rows: 1,
    placeholder: "Say something",
    "aria-label": "Your message",
    maxLength: 100_000,
  });
  const send = h(
    "button.primary.chat-send",
    { type: "button", "aria-label": "Send", title: "Send (Enter)", onclick: () => say() },
    icon("send", 18),
  );
  const halt = h(
    "button.chat-send",
    { type: "button", hidden: true, onclick: () => stop?.abort() },
    h("i.chat-square"),
    "Stop",
  );
  const top = h("header.chat-head");
  fill(
    root,
    top,
    log,
    h(
      "footer.chat-foot",
      h("div.chat-box", text, send, halt),
      h("p.muted", `${model.model ?? model.provider}, ${model.provider}. Enter sends, Shift+Enter begins a line.`),
    ),
  );

  const isAtEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  const toEnd = () => {
    log.scrollTop = log.scrollHeight;
  };

  async function drawHead() {
    const { sessions } = await api
      .get("/api/sessions", { channel: CHANNEL, limit: RECENT }, { signal })
      .catch(() => ({ sessions: [] }));
    const known = sessions.map(({ id }) => id);
    if (session && !known.includes(session)) known.unshift(session);
    // The head may grow: whoever was at the end stays there.
    const follows = isAtEnd();
    const options = [["", "New conversation"], ...known.map((id) => [id, nameOf(id)])];
    fill(
      top,
      h("h1", "Chat"),
      h(
        "div.row.wrap",
        session ? h("a.card-link", { href: href(`conversations/${session}`) }, "Details") : null,
        known.length
          ? select({
              label: "Conversation",
              options,
              value: session ?? "",
              onchange: (id) => go("chat", { session: id }),
            })
          : null,
        session ? h("button.small", { type: "button", onclick: () => go("chat") }, icon("plus", 16), "New") : null,
      ),
    );
    if (follows && session) toEnd();
  }

  function hello() {
    fill(
      log,
      h(
        "div.empty",
        h("div.empty-icon", icon("chat", 28)),
        h("h2", "What is on your mind?"),
        h("p", "This conversation shares the memory of all your assistants, and what you say here becomes part of it."),
      ),
    );
  }

  async function turnsOf(id) {
    const all = [];
    for (let more = true; more;) {
      const answer = await api.get(
        `/api/sessions/${encodeURIComponent(id)}`,
        { limit: PAGE, turns_after: all.at(-1)?.id },
        { signal },
      );
      all.push(...answer.turns);
      more = answer.more && answer.turns.length > 0;
    }
    return all;
  }

  async function history() {
    const [turns, { recalls }] = await Promise.all([
      turnsOf(session),
      api.get("/api/recalls", { session, limit: 1_000 }, { signal }),
    ]);
    for (const { id } of turns) seen.add(id);
    fill(live);
    fill(
      log,
      h(
        "div.chat-turns",
        drawTurns({ turns: turns.slice(-SHOWN), recalls: recentOf(recalls, turns), made: [], find, open: new Set() }),
        live,
      ),
    );
    toEnd();
  }

  /// Without those that belong to turns which are not shown.
  function recentOf(recalls, turns) {
    const from = turns.at(-SHOWN)?.at;
    return from ? recalls.filter(({ at }) => at >= from) : recalls;
  }

  /// Shows what was said in this conversation elsewhere, in another window say.
  async function catchUp() {
    if (stop || !session) return;
    try {
      const turns = await turnsOf(session);
      if (!stop && turns.some(({ id }) => !seen.has(id))) await history();
    } catch (error) {
      if (!isAborted(error) && error.status !== 404) failed(error);
    }
  }

  async function say() {
    const message = text.value.trim();
    if (!message || stop) return;
    stop = new AbortController();
    text.value = "";
    if (!live.isConnected) fill(log, h("div.chat-turns", live));
    const mine = personTurn(message);
    const reply = replyTurn({ find });
    live.append(mine, reply.node);
    toEnd();
    send.hidden = true;
    halt.hidden = false;
    const wasNew = !session;
    let response = null;
    try {
      response = await api.raw("POST", "/api/chat", {
        body: { message, ...(session ? { session } : {}) },
        signal: stop.signal,
      });
      await follow(response, reply);
    } catch (error) {
      if (isAborted(error)) {
        reply.end({ note: "Stopped. What was said until then is kept." });
      } else if (response) {
        reply.end({ error: { message: "The reply broke off.", hint: "What was said until then is kept." } });
      } else {
        // It never began: the words go back to where they were typed.
        mine.remove();
        reply.node.remove();
        text.value ||= message;
        failed(error);
      }
    } finally {
      await settle(wasNew);
    }
  }

  async function follow(response, reply) {
    let isOver = false;
    for await (const { name, data } of events(response)) {
      const follows = isAtEnd();
      if (name === "session") {
        session = data.session;
        view.setQuery({ session });
      } else if (name === "injected") reply.injected(data.parts ?? []);
      else if (name === "tool") reply.tool(data);
      else if (name === "delta") reply.more(data.text);
      else if (name === "done") reply.end({ text: data.reply });
      else if (name === "failed") reply.end({ error: data.error });
      isOver ||= name === "done" || name === "failed";
      if (follows) toEnd();
    }
    if (!isOver) reply.end({ error: { message: "The reply broke off.", hint: "What was said until then is kept." } });
  }

  /// After a reply: what is on the page counts as seen, and the next message may be sent.
  async function settle(wasNew) {
    halt.hidden = true;
    send.hidden = false;
    text.focus();
    if (session) for (const { id } of await turnsOf(session).catch(() => [])) seen.add(id);
    stop = null;
    if (wasNew && session) drawHead();
  }

  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      say();
    }
  });
  signal.addEventListener("abort", () => stop?.abort());
  view.guard(() => (stop ? "A reply is being written." : text.value.trim() ? "Your message is not sent." : null));
  keys(
    { n: ["new conversation", () => go("chat")], Escape: ["stop the reply", () => (stop ? stop.abort() : false)] },
    signal,
  );
  onChange("sessions", catchUp, signal);
  hello();
  drawHead();
  if (session) {
    history().catch((error) => {
      if (error.status !== 404 && !isAborted(error)) failed(error);
    });
  }
  text.focus();
}
