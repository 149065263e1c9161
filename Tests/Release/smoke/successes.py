"""A call of each operation that succeeds, as the members of `World.call`, or a function that prepares one; where there are
several, they take turns. An operation without a row is called as its example in openapi.yaml."""

import hashlib
import hmac
import json
import re
import time
import urllib.parse

import jwt

import document
import hashes
import oauth
from world import CALLBACK, CHANGED, CONSOLE_PASSWORD, EMPTIED, HANDLER, OIDC, OWN_ISSUER, PAGE, PASSWORD, PROJECT
from world import OWN_HOST, PROVIDERS
from world import base64url, inputs, one_time_code, this_step

# The providers at which `identity dev` lets people sign in by a code.
FLOWS = ["oidc.demo", "google.com", "github.com", "microsoft.com", "facebook.com", "yahoo.com", "linkedin.com", "oidc.line",
         "oidc.slack", "oidc.gitlab", "oauth.discord", "oauth.feedly", "oauth.x", "oauth.plain", "apple.com", "twitter.com"]
TOOLKIT = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"


# --- Apps


def of(maker, **body):
    """A call with the ID token of somebody, whom a method of the world makes."""
    return lambda world: {"json": {"idToken": getattr(world, maker)()["idToken"], **body}}


def of_shared(maker, **body):
    return lambda world: {"json": {"idToken": getattr(world.shared, maker)["idToken"], **body}}


def resumed(world):
    """A conflict, and its end: the address is somebody's, and the provider does not prove it."""
    email = world.email()
    user = world.need("signUp", json={"email": email, "password": PASSWORD})
    conflict = world.need("signInWithIdp", **world.fake("github.com", email, verified=False))
    assert conflict["needConfirmation"], conflict
    return {"json": {"requestUri": "http://localhost", "pendingToken": conflict["pendingToken"], "idToken": user["idToken"],
                     "returnSecureToken": True}}


def imported(world):
    email = world.email()
    body, password = hashes.upload(email)
    landed = world.need("adminBatchCreate", json=body)
    assert "error" not in landed, (body, landed)
    return {"json": {"email": email, "password": password, "returnSecureToken": True}}


def custom_token(world):
    """Signed by the project's service account."""
    account, now = world.service_account, int(time.time())
    claims = {"iss": account["client_email"], "sub": account["client_email"], "aud": TOOLKIT, "iat": now, "exp": now + 3600,
              "uid": f"custom{world.number()}", "claims": {"plan": "gold"}}
    token = jwt.encode(claims, account["private_key"], "RS256", {"kid": account["private_key_id"]})
    return {"json": {"token": token, "returnSecureToken": True}}


def page_code(world):
    """What the sign-in page gives the app."""
    verifier = f"verifier{world.number()}" + "x" * 40
    page, member = world.sign_in_page(verifier), world.shared.member
    form = {**page["form"], "do": "signIn", "email": member["email"], "password": PASSWORD}
    reply = world.need("takeSignInStep", form=form, headers=page["headers"])
    code = re.search(r"signInCode=(page_[\w-]+)", reply.text)[1]
    return {"json": {"token": f"{code}.{verifier}", "returnSecureToken": True}}


def cookie_sign_in(world):
    """From a page of an app whose host passes `/__cookies__` on."""
    target = f"{world.urls['dev']}/v1/accounts:signInWithPassword?key=any"
    body = {"email": world.shared.member["email"], "password": PASSWORD, "returnSecureToken": True}
    return {"query": {"finalTarget": target}, "json": body, "headers": {**PAGE}}


def cookie_sign_out(world):
    return {"headers": {**PAGE, "Cookie": world.call("performWithCookies", **cookie_sign_in(world)).cookies}}


def cookie_refresh(world):
    body = {"grantType": "refresh_token", "refreshToken": "REDACTED"}
    return {"query": {"finalTarget": f"{world.urls['dev']}/v1/token?key=any"}, "json": body, **cookie_sign_out(world)}


