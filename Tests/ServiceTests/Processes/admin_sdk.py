"""Does with firebase_admin, unmodified, what a back end does with it in production.

Arguments: port of the service, the service account's file, an API key. Google's host names, and our own, lead to a TLS
front of this process, which passes on to the service, as a proxy in front of it would. Prints what went wrong, as a JSON
array.
"""

import datetime
import json
import sys
import urllib.error
import urllib.request

sys.dont_write_bytecode = True  # nothing beside the sources
import front  # noqa: E402

PORT, FILE, KEY = int(sys.argv[1]), sys.argv[2], sys.argv[3]
wrong = front.lead_to(PORT)

import firebase_admin  # noqa: E402
from firebase_admin import auth, credentials, exceptions, tenant_mgt  # noqa: E402

app = firebase_admin.initialize_app(credentials.Certificate(FILE))


def check(condition, text):
    if not condition:
        wrong.append(text)


def refused(error, call, text):
    try:
        call()
        wrong.append(f"{text}: was not refused")
    except error:
        pass
    except Exception as other:  # noqa: BLE001
        wrong.append(f"{text}: {type(other).__name__} {other}")


def client(operation, body):
    """A call of an app."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/v1/accounts:{operation}?key={KEY}", json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def users():
    made = auth.create_user(uid="ada", email="ada@example.com", password="correct horse", display_name="Ada")
    check(made.uid == "ada" and made.email == "ada@example.com", f"created {made.__dict__}")
    refused(auth.UidAlreadyExistsError, lambda: auth.create_user(uid="ada"), "an id twice")
    refused(auth.EmailAlreadyExistsError, lambda: auth.create_user(email="ada@example.com"), "an address twice")
    check(auth.get_user_by_email("ada@example.com").uid == "ada", "by address")
    refused(auth.UserNotFoundError, lambda: auth.get_user("nobody"), "nobody")
    changed = auth.update_user("ada", phone_number="+15555550100", email_verified=True, display_name=auth.DELETE_ATTRIBUTE)
    check(changed.phone_number == "+15555550100" and changed.display_name is None, "changed")
    check(auth.get_user_by_phone_number("+15555550100").uid == "ada", "by number")
    auth.set_custom_user_claims("ada", {"role": "admin"})
    check(auth.get_user("ada").custom_claims == {"role": "admin"}, "claims")
    found = auth.get_users([auth.UidIdentifier("ada"), auth.EmailIdentifier("nobody@example.com")])
    check([user.uid for user in found.users] == ["ada"] and len(found.not_found) == 1, "several")
    for number in range(5):
        auth.create_user(uid=f"user{number}")
    page = auth.list_users(max_results=4)
    check([user.uid for user in page.users] == ["ada", "user0", "user1", "user2"], "first page")
    check([user.uid for user in page.get_next_page().users] == ["user3", "user4"], "second page")
    check([user.uid for user in page.iterate_all()] == ["ada"] + [f"user{number}" for number in range(5)], "all")
    auth.delete_user("user0")
    result = auth.delete_users(["user1", "user2", "user3", "user4", "nobody"])
    check(result.success_count == 5 and result.failure_count == 0, "deleted")
    check([user.uid for user in auth.list_users().iterate_all()] == ["ada"], "left")


def links():
    for make in (auth.generate_password_reset_link, auth.generate_email_verification_link):
        link = make("ada@example.com")
        check("oobCode=" in link and "mode=" in link, f"link {link}")


def tokens():
    custom = auth.create_custom_token("ada", {"plan": "gold"}).decode()
    signed_in = client("signInWithCustomToken", {"token": custom, "returnSecureToken": True})
    token = signed_in.get("idToken", "")
    claims = auth.verify_id_token(token, check_revoked=True)
    check(claims["uid"] == "ada" and claims["plan"] == "gold" and claims["role"] == "admin", f"claims {claims}")
    cookie = auth.create_session_cookie(token, expires_in=datetime.timedelta(minutes=5))
    seen = auth.verify_session_cookie(cookie, check_revoked=True)
    check(seen["uid"] == "ada" and seen["exp"] - seen["iat"] == 300 and seen["plan"] == "gold", f"cookie {seen}")
    refused(auth.InvalidIdTokenError, lambda: auth.verify_id_token(cookie), "a cookie for a token")
    refused(auth.InvalidSessionCookieError, lambda: auth.verify_session_cookie(token), "a token for a cookie")
    refused(auth.InvalidIdTokenError, lambda: auth.verify_id_token(token[:-4] + "AAAA"), "another signature")
    refused(exceptions.InvalidArgumentError, lambda: auth.create_session_cookie("x", 300), "a cookie for nothing")
    auth.revoke_refresh_tokens("ada")
    # `validSince` counts in seconds, and both may have been made in this one.
    auth.update_user("ada", valid_since=seen["iat"] + 1)
    refused(auth.RevokedIdTokenError, lambda: auth.verify_id_token(token, check_revoked=True), "a revoked token")
    refused(
        auth.RevokedSessionCookieError, lambda: auth.verify_session_cookie(cookie, check_revoked=True), "a revoked cookie")
    check(auth.verify_session_cookie(cookie)["uid"] == "ada", "a cookie by itself")
    auth.update_user("ada", disabled=True)
    refused(auth.UserDisabledError, lambda: auth.verify_session_cookie(cookie, check_revoked=True), "a disabled user")


def providers():
    made = auth.create_oidc_provider_config(
        "oidc.acme", client_id="app", issuer="https://login.acme.example", display_name="Acme", enabled=True)
    check(made.provider_id == "oidc.acme" and made.issuer == "https://login.acme.example", "a provider")
    changed = auth.update_oidc_provider_config("oidc.acme", display_name="Acme Inc", enabled=False)
    check(changed.display_name == "Acme Inc" and not changed.enabled, "a provider changed")
    check([p.provider_id for p in auth.list_oidc_provider_configs().iterate_all()] == ["oidc.acme"], "providers")
    auth.delete_oidc_provider_config("oidc.acme")
    refused(
        auth.ConfigurationNotFoundError, lambda: auth.get_oidc_provider_config("oidc.acme"), "a provider that is gone")


def saml_providers(admin=auth):
    pem, other = front.certificate()[0], front.certificate()[0]
    made = admin.create_saml_provider_config(
        "saml.acme", idp_entity_id="acme", sso_url="https://login.acme.example/sso", x509_certificates=[pem],
        rp_entity_id="app", callback_url="https://app.example/__/auth/handler", display_name="Acme", enabled=True)
    check(made.provider_id == "saml.acme" and made.enabled and made.display_name == "Acme", "a SAML provider")
    check(made.idp_entity_id == "acme" and made.x509_certificates == [pem], "what the SAML provider is")
    check(made.rp_entity_id == "app" and made.callback_url == "https://app.example/__/auth/handler", "what we are to it")
    changed = admin.update_saml_provider_config(
        "saml.acme", sso_url="https://sso.acme.example/", x509_certificates=[pem, other], enabled=False,
        display_name=auth.DELETE_ATTRIBUTE)
    check(changed.sso_url == "https://sso.acme.example/" and changed.x509_certificates == [pem, other], "a SAML change")
    check(changed.idp_entity_id == "acme" and changed.rp_entity_id == "app", "what a SAML change leaves")
    check(not changed.enabled and changed.display_name is None, "a SAML provider switched off")
    check(admin.get_saml_provider_config("saml.acme").sso_url == "https://sso.acme.example/", "a SAML provider read")
    admin.create_saml_provider_config(
        "saml.beta", idp_entity_id="beta", sso_url="https://login.beta.example/sso", x509_certificates=[pem],
        rp_entity_id="app", callback_url="https://app.example/__/auth/handler")
    listed = [p.provider_id for p in admin.list_saml_provider_configs(max_results=1).iterate_all()]
    check(listed == ["saml.acme", "saml.beta"], f"SAML providers {listed}")
    others = [p.provider_id for p in admin.list_oidc_provider_configs().iterate_all()]
    check(not any(other.startswith("saml.") for other in others), f"SAML among OIDC providers {others}")
    refused(
        exceptions.InvalidArgumentError,
        lambda: admin.update_saml_provider_config("saml.acme", x509_certificates=["no certificate"]), "no certificate")
    refused(
        exceptions.ConflictError,
        lambda: admin.create_saml_provider_config(
            "saml.beta", idp_entity_id="beta", sso_url="https://login.beta.example/sso", x509_certificates=[pem],
            rp_entity_id="app", callback_url="https://app.example/__/auth/handler"), "a SAML provider twice")
    for provider in ("saml.acme", "saml.beta"):
        admin.delete_saml_provider_config(provider)
    refused(
        auth.ConfigurationNotFoundError, lambda: admin.get_saml_provider_config("saml.acme"), "a SAML provider gone")


def allow_tenants():
    """The SDK has no call for it."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/v2/projects/{app.project_id}/config?updateMask=multiTenant.allowTenants",
        json.dumps({"multiTenant": {"allowTenants": True}}).encode(),
        {"Authorization": f"Bearer {app.credential.get_access_token().access_token}", "Content-Type": "application/json"},
        method="PATCH",
    )
    urllib.request.urlopen(request).close()


