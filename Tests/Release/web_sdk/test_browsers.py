"""Popups and redirects in each browser engine, wherever the app and the service are: the table of docs/guide/firebase-sdks.md.

| Place | App | Service |
| --- | --- | --- |
| one origin | the app's host passes everything on to the service | the same |
| one site | 127.0.0.1, a port | 127.0.0.1, another port |
| proxied | its host passes `/__/` on, and is one of the project's `identity.appURLs` | another site, which the SDK calls |
| two sites | localhost | 127.0.0.1 |
| subdomain | a host below one of `authorizedDomains`, which Chromium alone finds | 127.0.0.1 |
"""

import http.client
import http.server
import json
import os
import shutil
import ssl
import subprocess
import threading
import time

import pytest

import bundle
import engines
from conftest import HERE, Refused

ENGINES = ["chromium", "firefox", "webkit"]
PLACES = ["one origin", "one site", "proxied", "two sites"]


# --- Hosts


class Host(http.server.BaseHTTPRequestHandler):
    """The app's page and the SDK; what begins with one of `server.passes` is the service's."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0]
        if any(path.startswith(prefix) for prefix in self.server.passes):
            return self.pass_on()
        is_script = path == "/firebase.js"
        text = self.server.script if is_script else self.server.page
        self.answer(200, [("Content-Type", "text/javascript" if is_script else "text/html; charset=utf-8")], text)

    def pass_on(self):
        """Everything as it came, `Host` too."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(self.server.service, timeout=60)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        text = answer.read()
        own = ("connection", "content-length", "transfer-encoding", "date")
        self.answer(answer.status, [pair for pair in answer.getheaders() if pair[0].lower() not in own], text)
        connection.close()

    do_POST = do_PATCH = do_OPTIONS = do_DELETE = pass_on

    def answer(self, status, headers, text):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if status != 204:
            self.wfile.write(text)

    def log_message(self, *_):
        pass


class Servers:
    def __init__(self, service, folder):
        self.service, self.started = service, []
        self.script = bundle.build().read_bytes()
        self.page = (HERE / "app.html").read_text()
        pair = ["-keyout", folder / "key.pem", "-out", folder / "certificate.pem"]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,DNS:*.preview.example.test,IP:127.0.0.1", *pair],
            check=True, capture_output=True)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(folder / "certificate.pem", folder / "key.pem")

    def start(self, name, passes=(), is_secure=False):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
        server.daemon_threads = True
        if is_secure:
            server.socket = self.tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.passes, server.script = passes, self.script
        server.service = self.service.url.partition("//")[2]
        server.url = f"{'https' if is_secure else 'http'}://{name}:{server.server_port}"
        self.started.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def app(self, place):
        """The URL of an app at that place."""
        if place == "one origin":
            # The SDK's own resources are the service's; the page and the bundle are the app's.
            server = self.start("127.0.0.1", ["/__/", "/emulator/", "/identitytoolkit", "/securetoken", "/demo", "/provider"])
            server.page = self.page.replace("SERVICE", server.url).encode()
        elif place == "subdomain":
            server = self.start("b1.preview.example.test", is_secure=True)
            server.page = self.page.replace("SERVICE", self.service.url).encode()
        elif place == "proxied":
            api = self.start("127.0.0.1", ["/"], is_secure=True)
            server = self.start("localhost", ["/__/"], is_secure=True)
            fields = f'{{ apiScheme: "https", apiHost: "{api.url[8:]}", tokenApiHost: "{api.url[8:]}" }}'
            page = self.page.replace("SERVICE", server.url)
            switch = page.index("sdk.connectAuthEmulator")
            page = page[:switch] + f"Object.assign(auth.config, {fields});" + page[page.index("\n", switch):]
            server.page = page.encode()
            self.service.configure(**{"identity.appURLs": [server.url]})
        else:
            server = self.start("127.0.0.1" if place == "one site" else "localhost")
            server.page = self.page.replace("SERVICE", self.service.url).encode()
        return server.url

    def close(self):
        for server in self.started:
            server.shutdown()
            server.server_close()


@pytest.fixture(scope="module")
def apps(service, tmp_path_factory):
    """The URL of the app at each place."""
    servers = Servers(service, tmp_path_factory.mktemp("tls"))
    service.configure(authorizedDomains=["localhost", "127.0.0.1", "preview.example.test"])
    yield {place: servers.app(place) for place in [*PLACES, "subdomain"]}
    servers.close()
    service.configure(**{"identity.appURLs": [], "authorizedDomains": ["localhost", "127.0.0.1"]})


# --- The app in an engine


@pytest.fixture(scope="module")
def started(request):
    """The engines that tests have asked for."""
    made = {}

    def start(name):
        kind = {"chromium": engines.Chromium, "firefox": engines.Firefox, "webkit": engines.WebKit}[name]
        missing = [program for program in kind.PROGRAMS if not shutil.which(program)]
        if missing:
            # CI installs them all.
            end = pytest.fail if os.environ.get("CI") else pytest.skip
            end(f"{' and '.join(missing)} not installed: scripts/install-dependencies web-sdk")
        if name not in made:
            made[name] = kind(request.getfixturevalue("player")) if kind is engines.Chromium else kind()
        return made[name]

    yield start
    for engine in made.values():
        engine.close()


@pytest.fixture
def engine(request, started):
    """An engine with a profile of its own."""
    engine = started(request.param)
    engine.first = engine.begin()
    yield engine
    engine.end()


