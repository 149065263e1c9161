"""Passkeys on the hosted sign-in page, with Chromium's own authenticator: what it says is nobody's here.

usage: .venv/bin/pytest Tests/Release/web_sdk/test_passkeys.py    SCREENSHOTS=FOLDER keeps a picture of each page
"""

import base64
import contextlib
import hashlib
import os
import re
import secrets
import urllib.parse

import jwt
import pytest
import requests
from axe_playwright_python.sync_playwright import Axe

PASSWORD = "correct horse"


class Authenticator:
    """A device's authenticator, by DevTools."""

    def __init__(self, page, **options):
        self.session = page.context.new_cdp_session(page)
        self.session.send("WebAuthn.enable", {"enableUI": False})
        usual = {"protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
                 "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
                 "defaultBackupEligibility": True, "defaultBackupState": True}
        self.id = self.call("addVirtualAuthenticator", options={**usual, **options})["authenticatorId"]

    def call(self, method, **values):
        return self.session.send("WebAuthn." + method, values)

    @property
    def passkeys(self):
        return self.call("getCredentials", authenticatorId=self.id)["credentials"]

    def add(self, passkey):
        self.call("addCredential", authenticatorId=self.id, credential=passkey)

    def refuse(self):
        """The user does not verify themselves."""
        self.call("setUserVerified", authenticatorId=self.id, isUserVerified=False)


class Person:
    """Somebody at the sign-in page, whom an app sent there."""

    def __init__(self, context, service):
        # An IP address is no RP ID.
        self.url = service.url.replace("127.0.0.1", "localhost")
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.verifier = secrets.token_urlsafe(32)

    def open(self, **more):
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {"apiKey": "any", "continueUrl": self.url + "/app", "codeChallenge": challenge, "lang": "en", **more}
        self.page.goto(f"{self.url}/__/auth/sign-in?{urllib.parse.urlencode(query)}")
        return self

    def sign_in(self, email="ada@example.com", password=PASSWORD):
        self.page.get_by_label("Email address").fill(email)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.press("Sign in")

    def use_passkey(self):
        """By the page's button."""
        self.open()
        shot(self.page, "Sign in")
        self.press("Sign in with a passkey")

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).first.click()

    @property
    def heading(self):
        return self.page.get_by_role("heading").first.inner_text()

    def expect(self, heading):
        self.page.get_by_role("heading", name=heading).wait_for()
        shot(self.page, heading)
        check(self.page)

    def tokens(self):
        """What the app gets for the code in its URL."""
        self.page.wait_for_url(self.url + "/app?**")
        code = re.search(r"signInCode=([^&#]+)", self.page.url)[1]
        body = {"token": f"{code}.{self.verifier}", "returnSecureToken": True}
        reply = requests.post(f"{self.url}/v1/accounts:signInWithCustomToken?key=any", json=body, timeout=30)
        assert reply.ok, reply.text
        return jwt.decode(reply.json()["idToken"], options={"verify_signature": False})


# Best practices of axe are taken as rules.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def check(page):
    """What must hold on every page."""
    found = [f"{violation['id']}: {violation['help']}: {[node['html'] for node in violation['nodes']]}"
             for violation in Axe().run(page, options=RULES).response["violations"]]
    assert not found, found
    assert not page.evaluate("document.scrollingElement.scrollWidth > innerWidth"), "wider than the window"


def shot(page, name):
    if folder := os.environ.get("SCREENSHOTS"):
        size = page.viewport_size["width"]
        scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
        page.screenshot(path=f"{folder}/{re.sub(r'[^a-z]+', '-', name.lower())}-{size}-{scheme}.png", full_page=True)


@pytest.fixture
def people(browser, service, settings):
    """Makes people, each with a browser profile of their own."""
    settings(**{"identity.signInPage": True})
    with contextlib.ExitStack() as open_contexts:
        def make(autofill=False, **options):
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
            open_contexts.callback(context.close)
            if not autofill:
                # DevTools' authenticator would pick a passkey there before anybody presses a button.
                context.add_init_script("PublicKeyCredential.isConditionalMediationAvailable = async () => false")
            return Person(context, service)
        yield make


