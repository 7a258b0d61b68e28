// Export: everything, as a file.
import { download, h } from "../dom.js";
import { api } from "../api.js";
import { bytes } from "../format.js";
import { icon } from "../icons.js";
import { coded } from "../components/parts.js";
import { failed, toast } from "../components/toast.js";

const FORMATS = [
  [
    "json",
    "JSON",
    "Everything, with dates, tags and sources. `throughline import` reads it back, here or on another machine.",
    "json",
    "application/json",
  ],
  ["markdown", "Markdown", "To read, print or keep in a notebook.", "md", "text/markdown"],
];

export const page = {
  title: "Export",
  show({ root, signal }) {
    const save = (format, ending, type) => async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      try {
        const answer = await api.raw("GET", "/api/export", { query: { format }, signal });
        const text = await answer.text();
        const day = new Date().toISOString().slice(0, 10);
        download(`throughline-${day}.${ending}`, text, type);
        toast(`Exported, ${bytes(new Blob([text]).size)}`);
      } catch (error) {
        failed(error);
      } finally {
        button.disabled = false;
      }
    };
    root.append(
      h(
        "header.page-head",
        h("div", h("h1", "Export"), h("p", "Your memory is yours. Take all of it with you whenever you like.")),
      ),
      h(
        "div.export-grid",
        FORMATS.map(([format, title, text, ending, type]) =>
          h(
            "section.card.export-card",
            { "aria-label": title },
            h("h2", title),
            h("p.soft", coded(text)),
            h(
              "button.primary",
              { type: "button", onclick: save(format, ending, type) },
              icon("export", 18),
              `Download ${title}`,
            ),
          ),
        ),
      ),
      h("p.muted.export-note", "An export holds everything in plain text. Keep it where you would keep a diary."),
    );
  },
};
