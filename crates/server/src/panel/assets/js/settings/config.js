// The settings in force, by section, each with where it comes from. They are changed in the file, not here.
import { h } from "../dom.js";
import { chip, empty } from "../components/parts.js";

/** @type {Record<string, string>} */
const TITLES = {
  memory: "Memory",
  model: "Model",
  embeddings: "Embeddings",
  reflection: "Reflection",
  inject: "What is injected",
  server: "Daemon",
  backup: "Backups",
  vault: "Vault",
};

/**
 * @param {Api.Setting[]} settings
 * @param {{ onlySet: boolean }} options
 */
export function drawConfig(settings, { onlySet }) {
  const shown = settings.filter(({ from }) => !onlySet || from !== "default");
  if (!shown.length) return empty({ icon: "settings", title: "Nothing differs from the defaults" });
  /** @type {Map<string, HTMLElement[]>} */
  const sections = new Map();
  for (const setting of shown) {
    const [section, ...rest] = setting.key.split(".");
    const rows = sections.get(section) ?? [];
    rows.push(row(rest.join(".") || section, setting));
    sections.set(section, rows);
  }
  return [...sections].map(([section, rows]) => drawSection(section, rows));
}

/**
 * @param {string} section
 * @param {HTMLElement[]} rows
 */
function drawSection(section, rows) {
  const title = TITLES[section] ?? section;
  return h(
    "section.config-section",
    { "aria-label": title },
    h("h3", title, " ", h("code", `[${section}]`)),
    h(
      "table.config",
      h("thead.visually-hidden", h("tr", h("th", "Setting"), h("th", "Value"), h("th", "From"))),
      h("tbody", rows),
    ),
  );
}

/**
 * @param {string} name
 * @param {Api.Setting} setting
 */
function row(name, { value, from }) {
  const isDefault = from === "default";
  const origin = from === "file" ? "set in the file" : from;
  return h(
    "tr",
    { class: isDefault ? "is-default" : "" },
    h("th", { scope: "row" }, h("code", name)),
    h("td", value === "unset" ? h("span.muted", "not set") : h("code", value)),
    h("td", isDefault ? h("span.muted", "default") : chip(origin, { kind: from === "file" ? "accent" : "" })),
  );
}
