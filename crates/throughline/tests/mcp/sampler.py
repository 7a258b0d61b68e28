"""An MCP client made of the official SDK that offers sampling, and calls a tool again and again until it is told to stop.

Reads how to connect and how to answer as JSON from its first argument; makes a file `connected` after its first call, `asked`
when it is asked, `called` after a call that it made since, and ends when there is a file `stop`. Prints what it
was asked, and how long the slowest call of a tool took.
"""

import json
import pathlib
import sys
import time

import anyio
from client import transport
from mcp import types
from mcp.client import Client


def text(words):
    content = types.TextContent(type="text", text=words)
    return types.CreateMessageResult(role="assistant", content=content, model="stand-in", stop_reason="endTurn")


async def answer(how, prompt):
    match how["answers"]:
        case "well":
            task = prompt.splitlines()[0].removeprefix("Task: ")
            return text(how["replies"][task])
        case "refuse":
            return types.ErrorData(code=-1, message="User rejected sampling request")
        case "hang":
            await anyio.sleep_forever()
        case "raise":
            raise RuntimeError("no model is configured")
        case "garbage":
            return text('{"error": "N/A"}')
        case "nothing":
            return text("  ")
        case "image":
            content = types.ImageContent(type="image", data="AAAA", mime_type="image/png")
            return types.CreateMessageResult(role="assistant", content=content, model="stand-in")
        case "huge":
            return text("more and more\n" * (how["size"] // 14))


async def stay(how):
    root = pathlib.Path(how["root"])
    got = {"asked": [], "calls": 0, "slowest": 0.0}

    async def sample(_, params):
        assert params.tools is None and len(params.messages) == 1
        prompt = params.messages[0].content.text
        hints = params.model_preferences and [hint.name for hint in params.model_preferences.hints]
        (root / "asked").touch()
        got["asked"].append({"prompt": prompt, "max_tokens": params.max_tokens, "hints": hints})
        return await answer(how, prompt)

    client = Client(
        transport(how),
        mode=how["mode"],
        client_info=types.Implementation(name="Sampling SDK", version="2"),
        sampling_callback=sample if how["answers"] != "unable" else None,
    )
    async with client:
        got["protocol"] = client.protocol_version
        while not (root / "stop").exists():
            began, is_asked = time.monotonic(), (root / "asked").exists()
            answered = await client.call_tool(how["tool"], {"query": "launch"} if how["tool"] == "memory_recall" else {})
            assert not answered.is_error or "is under way already" in answered.content[0].text, answered
            got["slowest"] = max(got["slowest"], time.monotonic() - began)
            got["calls"] += 1
            (root / ("called" if is_asked else "connected")).touch()
            await anyio.sleep(0.05)
        leaving = time.monotonic()
    got["leaving"] = time.monotonic() - leaving
    return got


print(json.dumps(anyio.run(stay, json.loads(sys.argv[1]))))
