"""The codes that docs/reference/errors.md promises to apps, as the SDK makes them of the service's answers."""

import http.server
import json
import re
import threading

import pytest

import bundle

SECTIONS = re.split(r"^## ", (bundle.ROOT / "docs" / "reference" / "errors.md").read_text(), flags=re.M)[1:]


def rows(section):
    """(code, what the SDK calls it) of a section's table."""
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 5 and re.fullmatch("`[A-Z_]+`", cells[0]) and (name := cells[4].strip(" |`")):
            yield cells[0].strip("`"), name


DOCUMENTED = {section.splitlines()[0]: list(rows(section)) for section in SECTIONS if list(rows(section))}


def code_for(app, message):
    """What the SDK calls an answer with this message."""

    def answer(route):
        headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
        if route.request.method == "OPTIONS":
            return route.fulfill(status=204, headers=headers)
        errors = [{"message": message, "domain": "global", "reason": "invalid"}]
        body = {"error": {"code": 400, "message": message, "errors": errors}}
        return route.fulfill(status=400, headers=headers, content_type="application/json", body=json.dumps(body))

    app.context.unroute_all()
    app.context.route("**/accounts:signInWithPassword**", answer)
    return app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'x')").code


@pytest.mark.parametrize("section", DOCUMENTED)
def test_documented_codes(app, section):
    """The last column of the table is what the SDK really makes of each code, with a detail and without."""
    found = [
        (message, code_for(app, message), name)
        for code, name in DOCUMENTED[section]
        for message in [code, code + " : some detail"]
    ]
    assert [row for row in found if row[1] != row[2]] == []


def test_blocking_function(app, settings):
    """What a function of the project answers reaches the app in the message of `auth/internal-error`."""

    class Function(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"error": {"status": "PERMISSION_DENIED", "message": "not from there"}}).encode()
            self.send_response(403)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Function)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/"
        settings(**{"blockingFunctions": {"triggers": {"beforeCreate": {"functionUri": url}}}})
        error = app.refused("sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')")
    finally:
        server.shutdown()
    assert error.code == "internal-error" and "not from there" in error.message
    assert app.user is None and app.service.account(email="ada@example.com") is None


def test_too_many_tries(app, settings):
    """A limit that is reached is `auth/too-many-requests`; a reset of the password helps at once."""
    settings(**{"identity.rateLimits.passwordTries": {"count": 2, "seconds": 3600}})
    app.create()
    app.run("sdk.signOut(auth)")
    code = "sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'wrong horse')"
    assert [app.refused(code).code for _ in range(3)] == ["wrong-password", "wrong-password", "too-many-requests"]
    code = "sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')"
    assert app.refused(code).code == "too-many-requests"
    app.run("sdk.sendPasswordResetEmail(auth, 'ada@example.com')")
    reset = app.service.mail("PASSWORD_RESET", "ada@example.com")["oobCode"]
    app.run("sdk.confirmPasswordReset(auth, code, 'new horse')", code=reset)
    app.sign_in(password="new horse")
    app.signed_in("password")


def test_overload_signs_nobody_out(app):
    """A refusal in plain text, as the service gives it under overload, is taken for a lost network, also at the start."""
    uid = app.create()
    headers = {"Access-Control-Allow-Origin": "*", "Retry-After": "1"}
    app.context.route("**/accounts:lookup**", lambda route: route.fulfill(status=503, headers=headers, body="busy"))
    app.context.route("**/v1/token**", lambda route: route.fulfill(status=503, headers=headers, body="busy"))
    assert app.refused("auth.currentUser.getIdToken(true)").code == "network-request-failed"
    app.reload()
    assert app.user["uid"] == uid
    app.context.unroute_all()
    app.signed_in("password")
