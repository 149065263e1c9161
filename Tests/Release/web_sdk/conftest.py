"""The release program, Chromium, and an app of one page that has the Firebase Web SDK in it.

    .venv/bin/pytest Tests/Release/web_sdk

IDENTITY_PROGRAM names the program; without it, what `make release` made is used.
"""

import collections
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import jwt
import playwright.sync_api
import pytest
import requests

import bundle

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cluster as clusters  # noqa: E402

PROJECT = "demo-project"


class Refused(Exception):
    """An error of the SDK: its code without `auth/`, and what an app can read of it."""

    def __init__(self, fields):
        super().__init__(f"{fields['code']}: {fields['message']}")
        self.code = fields["code"].removeprefix("auth/")
        self.message, self.email, self.phone_number = fields["message"], fields.get("email"), fields.get("phoneNumber")


# --- The service


class Service:
    """`identity dev`, and what admins and test suites ask of it."""

    def __init__(self):
        program = os.environ.get("IDENTITY_PROGRAM") or bundle.ROOT / ".build/dist/program/identity"
        self.process = subprocess.Popen(
            [program, "dev", "--port", "0", "--ephemeral", "--demo-providers", "all"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.log = collections.deque(maxlen=2000)
        self.url = self._ready()
        self.http = requests.Session()
        self.http.headers["Authorization"] = "Bearer owner"
        threading.Thread(target=lambda: self.log.extend(self.process.stdout), daemon=True).start()
        keys = "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        self.keys = jwt.PyJWKClient(self.url + keys)
        self.usual = self.admin("GET", "/v2/projects/{p}/config")

    def _ready(self):
        for line in self.process.stdout:
            self.log.append(line)
            if line.startswith("ready "):
                return line.split()[1]
        raise RuntimeError("".join(self.log))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def admin(self, method, path, body=None):
        path = path.replace("{p}", PROJECT)
        answer = self.http.request(method, self.url + path, json=body, timeout=30)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def configure(self, **members):
        """Changes settings of the project: `configure(**{"signIn.anonymous.enabled": False})`."""
        body = {}
        for path, value in members.items():
            *folders, name = path.split(".")
            place = body
            for folder in folders:
                place = place.setdefault(folder, {})
            place[name] = value
        self.admin("PATCH", "/v2/projects/{p}/config?updateMask=" + ",".join(members), body)

    def clear(self):
        self.admin("DELETE", f"/emulator/v1/projects/{PROJECT}/accounts")

    def account(self, **by):
        """The admin's view of one account: `account(email=…)` or `account(localId=…)`; nil when there is none."""
        users = self.admin("POST", "/v1/projects/{p}/accounts:lookup", {key: [value] for key, value in by.items()})
        return users.get("users", [None])[0]

    def create(self, **fields):
        return self.admin("POST", "/v1/projects/{p}/accounts", fields)["localId"]

    def change(self, uid, **fields):
        return self.admin("POST", "/v1/projects/{p}/accounts:update", {"localId": uid, **fields})

    def delete(self, uid):
        self.admin("POST", "/v1/projects/{p}/accounts:delete", {"localId": uid})

    def mail(self, kind, email, tenant=None):
        """The newest mail of a kind to an address."""
        place = f"/emulator/v1/projects/{PROJECT}" + (f"/tenants/{tenant}" if tenant else "")
        codes = self.admin("GET", place + "/oobCodes")["oobCodes"]
        found = [code for code in codes if code["requestType"] == kind and email in (code["email"], code.get("newEmail"))]
        assert found, f"no {kind} to {email} among {codes}"
        return found[-1]

    def code(self, number):
        """The newest code of an SMS to a number."""
        codes = self.admin("GET", f"/emulator/v1/projects/{PROJECT}/verificationCodes")["verificationCodes"]
        return [code["code"] for code in codes if code["phoneNumber"] == number][-1]

    def claims(self, token):
        """The claims of an ID token, verified as a back end does it."""
        key = self.keys.get_signing_key_from_jwt(token)
        return jwt.decode(
            token, key, algorithms=["RS256"], audience=PROJECT, issuer=f"https://securetoken.google.com/{PROJECT}",
            options={"require": ["iat", "exp", "sub", "auth_time"]},
        )


@pytest.fixture(scope="session")
def service():
    service = Service()
    service.configure(**{"identity.googleLoader": False})
    service.usual = service.admin("GET", "/v2/projects/{p}/config")
    yield service
    service.stop()


@pytest.fixture(autouse=True)
def fresh(service):
    """Nobody has an account when a test begins."""
    service.clear()


@pytest.fixture
def settings(service):
    """Changes settings for one test."""
    changed = {}

    def change(**members):
        for path, new in members.items():
            value = service.usual
            for name in path.split("."):
                value = value.get(name, {})
            changed[path] = value if value != {} or not isinstance(new, bool) else False
        service.configure(**members)
        clusters.await_configuration(service.url + "/metrics")

    yield change
    if changed:
        service.configure(**changed)
        clusters.await_configuration(service.url + "/metrics")


# --- The app


class Pages(http.server.BaseHTTPRequestHandler):
    """The app's page, under every path, and the SDK."""

    def do_GET(self):
        is_script = self.path == "/firebase.js"
        text = self.server.script if is_script else self.server.page
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_script else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Cache-Control", "max-age=600" if is_script else "no-store")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def origin(service):
    """Where the app is: another origin than the service's, of the same site."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.script = bundle.build().read_bytes()
    server.page = (HERE / "app.html").read_text().replace("SERVICE", service.url).encode()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


class App:
    """The app in one tab. A device is a browser context; a reload keeps what the SDK keeps."""

    def __init__(self, context, service, origin):
        self.context, self.service, self.origin = context, service, origin
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.open()

    def open(self, path="/"):
        self.page.goto(self.origin + path)
        self.ready()

    def tab(self):
        """The app in another tab of the device."""
        return App(self.context, self.service, self.origin)

    def reload(self):
        self.page.reload()
        self.ready()

    def ready(self):
        self.page.evaluate("() => auth.authStateReady()")

    def run(self, code, /, **values):
        """What an expression, or lines with `return`, resolve to in the page; `Refused` for an error of the SDK."""
        return self._value(self.page.evaluate("([code, values]) => run(code, values)", [code, values]))

    def start(self, code, /, **values):
        """Begins what `finish` waits for."""
        self.page.evaluate("([code, values]) => { window.started = run(code, values); }", [code, values])

    def finish(self):
        return self._value(self.page.evaluate("() => started"))

    @staticmethod
    def _value(answer):
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer["value"]

    def refused(self, code, /, **values):
        """The error that the code must end in."""
        with pytest.raises(Refused) as caught:
            self.run(code, **values)
        return caught.value

    def popup(self, code, /, person="Ada Lovelace", **values):
        """Runs code that opens a popup, in which a person signs in at the demo provider, or presses another button."""
        with self.page.expect_popup() as opened:
            self.start(code, **values)
        press(opened.value, person)
        return self.finish()

    def redirect(self, code, /, person="Ada Lovelace", **values):
        """Runs code that leads away to the demo provider; what the page finds when it is back."""
        self.start(code, **values)
        press(self.page, person)
        self.page.wait_for_url(self.origin + "/**")
        return self.run("sdk.getRedirectResult(auth)")

    @property
    def user(self):
        """The signed-in user as the SDK would keep it; None when nobody is."""
        return self.run("auth.currentUser && auth.currentUser.toJSON()")

    def token(self, force=False):
        return self.run("auth.currentUser.getIdToken(force)", force=force)

    def claims(self, force=True):
        """The verified claims of the user's token, by default of one that was got just now."""
        return self.service.claims(self.token(force))

    def signed_in(self, method, **fields):
        """Checks who is signed in and how, with tokens that can be renewed; returns the claims.

        `fields` are claims besides: `email`, `email_verified`, `name`, `picture`, `phone_number`.
        """
        user, first = self.user, self.claims(force=False)
        renewed = self.claims()
        assert renewed["iat"] >= first["iat"]
        for claims in [first, renewed]:
            assert claims["sub"] == claims["user_id"] == user["uid"]
            assert claims["firebase"]["sign_in_provider"] == method
            assert {name: claims.get(name) for name in fields} == fields
        assert renewed["auth_time"] == first["auth_time"] and abs(time.time() - first["auth_time"]) < 600
        self.run("auth.currentUser.reload()")
        assert self.user["uid"] == user["uid"]
        return renewed

    def providers(self):
        return sorted(data["providerId"] for data in (self.user or {}).get("providerData", []))

    def create(self, email="ada@example.com", password="correct horse"):
        """Signs up with email and password, and returns the uid."""
        code = "sdk.createUserWithEmailAndPassword(auth, email, password)"
        return self.run(code, email=email, password=password)["user"]["uid"]

    def sign_in(self, email="ada@example.com", password="correct horse"):
        code = "sdk.signInWithEmailAndPassword(auth, email, password)"
        return self.run(code, email=email, password=password)["user"]["uid"]


def press(page, name):
    page.get_by_role("button", name=name).first.click()


def fake(sub, **claims):
    """An ID token as the Firebase emulator takes them."""
    return json.dumps({"sub": sub, **claims})


@pytest.fixture(scope="session")
def player():
    with playwright.sync_api.sync_playwright() as player:
        yield player


@pytest.fixture(scope="session")
def browser(player):
    browser = player.chromium.launch(
        executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
        args=["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"],
    )
    yield browser
    browser.close()


@pytest.fixture
def device(browser, service, origin):
    """Makes devices: the app, each in a browser profile of its own."""
    contexts = []

    def make(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        return App(context, service, origin)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def app(device):
    return device()
