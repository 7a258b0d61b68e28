"""An MCP client made of the official SDK and nothing of ours: lists and calls everything that a server offers.

Reads how to connect as JSON from its first argument and prints what it got as JSON. Answers of tools are validated against
their output schemas by the SDK itself.
"""

import json
import sys

import anyio
import httpx2
from mcp import types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


def transport(how):
    if "url" in how:
        headers = {"Authorization": f"Bearer {how['token']}"}
        return streamable_http_client(how["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=300))
    server = StdioServerParameters(command=how["command"], args=["mcp"], env=how["env"], cwd=how["directory"])
    return stdio_client(server)


async def refused(call):
    """The protocol's error of a call that must fail."""
    try:
        await call
    except MCPError as error:
        return {"code": error.error.code, "message": error.error.message, "data": error.error.data}
    raise AssertionError("it was not refused")


async def call_every_tool(client, got):
    async def call(name, **arguments):
        answer = await client.call_tool(name, arguments)
        text = answer.content[0].text
        # A failure is words alone: as structure it would break the output schema.
        told = text if answer.is_error else json.loads(text)
        assert answer.structured_content == (None if answer.is_error else told), name
        got["calls"].append({"tool": name, "is_error": bool(answer.is_error), "answer": told})
        return answer.structured_content

    kept = await call("memory_write", action="add", layer="L1", content="Ada's train leaves at a quarter past nine", tags=["travel"])
    await call("memory_write", action="add", layer="L0", content="The person is called Ada")
    await call("memory_recall", query="when does the train leave", limit=3)
    await call("memory_explain")
    await call("memory_context", message="Which train do I take?")
    right = await call("memory_write", action="update", layer="L1", target_id=kept["id"], content="Ada's train leaves at ten")
    gone = await call("memory_store", key="seat", content="Ada likes a seat at the window", category="knowledge", importance=0.7)
    await call("memory_write", operations=[
        {"action": "add", "layer": "L1", "content": "The ticket office closes at noon"},
        {"action": "add", "layer": "L1", "content": "Platform four is under repair"},
    ])
    await call("record_fact", fact="Timetables are fetched every night", significance=4)
    await call("update_project_memory", content="- Fares are rounded to ten cents", section="is")
    await call("summarize_session", summary="We looked for a train to Lisbon.")
    await call("get_context", tier="user")
    await call("distill_memories")
    await call("memory_forget", key="seat")
    await call("memory_recall", query="train", limit=999)
    await call("memory_recall", query="train", invented=True)
    got["no_tool"] = await refused(client.call_tool("memory_erase_everything", {}))
    got["entry"] = right["id"]
    got["gone"] = gone["id"]


async def visit(how):
    got = {"calls": [], "resources": {}, "prompts": {}}

    async def roots(_):
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in how["roots"]])

    client = Client(
        transport(how),
        mode=how["mode"],
        client_info=types.Implementation(name="Official SDK", version="2"),
        list_roots_callback=roots if how.get("roots") else None,
    )
    async with client:
        got["protocol"] = client.protocol_version
        got["instructions"] = client.instructions
        dumped = lambda item: item.model_dump(mode="json", by_alias=True, exclude_none=True)
        tools = (await client.list_tools()).tools
        got["tools"] = [dumped(tool) for tool in tools]
        again = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name for tool in again]
        if how.get("roots"):
            # A client that is slow to say its roots has no project until then.
            with anyio.fail_after(120):
                while not any("memory://project" in str(one.uri) for one in (await client.list_resources()).resources):
                    await anyio.sleep(0.1)
        if how.get("calls", True):
            await call_every_tool(client, got)
            got["templates"] = [dumped(one) for one in (await client.list_resource_templates()).resource_templates]
            uris = [str(one.uri) for one in (await client.list_resources()).resources]
            for uri in [*uris, f"memory://entry/{got['entry']}"]:
                content = (await client.read_resource(uri)).contents[0]
                assert content.mime_type == "text/markdown", uri
                got["resources"][uri] = content.text
            got["no_resource"] = await refused(client.read_resource("memory://nothing"))
            got["no_entry"] = await refused(client.read_resource("memory://entry/zzzzzzzz"))
            got["forgotten"] = await refused(client.read_resource(f"memory://entry/{got['gone']}"))
            arguments = {"start_session": {"message": "When does Ada's train leave?"}, "remember_this": {"text": "I moved to Porto."}}
            for prompt in (await client.list_prompts()).prompts:
                answer = await client.get_prompt(prompt.name, arguments.get(prompt.name, {}))
                got["prompts"][prompt.name] = answer.messages[0].content.text
            got["no_text"] = await refused(client.get_prompt("remember_this", {}))
            got["no_prompt"] = await refused(client.get_prompt("invented", {}))
    if "url" in how:
        async with httpx2.AsyncClient() as stranger:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            accept = {"Accept": "application/json, text/event-stream"}
            got["stranger"] = (await stranger.post(how["url"], json=body, headers=accept)).status_code
    return got


if __name__ == "__main__":
    print(json.dumps(anyio.run(visit, json.loads(sys.argv[1]))))
