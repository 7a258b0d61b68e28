// Short messages at the bottom, read out by screen readers.
//
//   toast("Forgotten", { undo: () => … })        with a button that undoes it
//   toast("Saved")                               disappears by itself
//   failed(error)                                an error with its hint
//   onclick: attempt(action)                     runs an action; an error is shown
import { h } from "../dom.js";
import { ApiError, hintOf, isAborted, messageOf, statusOf, Unreachable } from "../api.js";
import { icon } from "../icons.js";
import { coded } from "./parts.js";

const region = h("div.toasts", { role: "status", "aria-live": "polite" });
const alerts = h("div.toasts.alerts", { role: "alert", "aria-live": "assertive" });

export function mountToasts() {
  document.body.append(h("div.toast-stack", alerts, region));
}

/**
 * @param {HTMLElement} into
 * @param {HTMLElement} node
 * @param {number} ms
 */
function place(into, node, ms) {
  while (into.childElementCount >= 3) into.firstElementChild?.remove();
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

/** @param {() => void} close */
function dismiss(close) {
  return h("button.bare", { type: "button", "aria-label": "Dismiss", onclick: close }, icon("close", 16));
}

/**
 * @typedef {object} ToastOptions
 * @property {() => Promise<unknown>} [undo]
 * @property {string | null} [hint]
 * @property {number} [ms] how long it stays
 */

/**
 * @param {string} message
 * @param {ToastOptions} [options]
 */
export function toast(message, { undo, hint, ms } = {}) {
  const takeBack = undo
    ? attempt(() => {
        close();
        return undo();
      })
    : null;
  const node = h(
    "div.toast",
    h("span.toast-text", message, hint ? h("small", coded(hint)) : null),
    takeBack ? h("button.toast-action", { type: "button", onclick: takeBack }, "Undo") : null,
    dismiss(() => close()),
  );
  const close = place(region, node, ms ?? (undo ? 9_000 : 3_500));
}

/**
 * Some messages go on with what a program needs to know, such as the whole profile.
 * @param {string} message
 */
function firstLine(message) {
  return message.split("\n")[0].replace(/; it now says:$/, "");
}

/** @param {unknown} error */
export function failed(error) {
  // Nobody waits for an aborted answer, and the banner already says that the daemon is away or does not know us.
  if (isAborted(error) || error instanceof Unreachable || statusOf(error) === 401) return;
  if (!(error instanceof ApiError)) console.error(error);
  const hint = hintOf(error);
  const node = h(
    "div.toast.bad",
    icon("warn", 18),
    h("span.toast-text", coded(firstLine(messageOf(error))), hint ? h("small", coded(hint)) : null),
    dismiss(() => close()),
  );
  const close = place(alerts, node, 12_000);
}

/**
 * @param {() => unknown} action
 * @returns {() => Promise<void>}
 */
export function attempt(action) {
  return async () => {
    try {
      await action();
    } catch (error) {
      failed(error);
    }
  };
}

/**
 * Like `attempt`, for the button that was pressed: it is disabled meanwhile.
 * @param {() => unknown} action
 * @returns {(event: { currentTarget: HTMLButtonElement }) => Promise<void>}
 */
export function attemptOnce(action) {
  const run = attempt(action);
  return async ({ currentTarget: button }) => {
    button.disabled = true;
    await run();
    button.disabled = false;
  };
}
