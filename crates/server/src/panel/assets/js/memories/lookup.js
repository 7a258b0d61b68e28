// Memories by their ids, each fetched once while the page is open.
//
//   const find = lookup(signal)      await find(id)     the memory, or null where it is gone
import { api, statusOf } from "../api.js";

/** @typedef {(id: string) => Promise<Api.Memory | null>} Lookup */

/**
 * @param {AbortSignal} signal
 * @returns {Lookup}
 */
export function lookup(signal) {
  /** @type {Map<string, Promise<Api.Memory | null>>} */
  const known = new Map();

  /** @param {string} id */
  async function fetchOne(id) {
    try {
      return await api.get(`/api/memories/${encodeURIComponent(id)}`, null, { signal });
    } catch (error) {
      if (statusOf(error) === 404) return null;
      known.delete(id);
      throw error;
    }
  }

  return (id) => {
    const found = known.get(id) ?? fetchOne(id);
    known.set(id, found);
    return found;
  };
}
