// What changed between two texts.
//
//   wordDiff(before, after)    a <p> with <del> and <ins>, word by word
//   merged(base, mine, theirs) both sets of changes applied to one text, as a suggestion
//   lineDiff(before, after)    lines, with + and − in front, unchanged stretches shortened
import { h } from "../dom.js";
import { lineNodes } from "../documents/marks.js";

const MOST_CELLS = 4_000_000;

/** @typedef {[kind: -1 | 0 | 1, token: string]} Run a token that is gone, the same or new */

/** @type {(kind: -1 | 0 | 1, tokens: string[]) => Run[]} */
const runsOf = (kind, tokens) => tokens.map((token) => [kind, token]);

/**
 * By the longest common subsequence.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Run[]}
 */
function compare(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1;
  const a = before.slice(start, before.length - end);
  const b = after.slice(start, after.length - end);
  const isTooLong = a.length * b.length > MOST_CELLS;
  const middle = isTooLong ? [...runsOf(-1, a), ...runsOf(1, b)] : longest(a, b);
  return [...runsOf(0, before.slice(0, start)), ...middle, ...runsOf(0, before.slice(before.length - end))];
}

/**
 * @param {string[]} a
 * @param {string[]} b
 */
function longest(a, b) {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  /** @type {Run[]} */
  const runs = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      runs.push([0, a[i]]);
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      runs.push([-1, a[i]]);
      i += 1;
    } else {
      runs.push([1, b[j]]);
      j += 1;
    }
  }
  return runs;
}

/**
 * @param {string} before
 * @param {string} after
 */
export function wordDiff(before, after) {
  /** @type {(text: string) => string[]} */
  const tokens = (text) => text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
  const node = h("p.diff-words");
  let kind = NaN;
  let part = h("span");
  for (const [next, token] of compare(tokens(before), tokens(after))) {
    if (next !== kind) {
      part = next === 0 ? h("span") : h(next < 0 ? "del" : "ins");
      node.append(part);
      kind = next;
    }
    part.append(token);
  }
  return node;
}

/**
 * @param {string} before
 * @param {string} after
 * @param {number} [around] how many unchanged lines are shown around each change
 */
export function lineDiff(before, after, around = 3) {
  const runs = compare(before.split("\n"), after.split("\n"));
  const near = new Set();
  runs.forEach(([kind], index) => {
    if (kind === 0) return;
    for (let at = index - around; at <= index + around; at += 1) near.add(at);
  });
  const node = h("div.diff-lines", { role: "group", "aria-label": "Differences" });
  let isSkipping = false;
  runs.forEach(([kind, line], index) => {
    if (!near.has(index)) {
      if (!isSkipping) node.append(h("div.diff-skip", "⋯"));
      isSkipping = true;
      return;
    }
    isSkipping = false;
    const sign = kind === 0 ? " " : kind < 0 ? "−" : "+";
    node.append(
      h(
        "div",
        { class: kind === 0 ? "same" : kind < 0 ? "gone" : "new" },
        h("span.sign", sign),
        h("span", line ? lineNodes(line) : " "),
      ),
    );
  });
  return node;
}

/**
 * Lines that either added stay, lines that either removed go.
 * @param {string} base
 * @param {string} mine
 * @param {string} theirs
 */
export function merged(base, mine, theirs) {
  const lines = base.split("\n");
  /** @param {string} text */
  const steps = (text) => {
    const added = Array.from({ length: lines.length + 1 }, () => /** @type {string[]} */ ([]));
    /** @type {boolean[]} */
    const kept = [];
    for (const [kind, line] of compare(lines, text.split("\n"))) {
      if (kind > 0) added[kept.length].push(line);
      else kept.push(kind === 0);
    }
    return { added, kept };
  };
  const [a, b] = [steps(theirs), steps(mine)];
  /** @type {string[]} */
  const out = [];
  for (let at = 0; at <= lines.length; at += 1) {
    out.push(...a.added[at], ...b.added[at].filter((line) => !line.trim() || !a.added[at].includes(line)));
    if (at < lines.length && a.kept[at] && b.kept[at]) out.push(lines[at]);
  }
  return out.join("\n");
}
