"""A call of each operation that is refused: the status, the code or the words that say so, and the call, as in successes.py."""

import hashlib

import document
import oauth
from successes import DEMO, console_provider, of_project, workload_token
from world import CALLBACK, CHANGED, HANDLER, PAGE, PASSWORD, PROJECT, PROVIDERS, SAML, base64url

NOBODY = {"localId": "nobody"}
BAD = "INVALID_ARGUMENT"


def bad_token(**body):
    return 400, "INVALID_ID_TOKEN", {"json": {"idToken": "e30.e30.e30", **body}}


def nobody(**body):
    return 400, "USER_NOT_FOUND", {"json": {**NOBODY, **body}}


def no_project(**request):
    """In a project that is not there, of a name that none can have."""
    return 404, "PROJECT_NOT_FOUND", {"path": {"project": "NO PROJECT"}, **request}


def no_provider(config, **request):
    return 404, "CONFIGURATION_NOT_FOUND", {"path": {"project": CHANGED, "config": config}, **request}


def unreadable(status=400, code=BAD, **request):
    return status, code, {"raw_query": "a=%zz", **request}


def stranger(**request):
    return 401, "UNAUTHENTICATED", {"credential": "none", **request}


def console(status, words, path=None, **request):
    """A page of the console, for whoever sits at the machine."""
    return status, words, lambda world: {"headers": world.shared.console[0], "path": path, **request}


def form(status, words, path=None, **fields):
    return status, words, lambda world: world.console_form(path, **fields)


def unknown_passkey(world):
    return {"json": world.use_passkey(world.begin_passkey()[1])}


def passkey_of_other_session(world):
    return {"json": {**world.begin_passkey()[0], "idToken": world.person()["idToken"]}}


def wrong_console_password(world):
    return {"form": {"email": world.email(), "password": "wrong", "code": "000000"}, "source": world.source()}


def wrong_set_up_code(world):
    return {"form": {"setup": f"wrong{world.number()}"}, "source": world.source()}


def changed_meanwhile(world):
    return world.console_form(console_provider(world), do="save", version="old", clientId="app", issuer="https://a.example")


def other_account(world):
    return world.console_form({"account": world.account()}, do="disable", version="7")


def twice(kind):
    """A provider that is there already."""
    def prepare(world):
        path = world.provider(kind)
        name, parameter, body, _ = PROVIDERS[kind]
        return {"path": path, "query": {parameter: name}, "json": body}
    return prepare


def wrong_second_factor(world):
    waiting, _ = world.shared.pending
    return {"json": {**waiting, "totpVerificationInfo": {"verificationCode": "000000"}}}


def wrong_page_password(world):
    page = world.sign_in_page()
    return {**page, "form": {**page["form"], "do": "signIn", "email": world.email(), "password": "wrong"}}


CHALLENGE = base64url(hashlib.sha256(b"a verifier").digest())
BAD_LINK = {"mode": "verifyEmail", "oobCode": "none", "apiKey": "any"}



def by_credential(name):
    """The only row of an operation that has none below: of nobody, of a bad token, or without a credential."""
    body, credentials = document.example(name), document.credentials(name)
    rest = {member: value for member, value in (body or {}).items() if member not in ("idToken", "localId")}
    if credentials == {"bearer"}:
        return [nobody(**rest) if body and "localId" in body else stranger(json=body)]
    if not credentials:
        return [unreadable()]
    return [bad_token(**rest) if body and "idToken" in body else (403, "PERMISSION_DENIED", {"credential": "none"})]


