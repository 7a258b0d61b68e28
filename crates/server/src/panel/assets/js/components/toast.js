// Short messages at the bottom, read out by screen readers.
//
//   toast("Forgotten", { undo: () => … })        with a button that takes it back
//   toast("Saved")                                goes away by itself
//   failed(error)                                 an error with the hint that came with it
import { h } from "../dom.js";
import { isAborted, Unreachable } from "../api.js";
import { icon } from "../icons.js";
import { coded } from "./parts.js";

const region = h("div.toasts", { role: "status", "aria-live": "polite" });
const alerts = h("div.toasts.alerts", { role: "alert", "aria-live": "assertive" });

export function mountToasts() {
  document.body.append(h("div.toast-stack", alerts, region));
}

function place(into, node, ms) {
  while (into.childElementCount >= 3) into.firstElementChild.remove();
  into.append(node);
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    node.remove();
  };
  const arm = () => {
    timer = setTimeout(close, ms);
  };
  node.addEventListener("pointerenter", () => clearTimeout(timer));
  node.addEventListener("pointerleave", arm);
  arm();
  return close;
}

export function toast(message, { undo, action, hint, ms } = {}) {
  const does = undo ? { label: "Undo", run: undo } : action;
  const node = h(
    "div.toast",
    h("span.toast-text", message, hint ? h("small", coded(hint)) : null),
    does
      ? h(
          "button.toast-action",
          {
            type: "button",
            onclick: async () => {
              close();
              try {
                await does.run();
              } catch (error) {
                failed(error);
              }
            },
          },
          does.label,
        )
      : null,
    h("button.bare", { type: "button", "aria-label": "Dismiss", onclick: () => close() }, icon("close", 16)),
  );
  const close = place(region, node, ms ?? (does ? 9_000 : 3_500));
  return close;
}

/// Some messages go on with what a program needs to know, such as the whole profile.
function firstLine(message) {
  return message.split("\n")[0].replace(/; it now says:$/, "");
}

export function failed(error) {
  // Nobody waits for an aborted answer, and the banner already says that the daemon is away or does not know us.
  if (isAborted(error) || error instanceof Unreachable || error?.status === 401) return;
  if (!error?.code) console.error(error);
  const node = h(
    "div.toast.bad",
    icon("warn", 18),
    h(
      "span.toast-text",
      coded(firstLine(error?.message ?? String(error))),
      error?.hint ? h("small", coded(error.hint)) : null,
    ),
    h("button.bare", { type: "button", "aria-label": "Dismiss", onclick: () => close() }, icon("close", 16)),
  );
  const close = place(alerts, node, 12_000);
}
