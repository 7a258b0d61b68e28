// Muting: a memory that is never given, everywhere or in one project, although a search still finds it.
import { h } from "../dom.js";
import { api } from "../api.js";
import { changedHere } from "../live.js";
import { dialog } from "../components/dialog.js";
import { chip } from "../components/parts.js";
import { toast } from "../components/toast.js";
import { pathOf } from "../memories/actions.js";

/**
 * Where a project is chosen, asks first whether only there. Gives what takes it back, or null where the person did not
 * want it after all.
 * @param {string} id
 * @param {string} project
 * @returns {Promise<(() => Promise<void>) | null>}
 */
export async function mute(id, project) {
  const where = project ? await chosen(project) : "";
  if (where === null) return null;
  await say(id, where, false);
  const undo = () => say(id, where, true);
  toast(where ? `Not given in ${where} any more` : "Never given any more", { hint: "A search still finds it.", undo });
  return undo;
}

/** @param {Api.Memory} memory */
export const isMuted = ({ muted, muted_in: projects = [] }) => Boolean(muted) || projects.length > 0;

/** @param {Api.Memory} memory */
export const mutedWhere = ({ muted, muted_in: projects = [] }) => (muted ? "never" : `not in ${projects.join(", ")}`);

/** @param {Api.Memory} memory */
export const mutedChip = (memory) =>
  isMuted(memory) ? chip(memory.muted ? "muted" : `muted in ${(memory.muted_in ?? []).join(", ")}`) : null;

/** @param {Api.Memory} memory */
export async function giveAgain({ id, muted, muted_in: projects = [] }) {
  const places = [...(muted ? [""] : []), ...projects];
  for (const place of places) await say(id, place, true);
  toast("Given again wherever it fits");
}

/**
 * @param {string} id
 * @param {string} project
 * @param {boolean} off whether it is given again
 */
async function say(id, project, off) {
  await api.post(`${pathOf(id)}/mute`, { off, ...(project ? { project } : {}) });
  changedHere("memories", "documents");
}

/**
 * @param {string} project
 * @returns {Promise<string | null>} the project, an empty text for everywhere, null where the person changed their mind
 */
function chosen(project) {
  return new Promise((resolve) => {
    /** @type {string | null} */
    let answer = null;
    /** @type {(title: string, value: string, kind?: string) => HTMLButtonElement} */
    const button = (title, value, kind = "") =>
      h(
        "button",
        {
          type: "button",
          class: kind,
          onclick: () => {
            answer = value;
            close();
          },
        },
        title,
      );
    const here = button(`Only in ${project}`, project, "primary");
    const close = dialog({
      title: "Mute where?",
      body: h("p", "It is not given any more, and a search still finds it."),
      actions: [button("Everywhere", ""), here],
      onclose: () => resolve(answer),
    });
    here.focus();
  });
}
