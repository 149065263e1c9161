"""Runs the Python of docs/guide/verify-tokens.md against a service that runs.

Arguments: the document; a JSON file with `port`, `values` (what stands in the document for what is there), and
`snippets` by their headings: the function that each defines, and by their names the tokens that it must take and refuse.
Prints what went wrong, as a JSON array.
"""

import inspect
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing beside the sources
import front  # noqa: E402

with open(sys.argv[1]) as file:
    document = file.read()
with open(sys.argv[2]) as file:
    plan = json.load(file)
wrong = front.lead_to(plan["port"])
os.environ["ADMIN_KEY"] = plan["adminKey"]

texts = dict(re.findall(r"^### (.+)\n(?:(?!#|```).*\n)*```python\n([\s\S]*?)^```", document, re.M))
if len(texts) != document.count("```python"):
    wrong.append("each Python snippet needs a heading of its own")
if set(texts) != set(plan["snippets"]):
    wrong.append(f"the document has {sorted(texts)}, and run are {sorted(plan['snippets'])}")


def load(heading):
    text = texts[heading]
    for written, real in plan["values"].items():
        text = text.replace(written, real)
    names = {}
    exec(compile(text, heading, "exec"), names)
    return names


def try_one(heading, function, case):
    try:
        function(*case["arguments"])
        passed, said = True, "it was taken"
    except Exception as error:  # noqa: BLE001
        passed, said = False, f"{type(error).__name__} {error}"
    if passed != case["passes"]:
        wrong.append(f"{heading}, {case['name']}: {said}")


for heading, snippet in plan["snippets"].items():
    if heading not in texts:
        continue
    try:
        names = load(heading)
    except Exception as error:  # noqa: BLE001
        wrong.append(f"{heading}: {type(error).__name__} {error}")
        continue
    for name, cases in snippet.items():
        if not inspect.isfunction(names.get(name)):
            wrong.append(f"{heading}: there is no {name}")
            continue
        for case in cases:
            try_one(heading, names[name], case)
print(json.dumps(wrong, ensure_ascii=False))
