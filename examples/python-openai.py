#!/usr/bin/env python3
"""OpenAI's SDK with memory: nothing changes but the base URL (docs/proxy.md).

    pip install openai
    throughline serve &
    python3 examples/python-openai.py "When do we deploy?"

The model's key is the daemon's: OPENAI_API_KEY in its environment, or `openai.key` beside the config file.
"""

import json
import os
import pathlib
import sys

from openai import OpenAI

home = pathlib.Path(os.environ.get("THROUGHLINE_HOME") or pathlib.Path.home() / ".local" / "share" / "throughline")
daemon = json.loads((home / "daemon.json").read_text())["url"]

client = OpenAI(base_url=f"{daemon}/v1", api_key=(home / "token").read_text().strip())
answer = client.chat.completions.with_raw_response.create(
    model=os.environ.get("MODEL", "gpt-5-mini"),
    messages=[{"role": "user", "content": " ".join(sys.argv[1:]) or "What do you know about me?"}],
)
print(answer.parse().choices[0].message.content)
print("memory:", answer.headers["x-throughline-memory"], "session:", answer.headers["x-throughline-session"], file=sys.stderr)
