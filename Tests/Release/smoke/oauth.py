"""Calls of what other applications do: as in successes.py and refusals.py, of which these rows are a part."""

import hashlib
import html
import re
import urllib.parse

from world import CHANGED, OAUTH_CLIENT, PASSWORD, PROJECT, base64url, inputs

CALLBACK = OAUTH_CLIENT["redirect_uris"][0]


class Application:
    """An application, and a user's browser."""

    def __init__(self, world):
        self.world, self.cookies = world, {}
        self.verifier = f"verifier{world.number()}" + "x" * 40
        client = world.shared.oauth_client
        self.credentials = {"client_id": client["client_id"], "client_secret": client["client_secret"]}

    def request(self):
        return {"client_id": self.credentials["client_id"], "redirect_uri": CALLBACK, "response_type": "code",
                "scope": "openid email offline_access", "code_challenge_method": "S256",
                "code_challenge": base64url(hashlib.sha256(self.verifier.encode()).digest())}

    def headers(self):
        held = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": held, "Sec-Fetch-Site": "same-origin"}

    def call(self, name, **request):
        reply = self.world.need(name, headers=self.headers(), **request)
        self.cookies |= dict(pair.split("=", 1) for pair in reply.cookies.split("; ") if pair)
        return reply

    @staticmethod
    def query(url):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(html.unescape(url)).query))

    @staticmethod
    def leads_to(page):
        return re.search(r'content="0; url=([^"]*)"', page.text)[1]

    def back(self):
        """Where the sign-in page leads back to."""
        # Who agreed before would not be asked.
        request = {**self.request(), "prompt": "consent"}
        start = self.call("authorizeApplication", query=request).headers["location"]
        form = inputs(self.call("signInPage", query=self.query(start)).text)
        member = self.world.shared.member
        page = self.call("takeSignInStep", form={
            "page": form["page"], "do": "signIn", "email": member["email"], "password": PASSWORD})
        return self.query(self.leads_to(page))

    def consent(self):
        page = self.call("continueAuthorization", query=self.back())
        return {"form": {"visit": inputs(page.text)["visit"], "do": "allow"}, "headers": self.headers()}

    def code(self):
        consent = self.consent()
        code = self.query(self.leads_to(self.world.need("decideAuthorization", **consent)))["code"]
        return {"grant_type": "authorization_code", "code": code, "code_verifier": self.verifier, **self.credentials}

    def tokens(self):
        return self.world.need("grantApplicationTokens", form=self.code())


def authorized(world):
    return {"query": Application(world).request()}


def authorized_by_form(world):
    return {"form": Application(world).request()}


def come_back(world):
    application = Application(world)
    query = application.back()
    return {"query": query, "headers": application.headers()}


def decided(world):
    return Application(world).consent()


def code(world):
    return {"form": Application(world).code()}


def refreshed(world):
    application = Application(world)
    token = application.tokens()["refresh_token"]
    return {"form": {"grant_type": "refresh_token", "refresh_token": token, **application.credentials}}


def user(world):
    return {"headers": {"Authorization": "Bearer " + Application(world).tokens()["access_token"]}}


def user_by_form(world):
    return {"form": {"access_token": Application(world).tokens()["access_token"]}}


def asked(world):
    application = Application(world)
    return {"form": {"token": application.tokens()["access_token"], **application.credentials}}


def pushed(world):
    application = Application(world)
    return {"form": {**application.request(), **application.credentials}}


def device(world):
    return {"form": Application(world).credentials}


def user_code(world):
    code = world.need("authorizeDevice", **device(world))["user_code"]
    return {"form": {"user_code": code}, "headers": {"Sec-Fetch-Site": "same-origin"}}


def signed_out(world):
    application = Application(world)
    application.tokens()
    return {"form": {"do": "signOut"}, "headers": application.headers()}


def granted(world):
    application = Application(world)
    application.tokens()
    return {"headers": application.headers()}


def withdrawn(world):
    # That of the shared application would end what other calls use.
    return {**granted(world), "form": {"client": "none"}}


def registration(**request):
    """A client's own registration."""
    def prepare(world):
        made = world.need("registerOAuthClient", json={"redirect_uris": [CALLBACK]})
        return {"path": {"client": made["client_id"]}, **request,
                "headers": {"Authorization": "Bearer " + made["registration_access_token"]}}
    return prepare


def client(**request):
    def prepare(world):
        made = world.need("createOAuthClient", path={"project": CHANGED}, json=OAUTH_CLIENT)
        return {"path": {"project": CHANGED, "client": made["client_id"]}, **request}
    return prepare