def email_link(world):
    email = world.email()
    return {"json": {"email": email, "oobCode": world.code("EMAIL_SIGNIN", email)}}


def linked_number(world):
    return {"json": {"idToken": world.guest()["idToken"], **world.sms_sign_in()}}


def taken_number(world):
    """Somebody else has the number: the answer is a proof for theirs."""
    number = world.phone()
    world.account(phoneNumber=number)
    session = world.need("sendVerificationCode", json={"phoneNumber": number})["sessionInfo"]
    return {"json": {"idToken": world.guest()["idToken"], "sessionInfo": session, "code": world.sms(session)}}


def temporary_proof(world):
    request = taken_number(world)
    proof = world.need("signInWithPhoneNumber", **request)
    return {"json": {"phoneNumber": proof["phoneNumber"], "temporaryProof": proof["temporaryProof"]}}


def revoked_token(world):
    user = world.need("signInWithIdp", **world.flow("google.com"))
    return {"json": {"idToken": user["idToken"], "providerId": "google.com", "tokenType": "ACCESS_TOKEN",
                     "token": user["oauthAccessToken"]}}


def enrolled(is_app):
    def prepare(world):
        token = world.person()["idToken"]
        return {"json": world.begin_app(token)[0] if is_app else world.begin_phone(token)}
    return prepare


def enrolled_passkey(world):
    return {"json": world.begin_passkey()[0]}


def used_passkey(world):
    body, passkey = world.begin_passkey()
    world.need("finalizePasskeyEnrollment", json=body)
    return {"json": world.use_passkey(passkey)}


def deleted_passkey(world):
    body, passkey = world.begin_passkey()
    tokens = world.need("finalizePasskeyEnrollment", json=body)
    return {"json": {"idToken": tokens["idToken"], "deletePasskey": [base64url(passkey.id)]}}


def withdrawn(world):
    tokens, factor, _, _ = world.with_factor(is_app=True)
    return {"json": {"idToken": tokens["idToken"], "mfaEnrollmentId": factor}}


def second_factor_app(world):
    body, secret = world.pending(is_app=True)
    # Its code of this step was taken by the enrolment.
    return {"json": {**body, "totpVerificationInfo": {"verificationCode": one_time_code(secret, this_step() + 1)}}}


def second_factor_sms(world):
    body, _ = world.pending(is_app=False)
    sent = world.need("startMFASignIn", json={**body, "phoneSignInInfo": {}})["phoneResponseInfo"]["sessionInfo"]
    return {"json": {**body, "phoneVerificationInfo": {"sessionInfo": sent, "code": world.sms(sent)}}}


def access_token(world):
    account, now = world.service_account, int(time.time())
    claims = {"iss": account["client_email"], "aud": "https://oauth2.googleapis.com/token", "iat": now, "exp": now + 3600}
    assertion = jwt.encode(claims, account["private_key"], "RS256", {"kid": account["private_key_id"]})
    return {"form": {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}}


def workload_token(world, **changes):
    """A form with a new token of the workload."""
    (key, claims), now = world.workload, int(time.time())
    claims = {**claims, "iat": now, "exp": now + 300, "jti": str(world.number()), **changes}
    return {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "subject_token": jwt.encode(claims, key, "ES256")}


# --- Admins


def about(maker="account", **body):
    """A call about a new account."""
    return lambda world: {"json": {"localId": getattr(world, maker)(), **body}}


def merge(world):
    kept, merged = world.account(email=world.email(), emailVerified=True), world.account(phoneNumber=world.phone())
    return {"json": {"localId": kept, "mergedLocalId": merged}}


def provider_token(world):
    return {"json": {"localId": world.shared.keeping_tokens["localId"], "providerId": "oidc.demo"}}


def tenant_cookie(world):
    guest = world.guest(tenantId=world.shared.tenant)
    return {"path": {"tenant": world.shared.tenant}, "json": {"idToken": guest["idToken"]}}


# --- Providers


