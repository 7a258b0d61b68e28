"""Installs real assistants from npm into a cache, each version in a directory of its own.

    install.py CACHE CLIENT...

Prints one directory of programs for each, in the same order. The versions are those of versions.json; a variable
named there tries another one, such as CODEX_VERSION=latest.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
with open(f"{HERE}/versions.json") as file:
    VERSIONS = json.load(file)


def version(client):
    known = VERSIONS[client]
    return os.environ.get(known["variable"]) or known["version"]


def install(cache, client):
    """The directory of the client's programs."""
    wanted = f"{VERSIONS[client]['package']}@{version(client)}"
    place = os.path.join(cache, f"{client}-{version(client)}")
    programs, mark = os.path.join(place, "node_modules", ".bin"), os.path.join(place, "installed")
    # A name such as `latest` means something else tomorrow.
    if os.path.exists(mark) and version(client)[0].isdigit():
        return programs
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "package.json"), "w") as file:
        file.write('{"private": true}')
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", wanted]
    done = subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"npm cannot install {wanted}: {done.stderr}")
    open(mark, "w").close()
    return programs


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(install(os.path.abspath(sys.argv[1]), name))
