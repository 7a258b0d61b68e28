// The official SDKs for TypeScript, as any program uses them: a base URL, a key, and nothing of ours. Prints what they got.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const HOW = JSON.parse(process.argv[2]);
const TOOL = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };

/** What an SDK makes of an error: its class, the status and the body of the server. */
async function failure(call) {
  try {
    await call();
  } catch (error) {
    return [error.constructor.name, error.status ?? null, error.error ?? null];
  }
  return null;
}

async function all(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function times(count, call) {
  const results = [];
  for (let n = 0; n < count; n += 1) results.push(await call());
  return results;
}

async function withOpenAI() {
  const client = new OpenAI({ baseURL: HOW.base_url, apiKey: HOW.key, maxRetries: 0 });
  const got = {};
  const chat = (messages, more = {}) => client.chat.completions.create({ model: "scripted", messages, ...more });
  const hello = [{ role: "user", content: "Hello, who am I?" }];
  got.chat = (await chat(hello)).choices[0].message.content;
  const streamed = await all(await chat(hello, { stream: true }));
  got.stream = streamed.filter((part) => part.choices.length).map((part) => part.choices[0].delta.content ?? null);

  const tools = [{ type: "function", function: { name: "lookup", parameters: TOOL } }];
  const asked = [{ role: "user", content: "When is the deploy?" }];
  const called = (await chat(asked, { tools })).choices[0].message;
  got.call = called.tool_calls.map((call) => [call.id, call.function.name, call.function.arguments]);
  const result = { role: "tool", tool_call_id: called.tool_calls[0].id, content: "Friday" };
  got.answer = (await chat([...asked, called, result], { tools })).choices[0].message.content;
  const pieces = (await all(await chat(asked, { tools, stream: true }))).filter((part) => part.choices.length);
  const calls = pieces.map((part) => part.choices[0].delta.tool_calls).filter(Boolean);
  got["streamed call"] = calls.map((call) => call[0].function.arguments ?? "").join("");

  const respond = (more) => client.responses.create({ model: "scripted", input: "Hello again", ...more });
  got.response = (await respond({})).output_text;
  const events = await all(await respond({ stream: true }));
  got["response stream"] = events.filter((e) => e.type === "response.output_text.delta").map((event) => event.delta);
  got["response call"] = (await respond({ tools: [] })).output.map((item) => item.name);

  got.errors = await times(4, () => failure(() => chat(hello)));
  got["error in stream"] = await failure(async () => all(await chat(hello, { stream: true })));
  const cancelled = await chat(hello, { stream: true });
  for await (const part of cancelled) {
    if (!part.choices[0].delta.content) continue;
    got["before the end"] = part.choices[0].delta.content;
    cancelled.controller.abort();
    break;
  }
  got.models = (await client.models.list()).data.map((model) => model.id);
  got.embedding = (await client.embeddings.create({ model: "m", input: "x", encoding_format: "float" })).data[0].embedding;
  return got;
}

async function withAnthropic() {
  const client = new Anthropic({ baseURL: HOW.base_url, apiKey: HOW.key, maxRetries: 0 });
  const got = {};
  const about = { model: "scripted", max_tokens: 100 };
  const send = (messages, more = {}) => client.messages.create({ ...about, messages, ...more });
  const hello = [{ role: "user", content: "Hello, who am I?" }];
  got.chat = (await send(hello)).content[0].text;
  const stream = client.messages.stream({ ...about, messages: hello });
  got.stream = [];
  stream.on("text", (text) => got.stream.push(text));
  got.stop = (await stream.finalMessage()).stop_reason;

  const tools = [{ name: "lookup", input_schema: TOOL }];
  const asked = [{ role: "user", content: "When is the deploy?" }];
  const called = await send(asked, { tools });
  const call = called.content.at(-1);
  got.call = [call.id, call.name, call.input];
  const result = { type: "tool_result", tool_use_id: call.id, content: "Friday" };
  const answered = [...asked, { role: "assistant", content: called.content }, { role: "user", content: [result] }];
  got.answer = (await send(answered, { tools })).content[0].text;
  const calling = await client.messages.stream({ ...about, messages: asked, tools }).finalMessage();
  got["streamed call"] = calling.content.at(-1).input;

  got.errors = await times(4, () => failure(() => send(hello)));
  got["error in stream"] = await failure(async () => all(await send(hello, { stream: true })));
  const cancelled = await send(hello, { stream: true });
  for await (const event of cancelled) {
    if (event.type !== "content_block_delta") continue;
    got["before the end"] = event.delta.text;
    cancelled.controller.abort();
    break;
  }
  got.models = (await client.models.list()).data.map((model) => model.id);
  got.tokens = (await client.messages.countTokens({ model: "scripted", messages: hello })).input_tokens;
  return got;
}

const run = { openai: withOpenAI, anthropic: withAnthropic }[HOW.sdk];
console.log(JSON.stringify(await run()));
