"""A scripted model behind the wire formats of Anthropic, OpenAI (responses, chat completions) and Gemini.

Every request is kept. A request that offers tools takes the next reply of the script; any other (titles, summaries,
probes) gets the summary. A reply is a text, or {"tool": NAME, "args": {...}} for a call of the offered tool whose name
ends so.
"""
import gzip
import http.server
import json
import threading
import time


class Script:
    def __init__(self, log):
        self.log = open(log, "a")
        self.replies, self.default, self.summary = [], "Understood.", "A short title"
        self.requests, self.lock = [], threading.Lock()
        # What a sub-agent is asked and says; its requests take nothing from the script.
        self.delegated, self.delegate = None, None

    def say(self, *replies):
        with self.lock:
            self.replies = list(replies)

    def next(self, body, is_main):
        with self.lock:
            # A sub-agent has its task from the first message on, and nothing of the person's.
            if self.delegated and self.delegated in spoken(body) and self.delegate[0] not in spoken(body):
                return {"text": self.delegate[1]}
            if not is_main:
                return {"text": self.summary}
            reply = self.replies.pop(0) if self.replies else self.default
            return {"text": reply} if isinstance(reply, str) else reply

    def main(self, since=0):
        """The requests of the conversation itself, each as its kind and its body."""
        return [(kind, body) for kind, body, is_main in self.requests[since:] if is_main]


def offered(body):
    """The tools of a request, as (name, namespace)."""
    found = []

    def walk(tools, namespace=None):
        for tool in tools or []:
            if tool.get("type") == "namespace":
                walk(tool.get("tools"), tool.get("name"))
            elif "functionDeclarations" in tool:
                walk(tool["functionDeclarations"])
            elif isinstance(tool.get("function"), dict):
                found.append((tool["function"].get("name"), namespace))
            elif tool.get("name"):
                found.append((tool["name"], namespace))

    walk(body.get("tools"))
    for item in body.get("input") or [] if isinstance(body.get("input"), list) else []:
        walk(item.get("tools") if isinstance(item, dict) else None)
    return found


def pick(body, wanted):
    names = offered(body)
    exact = [pair for pair in names if pair[0] == wanted]
    return (exact or [pair for pair in names if pair[0] and pair[0].endswith(wanted)] or [(None, None)])[0]


