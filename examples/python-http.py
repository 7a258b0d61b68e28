#!/usr/bin/env python3
"""A script that uses the memory over HTTP, with nothing but the standard library.

    throughline serve &
    python3 examples/python-http.py

Stores a fact, finds it in other words, and holds a short conversation: begin a session, ask for context, keep what was
said. `reply` is a stand-in that only repeats which notes it was given: put a call of your own model there.
"""

import json
import os
import pathlib
import urllib.request
import uuid


class Memory:
    """The daemon of this person, found by what it says about itself."""

    def __init__(self):
        usual = pathlib.Path.home() / ".local" / "share" / "throughline"
        home = pathlib.Path(os.environ.get("THROUGHLINE_HOME") or usual)
        self.url = json.loads((home / "daemon.json").read_text())["url"]
        self.token = (home / "token").read_text().strip()

    def post(self, path, body):
        request = urllib.request.Request(
            self.url + path,
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def reply(system_prompt, message):
    notes = [line for line in (system_prompt + "\n" + message).splitlines() if line.startswith("- ")]
    return "according to earlier records: " + " ".join(notes) if notes else "noted."


def say(memory, session, message):
    context = memory.post(f"/api/sessions/{session}/context", {"message": message})
    answer = reply(context["system_prompt"], context["message"])
    said = [{"role": "user", "content": message}, {"role": "assistant", "content": answer}]
    memory.post(f"/api/sessions/{session}/turns", {"turns": said})
    print(f"you: {message}\nassistant: {answer}")


def main():
    memory = Memory()
    stored = memory.post("/api/memories", {"content": "We deploy on Fridays at noon", "tags": ["ops"]})
    print("stored", stored["id"])
    for hit in memory.post("/api/recall", {"query": "which day is deployment?"})["hits"]:
        print("found", hit["content"])
    started = memory.post("/api/sessions", {"channel": "python", "session": uuid.uuid4().hex})
    say(memory, started["session"], "When do we deploy?")


if __name__ == "__main__":
    main()