@pytest.fixture(params=[{}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}], ids=["desktop", "phone-dark"])
def person(people, request):
    return people(**request.param)


def test_offer_after_password(person, service):
    """A password is followed by the offer of a passkey, which then signs in without one."""
    uid = service.create(email="ada@example.com", password=PASSWORD)
    device = Authenticator(person.page)
    person.open().sign_in()
    person.expect("Sign in without your password")
    person.press("Create a passkey")
    claims = person.tokens()
    assert claims["sub"] == uid and claims["firebase"]["sign_in_provider"] == "passkey"
    assert len(device.passkeys) == 1 and device.passkeys[0]["rpId"] == "localhost"
    assert service.account(localId=uid)["passkeyInfo"]

    person.use_passkey()
    claims = person.tokens()
    assert claims["sub"] == uid
    assert claims["firebase"]["sign_in_second_factor"] == "passkey"
    assert not person.errors


def test_second_factor(person, service, settings):
    """By setting, the password is only the first factor of an account that has a passkey."""
    settings(**{"passkeyConfig.secondFactor": True})
    uid = service.create(email="ada@example.com", password=PASSWORD)
    device = Authenticator(person.page)
    person.open().sign_in()
    person.press("Create a passkey")
    person.tokens()
    person.open().sign_in()
    person.expect("One more step")
    person.press("Sign in with a passkey")
    claims = person.tokens()
    assert claims["sub"] == uid and claims["firebase"]["sign_in_provider"] == "password"
    assert claims["firebase"]["sign_in_second_factor"] == "passkey"
    assert not person.errors


def test_autofill(people, service):
    """The browser's autofill offers passkeys; DevTools' authenticator picks one as soon as it may."""
    uid = service.create(email="ada@example.com", password=PASSWORD)
    first = people()
    device = Authenticator(first.page)
    first.open().sign_in()
    first.press("Create a passkey")
    first.tokens()
    second = people(autofill=True)
    Authenticator(second.page).add(device.passkeys[0])
    second.open()
    assert second.tokens()["sub"] == uid


def test_conditional_create(people, service):
    """A browser that may create a passkey without asking does so after a password.

    Chromium does it with Google Password Manager only. With DevTools' authenticator such a request stays unanswered, so
    the browser here is made to answer it as any other.
    """
    uid = service.create(email="ada@example.com", password=PASSWORD)
    person = people()
    device = Authenticator(person.page)
    person.page.add_init_script("""
        const create = CredentialsContainer.prototype.create;
        CredentialsContainer.prototype.create = function ({ mediation, ...options }) {
          if (mediation !== 'conditional') throw new Error('Nobody pressed a button.');
          return create.call(this, options);
        };
        PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
    """)
    person.open().sign_in()
    claims = person.tokens()
    assert claims["sub"] == uid and claims["firebase"]["sign_in_provider"] == "passkey"
    assert len(device.passkeys) == 1
    assert not person.errors


def test_not_now(person, service):
    """Whoever does not want one is in the app, and is not asked again."""
    uid = service.create(email="ada@example.com", password=PASSWORD)
    Authenticator(person.page)
    person.open().sign_in()
    person.expect("Sign in without your password")
    person.press("Not now")
    assert person.tokens()["sub"] == uid
    person.open().sign_in()
    assert person.tokens()["firebase"]["sign_in_provider"] == "password"


def test_cancelled(people, service):
    """An authenticator that does not know the user signs nobody in, and the password still does."""
    uid = service.create(email="ada@example.com", password=PASSWORD)
    person = people()
    device = Authenticator(person.page)
    person.open().sign_in()
    person.press("Create a passkey")
    person.tokens()
    device.refuse()
    person.use_passkey()
    person.page.get_by_text("No passkey was used.").wait_for()
    shot(person.page, "Cancelled")
    person.sign_in()
    claims = person.tokens()
    assert claims["sub"] == uid and claims["firebase"]["sign_in_provider"] == "password"


