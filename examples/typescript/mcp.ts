// An MCP client with the official SDK: keeps a fact and finds it in other words (docs/mcp.md).
//
//     npm install
//     npx tsx mcp.ts
//
// Starts `throughline mcp` itself; no daemon is needed.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const command = process.env.THROUGHLINE || "throughline";
const env = process.env as Record<string, string>;
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args: ["mcp"], env }));

const call = async (name: string, args: object): Promise<any> => {
  const answer = await client.callTool({ name, arguments: { ...args } });
  return answer.structuredContent;
};
const kept = await call("memory_write", { action: "add", layer: "L1", content: "We deploy on Fridays at noon" });
console.log("kept", kept.id);
const { hits } = await call("memory_recall", { query: "which day is deployment?", limit: 3 });
for (const hit of hits) console.log("found", hit.content);
await client.close();
