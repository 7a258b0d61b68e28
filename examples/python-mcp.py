#!/usr/bin/env python3
"""An MCP client with the official SDK: keeps a fact and finds it in other words (docs/mcp.md).

    pip install mcp
    python3 examples/python-mcp.py

Starts `throughline mcp` itself; no daemon is needed.
"""

import asyncio
import os

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

server = StdioServerParameters(command=os.environ.get("THROUGHLINE", "throughline"), args=["mcp"], env=dict(os.environ))


async def main():
    async with Client(stdio_client(server)) as client:
        fact = {"action": "add", "layer": "L1", "content": "We deploy on Fridays at noon"}
        kept = await client.call_tool("memory_write", fact)
        print("kept", kept.structured_content["id"])
        found = await client.call_tool("memory_recall", {"query": "which day is deployment?", "limit": 3})
        for hit in found.structured_content["hits"]:
            print("found", hit["content"])


asyncio.run(main())
