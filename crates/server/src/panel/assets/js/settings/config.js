// The settings in force, by section, each with where it comes from. Numbers and switches that decide how memory
// works are changed here; the others in the file.
import { h } from "../dom.js";
import { chip, coded, empty } from "../components/parts.js";

/** @typedef {(setting: Api.Setting, value: boolean | number | null) => unknown} Change */

/** @type {Record<string, string>} */
const TITLES = {
  memory: "What is remembered and given",
  model: "The model that reads and sums up",
  embeddings: "Search by meaning",
  reflection: "Tidying memory",
  inject: "What assistants are told by themselves",
  hooks: "Coding assistants on the command line",
  server: "The service in the background",
  store: "Where memory is kept",
  channels: "Chats that you write from",
  proxy: "Between a program and its model",
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
      h("colgroup", h("col.config-name"), h("col"), h("col.config-from")),
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
  const { value, from, next, about } = setting;
  const isDefault = from === "default";
  const origin = isDefault ? h("span.muted", "default") : chip("set in the file", { kind: "accent" });
  const plain = value === "unset" ? h("span.muted", "not set") : h("code", value);
  const later = next === undefined ? null : h("small.config-next", `${next} from the next start on`);
  return h(
    "tr",
    { class: isDefault ? "is-default" : "" },
    h("th", { scope: "row" }, h("span.config-about", coded(about)), h("code", name)),
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