def github_revocation(world):
    text = json.dumps({"action": "revoked", "sender": {"id": world.number()}})
    signature = hmac.digest(b"webhook", text.encode(), "sha256").hex()
    headers = {"X-GitHub-Event": "github_app_authorization", "X-GitHub-Delivery": str(world.number()),
               "X-Hub-Signature-256": "sha256=" + signature, "Content-Type": "application/json"}
    return {"path": {"provider": "github.com"}, "body": text, "headers": headers}


def facebook_request(world):
    payload = {"algorithm": "HMAC-SHA256", "issued_at": int(time.time()), "user_id": str(world.number())}
    encoded = base64url(json.dumps(payload).encode())
    signature = base64url(hmac.digest(b"demo-secret", encoded.encode(), "sha256"))
    return {"path": {"provider": "facebook.com"}, "form": {"signed_request": f"{signature}.{encoded}"}}


def deletion(world):
    code = world.need("receiveDeletionRequest", **facebook_request(world))["confirmation_code"]
    return {"path": {"provider": "facebook.com", "code": code}}


# --- Pages


def link(mode, kind, **fields):
    """What the link of a mail has."""
    return lambda world: {"mode": mode, "oobCode": world.code(kind), "apiKey": "any", **fields}


LINKS = [link("verifyEmail", "VERIFY_EMAIL"), link("resetPassword", "PASSWORD_RESET", newPassword=PASSWORD)]


def as_query(prepare):
    return lambda world: {"query": prepare(world)}


def as_form(prepare):
    return lambda world: {"form": prepare(world)}


def way_back(name, posts=False):
    def prepare(world):
        request = world.handler(name)
        return {"form": request["query"], "headers": request["headers"]} if posts else request
    return prepare


def redirect_result(world):
    """Of a redirect that the provider answered."""
    leaving = {**HANDLER, "authType": "signInViaRedirect", "redirectUrl": "http://localhost/"}
    landed = world.need("handlerPage", **world.handler("handlerPage", leaving))
    frame = {"apiKey": leaving["apiKey"], "appName": leaving["appName"], "origin": "http://localhost"}
    return {"json": frame, "headers": {"Cookie": landed.cookies, "Sec-Fetch-Site": "same-origin"}}


def page_step(**fields):
    def prepare(world):
        page = world.sign_in_page()
        return {**page, "form": {**page["form"], **fields}}
    return prepare


def page_sign_in(world):
    return page_step(do="signIn", email=world.shared.member["email"], password=PASSWORD)(world)


# --- The console


def console(**path):
    """A page of the console, for whoever sits at the machine."""
    return lambda world: {"headers": world.shared.console[0], "path": path}


def console_account(world):
    return {**console(account=world.account())(world)}


def console_file(world):
    page = world.need("consoleSetUpPage").text
    return {"path": {"file": re.search(r'href="/console/files/([^"]+)"', page)[1]}}


def console_sign_in(world):
    email, secret = world.console_person()
    form = {"email": email, "password": CONSOLE_PASSWORD, "code": one_time_code(secret, this_step() + 1)}
    return {"form": form, "source": world.source()}


def console_set_up(world):
    return world.console_enrollment()[0]


def console_sign_out(world):
    headers, token = world.console_session()
    return {"headers": headers, "form": {"token": token}}


def disabled_account(world):
    path = {"account": world.account()}
    page = world.need("consoleAccount", headers=world.shared.console[0], path=path)
    return world.console_form(path, do="disable", version=inputs(page.text)["version"])


def console_provider(world, exists=True):
    """The path of a provider of the thread's project."""
    made = world.provider("oidc", exists)
    return {"project": made["project"], "provider": made["config"]}


def new_console_provider(world):
    path = console_provider(world, exists=False)
    return world.console_form({"project": path["project"]}, provider=path["provider"], clientId="app", issuer=OIDC["issuer"],
                              clientSecret="s3cret")


def changed_console_provider(action, **fields):
    def prepare(world):
        path = console_provider(world)
        page = world.need("consoleProvider", headers=world.shared.console[0], path=path)
        return world.console_form(path, do=action, version=inputs(page.text)["version"], **fields)
    return prepare


