// Connections: the assistants of this machine, whether they have this memory, and what they were given.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { count, plural } from "../format.js";
import { icon } from "../icons.js";
import { changedHere, onChange } from "../live.js";
import { href } from "../router.js";
import { chip, coded, when } from "../components/parts.js";
import { ask } from "../components/dialog.js";
import { attemptOnce, failed, toast } from "../components/toast.js";
import { channelName } from "../conversations/names.js";

/** @import { Page, View } from "../router.js" */

/** @type {Record<string, string>} */
const PARTS = { mcp: "tools", hooks: "remembers and recalls by itself", guidance: "guidance" };

/** @type {Page} */
export const page = {
  title: "Connections",
  show: (view) => new ConnectionsPage(view).start(),
};

class ConnectionsPage {
  #here = h("section.connections", { "aria-label": "On this machine" });
  #others = h("section.connections", { "aria-label": "Not found here" });

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  async start() {
    const about =
      "Which assistants share this memory. Connecting writes into an assistant's own settings; you see it first.";
    fill(
      this.view.root,
      h("header.page-head", h("div", h("h1", "Connections"), h("p", about))),
      this.#here,
      this.#others,
      h(
        "p.muted.export-note",
        coded(
          "Other programs connect by the proxy, MCP or HTTP. For one project: `throughline connect NAME --project`.",
        ),
      ),
    );
    onChange(["sessions", "recalls"], () => this.#load().catch(failed), this.view.signal);
    await this.#load();
  }

  async #load() {
    const { clients } = await api.get("/api/connections", null, { signal: this.view.signal });
    const isHere = (/** @type {Api.Connection} */ one) =>
      one.installed || one.parts.length > 0 || one.partly.length > 0;
    const [here, others] = [clients.filter(isHere), clients.filter((one) => !isHere(one))];
    const draw = (/** @type {Api.Connection} */ one) => this.#client(one);
    fill(this.#here, here.length ? h("ul.connection-list", here.map(draw)) : noneHere());
    fill(
      this.#others,
      others.length ? [h("h2", "Not found on this machine"), h("ul.connection-list", others.map(draw))] : null,
    );
  }

  /** @param {Api.Connection} connection */
  #client(connection) {
    const { client, installed, parts, partly, problems } = connection;
    const isConnected = parts.length > 0 || partly.length > 0;
    const name = channelName(client);
    const change = (/** @type {boolean} */ on) => attemptOnce(() => this.#change(client, on));
    const on = h("button.small", {
      type: "button",
      class: isConnected || !installed ? "" : "primary",
      onclick: change(true),
    });
    fill(on, isConnected ? "Complete…" : "Connect…");
    on.setAttribute("aria-label", `${isConnected ? "Complete" : "Connect"} ${name}`);
    const off = { type: /** @type {const} */ ("button"), "aria-label": `Disconnect ${name}`, onclick: change(false) };
    return h(
      "li.connection",
      { dataset: { client, state: isConnected ? "on" : "off" } },
      h(
        "div.connection-main",
        h("h3", name, " ", state(connection)),
        h("p.connection-facts", facts(connection)),
        problems.map((problem) => h("p.notice", problem)),
      ),
      h(
        "div.row",
        !isConnected || partly.length ? on : null,
        isConnected ? h("button.small.quiet", off, "Disconnect…") : null,
      ),
    );
  }

  /**
   * Shows first what would change in which file.
   * @param {string} client
   * @param {boolean} on
   */
  async #change(client, on) {
    const path = /** @type {const} */ (`/api/connections/${encodeURIComponent(client)}`);
    const send = (/** @type {boolean} */ dry) =>
      on ? api.post(`${path}${dry ? "?dry_run=true" : ""}`) : api.del(path, { dry_run: dry ? "true" : null });
    const preview = await send(true);
    if (!preview.files.length) {
      toast(on ? "Connected already" : "There is nothing of ours");
      return;
    }
    const name = channelName(client);
    const agreed = await ask({
      title: on ? `Connect ${name}` : `Disconnect ${name}`,
      wide: true,
      action: on ? "Connect" : "Disconnect",
      body: [
        h("p.soft", "This changes in its settings; all else in them stays as it is."),
        preview.files.map(fileChange),
      ],
    });
    if (!agreed) return;
    const done = await send(false);
    changedHere("sessions");
    await this.#load();
    toast(on ? `${name} is connected` : `${name} is disconnected`, {
      hint: done.remarks.join("; ") || null,
      ms: 9_000,
    });
  }
}

function noneHere() {
  return h("p.muted", "No assistant that is known was found on this machine.");
}

/** @param {Api.Connection} connection */
function state({ parts, partly }) {
  if (partly.length) return chip("connected in part", { kind: "warn" });
  return parts.length ? chip("connected", { kind: "good" }) : chip("not connected");
}

/** @param {Api.Connection} connection */
function facts({ installed, parts, last_heard_at: heard, session, given }) {
  const what = parts.map((part) => PARTS[part] ?? part).join(", ");
  return [
    what ? h("span", what) : null,
    heard
      ? h(
          "span",
          "last heard of ",
          session ? h("a", { href: href("conversations", { id: session }) }, when(heard)) : when(heard),
        )
      : installed || parts.length
        ? h("span", "nothing heard yet")
        : null,
    given ? h("span", `was given ${plural(given, "memory", "memories")}`) : null,
  ];
}

/** @param {Api.FileChange} file */
function fileChange({ path, outcome, added, removed }) {
  const title = { written: "Changes", restored: "Becomes what it was", removed: "Is removed" }[outcome] ?? outcome;
  /** @type {(kind: string, sign: string, lines: string[]) => HTMLElement[]} */
  const drawn = (kind, sign, lines) =>
    lines.map((line) => h("div", { class: kind }, h("span.sign", sign), line || " "));
  return h(
    "figure.pass-diff",
    h("figcaption", icon("file", 15), ` ${title}: `, h("code", path)),
    h(
      "div.diff-lines",
      { role: "group", "aria-label": `${count(added.length)} lines come, ${count(removed.length)} go` },
      drawn("gone", "−", removed),
      drawn("new", "+", added),
    ),
  );
}
