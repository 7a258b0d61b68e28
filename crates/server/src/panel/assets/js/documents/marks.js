// Text without the marks that programs write into it: `[sig:3]`, `##`, the time in front of a summary.
//
//   plainText("- [sig:4] Drinks tea")      "Drinks tea", for one line of text
//   lineNodes("- [sig:4] Drinks tea")      nodes: a bullet, the text, dots for the weight
import { h } from "../dom.js";

const STAMP = /^\[\d{4}-\d\d-\d\d \d\d:\d\d\]\s*/;
const WEIGHT = /\[sig:([1-5])\]\s*/;
const HEADING = /^(\s*)#{1,6}\s+/;
const BULLET = /^(\s*)[-*+]\s+/;

/** @param {string} text */
export const withoutStamp = (text) => text.replace(STAMP, "");

/**
 * In one paragraph: headings and bullets of several lines are joined.
 * @param {string} text
 */
export function plainText(text) {
  return withoutStamp(text)
    .replaceAll(/^#{1,6}\s+(.*)$/gm, "$1:")
    .replaceAll(/^\s*[-*+]\s+/gm, "· ")
    .replaceAll(/\[sig:[1-5]\]\s*/g, "")
    .replace(/^· /, "")
    .replaceAll(/:\n+· /g, ": ");
}

/**
 * One line of a document, for showing beside others.
 * @param {string} line
 * @returns {Dom.Child[]}
 */
export function lineNodes(line) {
  const weight = WEIGHT.exec(line);
  const bare = line.replace(WEIGHT, "");
  const dots = weight
    ? h("span.line-weight", { title: `Significance ${weight[1]} of 5` }, "●".repeat(Number(weight[1])))
    : null;
  if (HEADING.test(bare)) return [h("strong", bare.replace(HEADING, "$1")), dots && " ", dots];
  return [bare.replace(BULLET, "$1• "), dots && " ", dots];
}