def tenants():
    refused(exceptions.InvalidArgumentError, lambda: tenant_mgt.create_tenant("northwind"), "a tenant of no such project")
    allow_tenants()
    made = tenant_mgt.create_tenant("northwind", allow_password_sign_up=True, enable_email_link_sign_in=True)
    check(made.tenant_id.startswith("northwind-") and made.display_name == "northwind", "a tenant")
    check(made.allow_password_sign_up and made.enable_email_link_sign_in, "ways in")
    changed = tenant_mgt.update_tenant(made.tenant_id, display_name="southwind", enable_email_link_sign_in=False)
    check(changed.display_name == "southwind" and changed.allow_password_sign_up, "a tenant changed")
    check(not tenant_mgt.get_tenant(made.tenant_id).enable_email_link_sign_in, "a way in closed")
    other = tenant_mgt.create_tenant("westwind")
    listed = [tenant.tenant_id for tenant in tenant_mgt.list_tenants(max_results=1).iterate_all()]
    check(listed == sorted([made.tenant_id, other.tenant_id]), f"tenants {listed}")
    inside, beside = tenant_mgt.auth_for_tenant(made.tenant_id), tenant_mgt.auth_for_tenant(other.tenant_id)
    user = inside.create_user(uid="tenant-ada", email="ada@example.com", password="correct horse")
    check(user.tenant_id == made.tenant_id, "whose user")
    check(inside.get_user_by_email("ada@example.com").uid == "tenant-ada", "by address in the tenant")
    refused(auth.UserNotFoundError, lambda: beside.get_user("tenant-ada"), "a user of another tenant")
    refused(auth.UserNotFoundError, lambda: auth.get_user("tenant-ada"), "a tenant's user in the project")
    check([u.uid for u in inside.list_users().iterate_all()] == ["tenant-ada"], "users of the tenant")
    custom = inside.create_custom_token("tenant-ada", {"plan": "gold"}).decode()
    signed_in = client("signInWithCustomToken", {"token": custom, "returnSecureToken": True, "tenantId": made.tenant_id})
    token = signed_in.get("idToken", "")
    claims = inside.verify_id_token(token, check_revoked=True)
    check(claims["uid"] == "tenant-ada" and claims["firebase"]["tenant"] == made.tenant_id, f"claims {claims}")
    refused(tenant_mgt.TenantIdMismatchError, lambda: beside.verify_id_token(token), "a token of another tenant")
    check("tenantId=" in inside.generate_password_reset_link("ada@example.com"), "a link of the tenant")
    provider = inside.create_oidc_provider_config(
        "oidc.inside", client_id="app", issuer="https://login.acme.example", enabled=True)
    check(provider.provider_id == "oidc.inside", "a provider of the tenant")
    for elsewhere in (beside, auth):
        refused(
            auth.ConfigurationNotFoundError, lambda: elsewhere.get_oidc_provider_config("oidc.inside"),
            "a provider of another tenant")
    saml_providers(inside)
    tenant_mgt.delete_tenant(made.tenant_id)
    refused(tenant_mgt.TenantNotFoundError, lambda: tenant_mgt.get_tenant(made.tenant_id), "a tenant that is gone")
    refused(exceptions.NotFoundError, lambda: inside.get_user("tenant-ada"), "a user of a tenant that is gone")


for step in (users, links, tokens, providers, saml_providers, tenants):
    try:
        step()
    except Exception as error:  # noqa: BLE001
        wrong.append(f"{step.__name__}: {type(error).__name__} {error}")
print(json.dumps(wrong, ensure_ascii=False))
