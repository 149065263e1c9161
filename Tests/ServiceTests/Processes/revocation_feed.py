"""Runs the Python of docs/reference/revocation-feed.md against a service that runs.

Arguments: the document, the service's URL, the project, an admin's key; then the file of the claims of tokens, as a JSON
array. Reads the feed twice, and prints which of them are void.
"""

import json
import re
import sys

sys.dont_write_bytecode = True  # nothing beside the sources
document, url, project, key, claims = sys.argv[1:]
with open(document) as file:
    (code,) = re.findall(r"```python\n([\s\S]*?)^```", file.read(), re.M)
names = {}
exec(compile(code, document, "exec"), names)
feed = names["Revocations"](url, project, key)
feed.read()
feed.read()
with open(claims) as file:
    print(json.dumps([feed.revoked(each) for each in json.load(file)]))
