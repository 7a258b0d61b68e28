"""Asks the real Claude Code about what was told elsewhere, where nothing but loopback can be reached.

    story.py PROGRAM CACHE MEMORY DIRECTORY QUESTION...

Prints JSON: for each question what the model was asked by then, as one text.
"""
import json
import os
import sys

from install import install, install_screen


def main():
    program, cache, memory, directory, *questions = sys.argv[1:]
    programs = [install(os.path.abspath(cache), "claude-code"), os.path.dirname(os.popen("command -v node").read().strip())]
    sys.path.append(install_screen(os.path.abspath(cache)))
    import place
    # The daemon outside works on the same memory: processes must see each other.
    place.go_inside(place.ALONE[2:])
    from clients import ClaudeCode
    from model import spoken
    claude, here = ClaudeCode(), place.Place(directory, program, programs, memory)
    here.env["THROUGHLINE_NOW"] = os.environ["THROUGHLINE_NOW"]
    claude.set_up(here)
    answer = claude.connect(here)
    if "stderr" in answer:
        sys.exit(str(answer))
    asked = []
    for question in questions:
        since = len(here.model.requests)
        shown = claude.ask(here, question)
        asked.append("\n".join(spoken(body) for _, body in here.model.main(since)[-1:]) or sys.exit(shown))
    print(json.dumps(asked))


main()
