// Talks to the daemon.
//
//   const { memories, cursor } = await api.get("/api/memories", { layer: "knowledge", tag: ["a", "b"] }, { signal })
//   await api.post("/api/tasks", { title })      api.put, api.patch, api.del alike
//   const { body, etag } = await api.ask("GET", "/api/documents/user/profile")     where the ETag is needed
//   await api.ask("PUT", path, { body, headers: { "If-Match": etag } })
//
// What fails throws `ApiError` with status, code, message, hint and `body`; `isAborted(error)` tells an answer that nobody
// waits for any more. `onDaemon(listener)` hears "away" when the daemon does not answer, "closed" when it does not know this
// browser any more, "lost" (with message and hint) when its database is not in its place, and "here" when all is well again.

export class ApiError extends Error {
  constructor(status, body) {
    const error = body?.error ?? {};
    super(error.message ?? `the daemon answered ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.code = error.code ?? "failed";
    this.hint = error.hint ?? null;
    this.body = body;
  }
}

export class Unreachable extends Error {
  constructor() {
    super("The daemon does not answer");
    this.name = "Unreachable";
    this.hint = "It may be restarting; nothing was lost. `throughline serve` starts it.";
  }
}

const listeners = new Set();
let daemon = "here";

export function onDaemon(listener) {
  listeners.add(listener);
}

export function setDaemon(now, error = null) {
  if (now === daemon) return;
  daemon = now;
  for (const listener of listeners) listener(now, error);
}

/// An answer came: the daemon is here, unless it has lost its database, which only `/healthz` can tell to be over.
export function answered(path) {
  if (daemon === "lost" ? path === "/healthz" : path !== "/healthz" || daemon === "away") setDaemon("here");
}

export function isAborted(error) {
  return error?.name === "AbortError";
}

export function withQuery(path, query) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") search.append(key, one);
    }
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/// A part of a path that may hold slashes, as the name of a document does.
export function segments(name) {
  return name.split("/").map(encodeURIComponent).join("/");
}

async function fetchRaw(method, path, { query, body, headers, signal } = {}) {
  const init = { method, signal, credentials: "same-origin", headers: { ...headers } };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(withQuery(path, query), init);
  } catch (error) {
    if (isAborted(error)) throw error;
    setDaemon("away");
    throw new Unreachable();
  }
  if (response.status === 401) setDaemon("closed");
  else if (response.status !== 503) answered(path);
  if (!response.ok) {
    let answer = null;
    try {
      answer = await response.json();
    } catch {
      // Not ours, or cut off: the status says enough.
    }
    if (answer?.error?.code === "unavailable") setDaemon("lost", answer.error);
    throw new ApiError(response.status, answer);
  }
  return response;
}

async function ask(method, path, options) {
  const response = await fetchRaw(method, path, options);
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return { body: isJson && text ? JSON.parse(text) : text, etag: response.headers.get("etag"), status: response.status };
}

const bodyOf = async (...given) => (await ask(...given)).body;

export const api = {
  ask,
  raw: fetchRaw,
  get: (path, query, options) => bodyOf("GET", path, { ...options, query }),
  post: (path, body = {}, options) => bodyOf("POST", path, { ...options, body }),
  put: (path, body, options) => bodyOf("PUT", path, { ...options, body }),
  patch: (path, body, options) => bodyOf("PATCH", path, { ...options, body }),
  del: (path, query, options) => bodyOf("DELETE", path, { ...options, query }),
};

/// Asks for as long as only the newest answer matters: `const search = newest(); await search((signal) => api.post(…, { signal }))`.
/// An answer that was overtaken never arrives; the promise rejects as aborted.
export function newest(outer) {
  let current = null;
  outer?.addEventListener("abort", () => current?.abort());
  return (run) => {
    current?.abort();
    current = new AbortController();
    return run(current.signal);
  };
}
