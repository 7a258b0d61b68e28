// OpenAI's SDK with memory: nothing changes but the base URL (docs/proxy.md).
//
//     npm install
//     throughline serve &
//     npx tsx openai.ts "When do we deploy?"
//
// The model's key is the daemon's: OPENAI_API_KEY in its environment, or `openai.key` beside the config file.

import OpenAI from "openai";
import { token, url } from "./daemon.js";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
const content = process.argv.slice(2).join(" ") || "What do you know about me?";
const asked = client.chat.completions.create({
  model: process.env.MODEL || "gpt-5-mini",
  messages: [{ role: "user", content }],
});
const { data, response } = await asked.withResponse();
console.log(data.choices[0].message.content);
console.error("memory:", response.headers.get("x-throughline-memory"));
