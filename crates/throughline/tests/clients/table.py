"""Shows what run.py found: a table in Markdown, and what is wrong. Fails where something is."""
import json
import sys

found = json.load(sys.stdin)
print("| client | version | checks that hold | that do not |\n|---|---|---|---|")
for visit in found:
    wrong = [name for name, why in visit["checks"] if why]
    print(f"| {visit['client']} | {visit['version']} | {len(visit['checks']) - len(wrong)} | {', '.join(wrong) or 'none'} |")
for visit in found:
    for name, why in visit["checks"]:
        if why:
            print(f"\n{visit['client']}: {name}: {why}")
sys.exit(any(why for visit in found for _, why in visit["checks"]))
