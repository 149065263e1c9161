"""The release program, and what a request needs before it can be made: people, codes, flows, sessions of the console.

`identity dev` has everything but the operations' port and the absence of what is for development alone; those are of an
`identity serve` beside it.
"""

import base64
import concurrent.futures
import functools
import hashlib
import hmac
import html
import http.client
import itertools
import json as jsonlib
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

import document

sys.path += [str(document.ROOT / "Tests/Passkeys"), str(document.ROOT / "Tests/Release")]
import authenticator
import cluster as clusters

PROGRAM = os.environ.get("IDENTITY_PROGRAM", str(document.ROOT / ".build/dist/program/identity"))
# Its lower case of I is not i: no answer may depend on it.
LOCALE = {"LC_ALL": "tr_TR.UTF-8"}
THREADS = 8
PROJECT = "demo-project"
# Whose settings and providers change; whose accounts are deleted; whose tokens have an issuer of its own.
CHANGED, EMPTIED, OWN_ISSUER = "changed-project", "emptied-project", "issuer-project"
PASSWORD, CONSOLE_PASSWORD = "correct horse", "a rather long phrase"
CALLBACK = "http://localhost/callback"
SERVE = """
IDENTITY_DATABASE_URL=$DATABASE_URL; export IDENTITY_DATABASE_URL
"$0" migrate && "$0" projects create smoke-project && exec "$0" serve
"""
# An application that signs in with the project's accounts.
OAUTH_CLIENT = {"client_name": "Tea House", "redirect_uris": ["https://tea.example.com/callback"], "grant_types": [
    "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]}
HANDLER = {"apiKey": "any", "appName": "app", "authType": "signInViaPopup", "providerId": "oidc.demo"}
# What a browser says of a page of an app.
RELYING_PARTY = "passkeys.localhost"
# Of a project that has a host of its own, which has its files about passkeys and apps.
OWN_HOST = "pages.example.com"
PAGE = {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-origin"}
# Forms that are taken from the service's own pages alone.
OWN_FORMS = {"takeSignInStep"} | {
    name for name, operation in document.OPERATIONS.items()
    if operation["tags"] == ["console"] and operation["method"] == "POST"
}
# Made for the tests; nobody has its key.
CERTIFICATE = (document.ROOT / "Tests/Release/certificate.pem").read_text()
SAML = {
    "enabled": True,
    "idpConfig": {
        "idpEntityId": "acme", "ssoUrl": "https://login.acme.example/sso",
        "idpCertificates": [{"x509Certificate": CERTIFICATE}],
    },
    "spConfig": {"spEntityId": "app", "callbackUri": "https://app.example/__/auth/handler"},
}
BUILT_IN = {"enabled": True, "clientId": "app", "clientSecret": "s3cret"}
OIDC = {**BUILT_IN, "issuer": "https://login.acme.example"}
# Of each kind a provider: its id, the parameter that has it, the body, and what the operations are called.
PROVIDERS = {
    "builtIn": ("google.com", "idpId", BUILT_IN, "DefaultSupportedIdpConfig"),
    "oidc": ("oidc.acme", "oauthIdpConfigId", OIDC, "OauthIdpConfig"),
    "saml": ("saml.acme", "inboundSamlConfigId", SAML, "InboundSamlConfig"),
}
# What a crash leaves in the log.
CRASH = re.compile(r"Fatal error|\*\*\* (Program|Signal)|crashed|Illegal instruction|precondition|Segmentation", re.IGNORECASE)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def one_time_code(secret, step):
    """RFC 6238."""
    digest = hmac.new(base64.b32decode(secret + "=" * (-len(secret) % 8)), struct.pack(">q", step), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


def this_step():
    return int(time.time()) // 30


def inputs(page):
    """The values of a page's hidden inputs, by their names."""
    found = {}
    for tag in re.findall(r"<input\b[^>]*>", page):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") == "hidden":
            found.setdefault(attributes["name"], html.unescape(attributes.get("value", "")))
    return found


class Reply:
    def __init__(self, answer):
        self.status = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.cookies = "; ".join(value.split(";")[0] for name, value in answer.getheaders() if name.lower() == "set-cookie")
        self.body = answer.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return jsonlib.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers.get('location', '')} {self.text[:1500]}"


class Process:
    """A program whose log is a file."""

    def __init__(self, arguments, folder, environment=()):
        self.log_file = os.path.join(folder, "log")
        with open(self.log_file, "wb") as log:
            self.child = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=document.ROOT,
                env={**os.environ, **LOCALE, **dict(environment)},
            )

    def await_ready(self, **ready):
        """What it says where it listens: the group of each pattern, by its name."""
        end = time.monotonic() + 60
        while any(re.search(pattern, self.log) is None for pattern in ready.values()):
            if self.child.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.child.args} does not start:\n{self.log}")
            time.sleep(0.05)
        return {name: re.search(pattern, self.log).group(1) for name, pattern in ready.items()}

    @property
    def log(self):
        with open(self.log_file, errors="replace") as log:
            return log.read()

    def stop(self):
        """Ends it as systemd does: what a script starts with & ignores SIGINT, and so does all that it starts."""
        if self.child.poll() is not None:
            return
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.child.kill()
            raise


class Connections(threading.local):
    """One kept connection for each thread, host and source address."""

    def __init__(self):
        self.open = {}

    def send(self, method, url, body=None, headers=(), source=None):
        parts = urllib.parse.urlsplit(url)
        target = parts.path + ("?" + parts.query if parts.query else "")
        for attempt in itertools.count():
            connection = self.open.pop((parts.netloc, source), None)
            is_kept = connection is not None
            if not is_kept:
                connection = http.client.HTTPConnection(parts.netloc, timeout=60, source_address=source and (source, 0))
            try:
                connection.request(method, target, body, dict(headers))
                answer = connection.getresponse()
                reply = Reply(answer)
            except (http.client.RemoteDisconnected, ConnectionError):
                connection.close()
                # A kept connection may have been closed meanwhile; a new one may not.
                if not is_kept or attempt:
                    raise
                continue
            if not answer.will_close:
                self.open[parts.netloc, source] = connection
            return reply


class World:
    def __init__(self, folder):
        os.makedirs(os.path.join(folder, "serve"))
        self.data = os.path.join(folder, "data")
        self.numbers = itertools.count(1)
        self.connections, self.threads = Connections(), threading.local()
        # The same threads for all operations: they keep their connections and projects.
        self.pool = concurrent.futures.ThreadPoolExecutor(THREADS)
        self.lock = threading.RLock()
        self.dev = Process([PROGRAM, "dev", "--port", "0", "--data", self.data, "--demo-providers", "all"], folder)
        self.serve = Process(
            ["scripts/with-postgres", "sh", "-c", SERVE, PROGRAM], os.path.join(folder, "serve"),
            {"IDENTITY_ENCRYPTION_KEYS": "k1:" + base64.b64encode(os.urandom(32)).decode(),
             "IDENTITY_HTTP_BIND": "127.0.0.1:0", "IDENTITY_METRICS_BIND": "127.0.0.1:0",
             "IDENTITY_HTTP_PUBLIC_URL": "https://id.example.com"},
        )
        try:
            dev = self.dev.await_ready(url=r"(?m)^ready (http://[0-9.:]+)$")
            serve = self.serve.await_ready(
                metrics=r'"(\d+)"[^\n]*"Serving metrics"', port=r'"(\d+)"[^\n]*"Serving"')
            self.urls = {"dev": dev["url"], **{
                name: "http://127.0.0.1:" + serve[port] for name, port in (("serve", "port"), ("metrics", "metrics"))}}
            self.set_up()
        except BaseException:
            self.stop()
            raise

    def set_up(self):
        """What the project of most calls has besides the settings that it came with."""
        self.config(PROJECT, {"identity": {"signInPage": True}})
        self.config(PROJECT, {"passkeyConfig": {
            "rpId": RELYING_PARTY, "managementUrl": "https://localhost/passkeys", "appleTeamId": "A1B2C3D4E5",
            "expectedOrigins": [PAGE["Origin"], "https://localhost", "android:apk-key-hash:" + "A" * 43]}})
        self.config(OWN_ISSUER, {"identity": {"tokenIssuer": "own"}})
        self.config("pages-project", {"identity": {"publicURL": f"https://{OWN_HOST}"}})
        self.config("pages-project", {"passkeyConfig": {
            "rpId": OWN_HOST, "managementUrl": f"https://{OWN_HOST}/passkeys", "appleTeamId": "A1B2C3D4E5",
            "expectedOrigins": [f"https://{OWN_HOST}", "android:apk-key-hash:" + "A" * 43]}})
        for app in ({"platform": "IOS", "bundleId": "com.example.Tea"}, {"platform": "ANDROID", "packageName": "com.example.tea"}):
            self.need("createApp", path={"project": "pages-project"}, json=app)
        self.config(CHANGED, {"multiTenant": {"allowTenants": True}})
        body, mask = {"definition": {"keepTokens": True}}, {"updateMask": "definition.keepTokens"}
        self.need("updateOauthIdpConfig", path={"project": PROJECT, "config": "oidc.demo"}, json=body, query=mask)
        body, mask = {"webhookSecret": "webhook"}, {"updateMask": "webhookSecret"}
        self.need("updateDefaultSupportedIdpConfig", path={"project": PROJECT, "config": "github.com"}, json=body, query=mask)

        self.service_account, self.workload = self.make_service_account(), self.make_workload()
        clusters.await_configuration(self.urls["dev"] + "/metrics", self.urls["metrics"] + "/metrics")

    def make_service_account(self):
        """The file of a service account of the project."""
        return jsonlib.loads(self.run("service-accounts", "create", "--project", PROJECT))

    def make_workload(self):
        """A workload of the project: its platform's private key, and the claims of its tokens."""
        key = ec.generate_private_key(ec.SECP256R1())
        keys = os.path.join(os.path.dirname(self.data), "platform.json")
        claims = {"iss": "https://ci.example.com", "sub": "job", "aud": "smoke"}
        with open(keys, "w") as file:
            jsonlib.dump({"keys": [jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)]}, file)
        self.run("workloads", "create", "--name", "job", "--project", PROJECT, "--issuer", claims["iss"], "--jwks", keys,
                 "--audience", claims["aud"], "--claim", "sub=" + claims["sub"])
        return key, claims

    def config(self, project, settings):
        mask = ",".join(f"{outer}.{inner}" for outer, members in settings.items() for inner in members)
        return self.need("updateConfig", path={"project": project}, json=settings, query={"updateMask": mask})

    def death(self):
        """How one of the processes that were started has ended or is about to, and the end of its log; else nothing."""
        for name, process in (("dev", self.dev), ("serve", self.serve)):
            log, status = process.log, process.child.poll()
            crash = CRASH.search(log)
            if crash or status is not None:
                start = max(0, crash.start() - 500) if crash else max(0, len(log) - 3000)
                return f"identity {name} died, status {status}:\n{log[start:start + 5000]}"
        return None

    def stop(self):
        self.pool.shutdown()
        for process in (self.dev, self.serve):
            process.stop()

    def run(self, *arguments):
        """What a command of the program prints."""
        done = subprocess.run([PROGRAM, *arguments, "--data", self.data], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return done.stdout

    # --- Requests

    def call(self, name, json=None, form=None, query=None, path=None, headers=None, body=None, on="dev", credential=None,
             source=None, raw_query=None, way=0):
        """Calls an operation.

        `credential` is 'key', 'owner', 'both' or 'none' where it is not the first that will do, `on` the server that is
        asked, `way` which of the operation's paths is taken, `source` the address that the request comes from.
        """
        operation = document.OPERATIONS[name]
        schemes = document.credentials(name)
        credential = credential or ("key" if "apiKey" in schemes else "owner" if schemes else "none")
        headers, query = {**(headers or {})}, {**(query or {})}
        if credential in ("key", "both"):
            query["key"] = "any"
        if credential in ("owner", "both"):
            headers["Authorization"] = "Bearer owner"
        if json is not None:
            body, headers["Content-Type"] = jsonlib.dumps(json), "application/json"
        elif form is not None:
            body, headers["Content-Type"] = urllib.parse.urlencode(form), "application/x-www-form-urlencoded"
        if name in OWN_FORMS:
            headers.setdefault("Sec-Fetch-Site", "same-origin")
        values = {"project": PROJECT, **(path or {})}
        target = operation["paths"][way % len(operation["paths"])]
        target = re.sub(r"\{(\w+)\}", lambda match: urllib.parse.quote(values[match[1]], safe=""), target)
        query = "&".join(part for part in (urllib.parse.urlencode(query), raw_query) if part)
        url = self.urls[on] + target + ("?" + query if query else "")
        try:
            return self.connections.send(operation["method"], url, body, headers, source)
        except (OSError, http.client.HTTPException) as error:
            raise AssertionError(f"no answer, {error!r}: {operation['method']} {url} {headers} {body}") from error

    def need(self, name, **request):
        """The answer of a call that prepares another one."""
        reply = self.call(name, **request)
        assert reply.status < 400, f"{name}, to prepare: {reply}"
        return reply.json if "json" in reply.headers.get("content-type", "") else reply

    def number(self):
        return next(self.numbers)

    @functools.cached_property
    def shared(self):
        """What many calls may use, made when the first one asks."""
        return Shared(self)

    # --- Accounts

    def guest(self, **body):
        return self.need("signUp", json=body)

    def email(self):
        return f"person{self.number()}@example.com"

    def account(self, **body):
        """The id of a new account, without a password."""
        return self.need("adminCreate", json=body)["localId"]

    def fake(self, provider="google.com", email=None, verified=True, **body):
        """A sign-in by the emulator's fake credential, of somebody new."""
        subject = f"subject{self.number()}"
        claims = {"sub": subject, "email": email or f"{subject}@example.com", "email_verified": verified}
        # A `+` in a token is no space.
        credential = f"id_token={urllib.parse.quote(jsonlib.dumps(claims))}&providerId={provider}"
        return {"json": {"requestUri": "http://localhost", "postBody": credential, "returnSecureToken": True, **body}}

    def known_identity(self):
        """A sign-in of somebody who came that way before."""
        request = self.fake()
        self.need("signInWithIdp", **request)
        return request

    def person(self):
        """Somebody with a verified address."""
        return self.need("signInWithIdp", **self.fake())

    def member(self):
        """Somebody with a password."""
        return self.need("signUp", json={"email": self.email(), "password": PASSWORD})

    def code(self, kind, email=None, **body):
        """The one-time code of a mail to a new account, or to the one that has the address."""
        if email is None:
            email = self.email()
            self.account(email=email)
        body = {"requestType": kind, "email": email, "returnOobLink": True, "continueUrl": "http://localhost/", **body}
        return self.need("adminSendOobCode", json=body)["oobCode"]

    # --- Sign-ins at providers

    def authorize(self, url, email=None):
        """Goes to a demo provider as somebody new: the address to which it sends the browser, and what is posted there."""
        parts = urllib.parse.urlsplit(url)
        form = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        form |= {"choice": "other", "email": email or self.email(), "name": "Ada Lovelace", "verified": "on"}
        target = urllib.parse.urlunsplit(parts._replace(query=""))
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        reply = self.connections.send("POST", target, urllib.parse.urlencode(form), headers)
        if "location" in reply.headers:
            return reply.headers["location"], ""
        action = re.search(r'<form method="post" action="([^"]+)"', reply.text)
        assert reply.status == 200 and action, f"{url}: {reply}"
        return html.unescape(action[1]), urllib.parse.urlencode(inputs(reply.text))

    def flow(self, provider="oidc.demo", email=None, **body):
        """A sign-in by the code that a demo provider gives."""
        begun = self.need("createAuthUri", json={"providerId": provider, "continueUri": CALLBACK})
        url, posted = self.authorize(begun["authUri"], email)
        body = {"requestUri": url, "sessionId": begun["sessionId"], "returnSecureToken": True, **body}
        return {"json": {**body, "postBody": posted} if posted else body}

    def handler(self, name, query=HANDLER):
        """An SDK's page on its way back from a provider: the query, and the cookie of the browser that began."""
        begun = self.need(name, query={**query})
        data = jsonlib.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', begun.text, re.DOTALL)[1])
        url, _ = self.authorize(data["url"])
        return {"query": dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query)), "headers": {"Cookie": begun.cookies}}

    # --- Codes and second factors

    def phone(self):
        return f"+49151{self.number():08}"

    def sms(self, session):
        """The code of the SMS that was sent for `sessionInfo`."""
        codes = self.need("emulatorVerificationCodes")["verificationCodes"]
        return next(code["code"] for code in codes if code["sessionInfo"] == session)

    def sms_sign_in(self):
        session = self.need("sendVerificationCode", json={"phoneNumber": self.phone()})["sessionInfo"]
        return {"sessionInfo": session, "code": self.sms(session)}

    def begin_app(self, token):
        """The enrolment of an authenticator app: what finalizeMFAEnrollment takes, and the app's secret."""
        begun = self.need("startMFAEnrollment", json={"idToken": token, "totpEnrollmentInfo": {}})["totpSessionInfo"]
        secret = begun["sharedSecretKey"]
        code = {"sessionInfo": begun["sessionInfo"], "verificationCode": one_time_code(secret, this_step())}
        return {"idToken": token, "displayName": "App", "totpVerificationInfo": code}, secret

    def begin_phone(self, token):
        begun = self.need("startMFAEnrollment", json={"idToken": token, "phoneEnrollmentInfo": {"phoneNumber": self.phone()}})
        session = begun["phoneSessionInfo"]["sessionInfo"]
        code = {"sessionInfo": session, "code": self.sms(session)}
        return {"idToken": token, "displayName": "Phone", "phoneVerificationInfo": code}

    def with_factor(self, is_app):
        """Somebody who signs in with a second factor: the tokens, the factor's id, the app's secret, and the first factor."""
        first = self.fake()
        token = self.need("signInWithIdp", **first)["idToken"]
        body, secret = self.begin_app(token) if is_app else (self.begin_phone(token), None)
        tokens = self.need("finalizeMFAEnrollment", json=body)
        account = self.need("lookup", json={"idToken": tokens["idToken"]})["users"][0]
        return tokens, account["mfaInfo"][0]["mfaEnrollmentId"], secret, first

    def pending(self, is_app):
        """A sign-in that waits for its second factor."""
        _, factor, secret, first = self.with_factor(is_app)
        waiting = self.need("signInWithIdp", **first)["mfaPendingCredential"]
        return {"mfaPendingCredential": waiting, "mfaEnrollmentId": factor}, secret

    # --- Passkeys

    def begin_passkey(self, token=None):
        """The enrolment of a passkey: what finalizePasskeyEnrollment takes, and the passkey."""
        token = token or self.person()["idToken"]
        options = self.need("startPasskeyEnrollment", json={"idToken": token})["credentialCreationOptions"]
        chance = random.Random(self.number())
        passkey = authenticator.Credential(chance, authenticator.ES256)
        passkey.user, passkey.count, passkey.is_eligible = base64.b64decode(options["user"]["id"]), 1, True
        draft = authenticator.Registration(chance, self.manufacturer, passkey, format="none")
        draft.flags = authenticator.UP | authenticator.UV | authenticator.BE | authenticator.AT
        answer = self.authenticated(draft, options["challenge"])
        return {"idToken": token, "name": "Key", "authenticatorRegistrationResponse": answer}, passkey

    def use_passkey(self, passkey):
        """What finalizePasskeySignIn takes."""
        challenge = self.need("startPasskeySignIn", json={})["credentialRequestOptions"]["challenge"]
        draft = authenticator.Assertion(random.Random(self.number()), passkey)
        draft.flags = authenticator.UP | authenticator.UV | authenticator.BE
        return {"authenticatorAuthenticationResponse": self.authenticated(draft, challenge)}

    @functools.cached_property
    def manufacturer(self):
        return authenticator.Manufacturer(random.Random(1))

    @staticmethod
    def authenticated(draft, challenge):
        draft.rp_hash, draft.extensions = authenticator.sha256(RELYING_PARTY.encode()), None
        draft.client |= {"origin": PAGE["Origin"], "challenge": base64url(base64.b64decode(challenge))}
        parts = {name: base64url(part) for name, part in draft.response().items()}
        if isinstance(draft, authenticator.Assertion):
            parts["userHandle"] = base64url(draft.handle)
        return {"id": base64url(draft.id), "rawId": base64url(draft.id), "type": "public-key", "response": parts}

    # --- The sign-in page

    def sign_in_page(self, verifier="a verifier"):
        challenge = base64url(hashlib.sha256(verifier.encode()).digest())
        query = {"apiKey": "any", "continueUrl": "http://localhost/", "codeChallenge": challenge}
        page = self.need("signInPage", query=query)
        return {"form": {"page": inputs(page.text)["page"]}, "headers": {"Cookie": page.cookies}}

    # --- The console

    def console_session(self):
        """The cookie of whoever sits at the machine, and the token that the forms of this session have."""
        cookie = self.need("consoleSignInPage").cookies
        page = self.need("consoleAccess", headers={"Cookie": cookie})
        return {"Cookie": cookie}, inputs(page.text)["token"]

    def console_form(self, path=None, **fields):
        """A form of the console, as its pages have it."""
        headers, token = self.shared.console
        return {"headers": headers, "path": path, "form": {"token": token, **fields}}

    def source(self):
        """An address from which nobody came before: the console counts what comes from each."""
        number = self.number()
        return f"127.{number >> 16 & 127 | 1}.{number >> 8 & 255}.{number % 254 + 1}"

    def console_enrollment(self):
        """The last form of a set-up, and who signs in then."""
        email, source = f"admin{self.number()}@example.com", self.source()
        code = self.run("admins", "create", email).split()[-1]
        page = self.need("setUpConsole", form={"setup": code}, source=source)
        secret = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")
        form = {"setup": code, "enrollment": inputs(page.text)["enrollment"], "password": CONSOLE_PASSWORD,
                "code": one_time_code(secret, this_step())}
        return {"form": form, "source": source}, (email, secret)

    def console_person(self):
        request, person = self.console_enrollment()
        self.need("setUpConsole", **request)
        return person

    # --- Configuration

    @property
    def own(self):
        """A project of this thread alone: an admin's path makes it on first use."""
        if not hasattr(self.threads, "project"):
            self.threads.project = f"project-{self.number()}"
            self.need("getConfig", path={"project": self.threads.project})
        return self.threads.project

    def tenant(self, project=CHANGED):
        body = {"displayName": "Northwind", "enableAnonymousUser": True}
        return self.need("createTenant", path={"project": project}, json=body)["name"].split("/")[-1]

    def provider(self, kind, exists=True):
        """The path of a provider of this thread's project, which is there then, or is not."""
        name, parameter, body, operation = PROVIDERS[kind]
        path = {"project": self.own, "config": name}
        request = {"query": {parameter: name}, "json": body} if exists else {}
        reply = self.call(("create" if exists else "delete") + operation, path=path, **request)
        assert reply.status in (200, 409 if exists else 404), reply
        return path


class Shared:
    """What many calls may use, each made when the first one asks."""

    def __init__(self, world):
        self.world = world

    def __getattr__(self, name):
        with self.world.lock:
            if name not in self.__dict__:
                setattr(self, name, MAKERS[name](self.world))
            return self.__dict__[name]


MAKERS = {
    "member": lambda world: world.member(),
    "person": lambda world: world.person(),
    "console": lambda world: world.console_session(),
    "tenant": lambda world: world.tenant(PROJECT),
    "changed_tenant": lambda world: world.tenant(),
    "code": lambda world: world.need("adminSendOobCode", path={"project": CHANGED}, json={
        "requestType": "EMAIL_SIGNIN", "email": world.email(), "continueUrl": "http://localhost/"}),
    "app": lambda world: world.need("createApp", path={"project": CHANGED}, json={
        "platform": "ANDROID", "packageName": "com.example.known"})["packageName"],
    "pending": lambda world: world.pending(is_app=True),
    "oauth_client": lambda world: world.need("createOAuthClient", path={"project": PROJECT}, json=OAUTH_CLIENT),
    "known_identity": lambda world: world.known_identity(),
    "keeping_tokens": lambda world: world.need("signInWithIdp", **world.flow()),
}
