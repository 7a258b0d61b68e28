// Modal dialogs on the native <dialog>: focus stays inside, Esc closes, focus returns to where it was.
//
//   const close = dialog({ title: "Keys", body: node, wide: true })
//   if (await ask({ title: "Forget 12 memories?", text: "…", action: "Forget" })) …
//   if (await ask({ title, body, action: "Erase", danger: true, typed: "erase" })) …      only after the word was typed
import { h } from "../dom.js";
import { icon } from "../icons.js";

export function dialog({ title, body, actions = [], wide = false, onclose, canClose }) {
  const before = document.activeElement;
  const heading = h("h2", title);
  const node = h(
    "dialog.dialog",
    { class: wide ? "wide" : "", "aria-label": title },
    h(
      "header",
      heading,
      h("button.bare", { type: "button", "aria-label": "Close", onclick: () => tryClose() }, icon("close")),
    ),
    h("div.dialog-body", { tabIndex: -1, autofocus: true }, body),
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

/// Resolves to whether the person agreed.
export function ask({ title, text, body, action = "Yes", danger = false, typed, wide }) {
  return new Promise((resolve) => {
    let agreed = false;
    const yes = h(
      "button",
      {
        type: "button",
        class: danger ? "danger" : "primary",
        disabled: Boolean(typed),
        onclick: () => {
          agreed = true;
          close();
        },
      },
      action,
    );
    const word = typed
      ? h(
          "label.field",
          h("span", `Type “${typed}” to confirm`),
          h("input", {
            type: "text",
            autocomplete: "off",
            spellcheck: false,
            oninput: (event) => {
              yes.disabled = event.target.value.trim().toLowerCase() !== typed;
            },
            onkeydown: (event) => {
              if (event.key === "Enter" && !yes.disabled) yes.click();
            },
          }),
        )
      : null;
    const close = dialog({
      title,
      wide,
      body: [text ? h("p", text) : null, body, word],
      actions: [h("button", { type: "button", onclick: () => close() }, "Cancel"), yes],
      onclose: () => resolve(agreed),
    });
    (word?.querySelector("input") ?? yes).focus();
  });
}
