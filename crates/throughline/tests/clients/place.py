"""Where a client is tried: an empty home, a memory, a scripted model, and no network but loopback."""
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import model
from terminal import Terminal

# Options of `unshare`; as somebody else than root, only with a mapping of users.
ALONE = [["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]]
ALONE += [["--map-root-user", *ALONE[0]], ["--net"], ["--map-root-user", "--net"]]
INSIDE = "THROUGHLINE_TEST_INSIDE"


def go_inside(ways=ALONE):
    """Starts this very program again where nothing but loopback can be reached. Says so and ends where that cannot be."""
    if not os.environ.get(INSIDE):
        works = lambda options: subprocess.run(["unshare", *options, "true"], stderr=subprocess.DEVNULL).returncode == 0
        options = next(filter(works, ways), None) if shutil.which("unshare") else None
        if options is None:
            sys.exit("SKIPPED: no `unshare --net` here")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))


def until(condition, seconds=60):
    """What the condition gives at last; its last answer where that is nothing for too long."""
    end = time.time() + seconds
    while not (found := condition()) and time.time() < end:
        time.sleep(0.1)
    return found


class Place:
    def __init__(self, root, program, programs, memory=None):
        self.root, self.program = root, program
        self.home, self.memory, self.work = (os.path.join(root, name) for name in ("home", "memory", "work"))
        self.memory = memory or self.memory
        for path in (self.home, self.memory, self.work, os.path.join(root, "tmp")):
            os.makedirs(path, exist_ok=True)
        self.model, self.port = model.start(os.path.join(root, "requests.jsonl"))
        path = os.pathsep.join([*programs, "/usr/local/bin", "/usr/bin", "/bin"])
        self.env = {"PATH": path, "HOME": self.home, "TMPDIR": os.path.join(root, "tmp"), "TERM": "dumb", "USER": "ada",
                    "LANG": "C.UTF-8", "THROUGHLINE_HOME": self.memory}
        self.log = open(os.path.join(root, "runs.log"), "a")
        # Who only looks sets nothing in motion: by this clock no conversation has fallen silent.
        self.looking = {"THROUGHLINE_NOW": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}

    def write(self, path, content):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content if isinstance(content, str) else json.dumps(content, indent=2))

    def read(self, path):
        try:
            with open(os.path.join(self.home, path), errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def tree(self):
        """Every small file below the home: a client may keep a copy of itself there, too."""
        found = {}
        for base, _, files in os.walk(self.home):
            paths = [os.path.join(base, file) for file in files]
            for path in filter(lambda path: os.path.isfile(path) and os.path.getsize(path) < 1_000_000, paths):
                found[os.path.relpath(path, self.home)] = self.read(path)
        return found

    def run(self, *command, seconds=300, directory=None, **env):
        """What a command printed, on both ways."""
        process = subprocess.Popen(command, env={**self.env, **env}, cwd=directory or self.work, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, errors="replace")
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out = process.communicate()[0] + "\n[took too long]"
        self.log.write(f"$ {' '.join(command)}\n{out}\n[{process.returncode}]\n\n")
        self.log.flush()
        return out

    def terminal(self, *command, **env):
        return Terminal(list(command), {**self.env, **env}, self.work)

    def throughline(self, *args, **env):
        out = subprocess.run([self.program, *args, "--json"], env={**self.env, **env}, cwd=self.work, text=True,
                             capture_output=True)
        try:
            return json.loads(out.stdout)
        except ValueError:
            return {"stdout": out.stdout, "stderr": out.stderr}

    def sessions(self, channel):
        listed = self.throughline("session", "list", **self.looking).get("sessions", [])
        return [session["id"] for session in listed if session["id"].startswith(f"{channel}:")]

    def turns(self, session):
        """What was said, without summaries."""
        turns = self.throughline("session", "show", session, **self.looking).get("turns", [])
        return [(turn["role"], turn["content"]) for turn in turns if turn["role"] != "summary"]

    def summaries(self, session):
        turns = self.throughline("session", "show", session, **self.looking).get("turns", [])
        return [turn["content"] for turn in turns if turn["role"] == "summary"]
