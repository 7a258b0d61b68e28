// Runs the official MCP conformance suite against a daemon, and prints every check as JSON.
//
//     node conformance.mjs '{"suite": PROGRAM, "daemon": URL, "token": TOKEN, "revision": DATE, "results": DIRECTORY}'
//
// The suite cannot send a token: a relay adds it to each request, and puts the daemon's port for its own. Everything else is
// passed on as it is.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import http from "node:http";
import path from "node:path";

const { suite, daemon, token, revision, results } = JSON.parse(process.argv[2]);
const target = new URL(daemon);

function renamed(value) {
  return value?.replace(`:${relay.address().port}`, `:${target.port}`);
}

function onward(request) {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  for (const name of ["host", "origin"]) {
    if (name in headers) headers[name] = renamed(headers[name]);
  }
  return http.request({ host: target.hostname, port: target.port, method: request.method, path: request.url, headers });
}

const relay = http.createServer((request, response) => {
  const asked = onward(request);
  asked.on("response", (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  asked.on("error", () => response.destroy());
  response.on("close", () => asked.destroy());
  request.pipe(asked);
});

function checks() {
  return readdirSync(results).flatMap((directory) => {
    const scenario = directory.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const found = JSON.parse(readFileSync(path.join(results, directory, "checks.json"), "utf8"));
    return found.map(({ id, status, errorMessage }) => ({ scenario, id, status, message: errorMessage ?? "" }));
  });
}

relay.listen(0, "127.0.0.1", () => {
  const url = `http://localhost:${relay.address().port}/mcp`;
  const options = ["--url", url, "--suite", "all", "--spec-version", revision, "--timeout", "300000", "-o", results];
  const run = spawn(process.execPath, [suite, "server", ...options], { stdio: ["ignore", "ignore", "inherit"] });
  run.on("exit", () => {
    process.stdout.write(JSON.stringify(checks()), () => process.exit(0));
  });
});
