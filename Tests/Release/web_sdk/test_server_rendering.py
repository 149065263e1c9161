"""An app whose server renders its pages, as docs/guide/server-rendering.md makes it: `browserCookiePersistence` of the SDK, and
the document's own server.

The SDK of the other tests is older than cookies are, so these need `firebase-web.js` of the folder JUDGES, as `make judges`.
"""

import http.server
import os
import re
import threading
import types
import urllib.error
import urllib.request

import pytest

import bundle
from conftest import PROJECT

SDK = bundle.ROOT / os.environ.get("JUDGES", "none") / "firebase-web.js"
pytestmark = pytest.mark.skipif(not SDK.exists(), reason="JUDGES names no folder with firebase-web.js")

DOCUMENT = (bundle.ROOT / "docs/guide/server-rendering.md").read_text()
PAGE = """
<script type="module">
import { app, auth as accounts } from "/firebase.js";
window.sdk = { ...app, ...accounts };
const { browserCookiePersistence, connectAuthEmulator, initializeApp, initializeAuth } = sdk;
const config = { apiKey: "any", authDomain: "127.0.0.1", projectId: "demo-project" };
window.auth = initializeAuth(initializeApp(config), { persistence: browserCookiePersistence });
connectAuthEmulator(auth, "SERVICE", { disableWarnings: true });
await auth.authStateReady();
window.ready = true;
</script>
"""


class Server:
    """The document's server behind a proxy that passes `/__cookies__` on, as its nginx does."""

    def __init__(self, service):
        self.app = types.ModuleType("app")
        exec(re.search(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)[1], vars(self.app))
        pages = type("Pages", (Pages,), {"app": self.app, "service": service.url, "Document": self.app.Pages})
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), pages)
        # Chromium takes `Secure` cookies of this name on http alone.
        self.url = f"http://localhost:{self.http.server_port}"
        self.app.SERVICE, self.app.APP, self.app.API_KEY, self.app.PROJECT = service.url, self.url, "any", PROJECT
        self.app.COOKIE = "__dev_FIREBASE_[DEFAULT]"
        self.app.KEYS = service.keys
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


