"""What schemathesis cannot know: credentials, and values that exist.

A value goes by the name of its member, so that an operation which is new gets them as well. Whether a request gets one
is decided by its own content: the same request is always treated alike.
"""

import atexit
import base64
import collections
import hashlib
import json
import os
import pathlib
import urllib.error
import urllib.parse
import urllib.request

import schemathesis

URL = os.environ["IDENTITY_URL"]
PROJECT = "demo-project"
# What changes settings and providers works here: the others need theirs as they are.
CHANGED_PROJECT = "changed-project"
EMAIL, PASSWORD = "known@example.com", "correct horse"
PROVIDERS = ["google.com", "github.com", "apple.com", "oauth.discord", "oidc.acme"]
# Made for the tests; nobody has its key.
CERTIFICATE = (pathlib.Path(__file__).resolve().parents[1] / "Tests/Release/certificate.pem").read_text()
SAML = {
    "enabled": True,
    "idpConfig": {
        "idpEntityId": "acme", "ssoUrl": "https://login.acme.example/sso",
        "idpCertificates": [{"x509Certificate": CERTIFICATE}],
    },
    "spConfig": {"spEntityId": "app", "callbackUri": "https://app.example/__/auth/handler"},
}


# --- The service, called as apps and admins do


def post(path, body, may_fail=False, method="POST"):
    headers = {"Content-Type": "application/json"}
    if "/projects/" in path:
        headers["Authorization"] = "Bearer owner"
    key = "&key=any" if "?" in path else "?key=any"
    request = urllib.request.Request(URL + path + key, json.dumps(body).encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError:
        if not may_fail:
            raise
        return {}


def person():
    """A new account of its own: what a request does to it is nobody else's matter."""
    return post("/v1/accounts:signUp", {"returnSecureToken": True})


def known_person():
    """The one who has an address and a password; opened again when a request deleted it."""
    post(f"/v1/projects/{PROJECT}/accounts", {"email": EMAIL, "password": PASSWORD}, may_fail=True)
    return EMAIL


def merge():
    """The id of a merge of two new accounts."""
    body = {"localId": person()["localId"], "mergedLocalId": person()["localId"]}
    return post(f"/v1/projects/{PROJECT}/accounts:merge", body, may_fail=True).get("mergeId", "")


def code(kind):
    body = {"requestType": kind, "email": known_person(), "returnOobLink": True, "continueUrl": "http://localhost/"}
    return post(f"/v1/projects/{PROJECT}/accounts:sendOobCode", body, may_fail=True).get("oobCode", "")


def provider_configuration(collection):
    """The id of a provider that is configured in the project whose configuration may be changed."""
    body = {"enabled": True, "clientId": "app", "clientSecret": "s3cret"}
    name, identifier = "idpId", "google.com"
    if collection == "oauthIdpConfigs":
        name, identifier = "oauthIdpConfigId", "oidc.acme"
        body["issuer"] = "https://login.acme.example"
    elif collection == "inboundSamlConfigs":
        name, identifier = "inboundSamlConfigId", "saml.acme"
        body = SAML
    post(f"/v2/projects/{CHANGED_PROJECT}/{collection}?{name}={identifier}", body, may_fail=True)
    return identifier


def project_with_own_issuer():
    """The project whose configuration may be changed, as libraries of OpenID Connect find it."""
    change = {"identity": {"tokenIssuer": "own"}}
    post(f"/v2/projects/{CHANGED_PROJECT}/config?updateMask=identity.tokenIssuer", change, True, "PATCH")
    return CHANGED_PROJECT


def tenant():
    """The id of a new tenant of the project whose configuration may be changed."""
    project = f"/v2/projects/{CHANGED_PROJECT}"
    # A request may have switched tenants off.
    post(f"{project}/config?updateMask=multiTenant.allowTenants", {"multiTenant": {"allowTenants": True}}, True, "PATCH")
    made = post(f"{project}/tenants", {"displayName": "Northwind"}, may_fail=True)
    return made.get("name", "none").split("/")[-1]


def unsigned_token(claims):
    """A custom token as the emulator takes them, and so `identity dev`."""
    header, payload = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in ({"alg": "none", "typ": "JWT"}, claims)
    )
    return f"{header}.{payload}."