def test_own_passkeys(person, service):
    """An app sends users to their passkeys: two devices, one removed, and its passkey opens nothing."""
    uid = service.create(email="ada@example.com", password=PASSWORD)
    first = Authenticator(person.page)
    person.open(show="passkeys").sign_in()
    person.expect("Your passkeys")
    assert "You have no passkey" in person.page.inner_text("main")
    person.press("Add a passkey")
    person.page.get_by_text("never used").wait_for()
    shot(person.page, "One passkey")
    kept = first.passkeys[0]
    # The browser refuses a second one on the same device.
    person.press("Add a passkey")
    person.page.get_by_text("No passkey was used.").wait_for()
    first.call("removeVirtualAuthenticator", authenticatorId=first.id)
    second = Authenticator(person.page, transport="usb", defaultBackupEligibility=False, defaultBackupState=False)
    person.press("Add a passkey")
    person.page.get_by_text("never used").nth(1).wait_for()
    shot(person.page, "Two passkeys")
    person.press("Remove")
    person.page.get_by_text("never used").nth(1).wait_for(state="detached")
    person.press("Done")
    assert person.tokens()["sub"] == uid
    assert len(service.account(localId=uid)["passkeyInfo"]) == 1

    second.call("removeVirtualAuthenticator", authenticatorId=second.id)
    third = Authenticator(person.page)
    third.add(kept)
    person.use_passkey()
    person.page.get_by_text("No account has this passkey.").wait_for()
    shot(person.page, "Unknown passkey")
    for _ in range(100):
        if not third.passkeys:
            break
        person.page.wait_for_timeout(50)
    assert not third.passkeys, "the page tells the browser, which no longer offers it"
    assert not person.errors


def test_copied_passkey(people, service):
    """A copy of a passkey with a counter is refused as soon as the counters differ."""
    service.create(email="ada@example.com", password=PASSWORD)
    person = people()
    device = Authenticator(person.page, defaultBackupEligibility=False, defaultBackupState=False)
    person.open().sign_in()
    person.press("Create a passkey")
    person.tokens()
    copy = device.passkeys[0]
    for _ in range(2):
        person.use_passkey()
        person.tokens()
    thief = people()
    stolen = Authenticator(thief.page, defaultBackupEligibility=False, defaultBackupState=False)
    stolen.add({**copy, "signCount": 1})
    thief.use_passkey()
    thief.page.get_by_text("This passkey was not accepted.").wait_for()
    assert any("counter" in line or "clone" in line for line in list(service.log))


def test_without_scripts(people, service):
    """Nothing of passkeys is in the way of a browser without scripts."""
    uid = service.create(email="ada@example.com", password=PASSWORD)
    person = people(java_script_enabled=False)
    person.open()
    assert not person.page.get_by_text("passkey").first.is_visible()
    person.sign_in()
    # The page leads on by itself.
    assert person.tokens()["sub"] == uid


def test_demo_page(people, service):
    """The demo page adds, uses and removes a passkey; at an IP address it says where."""
    person = people()
    device = Authenticator(person.page)
    page = person.page
    page.goto(service.url)
    page.get_by_role("link", name="Open this page at localhost").click()
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    person.press("Create account")
    person.press("Add a passkey")
    page.get_by_text("The passkey is added.").wait_for()
    shot(page, "Demo page")
    assert len(device.passkeys) == 1
    person.press("Sign out")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("Signed in with a passkey.").wait_for()
    person.press("Remove")
    page.locator("#ask-yes").click()
    page.get_by_text("The passkey is removed.").wait_for()
    assert "passkeyInfo" not in service.account(email="ada@example.com")
    assert not person.errors
