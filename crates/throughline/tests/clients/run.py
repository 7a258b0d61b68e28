"""Tries real assistants with this program, where nothing but loopback can be reached.

    run.py [--headless] PROGRAM CACHE CLIENT...

Prints JSON: for each client its version and its checks, each with what is wrong, or nothing.
"""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from install import install, install_screen, version


# Where a conversation goes on that was begun in another client.
OTHER = {"claude-code": "codex"}


def visit(name, root, program, programs, headless):
    from checks import Visit
    from clients import ALL
    from place import Place
    place = Place(os.path.join(root, name), program, programs[name])
    other = OTHER.get(name, "claude-code")
    elsewhere = Place(os.path.join(root, f"{name}-{other}"), program, programs[other], place.memory)
    found = Visit(ALL[name](), place, (ALL[other](), elsewhere)).all(headless)
    return {"client": name, "version": version(name), "checks": found}


def main():
    headless = "--headless" in sys.argv
    program, cache, *names = [argument for argument in sys.argv[1:] if argument != "--headless"]
    cache, program = os.path.abspath(cache), os.path.abspath(program)
    needs_node = [name for name in names if name not in ("claude-code", "codex")]
    node = [install(cache, "node")] if needs_node else [os.path.dirname(os.popen("command -v node").read().strip())]
    all_names = {*names, *(OTHER.get(name, "claude-code") for name in names)}
    programs = {name: [install(cache, name), *node] for name in all_names}
    sys.path.append(install_screen(cache))
    import place
    place.go_inside()
    kept = os.environ.get("THROUGHLINE_TEST_KEEP")
    os.makedirs(kept or tempfile.gettempdir(), exist_ok=True)
    # A client may still write to its home when it was left.
    with tempfile.TemporaryDirectory(prefix="throughline-clients-", ignore_cleanup_errors=True) as root:
        with ThreadPoolExecutor(int(os.environ.get("THROUGHLINE_TEST_AT_ONCE") or 1)) as pool:
            found = list(pool.map(lambda name: visit(name, kept or root, program, programs, headless), names))
        print(json.dumps(found), flush=True)


main()
