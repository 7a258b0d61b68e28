// Modal dialogs on the native <dialog>: focus stays inside, Esc closes, focus returns to where it was.
//
//   const close = dialog({ title: "Keys", body: node, wide: true })
//   if (await ask({ title: "Forget 12 memories?", text: "…", action: "Forget" })) …
//   if (await ask({ title, body, action: "Erase", danger: true, typed: "erase" })) …      only after the word was typed
import { h } from "../dom.js";
import { icon } from "../icons.js";

/**
 * @typedef {object} DialogOptions
 * @property {string} title
 * @property {Dom.Child} body
 * @property {Dom.Child[]} [actions] buttons at the bottom
 * @property {boolean} [wide]
 * @property {() => void} [onclose]
 * @property {() => boolean} [canClose] asked before the person closes it
 */

/**
 * @param {DialogOptions} options
 * @returns {() => void} closes it
 */
export function dialog({ title, body, actions = [], wide = false, onclose, canClose }) {
  const before = document.activeElement;
  const cross = h("button.bare", { type: "button", "aria-label": "Close", onclick: () => tryClose() }, icon("close"));
  const inside = h("div.dialog-body", { tabIndex: -1, autofocus: true }, body);
  // A long text without a control in it is scrolled by keyboard, too.
  if (!inside.querySelector("a[href], button, input, select, textarea, [tabindex='0']")) inside.tabIndex = 0;
  const node = h(
    "dialog.dialog",
    { class: wide ? "wide" : "", "aria-label": title },
    h("header", h("h2", title), cross),
    inside,
    actions.length ? h("footer", actions) : null,
  );
  const close = () => node.close();
  const tryClose = () => {
    if (!canClose || canClose()) close();
  };
  node.addEventListener("cancel", (event) => {
    event.preventDefault();
    tryClose();
  });
  node.addEventListener("keydown", (event) => event.stopPropagation());
  node.addEventListener("pointerdown", (event) => {
    if (event.target === node) tryClose();
  });
  node.addEventListener("close", () => {
    node.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
    onclose?.();
  });
  document.body.append(node);
  node.showModal();
  return close;
}

/**
 * @typedef {object} AskOptions
 * @property {string} title
 * @property {string} [text]
 * @property {Dom.Child} [body]
 * @property {string} [action] what the button says that agrees
 * @property {boolean} [danger]
 * @property {string} [typed] a word to type before the button can be pressed
 * @property {boolean} [wide]
 * @property {HTMLElement} [submit] a field in which Ctrl-Enter agrees
 */

/**
 * Resolves to whether the person agreed.
 * @param {AskOptions} options
 * @returns {Promise<boolean>}
 */
export function ask({ title, text, body, action = "Yes", danger = false, typed, wide, submit }) {
  return new Promise((resolve) => {
    let agreed = false;
    const agree = () => {
      agreed = true;
      close();
    };
    const style = danger ? "danger" : "primary";
    const yes = h("button", { type: "button", class: style, disabled: Boolean(typed), onclick: agree }, action);
    const field = typed ? confirmField(typed, yes) : null;
    const word = field ? h("label.field", h("span", `Type “${typed}” to confirm`), field) : null;
    const close = dialog({
      title,
      wide,
      body: [text ? h("p", text) : null, body, word],
      actions: [h("button", { type: "button", onclick: () => close() }, "Cancel"), yes],
      onclose: () => resolve(agreed),
    });
    submit?.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) agree();
    });
    (submit ?? field ?? yes).focus();
  });
}

/**
 * @param {string} typed
 * @param {HTMLButtonElement} yes enabled while the field holds the word
 */
function confirmField(typed, yes) {
  return h("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: false,
    oninput: (event) => {
      yes.disabled = event.currentTarget.value.trim().toLowerCase() !== typed;
    },
    onkeydown: (event) => {
      if (event.key === "Enter" && !yes.disabled) yes.click();
    },
  });
}
