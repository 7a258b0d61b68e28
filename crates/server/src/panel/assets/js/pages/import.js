// Import: a file is dropped, what it would add is shown, and then it is taken in. Its content is sent, never a path.
import { fill, h } from "../dom.js";
import { api } from "../api.js";
import { bytes, count, memoryCount, plural } from "../format.js";
import { icon } from "../icons.js";
import { Ahead } from "../import/ahead.js";
import { changedHere, onChange } from "../live.js";
import { href } from "../router.js";
import { undoable } from "../undo.js";
import { coded } from "../components/parts.js";
import { plainText } from "../documents/marks.js";
import { attempt, attemptOnce, toast } from "../components/toast.js";

/** @import { Page, View } from "../router.js" */

/** What the daemon takes at once, with room for what JSON and base64 add. */
const MOST_BYTES = 46 * 1024 * 1024;

/** @type {Page} */
export const page = {
  title: "Import",
  show: (view) => new ImportPage(view).start(),
};

/** @typedef {{ name: string, size: number, content: { text: string } | { archive: string } }} Chosen */

class ImportPage {
  #found = h("div.import-found", { "aria-live": "polite" });
  #field = h("input.visually-hidden", {
    type: "file",
    id: "import-file",
    accept: ".json,.jsonl,.md,.markdown,.txt,.csv,.zip",
  });

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.ahead = new Ahead(view.signal);
    this.#field.addEventListener(
      "change",
      attempt(() => this.#choose(this.#field.files?.item(0))),
    );
  }

  start() {
    const about = "Another assistant's memory, an export, notes or chats. You see what would be added before it is.";
    fill(
      this.view.root,
      h("header.page-head", h("div", h("h1", "Import"), h("p", about))),
      this.#drop(),
      this.#found,
      this.ahead.node,
      h("p.muted.export-note", coded("Folders, larger files and past conversations of clients: `throughline import`.")),
    );
    onChange(["jobs", "sessions", "memories"], () => this.#look(), this.view.signal);
    return this.#look();
  }

  async #look() {
    const { consolidation } = await api.get("/api/import", null, { signal: this.view.signal });
    await this.ahead.show(consolidation ?? null);
  }

  /** How much is new to the person, and how many memories there are. */
  async #counts() {
    const options = { signal: this.view.signal };
    const [news, stats] = await Promise.all([
      api.get("/api/review", { limit: 0 }, options),
      api.get("/api/stats", null, options),
    ]);
    return { news: news.count, memories: memoryCount(stats) };
  }

  #drop() {
    const zone = h(
      "div.import-drop",
      { role: "group", "aria-label": "File to import" },
      h("div.empty-icon", icon("import", 28)),
      h("h2", "Drop a file here"),
      h("p.soft", "A zip as it was mailed, JSON, Markdown or text, up to 46 MB"),
      h("label.button", { htmlFor: "import-file" }, "Choose a file"),
      this.#field,
    );
    const over = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      zone.classList.toggle("is-over", event.type === "dragover");
    };
    zone.addEventListener("dragover", over);
    zone.addEventListener("dragleave", over);
    zone.addEventListener("drop", (event) => {
      over(event);
      attempt(() => this.#choose(event.dataTransfer?.files.item(0)))();
    });
    return zone;
  }

  /** @param {File | null | undefined} file */
  async #choose(file) {
    if (!file) return;
    this.#field.value = "";
    fill(this.#found, h("p.muted", `Reading ${file.name}…`));
    const head = new Uint8Array(await file.slice(0, 4_096).arrayBuffer());
    const refused = unreadable(file, head);
    if (refused) {
      fill(this.#found, h("p.notice", coded(refused)));
      return;
    }
    const content = isZip(head) ? { archive: await base64(file) } : { text: await file.text() };
    const chosen = { name: file.name, size: file.size, content };
    try {
      const preview = await send(chosen, true, this.view.signal);
      this.#show(chosen, preview);
    } catch (error) {
      fill(this.#found);
      throw error;
    }
  }

  /**
   * @param {Chosen} chosen
   * @param {Api.ImportReport} preview
   */
  #show(chosen, preview) {
    const adds = figuresOf(preview).length > 0;
    const take = attemptOnce(async () => {
      const before = await this.#counts();
      const done = await send(chosen, false, this.view.signal);
      // What is made of conversations comes later: until then, what was added is what the file held.
      this.ahead.begin(before.memories + addedBy(done));
      const { news } = await this.#counts();
      changedHere("memories", "documents", "sessions", "changes");
      fill(this.#found, summary(chosen, done, "Imported"), after(news - before.news));
      await this.ahead.show(done.consolidation ?? null);
      await undoable("Imported");
    });
    const yes = h("button.primary", { type: "button", onclick: take }, icon("import", 18), "Import");
    const no = h("button", { type: "button", onclick: () => fill(this.#found) }, "Cancel");
    fill(
      this.#found,
      summary(chosen, preview, adds ? "Would be added" : "Nothing new in it"),
      adds ? h("div.row.import-actions", yes, no) : null,
    );
    (adds ? yes : no).focus();
    if (!adds) toast("Everything in it is known already");
  }
}

/** @param {number} news how much of it nobody has seen: what another assistant knew, and not one's own notes */
function after(news) {
  if (news <= 0) return null;
  const learnt = `${plural(news, "thing is", "things are")} new until you have seen ${news === 1 ? "it" : "them"}: `;
  return h("p.muted.import-news", learnt, h("a", { href: href("review") }, "Review"), ".");
}

const many = (/** @type {Api.Tally | undefined} */ tally) => (tally ? tally.added + tally.brought_back : 0);

/** @param {Api.ImportReport} report */
const addedBy = ({ added = 0, profile, knowledge, archive }) => added + many(profile) + many(knowledge) + many(archive);

/**
 * Why a file is not taken; null where it is.
 * @param {File} file
 * @param {Uint8Array} head
 */
function unreadable(file, head) {
  if (file.size > MOST_BYTES) {
    const most = `up to ${bytes(MOST_BYTES)} are taken here`;
    return `${file.name} has ${bytes(file.size)}; ${most}. Use \`throughline import FILE\`.`;
  }
  return head.includes(0) && !isZip(head) ? `${file.name} is not text.` : null;
}

/** @param {Uint8Array} head */
function isZip(head) {
  return head[0] === 0x50 && head[1] === 0x4b;
}

/**
 * @param {File} file
 * @returns {Promise<string>}
 */
function base64(file) {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/**
 * @param {Chosen} chosen
 * @param {boolean} dry
 * @param {AbortSignal} signal
 */
function send({ name, content }, dry, signal) {
  return api.post(`/api/import${dry ? "?dry_run=true" : ""}`, { name, ...content }, { signal });
}

/**
 * What is new, by kind. An export of our own has another receipt than the files of others.
 * @param {Api.ImportReport} report
 * @returns {[value: number, one: string, several: string][]}
 */
function figuresOf(report) {
  const isOwn = report.added !== undefined;
  const turns = isOwn ? Number(report.turns ?? 0) : many(/** @type {Api.Tally} */ (report.turns));
  /** @type {[number, string, string][]} */
  const all = [
    [many(report.profile), "line of your profile", "lines of your profile"],
    [isOwn ? (report.added ?? 0) : many(report.knowledge) + many(report.archive), "memory", "memories"],
    [isOwn ? 0 : (report.sessions ?? 0), "conversation", "conversations"],
    [turns, "turn", "turns"],
    [report.documents?.length ?? 0, "document", "documents"],
    [report.tasks ?? 0, "task", "tasks"],
  ];
  return all.filter(([value]) => value > 0);
}

/**
 * A memory, or something that was said.
 * @param {string} sample
 */
function sampleText(sample) {
  return plainText(sample)
    .replace(/^user: /, "You: ")
    .replace(/^assistant: /, "Assistant: ");
}

/** @param {Api.ImportReport} report */
function here(report) {
  const tallies = [report.profile, report.knowledge, report.archive].filter((tally) => tally !== undefined);
  const known = report.kept ?? tallies.reduce((sum, tally) => sum + tally.here + tally.differing + tally.forgotten, 0);
  return known
    ? h("p.muted", `${plural(known, "memory is", "memories are")} here already, and stay as they are.`)
    : null;
}

/**
 * @param {Chosen} chosen
 * @param {Api.ImportReport} report
 * @param {string} title
 */
function summary({ name, size }, report, title) {
  const { samples = [], skipped = [], adjusted = [], redacted = {} } = report;
  const figures = figuresOf(report).map(([value, one, several]) =>
    h("li", h("strong", count(value)), h("span", value === 1 ? one : several)),
  );
  const secrets = Object.keys(redacted);
  return h(
    "section.card.import-report",
    { "aria-label": title },
    h("header.card-head", h("h2", `${title}: ${name}`), h("span.muted", bytes(size))),
    figures.length ? h("ul.figures", figures) : null,
    samples.length
      ? h(
          "ul.bullets",
          samples.map((sample) => h("li", sampleText(sample))),
        )
      : null,
    here(report),
    secrets.length ? h("p.notice", `Secrets are taken out: ${secrets.join(", ")}`) : null,
    leftOut("Left out", skipped),
    leftOut("Taken, but not as it stands there", adjusted),
  );
}

/**
 * @param {string} title
 * @param {Api.Skipped[]} rows
 */
function leftOut(title, rows) {
  if (!rows.length) return null;
  const all = rows.reduce((sum, row) => sum + row.count, 0);
  const line = (/** @type {Api.Skipped} */ { reason, count: many, places }) =>
    h("li", `${count(many)}: ${reason}`, places.length ? h("small.muted", ` (${places.join(", ")})`) : null);
  return h("details.dropped", h("summary", `${title}: ${count(all)}`), h("ul.bullets", rows.map(line)));
}