DEMO = {"provider": "oidc.demo"}


def provider_test(world):
    """A browser has been at the provider, and came back to the handler page."""
    begun = world.call("beginProviderTest", **world.console_form(DEMO))
    target = re.search(r'href="(http:[^"]*)">Go to', begun.text)[1].replace("&amp;", "&")
    url, _ = world.authorize(target)
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
    back = world.need("handlerPage", query=query, headers={"Cookie": begun.cookies})
    fields = inputs(back.text)
    return world.console_form(DEMO, **{name: value for name, value in fields.items() if name != "token"})


def changed_settings(world):
    """The form as the page of the thread's project has it."""
    path = {"project": world.own}
    page = world.need("consoleSettings", headers=world.shared.console[0], path=path)
    return world.console_form(path, **{
        "version": inputs(page.text)["version"], "identity.appName": f"App {world.number()}", "authorizedDomains": "localhost",
        "signIn.email.enabled": "true", "identity.linking": "auto", "identity.emailTrust": "default",
        "identity.methodChanges": "secondFactor", "identity.sessionIdleDays": "0", "identity.recentSignInSeconds": "300",
    })


# --- Configuration


# The host of a project, to which its files belong.
AT_DOMAIN = {"headers": {"Host": OWN_HOST}}


def of_project(project=CHANGED, **request):
    return {"path": {"project": project}, **request}


def created(kind):
    def prepare(world):
        path = world.provider(kind, exists=False)
        name, parameter, body, _ = PROVIDERS[kind]
        return of_project(path["project"], query={parameter: name}, json=body)
    return prepare


def existing(kind, **request):
    return lambda world: {"path": world.provider(kind), **request}


def in_tenant(maker=lambda world: world.shared.changed_tenant, **request):
    return lambda world: {"path": {"project": CHANGED, "tenant": maker(world)}, **request}


def new_app(world):
    return of_project(json={"platform": "ANDROID", "packageName": f"com.example.app{world.number()}"})


def withdrawn_app(world):
    made = world.need("createApp", **new_app(world))
    return {"path": {"project": CHANGED, "app": made["appId"]}}


NAMED = {"query": {"updateMask": "displayName"}, "json": {"displayName": "Acme"}}
TOKEN_FORMS = [lambda world: {"form": {"grant_type": "refresh_token", "refresh_token": world.shared.person["refreshToken"]}},
               lambda world: {"json": {"grantType": "refresh_token", "refreshToken": world.guest()["refreshToken"]}}]

# Values that exist, in place of those of the examples in openapi.yaml, by the names of their members.
VALUES = {
    "idToken": lambda world: world.person()["idToken"], "localId": lambda world: world.person()["localId"],
    "providerId": lambda world: "google.com",
}


def by_example(name):
    """The only row of an operation that has none below."""
    body = document.example(name)
    if body is None:
        return [{}]
    return [lambda world: {"json": {
        member: VALUES[member](world) if member in VALUES else value for member, value in body.items()}}]