REFUSALS = {
    **{name: by_credential(name) for name in document.OPERATIONS},
    # Apps
    "signInWithIdp": [
        (400, "INVALID_CREDENTIAL_OR_PROVIDER_ID", {"json": {"requestUri": "http://localhost", "postBody": "x"}}),
        (400, "INVALID_IDP_RESPONSE", {"json": {
            "requestUri": "http://localhost", "postBody": "id_token=x&providerId=google.com"}}),
        (400, "INVALID_IDP_RESPONSE", {"json": {"requestUri": CALLBACK + "?code=c&state=s", "sessionId": "none"}}),
        (400, "INVALID_PENDING_TOKEN", {"json": {"requestUri": "http://localhost", "pendingToken": "none"}}),
        (400, "FEDERATED_USER_ID_ALREADY_LINKED", lambda world: {"json": {
            **world.shared.known_identity["json"], "idToken": world.guest()["idToken"]}}),
    ],
    "createAuthUri": [(400, "INVALID_EMAIL", {"json": {"identifier": "no address", "continueUri": "http://localhost"}}),
                      (400, "OPERATION_NOT_ALLOWED", {"json": {"providerId": "oidc.none", "continueUri": CALLBACK}})],
    "verifyIosClient": [(400, "INVALID_APP_CREDENTIAL", {"json": {"appToken": "ab12", "isSandbox": True}})],
    "lookup": [bad_token(), (400, "MISSING_ID_TOKEN", {"json": {}})],
    "update": [bad_token(displayName="Ada"), (400, "INVALID_OOB_CODE", {"json": {"oobCode": "none"}}),
               (400, "WEAK_PASSWORD", lambda world: {"json": {"idToken": world.shared.person["idToken"], "password": "x"}})],
    "signUp": [(413, BAD, {"body": b"x" * (128 << 10) + b"x"}),
               (400, "INVALID_EMAIL", {"json": {"email": "no address", "password": PASSWORD}}),
               (400, "WEAK_PASSWORD", lambda world: {"json": {"email": world.email(), "password": "x"}}),
               (400, "EMAIL_EXISTS", lambda world: {"json": {"email": world.shared.member["email"], "password": PASSWORD}})],
    "signInWithPassword": [
        (400, "INVALID_PASSWORD", lambda world: {"json": {"email": world.shared.member["email"], "password": "wrong"}}),
        (400, "EMAIL_NOT_FOUND", lambda world: {"json": {"email": world.email(), "password": "wrong"}}),
    ],
    "signInWithCustomToken": [(400, "INVALID_CUSTOM_TOKEN", {"json": {"token": token}})
                              for token in ("none", "e30.e30.e30", "page_none.verifier")],
    "signInWithEmailLink": [(400, "INVALID_OOB_CODE", lambda world: {"json": {"email": world.email(), "oobCode": "none"}})],
    "sendVerificationCode": [(400, "INVALID_PHONE_NUMBER", {"json": {"phoneNumber": number}}) for number in ("12", "+49x", "")],
    "signInWithPhoneNumber": [
        (400, "INVALID_SESSION_INFO", {"json": {"sessionInfo": "none", "code": "123456"}}),
        (400, "INVALID_TEMPORARY_PROOF", {"json": {"phoneNumber": "+4915550100", "temporaryProof": "none"}}),
    ],
    "sendOobCode": [(400, "MISSING_REQ_TYPE", {"json": {}}), bad_token(requestType="VERIFY_EMAIL"),
                    (400, "EMAIL_NOT_FOUND", lambda world: {"json": {
                        "requestType": "PASSWORD_RESET", "email": world.email()}})],
    "resetPassword": [(400, "INVALID_OOB_CODE", {"json": {"oobCode": "none", "newPassword": PASSWORD}}),
                      (400, "WEAK_PASSWORD", lambda world: {"json": {
                          "oobCode": world.code("PASSWORD_RESET"), "newPassword": "x"}})],
    "signOut": [bad_token(), (400, BAD, lambda world: {"json": {
        "idToken": world.shared.person["idToken"], "scope": "session", "sessionId": "none"}})],
    "providerToken": [bad_token(providerId="oidc.demo"), (400, "INVALID_PROVIDER_ID", lambda world: {"json": {
        "idToken": world.shared.member["idToken"], "providerId": "oidc.demo"}})],
    "revokeToken": [
        bad_token(providerId="google.com", tokenType=2, token="t"),
        (400, "INVALID_PROVIDER_ID", lambda world: {"json": {
            "idToken": world.shared.member["idToken"], "providerId": "google.com", "tokenType": 2, "token": "t"}}),
    ],
    "startMFAEnrollment": [bad_token(totpEnrollmentInfo={}), (400, "UNSUPPORTED_FIRST_FACTOR", lambda world: {"json": {
        "idToken": world.guest()["idToken"], "totpEnrollmentInfo": {}}})],
    "finalizeMFAEnrollment": [(400, "INVALID_SESSION_INFO", lambda world: {"json": {
        "idToken": world.shared.person["idToken"], "displayName": "App",
        "totpVerificationInfo": {"sessionInfo": "totp_none", "verificationCode": "123456"}}})],
    "withdrawMFAEnrollment": [(400, "MFA_ENROLLMENT_NOT_FOUND", lambda world: {"json": {
        "idToken": world.shared.person["idToken"], "mfaEnrollmentId": "none"}})],
    "startMFASignIn": [(400, "INVALID_MFA_PENDING_CREDENTIAL", {"json": {
        "mfaPendingCredential": "mfa_none", "mfaEnrollmentId": "none", "phoneSignInInfo": {}}})],
    "finalizeMFASignIn": [
        (400, "INVALID_CODE", wrong_second_factor),
        (400, "INVALID_MFA_PENDING_CREDENTIAL", {"json": {
            "mfaPendingCredential": "mfa_none", "mfaEnrollmentId": "none",
            "totpVerificationInfo": {"verificationCode": "123456"}}}),
    ],
    "startPasskeyEnrollment": [(400, "MISSING_ID_TOKEN", {"json": {}})],
    "finalizePasskeyEnrollment": [
        (400, "MISSING_ID_TOKEN", {"json": {}}), (400, "PASSKEY_CHALLENGE_TIMEOUT", passkey_of_other_session)],
    "startPasskeySignIn": [(400, "INVALID_TENANT_ID", {"json": {"tenantId": "none"}})],
    "finalizePasskeySignIn": [
        (400, "MISSING_AUTHENTICATOR_RESPONSE", {"json": {}}), (400, "PASSKEY_ENROLLMENT_NOT_FOUND", unknown_passkey)],
    "accessToken": [
        (400, "invalid_grant", {"form": {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "e30.e30.e30"}}),
        (400, "unsupported_grant_type", {"form": {"grant_type": "password", "assertion": "x"}}),
        (400, "invalid_request", lambda world: {"form": workload_token(world, sub="another job")}),
        (400, "invalid_target", lambda world: {"form": {**workload_token(world), "audience": "another"}}),
        (400, "invalid_request", {"form": {}}),
    ],
    "token": [(400, "INVALID_REFRESH_TOKEN", {"form": {"grant_type": "refresh_token", "refresh_token": "none"}}),
              (400, "MISSING_REFRESH_TOKEN", {"json": {"grantType": "refresh_token"}})],
    # Admins
    "adminCreate": [(400, "INVALID_EMAIL", {"json": {"email": "no address"}}), stranger(json={}),
                    (400, "DUPLICATE_LOCAL_ID", lambda world: {"json": {"localId": world.shared.member["localId"]}})],
    "adminLookup": [(400, "MISSING_ID_TOKEN", {"json": {}}), stranger(json=NOBODY)],
    "adminUpdate": [nobody(displayName="Ada"), (400, "INVALID_CLAIMS", lambda world: {"json": {
        "localId": world.shared.member["localId"], "customAttributes": "[]"}})],
    "adminSendOobCode": [(400, "INVALID_EMAIL", {"json": {"requestType": "VERIFY_EMAIL", "email": "no address"}}),
                         (400, "INVALID_REQ_TYPE", {"json": {"requestType": "RECOVER_EMAIL", "email": "a@example.com"}})],
    "adminBatchGet": [(400, "INVALID_PAGE_SELECTION", {"query": {"maxResults": -1}}), stranger()],
    "adminBatchCreate": [(400, "MISSING_USER_ACCOUNT", {"json": {}}), (400, "MISSING_HASH_ALGORITHM", {"json": {
        "users": [{"localId": "a", "passwordHash": "AAAA"}]}}), (400, "INVALID_HASH_PARAMETER", {"json": {
            "hashAlgorithm": "SCRYPT", "users": [{"localId": "a", "passwordHash": "AAAA"}]}})],
    "adminBatchDelete": [(400, "LOCAL_ID_LIST_EXCEEDS_LIMIT", {"json": {"localIds": []}})],
    "adminQuery": [(400, "INVALID_PAGE_SELECTION", {"json": {"pageSize": 0}}),
                   (400, "INVALID_PAGE_SELECTION", {"json": {"offset": -1}}), (400, BAD, {"json": {"sortBy": "NONE"}}),
                   (400, "INVALID_EMAIL", {"json": {"expression": [{"email": "no address"}]}})],
    "adminQueryAccounts": [(400, "INVALID_PAGE_SELECTION", {"json": {"pageToken": "none"}})],
    "listRevocations": [(400, "INVALID_DURATION", {"query": {"tokenLifetime": "99999999"}}),
                        (400, "INVALID_PAGE_SELECTION", {"query": {"cursor": "none"}})],
    "listAuditEntries": [(400, BAD, {"query": {"since": "yesterday"}}),
                         (400, "INVALID_PAGE_SELECTION", {"query": {"pageToken": "none"}})],
    "createSessionCookie": [bad_token(), (400, "INVALID_DURATION", lambda world: {"json": {
        "idToken": world.shared.person["idToken"], "validDuration": "299"}})],
    "createTenantSessionCookie": [(404, "TENANT_NOT_FOUND", {"path": {"tenant": "none"}, "json": {"idToken": "e30.e30.e30"}})],
    "adminMergeAccounts": [nobody(mergedLocalId="nobody else"), (400, BAD, lambda world: {"json": {
        "localId": world.shared.member["localId"], "mergedLocalId": world.shared.member["localId"]}})],
    "adminUndoMerge": [(400, "MERGE_NOT_FOUND", {"json": {"mergeId": "8b0c6b3e-6a0e-4f7e-9a35-0d8a5f4a2c11"}}),
                       (400, "MERGE_NOT_FOUND", {"json": {"mergeId": "none"}})],
    "adminExplainSignIn": [(400, "OPERATION_NOT_ALLOWED", {"json": {"providerId": "oidc.none", "rawId": "1"}}),
                           (400, "MISSING_IDENTIFIER", {"json": {"providerId": "google.com"}})],
    "adminProviderToken": [nobody(providerId="oidc.demo")],
    # Providers
    "receiveNotification": [
        (400, "INVALID_NOTIFICATION", {"path": {"provider": "github.com"}, "json": {"action": "revoked"}}),
        (400, "INVALID_NOTIFICATION", {"path": {"provider": "apple.com"}, "json": {"payload": "e30.e30.e30"}}),
        (400, "INVALID_NOTIFICATION", {"path": {"provider": "google.com"}, "body": "e30.e30.e30",
                                       "headers": {"Content-Type": "application/secevent+jwt"}}),
        (400, "INVALID_NOTIFICATION", {"path": {"provider": "facebook.com"}, "form": {"signed_request": "x.y"}}),
        (401, "INVALID_NOTIFICATION", {"path": {"provider": "oauth.discord"}, "json": {"type": 0}}),
    ],
    "receiveDeletionRequest": [
        (400, "INVALID_NOTIFICATION", {"path": {"provider": "facebook.com"}, "form": {"signed_request": text}})
        for text in ("x.y", "x", "e30.e30", "")
    ],
    "deletionPage": [(404, "No deletion request has this code", {"path": {"provider": "facebook.com", "code": code}})
                     for code in ("none", "~", "x" * 200)],
    # Pages
    "showAction": [(400, "INVALID_OOB_CODE", {"query": BAD_LINK}), unreadable()],
    "followAppLink": [(400, "UNAUTHORIZED_DOMAIN", {"query": {
        "link": "https://evil.example/__/auth/action?mode=signIn&oobCode=x&apiKey=any"}}), unreadable()],
    "carryOutAction": [(400, "INVALID_OOB_CODE", {"form": BAD_LINK})],
    "signInPage": [(400, "UNAUTHORIZED_DOMAIN", {"query": {
        "apiKey": "any", "continueUrl": "https://evil.example/", "codeChallenge": CHALLENGE}}), unreadable()],
    "forgotPasswordPage": [(400, "INVALID_TENANT_ID", {"query": {"apiKey": "any", "tenantId": "none"}}), unreadable()],
    "sendForgottenPasswordMail": [(400, "Enter a valid email address", {"form": {"apiKey": "any", "email": "nobody"}})],
    "changePassword": [unreadable()],
    "takeSignInStep": [(400, "INVALID_SESSION_INFO", {"form": {"page": "none"}}),
                       (400, "The email address or password is incorrect", wrong_page_password)],
    "performWithCookies": [
        (400, BAD, {"query": {"finalTarget": "https://evil.example/v1/token?key=any"}, "headers": {**PAGE}}),
        (403, "PERMISSION_DENIED", {"query": {"finalTarget": "x"}, "headers": {**PAGE, "Sec-Fetch-Site": "same-site"}}),
    ],
    "endCookies": [(403, "PERMISSION_DENIED", {"headers": {"Origin": "https://evil.example"}})],
    **{name: [(400, "auth/argument-error", {"query": {**HANDLER, "customParameters": "{"}}),
              (400, "auth/operation-not-allowed", {"query": {**HANDLER, "providerId": "oidc.none"}}),
              (400, "auth/invalid-api-key", {"query": {**HANDLER, "apiKey": ""}})]
       for name in ("handlerPage", "ownHandlerPage", "emulatorHandlerPage")},
    **{name: [(400, "auth/invalid-credential", {
        "form": {"code": "c", "state": "none", "identity.browser": "none"}, "headers": {"Sec-Fetch-Site": "same-origin"}})]
       for name in ("handlerCallback", "ownHandlerCallback", "emulatorHandlerCallback")},
    **{name: [(400, "auth/argument-error", {"query": {"apiKey": "any"}})] for name in ("iframePage", "emulatorIframePage")},
    "takeRedirectResult": [(403, "PERMISSION_DENIED", {"json": {}, "headers": {"Sec-Fetch-Site": "same-site"}})],
    "initializeApp": [unreadable(), (404, "PROJECT_NOT_FOUND", {"on": "serve", "query": {"apiKey": "none"}})],
    # The console
    "consoleProjects": [console(400, BAD, raw_query="a=%zz")],
    "consoleFile": [(404, "NOT_FOUND", {"path": {"file": "none.css"}})],
    "signInToConsole": [(403, "Incorrect email address, password or code", wrong_console_password),
                        (403, "PERMISSION_DENIED", {"form": {}, "headers": {"Sec-Fetch-Site": "cross-site"}})],
    "setUpConsole": [(403, "The setup code is incorrect", wrong_set_up_code)],
    "signOutOfConsole": [form(403, "This form has expired", token="none")],
    "consoleOperations": [console(400, BAD, raw_query="a=%zz")],
    "consoleAccounts": [console(404, "NOT_FOUND", {"project": "none"}),
                        console(400, "INVALID_PAGE_SELECTION", query={"after": "none"})],
    "exportConsoleAccounts": [form(400, BAD, {}, state="none")],
    "consoleAccount": [console(404, "NOT_FOUND", {"account": "nobody"}), console(404, "NOT_FOUND", {"account": "~!"})],
    "changeConsoleAccount": [(409, "the account changed after you opened the page", other_account),
                             form(403, "This form has expired", {"account": "a"}, token="none")],
    "consoleOverview": [console(404, "NOT_FOUND", {"project": "none"})],
    "consoleProviders": [console(404, "NOT_FOUND", {"project": "none"})],
    "createConsoleProvider": [form(400, "this is not a valid provider ID", provider="none", clientId="app"),
                              form(409, "this provider already exists", provider="google.com", clientId="app"),
                              form(400, "enter the client ID", provider="oidc.other", issuer="https://a.example")],
    "consoleProvider": [console(404, "NOT_FOUND", {"provider": "oidc.none"})],
    "changeConsoleProvider": [(409, "the provider changed after you opened the page", changed_meanwhile),
                              form(404, "NOT_FOUND", {"provider": "oidc.none"}, do="save")],
    "beginProviderTest": [form(404, "NOT_FOUND", {"provider": "oidc.none"})],
    "finishProviderTest": [form(400, "INVALID_IDP_RESPONSE", DEMO, sessionId="none", requestUri="none")],
    "consoleSettings": [console(404, "NOT_FOUND", {"project": "none"})],
    "changeConsoleSettings": [form(409, "the settings changed after you opened the page", {"project": CHANGED}, version="old")],
    "consoleAccess": [console(404, "NOT_FOUND", {"project": "none"})],
    "changeConsoleAccess": [form(409, "this key does not exist", do="revokeKey", key="none"), form(400, BAD, do="none")],
    "resendConsoleWebhooks": [form(404, "NOT_FOUND", {"project": "none"})],
    "consoleAudit": [console(404, "NOT_FOUND", {"project": "none"})],
    # Configuration
    "getConfig": [stranger(), no_project()],
    "getPasskeyConfig": [stranger(), no_project()],
    "updatePasskeyConfig": [(400, "INVALID_CONFIG", of_project(json={"rpId": "https://example.com"}))],
    "updateConfig": [(400, "INVALID_CONFIG", of_project(json={"identity": {"sessionIdleDays": -1}})),
                     (400, BAD, of_project(json={"identity": {"linking": "none"}}))],
    "createApp": [(400, "INVALID_CONFIG", of_project(json={"platform": "IOS"})), (409, "CONFIGURATION_EXISTS", lambda world: {
        "path": {"project": CHANGED}, "json": {"platform": "ANDROID", "packageName": world.shared.app}})],
    "deleteApp": [(404, "CONFIGURATION_NOT_FOUND", {"path": {"project": CHANGED, "app": "none"}})],
    "listTenants": [stranger(), (400, "INVALID_PAGE_SELECTION", of_project(query={"pageSize": -1}))],
    "createTenant": [(400, BAD, of_project(json={
        "displayName": "Southwind", "passwordPolicyConfig": {"passwordPolicyEnforcementState": "SOMETIMES"}}))],
    **{name: [(404, "TENANT_NOT_FOUND", {"path": {"project": CHANGED, "tenant": "none"}, **request})]
       for name, request in (
           ("getTenant", {}), ("updateTenant", {"json": {"displayName": "Southwind"}}), ("deleteTenant", {}))},
    "listDefaultSupportedIdpConfigs": [stranger(), (400, "INVALID_PAGE_SELECTION", {"query": {"pageSize": -1}})],
    "createDefaultSupportedIdpConfig": [
        (400, "INVALID_CONFIG_ID", of_project(query={"idpId": "none.com"}, json={"clientId": "app"})),
        (409, "CONFIGURATION_EXISTS", twice("builtIn")),
    ],
    "getDefaultSupportedIdpConfig": [no_provider("google.com")],
    "updateDefaultSupportedIdpConfig": [no_provider("google.com", json={"enabled": True})],
    "deleteDefaultSupportedIdpConfig": [no_provider("google.com")],
    "createOauthIdpConfig": [
        (400, "MISSING_ISSUER", of_project(query={"oauthIdpConfigId": "oidc.other"}, json={"clientId": "app"})),
        (409, "CONFIGURATION_EXISTS", twice("oidc")),
    ],
    "getOauthIdpConfig": [no_provider("oidc.none")],
    "updateOauthIdpConfig": [no_provider("oidc.none", json={"enabled": True})],
    "deleteOauthIdpConfig": [no_provider("oidc.none")],
    "createInboundSamlConfig": [
        (400, "MISSING_SAML_RELYING_PARTY_CONFIG", of_project(
            query={"inboundSamlConfigId": "saml.other"}, json={"idpConfig": SAML["idpConfig"]})),
        (409, "CONFIGURATION_EXISTS", twice("saml")),
    ],
    "getInboundSamlConfig": [no_provider("saml.none")],
    "updateInboundSamlConfig": [no_provider("saml.none", json={"enabled": True})],
    "deleteInboundSamlConfig": [no_provider("saml.none")],
    # Keys and the service
    "healthz": [unreadable()],
    "downloadAccount": [(400, "INVALID_PAGE_SELECTION", {"json": {"targetProjectId": PROJECT, "maxResults": -1}})],
    "openIDConfiguration": [(404, "NOT_FOUND", {"path": {"project": "none"}})],
    **{name: [(404, "NOT_FOUND", {"headers": {"Host": "nobody.example"}})]
       for name in ("relatedOrigins", "passkeyEndpoints", "assetLinks", "appleAppSiteAssociation")},
    # Development: `identity serve` has none of it.
    "metrics": [(404, "NOT_FOUND", {"on": "serve"})],
    "root": [(404, "NOT_FOUND", {"on": "serve"})],
    "postToRoot": [(404, "NOT_FOUND", {"on": "serve", "form": {"code": "c"}})],
    "developmentPage": [(404, "NOT_FOUND", {"on": "serve"}), (404, "Messages and accounts", {"query": {"project": "none"}})],
    "developmentSiteVerify": [(404, "NOT_FOUND", {"on": "serve", "form": {"response": "x"}})],
    "emulatorAction": [(400, "INVALID_OOB_CODE", {"query": BAD_LINK}), (404, "NOT_FOUND", {"on": "serve", "query": BAD_LINK})],
    **{name: [(404, "NOT_FOUND", {"on": "serve"})] for name in (
        "emulatorDeleteAccounts", "emulatorGetConfig", "emulatorOobCodes", "emulatorVerificationCodes")},
    "emulatorPatchConfig": [(400, BAD, of_project(json={"signIn": 1})), (404, "NOT_FOUND", {"on": "serve", "json": {}})],
    # Other applications
    **oauth.REFUSALS,
}
