// One thing that was learnt, with what it replaced and the words it came from.
//
//   reviewItem(item, { ondecide, onfocus })    ondecide("keep" | "edit" | "drop" | "rule")
import { h } from "../dom.js";
import { wordDiff } from "../components/diff.js";
import { chip, when } from "../components/parts.js";
import { icon } from "../icons.js";
import { href } from "../router.js";
import { channelName, channelOf, nameOf } from "../conversations/names.js";
import { plainText } from "../documents/marks.js";

/** @import { IconName } from "../icons.js" */

/** @type {[verdict: Api.Verdict, key: string, title: string, name: IconName, about: string][]} */
export const VERDICTS = [
  ["keep", "k", "Keep", "check", "It is right"],
  ["edit", "e", "Edit", "edit", "It is right in other words"],
  ["rule", "r", "Make it a rule", "pin", "It always holds: it is told first"],
  ["drop", "d", "Drop", "forget", "It is not wanted; what it replaced stands again"],
];

/**
 * @param {Api.ReviewItem} item
 * @param {{ ondecide: (verdict: Api.Verdict) => void, onfocus: () => void }} options
 */
export function reviewItem(item, { ondecide, onfocus }) {
  const { memory, evidence } = item;
  return h(
    "li.review-item",
    {
      tabIndex: -1,
      dataset: { id: memory.id },
      "aria-label": `Learnt: ${plainText(memory.content)}`,
      onfocusin: onfocus,
      onpointerdown: onfocus,
    },
    h(
      "div.review-main",
      h("div.review-facts", kindOf(item), when(memory.created_at), place(memory)),
      h("p.review-text", plainText(memory.content)),
      replaced(item),
      h(
        "div.row.wrap.review-actions",
        VERDICTS.map(([verdict, key, title, name, about]) =>
          h(
            "button.small",
            {
              type: "button",
              title: about,
              "aria-keyshortcuts": key,
              dataset: { verdict },
              class: verdict === "keep" ? "primary" : "",
              onclick: () => ondecide(verdict),
            },
            icon(name, 16),
            title,
            h("kbd", { "aria-hidden": "true" }, key),
          ),
        ),
      ),
    ),
    h(
      "div.review-evidence",
      h("h3", "Where it comes from"),
      evidence.length ? evidence.map(quote) : noEvidence(memory),
    ),
  );
}

/**
 * A line that only moved says what it said.
 * @param {Api.ReviewItem} item
 */
const isReplaced = ({ memory, replaced: former }) =>
  former !== undefined && plainText(former.content) !== plainText(memory.content);

/** @param {Api.ReviewItem} item */
function kindOf(item) {
  const { memory } = item;
  if (isReplaced(item)) return chip("Replaced something", { kind: "warn" });
  if (memory.layer === "identity") return chip("About you", { kind: "accent" });
  return chip("New", { kind: "accent" });
}

/** @param {Api.Memory} memory */
function place({ project, kind, namespace }) {
  if (project) return h("span", "in ", h("a", { href: href("memories", { project }) }, project));
  if (kind === "bullet") return h("span", "in ", h("a", { href: href(`documents/${namespace}`) }, namespace));
  return null;
}

/** @param {Api.ReviewItem} item */
function replaced(item) {
  const { memory, replaced: former, also_replaced: others = [] } = item;
  if (!former || !isReplaced(item)) return null;
  return h(
    "div.review-replaced",
    h("h3", "Before"),
    h("div.review-diff", wordDiff(plainText(former.content), plainText(memory.content))),
    others.map((other) => h("p.review-former", plainText(other.content))),
  );
}

/** @param {Api.Evidence} turn */
function quote(turn) {
  const { session, content, speaker, source, created_at: at, title } = turn;
  const who = speaker ?? (source === "user" ? "You" : "An assistant");
  const talk = session
    ? h("a", { href: href("conversations", { id: session, turn: turn.id }) }, title ?? nameOf(session))
    : title;
  return h(
    "figure.review-quote",
    h("blockquote", content),
    h(
      "figcaption",
      who,
      talk ? [" in ", talk] : null,
      session ? `, ${channelName(channelOf(session))}, ` : ", ",
      when(at),
    ),
  );
}

/** @param {Api.Memory} memory */
function noEvidence({ session, provenance = [] }) {
  if (session) return h("p.muted", "From ", h("a", { href: href(`conversations/${session}`) }, nameOf(session)), ".");
  const why = provenance.length ? "The conversation is no longer kept." : "Worked out by looking back on your memory.";
  return h("p.muted", why);
}
