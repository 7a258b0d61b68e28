// Export: everything, as a file.
import { download, h } from "../dom.js";
import { api } from "../api.js";
import { bytes } from "../format.js";
import { icon } from "../icons.js";
import { coded } from "../components/parts.js";
import { attemptOnce, toast } from "../components/toast.js";

/** @import { Page } from "../router.js" */

/** @typedef {{ format: string, title: string, text: string, ending: string, type: string }} Format */

/** @type {Format[]} */
const FORMATS = [
  {
    format: "json",
    title: "JSON",
    text: "Everything, with dates, tags and sources. `throughline import` reads it back, here or on another machine.",
    ending: "json",
    type: "application/json",
  },
  {
    format: "markdown",
    title: "Markdown",
    text: "To read, print or keep in a notebook.",
    ending: "md",
    type: "text/markdown",
  },
];

/** @type {Page} */
export const page = {
  title: "Export",
  show({ root, signal }) {
    const about = "Your memory is yours. Take all of it with you whenever you like.";
    root.append(
      h("header.page-head", h("div", h("h1", "Export"), h("p", about))),
      h(
        "div.export-grid",
        FORMATS.map((format) => formatCard(format, signal)),
      ),
      h("p.muted.export-note", "An export holds everything in plain text. Keep it where you would keep a diary."),
    );
  },
};

/**
 * @param {Format} format
 * @param {AbortSignal} signal
 */
function formatCard({ format, title, text, ending, type }, signal) {
  const save = attemptOnce(async () => {
    const answer = await api.raw("GET", "/api/export", { query: { format }, signal });
    const exported = await answer.text();
    const day = new Date().toISOString().slice(0, 10);
    download(`throughline-${day}.${ending}`, exported, type);
    toast(`Exported, ${bytes(new Blob([exported]).size)}`);
  });
  return h(
    "section.card.export-card",
    { "aria-label": title },
    h("h2", title),
    h("p.soft", coded(text)),
    h("button.primary", { type: "button", onclick: save }, icon("export", 18), `Download ${title}`),
  );
}