DISCOVERY = ("authorizationServer", "openIDConfigurationOfPath", "authorizationServerOfPath")
SUCCESSES = {
    **{name: [{"path": {"project": PROJECT}}] for name in DISCOVERY},
    "authorizeApplication": [authorized],
    "authorizeApplicationByForm": [authorized_by_form],
    "continueAuthorization": [come_back],
    "decideAuthorization": [decided],
    "grantApplicationTokens": [code, refreshed],
    "applicationUserInfo": [user],
    "applicationUserInfoByForm": [user_by_form],
    "introspectToken": [asked],
    "revokeApplicationToken": [asked],
    "pushAuthorization": [pushed],
    "authorizeDevice": [device],
    "devicePage": [{}, {"query": {"user_code": "BCDF-GHJK"}}],
    "takeUserCode": [user_code],
    "grantsPage": [granted, {"query": {"ui_locales": "ja"}}],
    "withdrawGrant": [withdrawn],
    "signOutPage": [{}, {"query": {"ui_locales": "ja", "state": "s"}}],
    "signOutBrowser": [signed_out, {"form": {"do": "signOut"}}],
    "registerOAuthClient": [{"json": {"redirect_uris": [CALLBACK], "client_name": "Agent"}}],
    "readOAuthRegistration": [registration()],
    "replaceOAuthRegistration": [registration(json={"redirect_uris": [CALLBACK], "client_name": "Two"})],
    "deleteOAuthRegistration": [registration()],
    "listOAuthClients": [{"path": {"project": PROJECT}}],
    "createOAuthClient": [{"path": {"project": CHANGED}, "json": OAUTH_CLIENT}],
    "getOAuthClient": [client()],
    "updateOAuthClient": [client(json={"client_name": "Two"})],
    "deleteOAuthClient": [client()],
}

NOBODY = {"client_id": "nobody"}


def no_client(**request):
    return 404, "CONFIGURATION_NOT_FOUND", {"path": {"project": CHANGED, "client": "none"}, **request}


REFUSALS = {
    **{name: [(404, "NOT_FOUND", {"path": {"project": "none"}})] for name in DISCOVERY},
    "authorizeApplication": [(400, "invalid_client", {"query": NOBODY}),
                             (400, "redirect_uri is not registered", lambda world: {"query": {
                                 **Application(world).request(), "redirect_uri": "https://evil.example/"}})],
    # Whatever is wrong with the rest is said at the page to which it leads.
    "authorizeApplicationByForm": [(400, "invalid_request", {"form": {**NOBODY, "state": "s" * 40_000}})],
    "continueAuthorization": [(400, "INVALID_SESSION_INFO", {"query": {"visit": "none"}})],
    "decideAuthorization": [(400, "INVALID_SESSION_INFO", {"form": {"visit": "none", "do": "allow"},
                                                           "headers": {"Sec-Fetch-Site": "same-origin"}})],
    "grantApplicationTokens": [
        (401, "invalid_client", {"form": {"grant_type": "refresh_token", "refresh_token": "x", **NOBODY}}),
        (400, "invalid_grant", lambda world: {"form": {
            "grant_type": "refresh_token", "refresh_token": "x", **Application(world).credentials}}),
        (400, "unsupported_grant_type", lambda world: {"form": {
            "grant_type": "password", **Application(world).credentials}}),
    ],
    "applicationUserInfo": [(401, "invalid_request", {}), (401, "invalid_token", {"headers": {"Authorization": "Bearer x"}})],
    "applicationUserInfoByForm": [(401, "invalid_token", {"form": {"access_token": "e30.e30.e30"}})],
    **{name: [(401, "invalid_client", {"form": {"token": "x", **NOBODY}}),
              (400, "invalid_request", lambda world: {"form": Application(world).credentials})]
       for name in ("introspectToken", "revokeApplicationToken")},
    "pushAuthorization": [(400, "invalid_request", lambda world: {"form": Application(world).credentials})],
    "authorizeDevice": [(401, "invalid_client", {"form": NOBODY})],
    "devicePage": [(404, "NOT_FOUND", {"path": {"project": "none"}})],
    "takeUserCode": [(400, "This code is unknown", {"form": {"user_code": "x"},
                                                    "headers": {"Sec-Fetch-Site": "same-origin"}})],
    "grantsPage": [(404, "NOT_FOUND", {"path": {"project": "none"}})],
    "withdrawGrant": [(400, "INVALID_SESSION_INFO", {"form": {"client": "none"},
                                                     "headers": {"Sec-Fetch-Site": "cross-site"}})],
    "signOutPage": [(404, "NOT_FOUND", {"path": {"project": "none"}})],
    "signOutBrowser": [(404, "NOT_FOUND", {"path": {"project": "none"}, "form": {"do": "signOut"}})],
    "registerOAuthClient": [(400, "invalid_redirect_uri", {"json": {}}),
                            (400, "invalid_client_metadata", {"json": {"redirect_uris": "x"}})],
    **{name: [(401, "invalid_token", {"path": {"client": "none"}, **request})] for name, request in (
        ("readOAuthRegistration", {}), ("replaceOAuthRegistration", {"json": {}}), ("deleteOAuthRegistration", {}))},
    "listOAuthClients": [(401, "UNAUTHENTICATED", {"credential": "none"})],
    "createOAuthClient": [(400, "INVALID_CONFIG", {"path": {"project": CHANGED}, "json": {"redirect_uris": ["/x"]}})],
    "getOAuthClient": [no_client()],
    "updateOAuthClient": [no_client(json={"client_name": "Two"})],
    "deleteOAuthClient": [no_client()],
}
