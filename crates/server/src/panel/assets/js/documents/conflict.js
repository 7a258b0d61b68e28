// Two versions of a document, side by side. Nothing is written before one of the choices is made.
//
//   const choice = await settle({ base, mine, theirs })
import { h } from "../dom.js";
import { dialog } from "../components/dialog.js";
import { lineDiff, merged } from "../components/diff.js";

/** @typedef {{ text: string, from: "theirs" | "mine" | "merge" }} Choice */

/**
 * Gives null where the person wants to continue editing.
 * @param {{ base: string, mine: string, theirs: string }} texts
 * @returns {Promise<Choice | null>}
 */
export function settle({ base, mine, theirs }) {
  return new Promise((resolve) => {
    /** @type {Choice | null} */
    let choice = null;
    /** @param {Choice} made */
    const choose = (made) => {
      choice = made;
      close();
    };
    const close = dialog({
      title: "This document changed while you edited it",
      wide: true,
      body: [
        h("p.soft", "Nothing was overwritten. Both versions are here."),
        h("div.versus", version("Yours, not saved", mine), version("Theirs, saved", theirs)),
        h("h3", "From theirs to yours"),
        lineDiff(theirs, mine),
        byHand(merged(base, mine, theirs), (text) => choose({ text, from: "merge" })),
      ],
      actions: [
        h("button", { type: "button", onclick: () => close() }, "Go on editing"),
        h("button", { type: "button", onclick: () => choose({ text: theirs, from: "theirs" }) }, "Take theirs"),
        h(
          "button.primary",
          { type: "button", onclick: () => choose({ text: mine, from: "mine" }) },
          "Put mine on top of theirs",
        ),
      ],
      onclose: () => resolve(choice),
    });
  });
}

/**
 * @param {string} title
 * @param {string} text
 */
function version(title, text) {
  return h("section", h("h3", title), h("pre", { tabIndex: 0 }, text));
}

/**
 * @param {string} suggestion
 * @param {(text: string) => void} onsave
 */
function byHand(suggestion, onsave) {
  const text = h("textarea", { rows: 12, value: suggestion, "aria-label": "Merged by hand", spellcheck: false });
  const save = h("button.primary", { type: "button", onclick: () => onsave(text.value) }, "Save this");
  return h(
    "details.by-hand",
    h("summary", "Merge by hand"),
    h("p.soft", "A suggestion of both; change it until it is right."),
    text,
    h("div.row", save),
  );
}
