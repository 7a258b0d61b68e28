// What the chat shows where no model is configured: how to configure one.
import { h } from "../dom.js";
import { icon } from "../icons.js";
import { coded } from "../components/parts.js";

const CHOICES = [
  [
    "On this machine",
    "Nothing leaves it. Needs Ollama and a model that it has.",
    '[model]\nprovider = "ollama"\nmodel = "llama3.2"',
  ],
  [
    "Over the network",
    "What you say and what memory gives goes to the provider. The key stays in your environment.",
    '[model]\nprovider = "anthropic"\nmodel = "…"\napi_key_env = "ANTHROPIC_API_KEY"',
  ],
];

/**
 * @param {Api.ChatModel} model
 * @param {string | null | undefined} path of the config file
 */
export function absentModel({ provider, why }, path) {
  return h(
    "div.chat-absent",
    h("div.empty-icon", icon("chat", 28)),
    h("h2", "No model to talk to yet"),
    h("p.soft", "Chat needs a language model. Everything else here works without one."),
    h(
      "div.chat-choices",
      CHOICES.map(([title, text, config]) =>
        h(
          "section.card",
          { "aria-label": title },
          h("h2", title),
          h("p.muted", text),
          h("pre", { tabIndex: 0 }, config),
        ),
      ),
    ),
    h(
      "p.soft",
      "Put one of these into ",
      path ? h("code", path) : "the config file",
      coded(", then start `throughline serve` again."),
    ),
    // The default provider cannot chat, which needs no explanation; a configured one that fails does.
    why && provider !== "offline" ? h("p.notice", coded(why)) : null,
  );
}