def texts(value):
    """All that a model reads in a part of a request, in order: every string that is content, not a description of tools."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    if isinstance(value, dict):
        skipped = ("tools", "type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "name", "model", "metadata")
        return [text for key, item in value.items() if key not in skipped for text in texts(item)]
    return []


def spoken(body):
    """What a request says, as one text: system prompt, instructions and messages."""
    keys = ("system", "instructions", "systemInstruction", "messages", "input", "contents")
    return "\n".join(text for key in keys for text in texts(body.get(key)))


def unique(prefix):
    return f"{prefix}_{time.time_ns()}"


def anthropic(body, reply):
    blocks = [{"type": "text", "text": reply["text"]}] if reply.get("text") else []
    if reply.get("tool"):
        name, _ = pick(body, reply["tool"])
        call = {"type": "tool_use", "id": unique("toolu"), "name": name, "input": reply.get("args", {})}
        blocks.append(call if name else {"type": "text", "text": f"NOT OFFERED: {reply['tool']}"})
    stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 1200, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    head = {"id": unique("msg"), "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return {**head, "content": blocks, "stop_reason": stop}
    events = [{"type": "message_start", "message": head}]
    for index, block in enumerate(blocks):
        is_text = block["type"] == "text"
        start = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        delta = ({"type": "text_delta", "text": block["text"]} if is_text else
                 {"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
        events += [{"type": "content_block_start", "index": index, "content_block": start},
                   {"type": "content_block_delta", "index": index, "delta": delta},
                   {"type": "content_block_stop", "index": index}]
    events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
    return events + [{"type": "message_stop"}]


def responses(body, reply):
    def message(text):
        part = {"type": "output_text", "text": text, "annotations": []}
        return {"type": "message", "id": unique("msg"), "role": "assistant", "status": "completed", "content": [part]}

    items = [message(reply["text"])] if reply.get("text") else []
    if reply.get("tool"):
        name, namespace = pick(body, reply["tool"])
        call = {"type": "function_call", "id": unique("fc"), "call_id": unique("call"), "name": name,
                "arguments": json.dumps(reply.get("args", {})), "status": "completed"}
        if namespace:
            call["namespace"] = namespace
        items.append(call if name else message(f"NOT OFFERED: {reply['tool']}"))
    usage = {"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1220}
    done = {"id": unique("resp"), "object": "response", "created_at": int(time.time()), "status": "completed",
            "model": body.get("model"), "output": items, "usage": usage, "error": None}
    if not body.get("stream"):
        return done
    events = [{"type": "response.created", "response": {**done, "status": "in_progress", "output": [], "usage": None}}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}})
        if item["type"] == "message":
            events.append({"type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                           "content_index": 0, "delta": item["content"][0]["text"]})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return events + [{"type": "response.completed", "response": done}]


def chat(body, reply):
    text, calls = reply.get("text") or "", []
    if reply.get("tool"):
        name, _ = pick(body, reply["tool"])
        if name:
            function = {"name": name, "arguments": json.dumps(reply.get("args", {}))}
            calls = [{"index": 0, "id": unique("call"), "type": "function", "function": function}]
        else:
            text += f"NOT OFFERED: {reply['tool']}"
    base = {"id": unique("chatcmpl"), "created": int(time.time()), "model": body.get("model")}
    usage = {"prompt_tokens": 1200, "completion_tokens": 20, "total_tokens": 1220}
    finish = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {**base, "object": "chat.completion", "usage": usage, "choices": [choice]}

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**base, "object": "chat.completion.chunk", "choices": [choice]}

    events = [chunk({"role": "assistant", "content": text})]
    events += [chunk({"tool_calls": calls})] if calls else []
    return events + [chunk({}, finish), {**base, "object": "chat.completion.chunk", "choices": [], "usage": usage}, "[DONE]"]


def filled(schema):
    """A value of a schema, for requests that want one."""
    kind = str(schema.get("type", "string")).lower()
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "object":
        return {name: filled(member) for name, member in (schema.get("properties") or {}).items()}
    return {"array": [], "number": 1, "integer": 1, "boolean": False}.get(kind, "user")


def gemini(body, reply):
    wanted = body.get("generationConfig") or {}
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    parts = [{"text": json.dumps(filled(schema)) if schema else reply.get("text") or ""}]
    if reply.get("tool") and not schema:
        name, _ = pick(body, reply["tool"])
        call = {"functionCall": {"id": unique("fc"), "name": name, "args": reply.get("args", {})}}
        parts = [call if name else {"text": f"NOT OFFERED: {reply['tool']}"}]
    usage = {"promptTokenCount": 1200, "candidatesTokenCount": 20, "totalTokenCount": 1220}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def kind_of(path):
    for kind, ending in (("anthropic", "/messages"), ("responses", "/responses"), ("chat", "/chat/completions")):
        if path.endswith(ending):
            return kind
    return "gemini" if "enerateContent" in path else "other"


def handler(script):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            models = [{"id": "scripted", "object": "model", "owned_by": "nobody"}]
            self.answer({"object": "list", "data": models} if self.path.endswith("/models") else {}, 200)

        do_HEAD = do_GET

        def body(self):
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                raw = b""
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    raw += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if "gzip" in self.headers.get("Content-Encoding", ""):
                raw = gzip.decompress(raw)
            try:
                return json.loads(raw or b"{}")
            except ValueError:
                return {}

        def do_POST(self):
            body, path = self.body(), self.path.split("?")[0]
            kind = kind_of(path)
            is_main = kind != "other" and bool(offered(body))
            script.requests.append((kind, body, is_main))
            script.log.write(json.dumps({"path": path, "main": is_main, "body": body}) + "\n")
            script.log.flush()
            if kind == "other":
                return self.answer({"input_tokens": 100, "totalTokens": 100}, 200)
            reply = globals()[kind](body, script.next(body, is_main))
            if kind == "gemini":
                reply = [reply] if "stream" in path else reply
            if isinstance(reply, list):
                return self.stream(reply)
            self.answer(reply, 200)

        def answer(self, value, status):
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def stream(self, events):
            def line(event):
                name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
                return f"{name}data: {event if isinstance(event, str) else json.dumps(event)}\n\n"

            data = "".join(line(event) for event in events).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def start(log):
    """A script and the port at which it is asked; requests are written to the file `log`, too."""
    script = Script(log)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(script))
    server.handle_error = lambda *_: None  # A client that hangs up is no news.
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return script, server.server_address[1]