class Tab:
    """The app in a window of an engine; `run` as in conftest's `App`."""

    def __init__(self, engine, url, window=None):
        self.engine, self.url = engine, url
        self.window = window or engine.first
        self.open()

    def open(self):
        self.engine.go(self.window, self.url)
        self.engine.run(self.window, "await auth.authStateReady();")

    def run(self, code):
        answer = self.engine.run(self.window, f"return await run({json.dumps(code)}, {{}});")
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer["value"]

    def start(self, code):
        self.engine.act(self.window, f"window.started = run({json.dumps(code)}, {{}});")

    def press(self, window, text):
        """Presses the button with that text, when the window has it."""
        found = f"[...document.querySelectorAll('button')].find(button => button.innerText.includes({json.dumps(text)}))"
        self.when(window, f"{found} !== undefined")
        self.engine.run(window, f"const button = {found}; setTimeout(() => button.click());")

    def when(self, window, condition):
        """Waits for a condition; a page that is being replaced does not have it yet."""
        until = time.monotonic() + 60
        while True:
            try:
                if self.engine.run(window, f"return {condition};"):
                    return
            except Exception:
                if time.monotonic() > until:
                    raise
            assert time.monotonic() < until, f"not within a minute: {condition}"
            time.sleep(0.05)

    def popup(self, code, person="Ada Lovelace"):
        before = set(self.engine.windows())
        self.start(code)
        until = time.monotonic() + 60
        while not (opened := [window for window in self.engine.windows() if window not in before]):
            assert time.monotonic() < until, "no window opened"
            time.sleep(0.05)
        self.press(opened[0], person)
        answer = self.engine.run(self.window, "return await started;")
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer["value"]

    def leave(self, code, person="Ada Lovelace"):
        """Goes to the provider and back."""
        self.start(code)
        self.press(self.window, person)
        self.when(self.window, "typeof auth === 'object' && document.readyState === 'complete'")

    def redirect(self, code, person="Ada Lovelace"):
        self.leave(code, person)
        return self.run("sdk.getRedirectResult(auth)")

    @property
    def uid(self):
        return self.run("auth.currentUser && auth.currentUser.uid")


each_engine = pytest.mark.parametrize("engine", ENGINES, indirect=True)


@each_engine
@pytest.mark.parametrize("place", PLACES)
def test_popup(engine, apps, place):
    """A popup signs in, wherever the app and the service are."""
    app = Tab(engine, apps[place])
    result = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    assert result["user"]["uid"] == app.uid and result["info"]["isNewUser"]


@each_engine
@pytest.mark.parametrize("place", PLACES)
def test_redirect(engine, apps, place):
    """A redirect signs in on one site, once; across sites no browser lets the result through."""
    app = Tab(engine, apps[place])
    result = app.redirect("sdk.signInWithRedirect(auth, provider('google.com'))", "Grace Hopper")
    if place == "two sites":
        assert result is None and app.uid is None
        return
    assert result["user"]["uid"] == app.uid and result["info"]["isNewUser"]
    app.open()
    assert app.uid == result["user"]["uid"] and app.run("sdk.getRedirectResult(auth)") is None


@pytest.mark.parametrize("engine", ["chromium"], indirect=True)
def test_subdomain(engine, apps):
    """Popups, and the way to a provider and back, on a subdomain of an authorized domain, such as a preview deployment."""
    app = Tab(engine, apps["subdomain"])
    result = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    assert result["user"]["uid"] == app.uid
    app.run("auth.signOut()")
    # Across sites no browser lets the result through, as everywhere; the page comes back to the subdomain.
    assert app.redirect("sdk.signInWithRedirect(auth, provider('google.com'))", "Grace Hopper") is None


@each_engine
def test_link_and_reauthenticate(engine, apps):
    """`linkWithRedirect` and `reauthenticateWithRedirect`."""
    app = Tab(engine, apps["one site"])
    app.run("sdk.signInAnonymously(auth)")
    uid = app.uid
    linked = app.redirect("sdk.linkWithRedirect(auth.currentUser, provider('google.com'))", "Grace Hopper")
    assert (linked["operationType"], linked["user"]["uid"]) == ("link", uid)
    again = app.redirect("sdk.reauthenticateWithRedirect(auth.currentUser, provider('google.com'))", "Grace Hopper")
    assert (again["operationType"], again["user"]["uid"]) == ("reauthenticate", uid)


@each_engine
def test_refused(engine, apps):
    """A person who refuses at the provider: the error comes once."""
    app = Tab(engine, apps["one site"])
    app.leave("sdk.signInWithRedirect(auth, provider('google.com'))", "Cancel")
    with pytest.raises(Refused) as caught:
        app.run("sdk.getRedirectResult(auth)")
    assert caught.value.code == "user-cancelled"
    app.open()
    assert app.run("sdk.getRedirectResult(auth)") is None and app.uid is None


@each_engine
def test_two_tabs(engine, apps):
    """The result comes in the tab that left; another tab of the app gets none."""
    here = Tab(engine, apps["one site"])
    there = Tab(engine, apps["one site"], engine.tab())
    here.leave("sdk.signInWithRedirect(auth, provider('google.com'))", "Grace Hopper")
    assert here.run("sdk.getRedirectResult(auth)")["user"]["uid"] == here.uid
    assert there.run("sdk.getRedirectResult(auth)") is None
    there.open()
    assert there.run("sdk.getRedirectResult(auth)") is None
