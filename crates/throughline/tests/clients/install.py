"""Installs real assistants from npm into a cache, each version in a directory of its own.

    install.py CACHE CLIENT...

Prints one directory of programs for each, in the same order. The versions are those of versions.json; a variable
named there tries another one, such as CODEX_VERSION=latest.
"""
import fcntl
import json
import os
import subprocess
import sys
from contextlib import contextmanager

SCREEN = "pyte==0.8.2"
HERE = os.path.dirname(os.path.abspath(__file__))
with open(f"{HERE}/versions.json") as file:
    VERSIONS = json.load(file)


def version(client):
    known = VERSIONS[client]
    return os.environ.get(known["variable"]) or known["version"]


@contextmanager
def lock(place):
    """One installation of `place` at a time: tests that run at once share the cache."""
    os.makedirs(place, exist_ok=True)
    with open(f"{place}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install(cache, client):
    """The directory of the client's programs."""
    place = os.path.join(cache, f"{client}-{version(client)}")
    with lock(place):
        return install_locked(place, client)


def install_locked(place, client):
    wanted = f"{VERSIONS[client]['package']}@{version(client)}"
    programs, mark = os.path.join(place, "node_modules", ".bin"), os.path.join(place, "installed")
    # A name such as `latest` means something else tomorrow.
    if os.path.exists(mark) and version(client)[0].isdigit():
        return programs
    with open(os.path.join(place, "package.json"), "w") as file:
        file.write('{"private": true}')
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", wanted]
    done = subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"npm cannot install {wanted}: {done.stderr}")
    open(mark, "w").close()
    return programs


def install_screen(cache):
    """A screen for terminals: the package's directory, for `sys.path`."""
    place = os.path.join(cache, f"python-{SCREEN}")
    python, mark = os.path.join(place, "bin", "python"), os.path.join(place, "installed")
    with lock(place):
        if not os.path.exists(mark):
            for command in ([sys.executable, "-m", "venv", place], [python, "-m", "pip", "install", "--quiet", SCREEN]):
                done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(f"cannot install {SCREEN}: {done.stderr}")
            open(mark, "w").close()
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return subprocess.run(ask, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(install(os.path.abspath(sys.argv[1]), name))