# --- Values that exist


def values(number):
    """By the names of members, in small letters and without `_`; made when one is asked for."""
    subject = f"subject-{number % 5}"
    provider = PROVIDERS[number % len(PROVIDERS)]
    claims = {"sub": subject, "email": f"{subject}@example.com", "email_verified": number % 2 == 0}
    # A `+` in a token is no space.
    credential = f"id_token={urllib.parse.quote(json.dumps(claims))}&providerId={provider}"
    url = lambda: "http://localhost/"  # noqa: E731
    return {
        "idtoken": lambda: person()["idToken"],
        "refreshtoken": lambda: person()["refreshToken"],
        "localid": lambda: person()["localId"],
        "mergedlocalid": lambda: person()["localId"],
        "mergeid": merge,
        "email": known_person,
        "identifier": known_person,
        "newemail": lambda: f"new-{number}@example.com",
        "password": lambda: PASSWORD,
        "newpassword": lambda: PASSWORD,
        "oobcode": lambda: code(["PASSWORD_RESET", "EMAIL_SIGNIN", "VERIFY_EMAIL"][number % 3]),
        "providerid": lambda: provider,
        "rawid": lambda: subject,
        "postbody": lambda: credential,
        "requesturi": url,
        "continueuri": url,
        "continueurl": url,
        "token": lambda: unsigned_token({"uid": subject}),
        "granttype": lambda: "refresh_token",
        "phonenumber": lambda: f"+1202555{number % 10_000:04}",
        "tenantid": lambda: "",
    }


def fill(body, number):
    """Puts values that exist into three of four members that want one."""
    known = values(number)
    for position, (name, value) in enumerate(list(body.items())):
        make = known.get(name.replace("_", "").lower())
        if make is None or number >> (2 * position % 48) & 3 == 0:
            continue
        if isinstance(value, str):
            body[name] = make()
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            body[name] = [make()]


def authorize(case, number):
    operation = case.operation.definition.raw
    schemes = {name for choice in operation.get("security", []) for name in choice}
    # Where both will do, an admin is one of three callers.
    if "bearer" in schemes and (len(schemes) == 1 or number % 3 == 0):
        case.headers["Authorization"] = "Bearer owner"
    elif "apiKey" in schemes:
        case.query["key"] = "any"
    parameters = case.path_parameters or {}
    if "project" in parameters:
        changes = {"configuration", "development"} & set(operation.get("tags", []))
        parameters["project"] = CHANGED_PROJECT if changes else PROJECT
    if case.path.endswith("/openid-configuration") and number % 3:
        parameters["project"] = project_with_own_issuer()
    if "config" in parameters:
        parameters["config"] = provider_configuration(case.path.split("/")[4])
    if "tenant" in parameters and parameters["project"] == CHANGED_PROJECT:
        parameters["tenant"] = tenant()
    if "provider" in parameters:
        parameters["provider"] = PROVIDERS[number % len(PROVIDERS)]


@schemathesis.hook
def before_call(context, case, kwargs):
    content = json.dumps([case.method, case.path, case.body, case.path_parameters, case.query], default=repr)
    number = int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big")
    # A colon begins a custom method, encoded or not: a path with another one is no operation's, and answered as such.
    for name, value in (case.path_parameters or {}).items():
        if isinstance(value, str):
            case.path_parameters[name] = value.replace(":", "-").replace("%3A", "-")
    if isinstance(case.body, dict):
        fill(case.body, number >> 8)
    if number % 8:
        authorize(case, number >> 8)


# --- What came of it

statuses = collections.defaultdict(collections.Counter)


@schemathesis.hook
def after_call(context, case, response):
    if response.request.method == case.operation.method.upper():
        statuses[case.operation.label][response.status_code] += 1


@atexit.register
def report():
    """How far the requests got: an operation that never succeeded was tested at its door alone."""
    for label, counts in sorted(statuses.items()):
        successes = sum(count for status, count in counts.items() if status < 400)
        print(f"{successes:6} of {counts.total():4} successful  {label}")
