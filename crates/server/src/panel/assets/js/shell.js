// What stays while pages change: navigation, the banner when the daemon is away, theme switch, global keys.
import { fill, h } from "./dom.js";
import { api, onDaemon } from "./api.js";
import { icon, logo } from "./icons.js";
import { changedHere } from "./live.js";
import { go } from "./router.js";
import { keys, showKeys } from "./components/keys.js";
import { dialog } from "./components/dialog.js";
import { coded } from "./components/parts.js";

const PAGES = [
  ["home", "Home", "home"],
  ["memories", "Memories", "memories"],
  ["documents", "Documents", "documents"],
  ["conversations", "Conversations", "conversations"],
  ["timeline", "Timeline", "timeline"],
  ["tasks", "Tasks", "tasks"],
  ["vault", "Vault", "vault"],
  ["reflection", "Reflection", "reflection"],
  ["chat", "Chat", "chat"],
];
const LOWER = [
  ["export", "Export", "export"],
  ["settings", "Settings", "settings"],
];
const ON_PHONE = ["home", "memories", "documents", "conversations"];

function link([name, title, symbol]) {
  return h("a.nav-link", { href: `#/${name}`, dataset: { page: name } }, icon(symbol), h("span", title));
}

const THEMES = [["auto", "Theme: as the system", "auto"], ["light", "Theme: light", "sun"], ["dark", "Theme: dark", "moon"]];

function themeSwitch() {
  const button = h("button.bare.theme-switch", { type: "button" });
  const draw = () => {
    const [, title, symbol] = THEMES.find(([name]) => name === window.throughlineTheme.get()) ?? THEMES[0];
    fill(button, icon(symbol));
    button.setAttribute("aria-label", title);
    button.title = title;
  };
  button.addEventListener("click", () => {
    const at = THEMES.findIndex(([name]) => name === window.throughlineTheme.get());
    window.throughlineTheme.set(THEMES[(at + 1) % THEMES.length][0]);
    draw();
  });
  draw();
  return button;
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function banner() {
  const text = h("span");
  const node = h("div.banner", { role: "status", hidden: true }, h("span.pulse"), text);
  let timer = 0;
  let wasLost = false;
  // Asking is enough: any answer tells the listeners.
  const askAgain = () => {
    timer = setInterval(() => api.raw("GET", "/healthz").catch(() => {}), 2_000);
  };
  onDaemon((now, error) => {
    node.hidden = now === "here";
    clearInterval(timer);
    if (now === "here" && wasLost) changedHere("everything");
    wasLost = now === "lost";
    if (now === "closed") fill(text, coded("This browser is not known here any more. `throughline open` gives a new link."));
    if (now === "away") {
      fill(text, "The daemon does not answer. What you see may be old; trying again…");
      askAgain();
    }
    if (now === "lost") {
      fill(text, coded([error.message, error.hint].filter(Boolean).map(sentence).join(" ")));
      askAgain();
    }
  });
  return node;
}

/// Builds the frame and gives the element for pages, and what to call when one is shown.
export function buildShell() {
  const main = h("main", { id: "main", tabIndex: -1 });
  const announcer = h("div.visually-hidden", { "aria-live": "polite" });
  const more = h("button.nav-link", { type: "button", onclick: openMore }, icon("more"), h("span", "More"));
  const brand = h("a.brand", { href: "#/", "aria-label": "Throughline, home" }, logo(), h("span", "Throughline"));
  const skip = h("button.skip", { type: "button", onclick: () => main.focus() }, "Skip to content");
  document.body.append(
    skip,
    h("div.frame",
      h("aside.side", brand,
        h("nav.thread", { "aria-label": "Pages" }, PAGES.map(link)),
        h("nav.side-lower", { "aria-label": "More" }, LOWER.map(link)),
        h("div.side-foot", themeSwitch(), h("button.bare", { type: "button", "aria-label": "Keys", title: "Keys (?)", onclick: showKeys }, icon("keys")), h("span.version"))),
      h("div.column", banner(), main),
      h("nav.bottom", { "aria-label": "Pages" }, PAGES.filter(([name]) => ON_PHONE.includes(name)).map(link), more)),
    announcer,
  );
  bindKeys();
  api.get("/healthz").then(({ version }) => {
    document.querySelector(".version").textContent = version ? `v${version}` : "";
  }).catch(() => {});
  return {
    main,
    shown(name, title) {
      for (const each of document.querySelectorAll(".nav-link[data-page]")) {
        if (each.dataset.page === name) each.setAttribute("aria-current", "page");
        else each.removeAttribute("aria-current");
      }
      more.classList.toggle("is-current", !ON_PHONE.includes(name));
      announcer.textContent = title;
    },
  };
}

function openMore() {
  const rest = [...PAGES.filter(([name]) => !ON_PHONE.includes(name)), ...LOWER].map(link);
  const close = dialog({ title: "More", body: h("div.more-grid", rest, h("div.more-theme", themeSwitch(), "Theme")) });
  for (const each of rest) each.addEventListener("click", () => close());
}

function bindKeys() {
  let isGoing = 0;
  const goes = { h: "home", m: "memories", d: "documents", c: "conversations", t: "tasks", l: "timeline", v: "vault", r: "reflection", s: "settings" };
  keys({
    "/": ["search", () => {
      const field = document.querySelector("main input[type=search]");
      if (field) {
        field.focus();
        field.select();
      } else {
        go("memories", { focus: "search" });
      }
    }],
    "?": ["show these keys", showKeys],
    g: ["then h, m, d, c, t, l, v, r, s: go to a page", () => {
      isGoing = Date.now();
    }],
    Escape: ["leave a field", () => {
      document.activeElement?.blur?.();
      return false;
    }],
  });
  // The second key of a pair comes before what a page binds to the same letter.
  document.addEventListener("keydown", (event) => {
    if (!isGoing || event.key === "g") return;
    const isSoon = Date.now() - isGoing < 1_200;
    isGoing = 0;
    if (isSoon && goes[event.key]) {
      event.preventDefault();
      event.stopImmediatePropagation();
      go(goes[event.key]);
    }
  }, { capture: true });
}
