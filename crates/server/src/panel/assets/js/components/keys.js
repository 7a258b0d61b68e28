// Shortcuts. A page adds its own for as long as it is shown:
//
//   keys({ j: ["next", next], k: ["previous", previous], e: ["edit", edit] }, view.signal)
//
// Letters do nothing while somebody types or a dialog is open. `?` lists what is bound, with the words given here.
import { h, isTyping } from "../dom.js";
import { dialog } from "./dialog.js";

/**
 * By key, what it does: a few words, and the action. An action that returns false leaves the key to the browser.
 * @typedef {Record<string, [words: string, run: () => unknown]>} KeyMap
 */

/** @type {{ map: KeyMap, isGlobal: boolean }[]} */
const layers = [];

/**
 * @param {KeyMap} map
 * @param {AbortSignal} [signal] without it, the keys work on every page
 */
export function keys(map, signal) {
  const layer = { map, isGlobal: !signal };
  layers.push(layer);
  signal?.addEventListener("abort", () => layers.splice(layers.indexOf(layer), 1));
}

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping() && event.key !== "Escape") return;
    for (const { map } of [...layers].reverse()) {
      const bound = map[event.key];
      if (!bound) continue;
      // A button under the focus keeps its own Enter and space.
      if ((event.key === "Enter" || event.key === " ") && document.activeElement?.matches("button, a, summary")) return;
      if (bound[1]() !== false) event.preventDefault();
      return;
    }
  });
}

/** @type {Record<string, string>} */
const NAMES = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", Enter: "↵", " ": "Space" };

export function showKeys() {
  /** @param {KeyMap} map */
  const list = (map) =>
    Object.entries(map).map(([key, [words]]) => [h("dt", h("kbd", NAMES[key] ?? key)), h("dd", words)]);
  dialog({
    title: "Keys",
    body: layers.map(({ map, isGlobal }) => [
      h("h3", isGlobal ? "Everywhere" : "On this page"),
      h("dl.keys", list(map)),
    ]),
  });
}
