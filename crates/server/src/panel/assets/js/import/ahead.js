// Imported conversations of which memories are still to be made: how many, how long it takes, how far it is.
//
//   const ahead = new Ahead(signal)      ahead.node
//   ahead.begin(memories)                an import was just taken in: so many there are before any is made of it
//   await ahead.show(consolidation)
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { memoryCount, plural, span } from "../format.js";
import { href } from "../router.js";
import { coded } from "../components/parts.js";

export class Ahead {
  node = h("div.import-ahead", { role: "status" });
  /** The most that waited while this page is open: what is done is told from it. */
  #most = 0;
  /**
   * How many memories there were before; null where the page was opened in between.
   * @type {number | null}
   */
  #before = null;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
  }

  /** @param {number} memories */
  begin(memories) {
    this.#before = memories;
    fill(this.node);
  }

  /** @param {Api.Ahead | null} ahead null where nothing waits */
  async show(ahead) {
    const left = ahead?.conversations ?? 0;
    const most = Math.max(this.#most, left);
    this.#most = left ? most : 0;
    if (ahead) fill(this.node, ahead.started ? progress(ahead, most) : waits(ahead));
    // What came of it stays until the next import.
    else if (most) fill(this.node, result(most, await this.#made()));
  }

  async #made() {
    const before = this.#before;
    if (before === null) return null;
    const made = memoryCount(await api.get("/api/stats", null, { signal: this.signal })) - before;
    return made > 0 ? made : null;
  }
}

/**
 * @param {number} conversations
 * @param {number | null} memories null where that is not known
 */
function result(conversations, memories) {
  const of = ` made of ${plural(conversations, "conversation")}: `;
  const many = memories === null ? `Memories are${of}` : `${plural(memories, "memory", "memories")}${of}`;
  return h("p.soft", many, h("a", { href: href("memories") }, "see them"), ".");
}

/**
 * @param {Api.Ahead} ahead
 * @param {number} most
 */
function progress({ conversations, seconds }, most) {
  const time = seconds == null ? "" : `, about ${duration(seconds)} left`;
  const done = most - conversations;
  return h(
    "section.card",
    { "aria-label": "Memories of what was imported" },
    h("p", `Memories are being made of ${plural(most, "conversation")}: ${done} done${time}.`),
    h("progress", { max: most, value: done, "aria-label": "Conversations done" }),
    h("p.muted", "It goes on when you leave this page. What was said can be searched already."),
  );
}

/** @param {Api.Ahead} ahead */
function waits({ conversations, seconds, requests, command }) {
  const what = `${plural(conversations, "imported conversation")} can be searched, and no memories are made yet. `;
  const cost =
    requests == null ? `about ${duration(seconds ?? 0)}` : `about ${plural(requests, "request")} to your model`;
  return h("p.notice", coded(`${what}\`${command}\` does that: ${cost}.`));
}

/** @param {number} seconds */
const duration = (seconds) => (seconds < 90 ? plural(Math.max(1, seconds), "second") : span(seconds * 1_000));
