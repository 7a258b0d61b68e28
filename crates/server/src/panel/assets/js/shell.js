// What stays while pages change: navigation, the banner when the daemon is away, theme switch, global keys.
import { blur, fill, get, h } from "./dom.js";
import { api, onDaemon } from "./api.js";
import { icon, logo } from "./icons.js";
import { everythingChanged, onChange } from "./live.js";
import { go } from "./router.js";
import { keys, showKeys } from "./components/keys.js";
import { dialog } from "./components/dialog.js";
import { openPalette, startPalette } from "./components/palette.js";
import { coded } from "./components/parts.js";
import { remember } from "./memories/forms.js";

/** @import { IconName } from "./icons.js" */
/** @import { Choice } from "./components/palette.js" */

/** @type {[name: IconName, title: string][]} a page is named like its icon */
const PAGES = [
  ["home", "Home"],
  ["review", "Review"],
  ["memories", "Memories"],
  ["documents", "Documents"],
  ["conversations", "Conversations"],
  ["timeline", "Timeline"],
  ["tasks", "Tasks"],
  ["vault", "Vault"],
  ["reflection", "Reflection"],
  ["chat", "Chat"],
  ["sees", "What they see"],
];
/** @type {[name: IconName, title: string][]} */
const LOWER = [
  ["connections", "Connections"],
  ["import", "Import"],
  ["export", "Export"],
  ["settings", "Settings"],
];
const ON_PHONE = ["home", "review", "memories", "conversations"];

/** @param {[name: IconName, title: string]} page */
function link([name, title]) {
  const count = name === "review" ? h("span.nav-count", { hidden: true }) : null;
  return h("a.nav-link", { href: `#/${name}`, dataset: { page: name } }, icon(name), h("span", title), count);
}

/** The count of what is new, in every navigation. */
async function showNew() {
  try {
    const { count } = await api.get("/api/review", { limit: 0 });
    const text = count > 99 ? "99+" : String(count);
    for (const node of document.querySelectorAll(".nav-count")) {
      if (!(node instanceof HTMLElement)) continue;
      node.hidden = count === 0;
      fill(node, text, h("span.visually-hidden", " new"));
    }
  } catch {
    // The count is an extra.
  }
}

/** @type {[theme: string, title: string, symbol: IconName][]} */
const THEMES = [
  ["auto", "Theme: as the system", "auto"],
  ["light", "Theme: light", "sun"],
  ["dark", "Theme: dark", "moon"],
];

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

/** @param {string} text */
function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function banner() {
  const text = h("span");
  const node = h("div.banner", { role: "status", hidden: true }, h("span.pulse"), text);
  let timer = 0;
  let wasLost = false;
  // Asking is enough: any answer is reported to the listeners.
  const askAgain = () => {
    timer = setInterval(() => api.raw("GET", "/healthz").catch(() => {}), 2_000);
  };
  onDaemon((now, error) => {
    node.hidden = now === "here";
    clearInterval(timer);
    if (now === "here" && wasLost) everythingChanged();
    wasLost = now === "lost";
    if (now === "closed")
      fill(text, coded("This browser is not known here any more. `throughline open` gives a new link."));
    if (now === "away") {
      fill(text, "The daemon does not answer. What you see may be old; trying again…");
      askAgain();
    }
    if (now === "lost" && error) {
      fill(text, coded([error.message, error.hint ?? ""].filter(Boolean).map(sentence).join(" ")));
      askAgain();
    }
  });
  return node;
}

/** What Ctrl-K offers beside what it finds. */
function actions() {
  const pages = [...PAGES, ...LOWER].map(([name, title]) => ({ title, icon: name, run: () => go(name) }));
  /** @type {Choice[]} */
  const all = [
    ...pages,
    { title: "Remember something", icon: "plus", run: () => remember() },
    { title: "Connect an assistant", icon: "connections", run: () => go("connections") },
    { title: "Show all keys", icon: "keys", run: showKeys },
  ];
  return all;
}

function finder() {
  return h(
    "button.finder",
    { type: "button", "aria-keyshortcuts": "Control+K", onclick: () => openPalette(actions) },
    icon("search", 18),
    h("span", "Search"),
    h("kbd", { "aria-hidden": "true" }, "Ctrl K"),
  );
}