SUCCESSES = {
    **{name: by_example(name) for name in document.OPERATIONS},
    # Apps
    "signInWithIdp": [
        lambda world: world.fake(), lambda world: world.known_identity(), resumed,
        lambda world: world.fake("github.com", idToken=world.member()["idToken"]),
        lambda world: world.fake("oidc.demo", email=world.guest().get("email"), returnIdpCredential=True),
        *(lambda world, provider=provider: world.flow(provider) for provider in FLOWS),
    ],
    "createAuthUri": [
        *({"json": {"providerId": provider, "continueUri": CALLBACK}} for provider in FLOWS),
        {"json": {"providerId": "google.com", "continueUri": CALLBACK, "oauthScope": "email",
                  "customParameter": {"prompt": "login"}, "context": "c", "authType": "linkViaPopup"}},
        lambda world: {"json": {"identifier": world.shared.member["email"], "continueUri": "http://localhost"}},
    ],
    "lookup": [of("guest"), of_shared("person"), of_shared("member"),
               lambda world: {"json": {"localId": [world.account()]}, "credential": "both"}],
    "update": [
        of("member", password="another horse", returnSecureToken=True),
        of("guest", displayName="Ada", photoUrl="https://example.com/ada.png"),
        of("person", deleteProvider=["google.com"]), of("person", deleteAttribute=["DISPLAY_NAME"], validSince="1"),
        lambda world: {"json": {"oobCode": world.code("VERIFY_EMAIL")}}, deleted_passkey,
        lambda world: {"json": {"localId": world.account(), "displayName": "Ada"}, "credential": "both"},
    ],
    "delete": [of("guest"), of("person"), lambda world: {"json": {"localId": world.account()}, "credential": "both"}],
    "signUp": [
        {"json": {}}, lambda world: {"json": {"email": world.email(), "password": PASSWORD, "returnSecureToken": True}},
        lambda world: {"json": {"idToken": world.guest()["idToken"], "email": world.email(), "password": PASSWORD}},
        lambda world: {"json": {"email": world.email()}, "credential": "both"},
    ],
    "signInWithPassword": [
        lambda world: {"json": {"email": world.shared.member["email"], "password": PASSWORD, "returnSecureToken": True}},
        imported,
    ],
    "signInWithCustomToken": [custom_token, page_code],
    "signInWithEmailLink": [
        email_link, lambda world: {"json": {**email_link(world)["json"], "idToken": world.guest()["idToken"]}},
    ],
    "sendVerificationCode": [
        lambda world: {"json": {"phoneNumber": world.phone()}},
        lambda world: {"json": {"phoneNumber": world.phone(), "autoRetrievalInfo": {"appSignatureHash": "abcdefghijk"}}},
    ],
    "signInWithPhoneNumber": [
        lambda world: {"json": world.sms_sign_in()}, linked_number, taken_number, temporary_proof,
    ],
    "sendOobCode": [
        lambda world: {"json": {"requestType": "PASSWORD_RESET", "email": world.shared.member["email"]}},
        lambda world: {"json": {"requestType": "EMAIL_SIGNIN", "email": world.email(), "continueUrl": "http://localhost/"}},
        of("person", requestType="VERIFY_EMAIL"),
        lambda world: {"json": {"requestType": 7, "idToken": world.person()["idToken"], "newEmail": world.email()}},
    ],
    "resetPassword": [
        lambda world: {"json": {"oobCode": world.code("PASSWORD_RESET")}},
        lambda world: {"json": {"oobCode": world.code("EMAIL_SIGNIN")}},
        lambda world: {"json": {"oobCode": world.code("PASSWORD_RESET"), "newPassword": PASSWORD}},
    ],
    "signOut": [of("guest"), of("guest", scope="others"), of("guest", scope="all")],
    "providerToken": [of_shared("keeping_tokens", providerId="oidc.demo")],
    "revokeToken": [revoked_token],
    "startMFAEnrollment": [
        of("person", totpEnrollmentInfo={}),
        lambda world: {"json": {"idToken": world.person()["idToken"], "phoneEnrollmentInfo": {"phoneNumber": world.phone()}}},
    ],
    "finalizeMFAEnrollment": [enrolled(True), enrolled(False)],
    "withdrawMFAEnrollment": [withdrawn],
    "startMFASignIn": [lambda world: {"json": {**world.pending(is_app=False)[0], "phoneSignInInfo": {}}}],
    "finalizeMFASignIn": [second_factor_app, second_factor_sms],
    "startPasskeyEnrollment": [of("person"), of_shared("person")],
    "finalizePasskeyEnrollment": [enrolled_passkey],
    "startPasskeySignIn": [{"json": {}}],
    "finalizePasskeySignIn": [used_passkey],
    "getRecaptchaConfig": [{"query": {"clientType": "CLIENT_TYPE_WEB"}}],
    "accessToken": [access_token, lambda world: {"form": workload_token(world)}],
    "token": TOKEN_FORMS,
    # Admins
    "adminCreate": [
        {"json": {}},
        lambda world: {"json": {"email": world.email(), "password": PASSWORD, "displayName": "Ada", "emailVerified": True}},
        lambda world: {"json": {"phoneNumber": world.phone(), "disabled": True, "localId": f"made{world.number()}"}},
        lambda world: {"json": {"email": world.email(), "emailVerified": True, "mfaInfo": [{"phoneInfo": world.phone()}]}},
    ],
    "adminLookup": [
        lambda world: {"json": {"localId": [world.shared.member["localId"], "nobody"]}},
        lambda world: {"json": {"email": [world.shared.member["email"]], "phoneNumber": ["+4915550100"]}},
        {"json": {"federatedUserId": [{"providerId": "google.com", "rawId": "subject1"}]}},
    ],
    "adminUpdate": [
        about(displayName="Ada", customAttributes='{"role": "admin"}', disableUser=True),
        lambda world: {"json": {"localId": world.account(), "deleteProvider": ["phone"],
                                "linkProviderUserInfo": {"providerId": "twitter.com", "rawId": str(world.number())}}},
        lambda world: {"json": {"localId": world.account(email=world.email()), "password": "another horse",
                                "emailVerified": True, "validSince": str(int(time.time()))}},
        lambda world: {"json": {"localId": world.account(email=world.email(), emailVerified=True),
                                "mfa": {"enrollments": [{"phoneInfo": world.phone(), "displayName": "Phone"}]}}},
    ],
    "adminSendOobCode": [
        lambda world, kind=kind: {"json": {
            "requestType": kind, "email": world.shared.member["email"], "returnOobLink": True,
            "continueUrl": "http://localhost/"}}
        for kind in ("PASSWORD_RESET", "VERIFY_EMAIL", "EMAIL_SIGNIN")
    ],
    "adminBatchGet": [{}, {"query": {"maxResults": 100}}],
    "adminBatchCreate": [
        lambda world: {"json": hashes.upload(world.email())[0]},
        lambda world: {"json": {"users": [
            {"localId": f"uploaded{world.number()}", "email": world.email(), "providerUserInfo": [
                {"providerId": "google.com", "rawId": f"uploaded{world.number()}"}]},
            {"localId": ""}]}},
    ],
    "adminBatchDelete": [
        lambda world: {"json": {"localIds": [world.account(), "nobody"], "force": True}},
        lambda world: {"json": {"localIds": [world.account()]}},
    ],
    "adminQuery": [
        {"json": {"sortBy": "LAST_LOGIN_AT", "offset": 1, "limit": "20"}},
        {"json": {"providerId": "google.com", "pageSize": 20, "sortBy": "CREATED_AT", "order": "DESC"}},
        {"json": {"returnUserInfo": False, "emailDomain": "example.com"}}, {"json": {"hasSession": True, "pageSize": 5}},
        lambda world: {"json": {"expression": [{"email": world.shared.member["email"]}]}},
        {"json": {"sortBy": "NAME", "limit": 5}}, {"json": {"lastUsedAfter": "1", "sortBy": "USER_EMAIL", "pageSize": 5}},
    ],
    "adminQueryAccounts": [{"json": {"pageSize": 20}}],
    "listRevocations": [{}, {"query": {"tokenLifetime": "1209600s", "pageSize": 20}}],
    "listAuditEntries": [
        {"query": {"pageSize": 20}}, {"query": {"action": "SIGNED_IN", "providerId": "google.com", "pageSize": 20}},
        {"query": {"since": "2020-01-01T00:00:00Z", "until": "2120-01-01T00:00:00Z", "actor": "account", "pageSize": 5}},
    ],
    "adminSignOut": [about(), lambda world: {"json": {"localId": world.guest()["localId"]}}],
    "createSessionCookie": [of_shared("member"), of_shared("person", validDuration="300")],
    "createTenantSessionCookie": [tenant_cookie],
    "adminMergeAccounts": [merge, lambda world: {"json": {**merge(world)["json"], "validateOnly": True}}],
    "adminUndoMerge": [lambda world: {"json": {"mergeId": world.need("adminMergeAccounts", **merge(world))["mergeId"]}}],
    "adminExplainSignIn": [
        lambda world: {"json": {"providerId": "google.com", "rawId": "1", "email": world.shared.member["email"],
                                "emailVerified": verified}} for verified in (True, False)
    ],
    "adminProviderToken": [provider_token],
    # Providers
    "receiveNotification": [github_revocation, facebook_request],
    "receiveDeletionRequest": [facebook_request],
    "deletionPage": [deletion],
    # Pages
    "showAction": [*map(as_query, LINKS), as_query(link("signIn", "EMAIL_SIGNIN", continueUrl="http://localhost/"))],
    "followAppLink": [lambda world: {"query": {"link": f"{world.urls['dev']}/emulator/action?mode=signIn&oobCode=x&apiKey=any"}}],
    "carryOutAction": [*map(as_form, LINKS)],
    "signInPage": [
        {"query": {"apiKey": "any", "continueUrl": "http://localhost/", "lang": lang,
                   "codeChallenge": base64url(hashlib.sha256(b"a verifier").digest())}} for lang in ("en", "de", "ja")
    ],
    "forgotPasswordPage": [{"query": {"apiKey": "any", "lang": lang}} for lang in ("en", "de", "ja")],
    "sendForgottenPasswordMail": [{"form": {"apiKey": "any", "email": "nobody@example.com"}}],
    "changePassword": [{"headers": {"Host": "pages.example.com"}}],
    "takeSignInStep": [page_sign_in, page_step(provider="oidc.demo"), page_step(do="forgotPassword")],
    "performWithCookies": [cookie_sign_in, cookie_refresh],
    "endCookies": [cookie_sign_out],
    "handlerPage": [{"query": HANDLER}, way_back("handlerPage")],
    "handlerCallback": [way_back("handlerPage", posts=True)],
    "ownHandlerPage": [{"query": {"state": "none", "code": "c"}}],
    "ownHandlerCallback": [{"form": {"state": "none", "code": "c"}}],
    "emulatorHandlerPage": [{"query": HANDLER}, way_back("emulatorHandlerPage")],
    "emulatorHandlerCallback": [way_back("emulatorHandlerPage", posts=True)],
    "iframePage": [{"query": {"apiKey": "any", "appName": "app"}}],
    "emulatorIframePage": [{"query": {"apiKey": "any", "appName": "app"}}],
    "takeRedirectResult": [redirect_result],
    "initializeApp": [{"query": {"apiKey": "any"}}],
    # The console
    "consoleProjects": [console()],
    "consoleFile": [console_file],
    "consoleSignInPage": [{}, {"query": {"next": "/console/demo-project/accounts"}}],
    "signInToConsole": [console_sign_in],
    "setUpConsole": [console_set_up],
    "signOutOfConsole": [console_sign_out],
    "consoleOperations": [console()],
    "consoleAccounts": [console(), lambda world: {**console()(world), "query": {"q": world.shared.member["email"]}}],
    "exportConsoleAccounts": [lambda world: world.console_form({}, provider="password")],
    "consoleAccount": [console_account],
    "changeConsoleAccount": [disabled_account],
    "consoleOverview": [console()],
    "consoleProviders": [console()],
    "createConsoleProvider": [new_console_provider],
    "consoleProvider": [console(provider=provider) for provider in FLOWS],
    "changeConsoleProvider": [
        changed_console_provider("save", enabled="true", clientId="changed", issuer=OIDC["issuer"], displayName="Acme"),
        changed_console_provider("delete", confirm="oidc.acme"),
    ],
    "beginProviderTest": [lambda world: world.console_form(DEMO)],
    "finishProviderTest": [provider_test],
    "consoleSettings": [console()],
    "changeConsoleSettings": [changed_settings],
    "consoleAccess": [console()],
    "changeConsoleAccess": [lambda world: world.console_form({"project": CHANGED}, do="createKey", name="iOS")],
    "resendConsoleWebhooks": [lambda world: world.console_form(DEMO)],
    "consoleAudit": [console(), lambda world: {**console()(world), "query": {"action": "SIGNED_IN"}}],
    # Configuration
    "updateConfig": [
        of_project(query={"updateMask": "identity.linking"}, json={"identity": {"linking": "never"}}),
        of_project(query={"updateMask": "passwordPolicyConfig"}, json={"passwordPolicyConfig": {}}),
        of_project(query={"updateMask": "identity.pages"}, json={"identity": {"pages": {"accentColor": "#1a56b8"}}}),
    ],
    "updatePasskeyConfig": [of_project(query={"updateMask": "rpName"}, json={"rpName": "Smoke"})],
    "createApp": [new_app],
    "deleteApp": [withdrawn_app],
    "listTenants": [of_project(), of_project(query={"pageSize": 2})],
    "createTenant": [of_project(json={"displayName": "Southwind", "allowPasswordSignup": True})],
    "getTenant": [in_tenant()],
    "updateTenant": [in_tenant(query={"updateMask": "displayName"}, json={"displayName": "Southwind"})],
    "deleteTenant": [in_tenant(lambda world: world.tenant())],
    "listDefaultSupportedIdpConfigs": [of_project(PROJECT), of_project(PROJECT, query={"pageSize": 2})],
    "createDefaultSupportedIdpConfig": [created("builtIn")],
    "getDefaultSupportedIdpConfig": [{"path": {"config": name}} for name in FLOWS if name.endswith(".com")],
    "updateDefaultSupportedIdpConfig": [
        existing("builtIn", query={"updateMask": "enabled"}, json={"enabled": False}),
        existing("builtIn", query={"updateMask": "definition.endpoints.token,clientSecret"},
                 json={"definition": {"endpoints": {"token": "https://login.example/token"}}, "clientSecret": "s3cret"}),
    ],
    "deleteDefaultSupportedIdpConfig": [existing("builtIn")],
    "listOauthIdpConfigs": [of_project(PROJECT), of_project(PROJECT, query={"pageSize": 2})],
    "createOauthIdpConfig": [created("oidc")],
    "getOauthIdpConfig": [{"path": {"config": name}} for name in FLOWS if not name.endswith(".com")],
    "updateOauthIdpConfig": [existing("oidc", **NAMED)],
    "deleteOauthIdpConfig": [existing("oidc")],
    "createInboundSamlConfig": [created("saml")],
    "getInboundSamlConfig": [existing("saml")],
    "updateInboundSamlConfig": [existing("saml", **NAMED)],
    "deleteInboundSamlConfig": [existing("saml")],
    # Keys and the service
    "downloadAccount": [{"json": {"targetProjectId": PROJECT, "maxResults": 20}}],
    "openIDConfiguration": [of_project(OWN_ISSUER)],
    "relatedOrigins": [AT_DOMAIN], "passkeyEndpoints": [AT_DOMAIN], "assetLinks": [AT_DOMAIN],
    "appleAppSiteAssociation": [AT_DOMAIN],
    "metrics": [{}, {"on": "metrics"}],
    "healthz": [{}, {"on": "serve"}],
    "readyz": [{}, {"on": "serve"}],
    # Development
    "root": [{}, {"headers": {"Accept": "text/html"}}],
    "postToRoot": [{"form": {"code": "c", "state": "s"}}],
    "developmentPage": [{"query": {"project": CHANGED}}, {"query": {"project": OWN_ISSUER}}, {}],
    "developmentSiteVerify": [{"form": {"secret": "any", "response": "XXXX.DUMMY.TOKEN.XXXX"}}],
    "emulatorAction": [*map(as_query, LINKS)],
    "emulatorDeleteAccounts": [of_project(EMPTIED)],
    "emulatorPatchConfig": [of_project(json={"signIn": {"allowDuplicateEmails": False}})],
    "emulatorOobCodes": [lambda world: of_project() if world.shared.code else {}],
    # Other applications
    **oauth.SUCCESSES,
}
