"""One call of an operation, and what has to be true of its answer."""

import document
from refusals import REFUSALS
from successes import SUCCESSES


def request_of(row, world):
    return row(world) if callable(row) else row


def tokens_of(reply):
    """The ID token and the refresh token of an answer, under either of their names."""
    if "json" not in reply.headers.get("content-type", ""):
        return None
    body = reply.json
    pair = body.get("idToken") or body.get("id_token"), body.get("refreshToken") or body.get("refresh_token")
    return pair if all(pair) else None


def check_tokens(world, pair):
    """They are good at once: for a lookup, and for fresh ones."""
    found = world.call("lookup", json={"idToken": pair[0]})
    assert found.status == 200 and len(found.json["users"]) == 1, found
    fresh = world.call("token", form={"grant_type": "refresh_token", "refresh_token": pair[1]})
    assert fresh.status == 200 and fresh.json["user_id"] == found.json["users"][0]["localId"], fresh


def said(reply):
    """How a refusal names itself: its code, or the status of those that have a sentence instead."""
    if "json" not in reply.headers.get("content-type", ""):
        return None
    error = reply.json.get("error")
    if error is None:
        return None
    if isinstance(error, str):
        return error
    code = error["message"].split(" : ")[0]
    return code if code in document.CODES else error.get("status")


def succeed(name, world, turn):
    if not document.can_succeed(name):
        return refuse(name, world, turn)
    rows = SUCCESSES[name]
    request = {**request_of(rows[turn % len(rows)], world), "way": turn // len(rows)}
    reply = world.call(name, **request)
    assert reply.status < 400, f"{request}: {reply}"
    assert not document.faults(name, reply), f"{request}: {document.faults(name, reply)} {reply}"
    pair = tokens_of(reply) if document.gives_tokens(name) else None
    if pair:
        check_tokens(world, pair)
    return bool(pair)


def refuse(name, world, turn):
    rows = REFUSALS[name]
    status, words, row = rows[turn % len(rows)]
    request = {**request_of(row, world), "way": turn // len(rows)}
    reply = world.call(name, **request)
    assert reply.status == status, f"{request}: {reply}"
    assert not document.faults(name, reply), f"{request}: {document.faults(name, reply)} {reply}"
    code = said(reply)
    if code is None:
        assert words in reply.text, f"{request}: {reply}"
    else:
        assert code == words and code in document.CODES, f"{request}: {reply}"
