// Memories by their ids, each asked for once while the page is open.
//
//   const find = lookup(signal)      await find(id)     the memory, or null where it is gone
import { api } from "../api.js";

export function lookup(signal) {
  const known = new Map();
  return (id) => {
    if (!known.has(id)) {
      known.set(
        id,
        api.get(`/api/memories/${encodeURIComponent(id)}`, null, { signal }).catch((error) => {
          if (error.status === 404) return null;
          known.delete(id);
          throw error;
        }),
      );
    }
    return known.get(id);
  };
}
