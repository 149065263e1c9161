"""Does with firebase_admin, unmodified, what the examples of its documentation do, with `identity dev` as the emulator.

Arguments: host and port of the service, the project. Prints what went wrong, as a JSON array.
"""

import datetime
import json
import os
import sys
import urllib.request

import firebase_admin
from firebase_admin import auth, exceptions

host, project = sys.argv[1:]
os.environ["FIREBASE_AUTH_EMULATOR_HOST"] = host
os.environ["GOOGLE_CLOUD_PROJECT"] = project
firebase_admin.initialize_app()
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


def refused(error, call, text):
    try:
        call()
        wrong.append(f"{text}: was not refused")
    except error:
        pass


def sign_in(uid, claims=None):
    """The ID token that an app gets for a custom token."""
    token = auth.create_custom_token(uid, claims).decode()
    request = urllib.request.Request(
        f"http://{host}/identitytoolkit.googleapis.com/v1/accounts:signInWithCustomToken?key=any",
        json.dumps({"token": token, "returnSecureToken": True}).encode(), {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["idToken"]


def users():
    user = auth.create_user(
        uid="some-uid", email="user@example.com", email_verified=False, phone_number="+15555550100",
        password="secretPassword", display_name="John Doe", photo_url="http://www.example.com/12345678/photo.png",
        disabled=False)
    check(user.uid == "some-uid" and user.display_name == "John Doe" and not user.disabled, "created")
    check(auth.get_user_by_email("user@example.com").uid == user.uid, "by address")
    check(auth.get_user_by_phone_number("+1 555 555 0100").uid == user.uid, "by a number with spaces")
    wanted = [
        auth.UidIdentifier("some-uid"), auth.EmailIdentifier("nobody@example.com"), auth.PhoneIdentifier("+15555550003"),
        auth.ProviderIdentifier("google.com", "google_uid4"),
    ]
    found = auth.get_users(wanted)
    check([user.uid for user in found.users] == ["some-uid"] and len(found.not_found) == 3, "several")
    user = auth.update_user(
        "some-uid", email="user@example.com", phone_number="+15555550100", email_verified=True, password="newPassword",
        display_name="Jane Doe", photo_url="http://www.example.com/12345678/photo.png", disabled=True)
    check(user.disabled and user.email_verified and user.display_name == "Jane Doe", "changed")
    auth.update_user("some-uid", disabled=False)
    page, listed = auth.list_users(), []
    while page:
        listed += [user.uid for user in page.users]
        page = page.get_next_page()
    check(listed == ["some-uid"] == [user.uid for user in auth.list_users().iterate_all()], f"listed {listed}")


def claims():
    auth.set_custom_user_claims("some-uid", {"admin": True})
    current = auth.get_user("some-uid").custom_claims
    auth.set_custom_user_claims("some-uid", {**current, "accessLevel": 10})
    decoded = auth.verify_id_token(sign_in("some-uid", {"premiumAccount": True}))
    check(decoded["admin"] is True and decoded["accessLevel"] == 10 and decoded["premiumAccount"] is True, f"{decoded}")


def tokens():
    id_token = sign_in("some-uid")
    check(auth.verify_id_token(id_token, check_revoked=True)["uid"] == "some-uid", "a token")
    cookie = auth.create_session_cookie(id_token, expires_in=datetime.timedelta(days=5))
    check(auth.verify_session_cookie(cookie, check_revoked=True)["uid"] == "some-uid", "a session cookie")
    auth.revoke_refresh_tokens("some-uid")
    user = auth.get_user("some-uid")
    check(user.tokens_valid_after_timestamp >= auth.verify_id_token(id_token)["iat"] * 1000, "when tokens were revoked")
    # In the second of the revocation, tokens count as new ones.
    auth.update_user("some-uid", valid_since=user.tokens_valid_after_timestamp // 1000 + 1)
    refused(auth.RevokedIdTokenError, lambda: auth.verify_id_token(id_token, check_revoked=True), "a revoked token")
    refused(auth.RevokedSessionCookieError, lambda: auth.verify_session_cookie(cookie, check_revoked=True), "its cookie")
    auth.update_user("some-uid", disabled=True)
    refused(auth.UserDisabledError, lambda: auth.verify_id_token(id_token, check_revoked=True), "a disabled user's token")
    auth.update_user("some-uid", disabled=False)


def links():
    settings = auth.ActionCodeSettings(
        url="http://localhost:3000/checkout?cartId=1234", handle_code_in_app=True, ios_bundle_id="com.example.ios",
        android_package_name="com.example.android", android_install_app=True, android_minimum_version="12",
        dynamic_link_domain="coolapp.page.link")
    for kind, make in [
        ("resetPassword", auth.generate_password_reset_link), ("verifyEmail", auth.generate_email_verification_link),
        ("signIn", auth.generate_sign_in_with_email_link),
    ]:
        link = make("user@example.com", settings)
        check(f"mode={kind}" in link and "oobCode=" in link and "cartId" in link, f"{kind} {link}")


def imports():
    result = auth.import_users([
        auth.ImportUserRecord(
            uid="imported", display_name="John Doe", email="johndoe@gmail.com", email_verified=True,
            phone_number="+15555550102", custom_claims={"admin": True},
            provider_data=[auth.UserProvider("google-uid", email="johndoe@gmail.com", provider_id="google.com")]),
    ])
    check(result.success_count == 1 and result.failure_count == 0, f"imported {[e.reason for e in result.errors]}")
    found = auth.get_users([auth.ProviderIdentifier("google.com", "google-uid")]).users
    check([user.uid for user in found] == ["imported"], "by provider")


def providers():
    made = auth.create_oidc_provider_config(
        provider_id="oidc.myProvider", display_name="OIDC_provider", enabled=True, client_id="CLIENT_ID",
        issuer="https://oidc.com/CLIENT_ID")
    check(made.provider_id == "oidc.myProvider" and made.enabled, "a provider")
    auth.update_oidc_provider_config("oidc.myProvider", client_id="CLIENT_ID2", enabled=False)
    check(auth.get_oidc_provider_config("oidc.myProvider").client_id == "CLIENT_ID2", "a provider changed")
    auth.delete_oidc_provider_config("oidc.myProvider")
    refused(exceptions.NotFoundError, lambda: auth.get_oidc_provider_config("oidc.myProvider"), "a provider that is gone")


def deletions():
    result = auth.delete_users(["imported", "uid2", "uid3"])
    check(result.success_count == 3 and result.failure_count == 0, "deleted")
    auth.delete_user("some-uid")
    refused(auth.UserNotFoundError, lambda: auth.get_user("some-uid"), "a user who is gone")


for step in (users, claims, tokens, links, imports, providers, deletions):
    try:
        step()
    except Exception as error:  # noqa: BLE001
        wrong.append(f"{step.__name__}: {type(error).__name__} {error}")
print(json.dumps(wrong, ensure_ascii=False))