function sidebar() {
  const keyList = h(
    "button.bare",
    { type: "button", "aria-label": "Keys", title: "Keys (?)", onclick: showKeys },
    icon("keys"),
  );
  return h(
    "aside.side",
    h("a.brand", { href: "#/", "aria-label": "Throughline, home" }, logo(), h("span", "Throughline")),
    finder(),
    h("nav.thread", { "aria-label": "Pages" }, PAGES.map(link)),
    h("nav.side-lower", { "aria-label": "More" }, LOWER.map(link)),
    h("div.side-foot", themeSwitch(), keyList, h("span.version")),
  );
}

/** Builds the frame. Gives the element for pages, and the function to call when one is shown. */
export function buildShell() {
  const main = h("main", { id: "main", tabIndex: -1 });
  const announcer = h("div.visually-hidden", { "aria-live": "polite" });
  const more = h("button.nav-link", { type: "button", onclick: openMore }, icon("more"), h("span", "More"));
  const skip = h("button.skip", { type: "button", onclick: () => main.focus() }, "Skip to content");
  const phonePages = PAGES.filter(([name]) => ON_PHONE.includes(name)).map(link);
  const bottom = h("nav.bottom", { "aria-label": "Pages" }, phonePages, more);
  document.body.append(skip, h("div.frame", sidebar(), h("div.column", banner(), main), bottom), announcer);
  bindKeys();
  startPalette(actions);
  showVersion();
  showNew();
  onChange(["memories", "documents"], showNew, new AbortController().signal);
  return {
    main,
    /**
     * @param {string} name
     * @param {string} title
     */
    shown(name, title) {
      for (const each of document.querySelectorAll(".nav-link[data-page]")) {
        if (each.getAttribute("data-page") === name) each.setAttribute("aria-current", "page");
        else each.removeAttribute("aria-current");
      }
      more.classList.toggle("is-current", !ON_PHONE.includes(name));
      announcer.textContent = title;
    },
  };
}

async function showVersion() {
  try {
    const { version } = await api.get("/healthz");
    get(".version").textContent = `v${version}`;
  } catch {
    // The version is an extra.
  }
}

function openMore() {
  const rest = [...PAGES.filter(([name]) => !ON_PHONE.includes(name)), ...LOWER].map(link);
  const find = h("button.nav-link", { type: "button" }, icon("search"), h("span", "Search"));
  const close = dialog({
    title: "More",
    body: h("div.more-grid", find, rest, h("div.more-theme", themeSwitch(), "Theme")),
  });
  find.addEventListener("click", () => {
    close();
    openPalette(actions);
  });
  for (const each of rest) each.addEventListener("click", () => close());
}

/** @type {Record<string, string>} */
const GOES = {
  h: "home",
  m: "memories",
  d: "documents",
  c: "conversations",
  t: "tasks",
  l: "timeline",
  w: "review",
  a: "sees",
  v: "vault",
  r: "reflection",
  s: "settings",
};
const PAIR_MS = 1_200;

function search() {
  const field = document.querySelector("main input[type=search]");
  if (field instanceof HTMLInputElement) {
    field.focus();
    field.select();
  } else {
    go("memories", { focus: "search" });
  }
}

function bindKeys() {
  let prefixAt = 0;
  keys({
    "/": ["search", search],
    "?": ["show these keys", showKeys],
    g: [
      `then ${Object.keys(GOES).join(", ")}: go to a page`,
      () => {
        prefixAt = Date.now();
      },
    ],
    Escape: [
      "leave a field",
      () => {
        blur();
        return false;
      },
    ],
  });
  /** @param {KeyboardEvent} event */
  const second = (event) => {
    if (!prefixAt || event.key === "g") return;
    const isSoon = Date.now() - prefixAt < PAIR_MS;
    prefixAt = 0;
    if (!isSoon || !GOES[event.key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    go(GOES[event.key]);
  };
  // The second key of a pair comes before what a page binds to the same letter.
  document.addEventListener("keydown", second, { capture: true });
}
