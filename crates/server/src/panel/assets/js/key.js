// The key of this browser's pass. The cookie alone opens nothing: browsers show it to every port of this host. This
// storage belongs to the panel's own port, for every tab and across reloads.

const NAME = "throughline-key";

/** @param {string} key */
export function keepKey(key) {
  localStorage.setItem(NAME, key);
}

/** The key, or nothing where a new link is needed. */
export function keyOf() {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}
