"""Runs a real assistant as the model of a memory, in a network that has only loopback.

Takes one argument, JSON: where the programs are, and which one is the model. Prints JSON: what came of it, and what the
scripted model server was asked.
"""
import fcntl
import http.server
import json
import os
import socket
import struct
import subprocess
import sys
import threading

HOW = json.loads(sys.argv[1])
HOME = os.environ["HOME"]
SAID = "I decided to have the launch on 3 May"
REPLIES = {
    "summary": "## Working on\n- The launch moved to 3 May",
    "extraction": '{"facts": [{"text": "The launch is on 3 May", "kind": "decision"}]}',
    "trial": "ready",
}
REQUESTS = []


def loopback_up():
    """A new network has its loopback down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))


def task(body):
    text = json.dumps(body)
    if "Reply with the word: ready" in text:
        return "trial"
    return next((name for name in ("summary", "extraction") if f"Task: {name}" in text), "other")


def tools(body):
    return [tool.get("name") or tool.get("type") for tool in body.get("tools") or []]


def anthropic(text):
    usage = {"input_tokens": 20, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
           "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def responses(text):
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    usage = {"input_tokens": 20, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 27}
    done = {"id": "resp_1", "object": "response", "created_at": 1772366400, "status": "completed",
            "model": "scripted", "output": [item], "usage": usage, "error": None}
    yield {"type": "response.created", "response": {**done, "status": "in_progress", "output": [], "usage": None}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
    yield {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
           "delta": text}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": done}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(404, "application/json", b"{}")

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        wire = anthropic if path.endswith("/messages") else responses if path.endswith("/responses") else None
        if wire is None:
            return self.answer(404, "application/json", b"{}")
        asked = task(body)
        REQUESTS.append({"task": asked, "tools": tools(body)})
        events = wire(REPLIES.get(asked, "I do not know that task."))
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer(200, "text/event-stream", text.encode())

    def answer(self, status, kind, data):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def codex_settings(port):
    os.makedirs(f"{HOME}/.codex", exist_ok=True)
    with open(f"{HOME}/.codex/config.toml", "w") as file:
        file.write(f'model = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
                   f'base_url = "http://127.0.0.1:{port}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n')


def run(*args):
    done = subprocess.run([HOW["program"], *args, "--json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"stdout": done.stdout, "stderr": done.stderr}


def transcripts():
    """Conversations that the assistant kept."""
    places = [f"{HOME}/.claude/projects", f"{HOME}/.codex/sessions"]
    return [os.path.join(base, file) for place in places for base, _, files in os.walk(place) for file in files]


def main():
    loopback_up()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    codex_settings(port)
    os.environ.update({
        "PATH": HOW["bin"] + os.pathsep + os.environ["PATH"],
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "made-up",
        "OPENAI_API_KEY": "made-up",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    })
    connected = run("connect", HOW["client"])
    chosen = run("model", "use", HOW["name"], "--yes")
    run("session", "observe", "--session", "telegram:1", SAID)
    done = run("session", "consolidate", "telegram:1")
    sessions = [session["id"] for session in run("session", "list").get("sessions", [])]
    print(json.dumps({"connected": connected, "chosen": chosen, "done": done, "sessions": sessions,
                      "requests": REQUESTS, "transcripts": transcripts()}))


main()
