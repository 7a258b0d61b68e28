// The memory over plain HTTP (docs/http.md): keeps a fact and finds it in other words.
//
//     npm install
//     throughline serve &
//     npx tsx http.ts

import { token, url } from "./daemon.js";

async function post(path: string, body: object): Promise<any> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const kept = await post("/api/memories", { content: "We deploy on Fridays at noon", tags: ["ops"] });
console.log("kept", kept.id);
const { hits } = await post("/api/recall", { query: "which day is deployment?" });
for (const hit of hits) console.log("found", hit.content);