class Pages(http.server.BaseHTTPRequestHandler):
    script = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/firebase.js":
            return self.answer(200, [("Content-Type", "text/javascript")], type(self).script)
        if self.path != "/":
            return self.answer(404, [], b"")
        self.Document.do_GET(self)
        self.wfile.write(PAGE.replace("SERVICE", self.service).encode())

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name not in {"Connection", "Content-Length"}}
        request = urllib.request.Request(self.service + self.path, body or None, headers, method=self.command)
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        self.answer(answer.status, answer.headers.items(), answer.read())

    do_POST = do_DELETE = pass_on

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in {"connection", "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def server(service):
    Pages.script = SDK.read_bytes()
    server = Server(service)
    yield server
    server.http.shutdown()


class Visitor:
    """A browser in the app."""

    def __init__(self, browser, server, service):
        self.context = browser.new_context()
        self.server, self.service = server, service
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        service.create(email="ada@example.com", password="correct horse")

    def load(self):
        """Whom the server, and then the SDK, takes for the user."""
        self.page.goto(self.server.url)
        self.page.wait_for_function("window.ready")
        return self.page.inner_text("#user"), self.page.evaluate("auth.currentUser?.email ?? 'nobody'")

    def sign_in(self):
        self.load()
        self.page.evaluate("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse').then(() => {})")

    @property
    def cookies(self):
        return {cookie["name"]: cookie for cookie in self.context.cookies()}

    @property
    def id_token(self):
        return self.cookies["__dev_FIREBASE_[DEFAULT]"]["value"]

    @property
    def refresh_token(self):
        return self.cookies[f"__dev_FIREBASEID_{PROJECT}_[DEFAULT]"]["value"]


ADA = ("ada@example.com", "ada@example.com")
NOBODY = ("nobody", "nobody")


@pytest.fixture
def visitor(browser, server, service):
    visitor = Visitor(browser, server, service)
    yield visitor
    server.app.MARGIN = 300
    visitor.context.close()


def test_twenty_pages(visitor, service):
    """A user who signed in once is that of twenty pages, for the server and for the SDK."""
    assert visitor.load() == NOBODY
    visitor.sign_in()
    session = service.claims(visitor.id_token)["firebase"]["sid"]
    for _ in range(20):
        assert visitor.load() == ADA
        assert service.claims(visitor.id_token)["firebase"]["sid"] == session


def test_server_refreshes(visitor, server, service):
    """Where the ID token is about to end, the server gives the page a new one."""
    visitor.sign_in()
    server.app.MARGIN = 3601
    tokens = [visitor.id_token]
    for _ in range(20):
        assert visitor.load() == ADA
        tokens.append(visitor.id_token)
    assert len(set(tokens)) == 21
    assert len({service.claims(token)["auth_time"] for token in tokens}) == 1


def test_rotation(visitor, server, settings):
    """The same where refresh tokens rotate."""
    settings(**{"identity.rotateRefreshTokens": True})
    visitor.sign_in()
    server.app.MARGIN = 3601
    tokens = set()
    for _ in range(5):
        tokens.add(visitor.refresh_token)
        assert visitor.load() == ADA
    assert len(tokens) == 5


@pytest.mark.parametrize("reloads", [False, True])
def test_page_that_stays_open(visitor, reloads):
    """The document's lines renew the cookie of an open page, and the SDK takes the token from it, for hours."""
    visitor.page.clock.install()
    visitor.sign_in()
    if reloads:
        assert visitor.load() == ADA
    lines = re.search(r"```js\n(const target.*?)```", DOCUMENT, re.DOTALL)[1]
    lines = lines.replace("https://auth.example.com", visitor.service.url).replace("AIza…", "any")
    visitor.page.evaluate(f"() => {{ {lines} }}")
    tokens = [visitor.id_token]
    for _ in range(3):
        visitor.page.clock.fast_forward("50:00")
        visitor.page.wait_for_function("old => auth.currentUser.stsTokenManager.accessToken != old", arg=tokens[-1])
        tokens.append(visitor.page.evaluate("auth.currentUser.getIdToken()"))
        assert tokens[-1] == visitor.id_token
    assert len(set(tokens)) == 4 and visitor.load() == ADA


def test_sign_out(visitor, service):
    """A sign-out ends both cookies and the session, for other tabs as well."""
    visitor.sign_in()
    tab = visitor.context.new_page()
    tab.goto(visitor.server.url)
    tab.wait_for_function("window.ready && auth.currentUser")
    refresh_token = visitor.refresh_token
    with visitor.page.expect_response("**/__cookies__"):
        visitor.page.evaluate("sdk.signOut(auth)")
    assert not visitor.cookies
    tab.wait_for_function("auth.currentUser === null")
    assert visitor.load() == NOBODY
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    ended = service.http.post(service.url + "/v1/token?key=any", data=form, headers={"Authorization": ""}, timeout=30)
    assert ended.status_code == 400 and ended.json()["error"]["message"] == "TOKEN_EXPIRED"


def test_session_that_ended(visitor, server, service):
    """A user who was deleted is nobody at the next refresh."""
    visitor.sign_in()
    service.clear()
    server.app.MARGIN = 3601
    assert visitor.load() == NOBODY and not visitor.cookies


def test_refresh_token_is_out_of_reach(visitor):
    """No script of the page finds the refresh token, in cookies, in what the SDK has, or in what it keeps."""
    visitor.sign_in()
    readable = visitor.page.evaluate("document.cookie + JSON.stringify(auth.currentUser.toJSON())")
    assert visitor.id_token in readable and visitor.refresh_token not in readable
    assert visitor.page.evaluate("auth.currentUser.refreshToken") in {"", "REDACTED"}
    stored = visitor.page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")
    assert visitor.refresh_token not in stored
    cookie = visitor.cookies[f"__dev_FIREBASEID_{PROJECT}_[DEFAULT]"]
    assert cookie["httpOnly"] and cookie["secure"] and cookie["sameSite"] == "Lax"
