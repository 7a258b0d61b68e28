"""The official SDKs for Python, as any program uses them: a base URL, a key, and nothing of ours. Prints what they got."""

import json
import sys

import anthropic
import openai

HOW = json.loads(sys.argv[1])
TOOL = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def failure(call):
    """What an SDK makes of an error: its class, the status and the message of the server."""
    try:
        call()
    except (openai.APIError, anthropic.APIError) as error:
        body = getattr(error, "body", None)
        return [type(error).__name__, getattr(error, "status_code", None), body]
    return None


def with_openai():
    client = openai.OpenAI(base_url=HOW["base_url"], api_key=HOW["key"], max_retries=0)
    got = {}

    def chat(messages, **more):
        return client.chat.completions.create(model="scripted", messages=messages, **more)

    hello = [{"role": "user", "content": "Hello, who am I?"}]
    got["chat"] = chat(hello).choices[0].message.content
    got["stream"] = [part.choices[0].delta.content for part in chat(hello, stream=True) if part.choices]

    tools = [{"type": "function", "function": {"name": "lookup", "parameters": TOOL}}]
    asked = [{"role": "user", "content": "When is the deploy?"}]
    called = chat(asked, tools=tools).choices[0].message
    got["call"] = [(call.id, call.function.name, call.function.arguments) for call in called.tool_calls]
    answered = asked + [
        called.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "Friday"},
    ]
    got["answer"] = chat(answered, tools=tools).choices[0].message.content
    pieces = [part.choices[0].delta.tool_calls for part in chat(asked, tools=tools, stream=True) if part.choices]
    got["streamed call"] = "".join(piece[0].function.arguments or "" for piece in pieces if piece)

    got["response"] = client.responses.create(model="scripted", input="Hello again").output_text
    stream = client.responses.create(model="scripted", input="Hello again", stream=True)
    got["response stream"] = [event.delta for event in stream if event.type == "response.output_text.delta"]
    got["response call"] = [
        item.name for item in client.responses.create(model="scripted", input="Call it", tools=[]).output
    ]

    got["errors"] = [failure(lambda: chat(hello)) for _ in range(4)]
    got["error in stream"] = failure(lambda: list(chat(hello, stream=True)))
    cancelled = chat(hello, stream=True)
    got["before the end"] = next(part.choices[0].delta.content for part in cancelled if part.choices[0].delta.content)
    cancelled.close()
    got["models"] = [model.id for model in client.models.list()]
    got["embedding"] = client.embeddings.create(model="m", input="x", encoding_format="float").data[0].embedding
    return got


def with_anthropic():
    client = anthropic.Anthropic(base_url=HOW["base_url"], api_key=HOW["key"], max_retries=0)
    got = {}

    def send(messages, **more):
        return client.messages.create(model="scripted", max_tokens=100, messages=messages, **more)

    hello = [{"role": "user", "content": "Hello, who am I?"}]
    got["chat"] = send(hello).content[0].text
    with client.messages.stream(model="scripted", max_tokens=100, messages=hello) as stream:
        got["stream"] = list(stream.text_stream)
        got["stop"] = stream.get_final_message().stop_reason

    tools = [{"name": "lookup", "input_schema": TOOL}]
    asked = [{"role": "user", "content": "When is the deploy?"}]
    called = send(asked, tools=tools)
    call = called.content[-1]
    got["call"] = [call.id, call.name, call.input]
    answered = asked + [
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in called.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "Friday"}]},
    ]
    got["answer"] = send(answered, tools=tools).content[0].text
    with client.messages.stream(model="scripted", max_tokens=100, messages=asked, tools=tools) as stream:
        got["streamed call"] = stream.get_final_message().content[-1].input

    got["errors"] = [failure(lambda: send(hello)) for _ in range(4)]
    got["error in stream"] = failure(lambda: list(send(hello, stream=True)))
    cancelled = send(hello, stream=True)
    got["before the end"] = next(event.delta.text for event in cancelled if event.type == "content_block_delta")
    cancelled.close()
    got["models"] = [model.id for model in client.models.list()]
    got["tokens"] = client.messages.count_tokens(model="scripted", messages=hello).input_tokens
    return got


print(json.dumps({"openai": with_openai, "anthropic": with_anthropic}[HOW["sdk"]]()))
