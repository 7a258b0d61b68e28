// The settings in force, by section, each with where it comes from. Numbers and switches that decide how memory
// works are changed here; the others in the file.
import { h } from "../dom.js";
import { chip, empty } from "../components/parts.js";

/** @typedef {(setting: Api.Setting, value: boolean | number | null) => unknown} Change */

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
 * @param {{ onlySet: boolean, onchange: Change }} options
 */
export function drawConfig(settings, { onlySet, onchange }) {
  const shown = settings.filter(({ from, next }) => !onlySet || from !== "default" || next !== undefined);
  if (!shown.length) return empty({ icon: "settings", title: "Nothing differs from the defaults" });
  /** @type {Map<string, HTMLElement[]>} */
  const sections = new Map();
  for (const setting of shown) {
    const [section, ...rest] = setting.key.split(".");
    const rows = sections.get(section) ?? [];
    rows.push(row(rest.join(".") || section, setting, onchange));
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
 * @param {Change} onchange
 */
function row(name, setting, onchange) {
  const { value, from, next } = setting;
  const isDefault = from === "default";
  const origin = isDefault ? h("span.muted", "default") : chip("set in the file", { kind: "accent" });
  const plain = value === "unset" ? h("span.muted", "not set") : h("code", value);
  const later = next === undefined ? null : h("small.config-next", `${next} from the next start on`);
  return h(
    "tr",
    { class: isDefault ? "is-default" : "" },
    h("th", { scope: "row" }, h("code", name)),
    h("td", setting.change ? control(setting, onchange) : plain, later),
    h("td", origin),
  );
}

/**
 * @param {Api.Setting} setting
 * @param {Change} onchange
 */
function control(setting, onchange) {
  const { key, value, next } = setting;
  const now = next ?? value;
  if (setting.change === "flag") {
    const box = h("input", {
      type: "checkbox",
      "aria-label": key,
      checked: now === "true",
      onchange: (event) => onchange(setting, event.currentTarget.checked),
    });
    return h("label.config-flag", box, now === "true" ? "on" : "off");
  }
  return h("input.config-number", {
    type: "number",
    min: "0",
    step: "1",
    "aria-label": key,
    value: now,
    onchange: (event) => {
      const typed = event.currentTarget.valueAsNumber;
      if (Number.isSafeInteger(typed)) onchange(setting, typed);
      else event.currentTarget.value = now;
    },
  });
}
