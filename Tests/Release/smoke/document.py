"""openapi.yaml as the suite reads it: where an operation is, who may call it, and what it may answer."""

import functools
import json
import pathlib
import re

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).parents[3]
METHODS = {"get", "post", "put", "patch", "delete"}
# The loader that knows merge keys and is written in C.
DOCUMENT = yaml.load((ROOT / "openapi.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def paths(path, item, operation):
    """All under which an operation is served: also behind the hosts that SDKs put in front, and an app's under those of v3."""
    prefixes = [server["url"].rstrip("/") for server in item.get("servers", [{"url": "/"}])]
    legacy = operation.get("x-legacy-path")
    is_apps = operation["tags"] == ["accounts"]
    return [prefix + path for prefix in prefixes] + ([legacy, "/www.googleapis.com" + legacy] if legacy and is_apps else [])


OPERATIONS = {
    operation["operationId"]: {**operation, "paths": paths(path, item, operation), "method": method.upper()}
    for path, item in DOCUMENT["paths"].items() for method, operation in item.items() if method in METHODS
}
# Every code that docs/reference/errors.md has a row for.
CODES = set(re.findall(r"^\| `([\w/-]+)` \|", (ROOT / "docs/reference/errors.md").read_text(), re.MULTILINE))


def follow(node):
    """What a reference within the document names."""
    while isinstance(node, dict) and "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


@functools.cache
def answer(name, status):
    """The description of an answer, or nothing when the operation has none with this status."""
    return follow(OPERATIONS[name]["responses"].get(str(status)))


@functools.cache
def validator(name, status, media_type):
    schema = answer(name, status)["content"][media_type].get("schema", {})
    # References within the schema are to the whole document.
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def credentials(name):
    """Those that an operation takes, by name."""
    return {scheme for choice in OPERATIONS[name].get("security", []) for scheme in choice}


def example(name):
    """The JSON body of an operation's example; nothing without one."""
    content = follow(OPERATIONS[name].get("requestBody", {})).get("content", {})
    return content.get("application/json", {}).get("example")


def members(schema):
    """The names of an object's members, however it is composed."""
    schema = follow(schema)
    parts = [part for kind in ("allOf", "anyOf", "oneOf") for part in schema.get(kind, [])]
    return set(schema.get("properties", {})).union(*map(members, parts))


@functools.cache
def gives_tokens(name):
    """Whether an app's operation signs somebody in, or goes on with a session that has changed."""
    schema = (answer(name, 200) or {}).get("content", {}).get("application/json", {}).get("schema", {})
    return "apiKey" in credentials(name) and not members(schema).isdisjoint({"refreshToken", "refresh_token"})


def can_succeed(name):
    """Whether an operation has an answer that is no error."""
    return any(int(status) < 400 for status in OPERATIONS[name]["responses"])


def faults(name, reply):
    """What an answer has that the document does not say of it."""
    described = answer(name, reply.status)
    if described is None:
        return [f"status {reply.status} is not documented"]
    missing = [
        f"no header {header}" for header, value in described.get("headers", {}).items()
        if follow(value).get("required") and header.lower() not in reply.headers
    ]
    if "x-request-id" not in reply.headers:
        missing.append("no header X-Request-Id")
    content = described.get("content")
    if not content:
        return missing + (["a body where none is documented"] if reply.body else [])
    media_type = reply.headers.get("content-type", "").split(";")[0]
    if media_type not in content:
        return missing + [f"content type {media_type!r} is not documented"]
    if media_type != "application/json":
        return missing
    try:
        value = json.loads(reply.body)
    except ValueError as error:
        return missing + [f"no JSON: {error}"]
    return missing + [
        f"{error.json_path}: {error.message[:300]}" for error in validator(name, reply.status, media_type).iter_errors(value)
    ]
