// The settings in force, by section, each with where it comes from. They are changed in the file, not here.
//
//   drawConfig(settings, { onlySet })
import { h } from "../dom.js";
import { chip, empty } from "../components/parts.js";

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
const FROM = { file: ["set in the file", "accent"], default: ["default", ""] };

export function drawConfig(settings, { onlySet }) {
  const shown = settings.filter(({ from }) => !onlySet || from !== "default");
  if (!shown.length) return empty({ icon: "settings", title: "Nothing differs from the defaults" });
  const sections = new Map();
  for (const each of shown) {
    const [section, ...rest] = each.key.split(".");
    if (!sections.has(section)) sections.set(section, []);
    sections.get(section).push({ ...each, name: rest.join(".") || section });
  }
  return [...sections].map(([section, all]) =>
    h(
      "section.config-section",
      { "aria-label": TITLES[section] ?? section },
      h("h3", TITLES[section] ?? section, " ", h("code", `[${section}]`)),
      h(
        "table.config",
        h("thead.visually-hidden", h("tr", h("th", "Setting"), h("th", "Value"), h("th", "From"))),
        h("tbody", all.map(row)),
      ),
    ),
  );
}

function row({ name, value, from }) {
  const [said, kind] = FROM[from] ?? [from, ""];
  const isUnset = value === "unset";
  return h(
    "tr",
    { class: from === "default" ? "is-default" : "" },
    h("th", { scope: "row" }, h("code", name)),
    h("td", isUnset ? h("span.muted", "not set") : h("code", value)),
    h("td", from === "default" ? h("span.muted", said) : chip(said, { kind })),
  );
}
