// Two versions of a document, side by side. Nothing is written before one of the choices is made.
//
//   const choice = await settle({ base, mine, theirs })
//   { text, from: "theirs" | "mine" | "merge" } or null for going on with the editing
import { h } from "../dom.js";
import { dialog } from "../components/dialog.js";
import { lineDiff, merged } from "../components/diff.js";

export function settle({ base, mine, theirs }) {
  return new Promise((resolve) => {
    let choice = null;
    const choose = (text, from) => () => {
      choice = { text, from };
      close();
    };
    const byHand = h("textarea", {
      rows: 12,
      value: merged(base, mine, theirs),
      "aria-label": "Merged by hand",
      spellcheck: false,
    });
    const merge = h(
      "details.by-hand",
      h("summary", "Merge by hand"),
      h("p.soft", "A suggestion of both; change it until it is right."),
      byHand,
      h(
        "div.row",
        h("button.primary", { type: "button", onclick: () => choose(byHand.value, "merge")() }, "Save this"),
      ),
    );
    const close = dialog({
      title: "This document changed while you edited it",
      wide: true,
      body: [
        h("p.soft", "Nothing was overwritten. Both versions are here."),
        h(
          "div.versus",
          h("section", h("h3", "Yours, not saved"), h("pre", { tabIndex: 0 }, mine)),
          h("section", h("h3", "Theirs, saved"), h("pre", { tabIndex: 0 }, theirs)),
        ),
        h("h3", "From theirs to yours"),
        lineDiff(theirs, mine),
        merge,
      ],
      actions: [
        h("button", { type: "button", onclick: () => close() }, "Go on editing"),
        h("button", { type: "button", onclick: choose(theirs, "theirs") }, "Take theirs"),
        h("button.primary", { type: "button", onclick: choose(mine, "mine") }, "Put mine on top of theirs"),
      ],
      onclose: () => resolve(choice),
    });
  });
}
