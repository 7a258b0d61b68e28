// Markdown as nodes, for what assistants said: headings, lists, quotes, tables, code, bold and italic. Every piece of
// text becomes a text node. Links are shown with their address and lead nowhere: nothing that was said may send a
// person away.
//
//   markdown("# Title\n\n- **a**")      a <div class="md">
import { h } from "../dom.js";

/** Deeper lists and quotes are shown as text. */
const DEEPEST = 6;
/** Marks are looked for in texts up to this size: what never closes them would be looked for again and again. */
const LONGEST_MARKED = 4_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const ROW = /^\s*\|(.+)\|\s*$/;
const DIVIDER = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;

/** @param {string} text */
export function markdown(text) {
  return h("div.md", blocks(text.split(/\r?\n/), 0));
}

/**
 * @param {string[]} lines
 * @param {number} depth
 * @returns {HTMLElement[]}
 */
function blocks(lines, depth) {
  if (depth > DEEPEST) return [h("p", lines.join("\n"))];
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const [node, next] = block(lines, at, depth);
    if (node) nodes.push(node);
    at = next;
  }
  return nodes;
}

/**
 * The block that begins at a line, and the line behind it.
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @returns {[node: HTMLElement | null, next: number]}
 */
function block(lines, at, depth) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence[1]);
  const heading = HEADING.exec(line);
  if (heading)
    return [h("p.md-heading", { dataset: { level: String(heading[1].length) } }, inline(heading[2])), at + 1];
  if (RULE.test(line)) return [h("hr"), at + 1];
  if (QUOTE.test(line)) return quote(lines, at, depth);
  if (ITEM.test(line)) return list(lines, at, depth);
  if (ROW.test(line) && DIVIDER.test(lines[at + 1] ?? "")) return table(lines, at);
  return paragraph(lines, at);
}

/** @type {(lines: string[], at: number, fence: string) => [HTMLElement, number]} */
function code(lines, at, fence) {
  const isEnd = (/** @type {string} */ line) =>
    line.trim().startsWith(fence) && !line.trim().slice(fence.length).trim();
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end])) end += 1;
  return [h("pre", { tabIndex: 0 }, h("code", lines.slice(at + 1, end).join("\n"))), end + 1];
}

/** @type {(lines: string[], at: number, depth: number) => [HTMLElement, number]} */
function quote(lines, at, depth) {
  const inside = [];
  let end = at;
  for (let found = QUOTE.exec(lines[end]); found; found = QUOTE.exec(lines[end] ?? "")) {
    inside.push(found[1]);
    end += 1;
  }
  return [h("blockquote", blocks(inside, depth + 1)), end];
}

/** @type {(lines: string[], at: number, depth: number) => [HTMLElement, number]} */
function list(lines, at, depth) {
  const first = /** @type {RegExpExecArray} */ (ITEM.exec(lines[at]));
  const indent = first[1].length;
  const isOrdered = /\d/.test(first[2]);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]);
    if (!item || item[1].length > indent + 1 || item[1].length < indent || /\d/.test(item[2]) !== isOrdered) break;
    const inside = [item[3]];
    const width = item[0].length - item[3].length;
    end += 1;
    while (end < lines.length && (isInside(lines[end], indent) || isGap(lines, end, indent))) {
      inside.push(lines[end].slice(Math.min(width, lines[end].length - lines[end].trimStart().length)));
      end += 1;
    }
    items.push(h("li", inside.length === 1 ? inline(inside[0]) : blocks(inside, depth + 1)));
  }
  const start = isOrdered ? Number.parseInt(first[2], 10) : 1;
  return [isOrdered ? h("ol", { start }, items) : h("ul", items), Math.max(end, at + 1)];
}

/** @type {(line: string, indent: number) => boolean} */
const isInside = (line, indent) => /\S/.test(line) && line.length - line.trimStart().length > indent + 1;

/** @type {(lines: string[], at: number, indent: number) => boolean} */
const isGap = (lines, at, indent) => !lines[at].trim() && isInside(lines[at + 1] ?? "", indent);

/** @type {(lines: string[], at: number) => [HTMLElement, number]} */
function table(lines, at) {
  const cells = (/** @type {string} */ line) =>
    (ROW.exec(line)?.[1] ?? "").split("|").map((cell) => inline(cell.trim()));
  let end = at + 2;
  while (end < lines.length && ROW.test(lines[end])) end += 1;
  const head = h(
    "tr",
    cells(lines[at]).map((cell) => h("th", { scope: "col" }, cell)),
  );
  const rows = lines.slice(at + 2, end).map((line) =>
    h(
      "tr",
      cells(line).map((cell) => h("td", cell)),
    ),
  );
  return [h("div.md-table", { tabIndex: 0 }, h("table", h("thead", head), h("tbody", rows))), end];
}

/** @type {(lines: string[], at: number) => [HTMLElement, number]} */
function paragraph(lines, at) {
  const begins = (/** @type {string} */ line) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((mark) => mark.test(line));
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !begins(lines[end])) end += 1;
  return [h("p", inline(lines.slice(at, end).join("\n"))), end];
}

/** Marks of one line: code first, since nothing inside of it counts. */
const INLINE = new RegExp(
  [
    "(`+)(.+?)\\1(?!`)",
    "\\*\\*(?=\\S)(.+?)(?<=\\S)\\*\\*",
    "__(?=\\S)(.+?)(?<=\\S)__",
    "\\*(?=[^\\s*])([^*]+?)(?<=\\S)\\*",
    "(?<![\\p{L}\\p{N}_])_(?=[^\\s_])([^_]+?)(?<=\\S)_(?![\\p{L}\\p{N}_])",
    "~~(?=\\S)(.+?)(?<=\\S)~~",
    '!?\\[([^\\]\\n]*)\\]\\(([^()\\s]+)(?:\\s+"[^"]*")?\\)',
  ].join("|"),
  "u",
);

/**
 * @param {string} text
 * @param {number} [depth]
 * @returns {Dom.Child[]}
 */
function inline(text, depth = 0) {
  const nodes = [];
  let rest = text;
  if (text.length > LONGEST_MARKED) return [text];
  for (let found = INLINE.exec(rest); found && depth < DEEPEST; found = INLINE.exec(rest)) {
    const [whole, , code, strong, strongToo, em, emToo, gone, name, address] = found;
    nodes.push(rest.slice(0, found.index));
    if (code !== undefined) nodes.push(h("code", code.trim() || code));
    else if (strong ?? strongToo) nodes.push(h("strong", inline(strong ?? strongToo, depth + 1)));
    else if (em ?? emToo) nodes.push(h("em", inline(em ?? emToo, depth + 1)));
    else if (gone) nodes.push(h("s", inline(gone, depth + 1)));
    else nodes.push(link(name, address));
    rest = rest.slice(found.index + whole.length);
  }
  nodes.push(rest);
  return nodes;
}

/**
 * @param {string} name
 * @param {string} address
 */
function link(name, address) {
  return h("span.md-link", name && name !== address ? [name, " ", h("code", address)] : h("code", address));
}
