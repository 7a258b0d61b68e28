// A document as lines of text: headings, bullets, paragraphs. Nothing in it becomes markup or a link.
import { h } from "../dom.js";
import { marked } from "../components/parts.js";

/** Lines at the head of working memory, which the page shows in its own words. */
const HEAD = /^(Updated|Expires): \d{4}-\d\d-\d\dT/;
const WEIGHT = /^\[sig:([1-5])\]\s*/;

/**
 * @param {string} text
 * @param {string[]} [words] to mark
 */
export function documentLines(text, words = []) {
  const nodes = [];
  for (const raw of text.split("\n")) {
    const line = raw.trimEnd();
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const bullet = /^(\s*)[-*+]\s+(.*)$/.exec(line);
    if (!line.trim() || HEAD.test(line)) continue;
    // The page already shows the title.
    if (heading) {
      if (heading[1].length > 1) nodes.push(h("p.doc-heading", marked(heading[2], words)));
    } else if (bullet) {
      nodes.push(
        h(
          "p.doc-bullet",
          { class: bullet[1].length > 1 ? "is-deep" : "" },
          marked(bullet[2].replace(WEIGHT, ""), words),
        ),
      );
    } else {
      nodes.push(h("p", marked(line, words)));
    }
  }
  return h("div.doc-lines", nodes);
}
