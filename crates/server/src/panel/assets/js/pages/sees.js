// What my assistants see: what a conversation begins with and what comes with a message, line by line, with what each
// costs. It is computed by what gives it to assistants, and nothing is recorded.
import { debounce, fill, h } from "../dom.js";
import { api, isAborted, Newest } from "../api.js";
import { onChange } from "../live.js";
import { select } from "../components/parts.js";
import { failed } from "../components/toast.js";
import { channelName, channelOf } from "../conversations/names.js";
import { draw } from "../sees/preview.js";
import { mute } from "../sees/mute.js";

/** @import { Page, View } from "../router.js" */
/** @import { Option } from "../components/parts.js" */
/** @import { Muted } from "../sees/preview.js" */

const TYPING_MS = 250;
const SESSIONS = 200;

/** @type {Page} */
export const page = {
  title: "What my assistants see",
  show: (view) => new SeesPage(view).start(),
};

class SeesPage {
  #place = h("div.sees-place");
  #shown = h("div.sees-shown");
  #message = h("textarea.sees-message", {
    rows: 2,
    maxLength: 4_000,
    placeholder: "When do we deploy?",
    "aria-label": "What you would say",
  });
  /** @type {Api.Preview | null} */
  #preview = null;
  /**
   * What was muted here: it stays in its place until another question is asked.
   * @type {Map<string, Muted>}
   */
  #muted = new Map();
  /** What the lines with the message are an answer to. */
  #question = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.latest = new Newest(view.signal);
  }

  async start() {
    const { root, signal, query } = this.view;
    const about = "Exactly what an assistant is given. Looking records nothing.";
    this.#message.value = query.get("message") ?? "";
    fill(
      root,
      h("header.page-head", h("div", h("h1", "What my assistants see"), h("p", about))),
      h("section.card.sees-ask", { "aria-label": "Which conversation" }, this.#place, this.#asked()),
      this.#shown,
    );
    const typed = debounce(TYPING_MS, () => {
      this.view.setQuery({ message: this.#message.value });
      this.#load();
    });
    this.#message.addEventListener("input", typed);
    signal.addEventListener("abort", typed.cancel);
    this.view.onQuery((changed) => {
      this.#message.value = changed.get("message") ?? "";
      this.#drawPlace().catch(failed);
      this.#load();
    });
    onChange(["memories", "documents", "tasks", "sessions"], () => this.#load(), signal);
    await Promise.all([this.#drawPlace(), this.#load()]);
  }

  #asked() {
    const examples = ["When do we deploy?", "What did I decide last week?"].map((text) =>
      h("button.chip", { type: "button", onclick: () => this.#say(text) }, text),
    );
    return h(
      "div.field",
      h("span", { "aria-hidden": "true" }, "You say"),
      this.#message,
      h("div.row.wrap.sees-examples", examples),
    );
  }

  /** @param {string} text */
  #say(text) {
    this.#message.value = text;
    this.view.setQuery({ message: text });
    this.#load();
  }

  async #drawPlace() {
    const options = { signal: this.view.signal };
    const [{ projects, roots }, { sessions }, { clients }] = await Promise.all([
      api.get("/api/projects", null, options),
      api.get("/api/sessions", { limit: SESSIONS }, options),
      api.get("/api/connections", null, options),
    ]);
    const connected = clients.filter(({ parts }) => parts.length).map(({ client }) => client);
    const channels = [...new Set([...connected, ...sessions.map(({ id }) => channelOf(id))])].filter(
      (name) => name !== "mcp",
    );
    const named = [...new Set([...projects, ...(roots ?? [])].map(({ name }) => name))].sort();
    /** @type {(name: string, label: string, first: string, all: Option[]) => HTMLElement} */
    const pick = (name, label, first, all) =>
      h(
        "label.field",
        h("span", label),
        select({
          label,
          options: [["", first], ...all],
          value: this.view.query.get(name) ?? "",
          onchange: (value) => {
            this.view.setQuery({ [name]: value });
            this.#load();
          },
        }),
      );
    const where = channels.sort().map((name) => /** @type {Option} */ ([name, channelName(name)]));
    fill(
      this.#place,
      pick("channel", "Assistant or channel", "Any of them", where),
      pick(
        "project",
        "Project",
        "No project",
        named.map((name) => [name, name]),
      ),
    );
  }

  async #load() {
    const { query } = this.view;
    const body = {
      channel: query.get("channel") || undefined,
      project: query.get("project") || undefined,
      message: this.#message.value.trim() || undefined,
    };
    try {
      this.#preview = await this.latest.run((signal) => api.post("/api/context/preview", body, { signal }));
      this.#forgetMuted(JSON.stringify(body));
      this.#draw(body.message !== undefined);
    } catch (error) {
      if (!isAborted(error)) failed(error);
    }
  }

  /** @param {string} question that was just answered */
  #forgetMuted(question) {
    if (question !== this.#question) this.#muted.clear();
    this.#question = question;
    const { lines = [], given = [] } = this.#preview ?? {};
    for (const { id } of [...lines, ...given]) this.#muted.delete(id ?? "");
  }

  /**
   * @param {string} id
   * @param {string} place
   * @param {string} name
   */
  async #mute(id, place, name) {
    const undo = await mute(id, this.view.query.get("project") ?? "");
    if (undo) this.#muted.set(id, { id, place, name, undo });
  }

  /** @param {boolean} hasMessage */
  #draw(hasMessage) {
    if (!this.#preview) return;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.mute : undefined;
    const muted = [...this.#muted.values()];
    /** @type {import("../sees/preview.js").OnMute} */
    const onmute = (id, place, name) => this.#mute(id, place, name);
    fill(this.#shown, draw(this.#preview, { hasMessage, onmute, muted }));
    if (!focused) return;
    // The focus stays on the line, muted or given again, or else among those that are left.
    const buttons = [...this.#shown.querySelectorAll("button[data-mute]")];
    const next = buttons.find((node) => node.getAttribute("data-mute") === focused) ?? buttons.at(0);
    if (next instanceof HTMLElement) next.focus();
  }
}
