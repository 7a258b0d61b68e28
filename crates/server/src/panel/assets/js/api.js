// Requests to the daemon.
//
//   const { memories, cursor } = await api.get("/api/memories", { layer: "knowledge", tag: ["a", "b"] }, { signal })
//   await api.post("/api/tasks", { title })      api.patch, api.del alike
//   const { body, etag } = await api.ask("GET", "/api/documents/user/profile")     where the ETag is needed
//   await api.ask("PUT", path, { body, headers: { "If-Match": etag } })
//
// A failure throws `ApiError` with status, code, message, hint and `body`; `isAborted(error)` is true for a request
// that was cancelled. `onDaemon(listener)` is called with "away" when the daemon does not answer, "closed" when it no
// longer knows this browser, "lost" (with the error) when its database is not in its place, and "here" when it answers
// again.

import { keyOf } from "./key.js";

/** @typedef {"here" | "away" | "closed" | "lost"} DaemonState */
/** @typedef {(now: DaemonState, error: ApiError | null) => void} DaemonListener */

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Api.ErrorBody | null} body
   */
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

/** @type {Set<DaemonListener>} */
const listeners = new Set();
/** @type {DaemonState} */
let daemon = "here";

/** @param {DaemonListener} listener */
export function onDaemon(listener) {
  listeners.add(listener);
}

/**
 * @param {DaemonState} now
 * @param {ApiError | null} [error]
 */
export function setDaemon(now, error = null) {
  if (now === daemon) return;
  daemon = now;
  for (const listener of listeners) listener(now, error);
}

/**
 * An answer came: the daemon is here, unless it has lost its database; only `/healthz` can tell that this is over.
 * @param {string} path
 */
export function answered(path) {
  if (daemon === "lost" ? path === "/healthz" : path !== "/healthz" || daemon === "away") setDaemon("here");
}

/** @param {unknown} error */
export function isAborted(error) {
  return error instanceof Error && error.name === "AbortError";
}

/**
 * The status of a refused request; 0 for every other error.
 * @param {unknown} error
 */
export function statusOf(error) {
  return error instanceof ApiError ? error.status : 0;
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {unknown} error
 * @returns {string | null}
 */
export function hintOf(error) {
  return error instanceof ApiError || error instanceof Unreachable ? error.hint : null;
}

/**
 * @param {string} path
 * @param {Api.Query} [query] a list becomes several parameters of the same name; what is empty is left out
 */
export function withQuery(path, query) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") search.append(key, String(one));
    }
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * A part of a path that may hold slashes, as the name of a document does.
 * @param {string} name
 */
export function segments(name) {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** @param {Response} response */
async function errorOf(response) {
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    // Not from the daemon, or cut off: the status says enough.
  }
  return new ApiError(response.status, answer);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Api.RequestOptions} [options]
 * @returns {Promise<Response>}
 */
async function fetchRaw(method, path, { query, body, headers, signal } = {}) {
  /** @type {RequestInit} */
  const init = { method, signal, credentials: "same-origin", headers: { ...headers, "Throughline-Key": keyOf() } };
  if (body !== undefined) {
    init.headers = { ...init.headers, "Content-Type": "application/json" };
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
    const error = await errorOf(response);
    if (error.code === "unavailable") setDaemon("lost", error);
    throw error;
  }
  return response;
}

/**
 * The body is whatever the route answers with: `Api.Get` and the like say what that is.
 * @param {string} method
 * @param {string} path
 * @param {Api.RequestOptions} [options]
 * @returns {Promise<Api.Answer<any>>}
 */
async function ask(method, path, options) {
  const response = await fetchRaw(method, path, options);
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return {
    body: isJson && text ? JSON.parse(text) : text,
    etag: response.headers.get("etag"),
    status: response.status,
  };
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Api.RequestOptions} options
 */
const bodyOf = async (method, path, options) => (await ask(method, path, options)).body;

/** @type {{ ask: Api.Ask, raw: typeof fetchRaw, get: Api.Get, post: Api.Post, patch: Api.Patch, del: Api.Delete }} */
export const api = {
  ask,
  raw: fetchRaw,
  get: (/** @type {string} */ path, /** @type {Api.Query} */ query = null, /** @type {Api.Options} */ options = {}) =>
    bodyOf("GET", path, { ...options, query }),
  post: (/** @type {string} */ path, /** @type {object} */ body = {}, /** @type {Api.Options} */ options = {}) =>
    bodyOf("POST", path, { ...options, body }),
  patch: (/** @type {string} */ path, /** @type {object} */ body, /** @type {Api.Options} */ options = {}) =>
    bodyOf("PATCH", path, { ...options, body }),
  del: (/** @type {string} */ path, /** @type {Api.Query} */ query = null, /** @type {Api.Options} */ options = {}) =>
    bodyOf("DELETE", path, { ...options, query }),
};

/**
 * Cancels the previous request when the next one starts, so that only the newest answer arrives; the promise of a
 * cancelled one rejects as aborted.
 *
 *   const latest = new Newest(signal)
 *   await latest.run((abort) => api.post(path, body, { signal: abort }))
 *   latest.cancel()
 */
export class Newest {
  /** @param {AbortSignal} [outer] cancels too */
  constructor(outer) {
    /** @type {AbortController | null} */
    this.current = null;
    outer?.addEventListener("abort", () => this.cancel());
  }

  cancel() {
    this.current?.abort();
    this.current = null;
  }

  /**
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} start
   */
  run(start) {
    this.cancel();
    this.current = new AbortController();
    return start(this.current.signal);
  }
}
