"""Reauthentication, and sensitive changes after it: the session must live on, at once and later."""

import time

import pytest

from conftest import Refused, fake
from test_providers import person

GOOGLE = "sdk.GoogleAuthProvider.credential(token)"
TOKEN = fake("g-1", email="ada@gmail.com", email_verified=True)


def wait(seconds=1.1):
    """`auth_time` counts seconds."""
    time.sleep(seconds)


def test_password(app):
    """A reauthentication by password is a new authentication of the same user, in the same session's tokens."""
    uid = app.create()
    before = app.claims()
    wait()
    result = app.run("sdk.reauthenticateWithCredential(auth.currentUser, password('ada@example.com', 'correct horse'))")
    assert (result["operationType"], result["user"]["uid"]) == ("reauthenticate", uid)
    assert not result["info"]["isNewUser"]
    assert app.claims(force=False)["auth_time"] > before["auth_time"]
    app.signed_in("password")


def test_refresh_is_no_authentication(app):
    """`auth_time` stays when tokens are renewed, also after a reload of the page."""
    app.create()
    before = app.claims()["auth_time"]
    wait()
    assert app.claims()["auth_time"] == before
    app.reload()
    assert app.claims()["auth_time"] == before


@pytest.mark.parametrize(
    "provider",
    ["google.com", "github.com", "apple.com", "twitter.com", "oidc.demo", "oauth.plain", "microsoft.com", "oidc.yahoojp"],
)
def test_popup(app, provider):
    """`reauthenticateWithPopup` at the same person's provider moves `auth_time`, and the session goes on."""
    uid = app.popup("sdk.signInWithPopup(auth, provider(id))", person(provider), id=provider)["user"]["uid"]
    before = app.claims()
    wait()
    result = app.popup("sdk.reauthenticateWithPopup(auth.currentUser, provider(id))", person(provider), id=provider)
    assert (result["operationType"], result["providerId"], result["user"]["uid"]) == ("reauthenticate", provider, uid)
    assert app.claims(force=False)["auth_time"] > before["auth_time"]
    app.signed_in(provider)


@pytest.mark.parametrize("provider", ["google.com", "apple.com", "twitter.com"])
def test_redirect(app, provider):
    """`reauthenticateWithRedirect` does the same by way of the redirect."""
    uid = app.popup("sdk.signInWithPopup(auth, provider(id))", person(provider), id=provider)["user"]["uid"]
    before = app.claims()
    wait()
    result = app.redirect("sdk.reauthenticateWithRedirect(auth.currentUser, provider(id))", person(provider), id=provider)
    assert (result["operationType"], result["user"]["uid"]) == ("reauthenticate", uid)
    assert app.claims(force=False)["auth_time"] > before["auth_time"]
    app.signed_in(provider)
    app.reload()
    app.signed_in(provider)


def test_phone(app, service):
    """`reauthenticateWithPhoneNumber` takes the code of an SMS."""
    number = "+14155550105"
    app.run("window.wait = await sdk.signInWithPhoneNumber(auth, number, verifier()); return null", number=number)
    uid = app.run("wait.confirm(code)", code=service.code(number))["user"]["uid"]
    before = app.claims()
    wait()
    code = "window.wait = await sdk.reauthenticateWithPhoneNumber(auth.currentUser, number, verifier()); return null"
    app.run(code, number=number)
    result = app.run("wait.confirm(code)", code=service.code(number))
    assert (result["operationType"], result["user"]["uid"]) == ("reauthenticate", uid)
    assert app.claims(force=False)["auth_time"] > before["auth_time"]
    app.signed_in("phone")


def test_email_link(app, service):
    """The link of a mail reauthenticates, too."""
    uid = app.create()
    app.run("sdk.sendSignInLinkToEmail(auth, 'ada@example.com', {url: location.href, handleCodeInApp: true})")
    link = service.mail("EMAIL_SIGNIN", "ada@example.com")["oobLink"]
    credential = "sdk.EmailAuthProvider.credentialWithLink('ada@example.com', link)"
    result = app.run(f"sdk.reauthenticateWithCredential(auth.currentUser, {credential})", link=link)
    assert (result["operationType"], result["user"]["uid"]) == ("reauthenticate", uid)
    app.signed_in("password", email="ada@example.com")


def test_wrong_password(app):
    """A wrong password is `auth/wrong-password`, and the session goes on."""
    app.create()
    code = "sdk.reauthenticateWithCredential(auth.currentUser, password('ada@example.com', 'wrong horse'))"
    assert app.refused(code).code == "wrong-password"
    app.signed_in("password")


def test_another_persons_password(app, service):
    """Somebody else's credentials are `auth/user-mismatch`, and the session goes on."""
    service.create(email="bob@example.com", password="bob's horse")
    uid = app.create()
    code = "sdk.reauthenticateWithCredential(auth.currentUser, password('bob@example.com', \"bob's horse\"))"
    assert app.refused(code).code == "user-mismatch"
    assert app.signed_in("password")["sub"] == uid


def test_another_persons_popup(app):
    """Another person at the provider is `auth/user-mismatch`, whether new or with an account, and nothing is made."""
    uid = app.popup("sdk.signInWithPopup(auth, provider('oidc.demo'))", "Ada Lovelace")["user"]["uid"]
    with pytest.raises(Refused) as caught:
        app.popup("sdk.reauthenticateWithPopup(auth.currentUser, provider('oidc.demo'))", "Katherine Johnson")
    assert caught.value.code == "user-mismatch"
    assert app.service.account(email="katherine@example.com") is None
    assert app.signed_in("oidc.demo")["sub"] == uid


# What is changed, and how one signs in afterwards.
CHANGES = {
    "password": "sdk.updatePassword(auth.currentUser, 'new horse')",
    "email": "sdk.updateEmail(auth.currentUser, 'ada@new.example')",
    "profile": "sdk.updateProfile(auth.currentUser, {displayName: 'Ada'})",
    "mail": "sdk.verifyBeforeUpdateEmail(auth.currentUser, 'ada@new.example')",
}
BY_PASSWORD = "sdk.reauthenticateWithCredential(auth.currentUser, password('ada@example.com', 'correct horse'))"


@pytest.mark.parametrize("change", CHANGES)
def test_change_after_reauthentication(app, change):
    """After `reauthenticateWithCredential` and a sensitive change the SDK stays signed in: now, later, after a reload."""
    uid = app.create()
    app.run(BY_PASSWORD)
    app.run(CHANGES[change])
    assert app.signed_in("password")["sub"] == uid
    wait(2)
    assert app.signed_in("password")["sub"] == uid
    app.reload()
    assert app.signed_in("password")["sub"] == uid
    app.run("sdk.signOut(auth)")
    email = "ada@new.example" if change == "email" else "ada@example.com"
    assert app.sign_in(email, "new horse" if change == "password" else "correct horse") == uid


@pytest.mark.parametrize("change", CHANGES)
def test_change_after_sign_in(app, change):
    """The same right after a sign-in."""
    uid = app.create()
    app.run(CHANGES[change])
    assert app.signed_in("password")["sub"] == uid
    wait()
    app.reload()
    assert app.signed_in("password")["sub"] == uid


def test_changes_after_popup(app):
    """A password that is set after `reauthenticateWithPopup` keeps the session of the provider."""
    app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    app.popup("sdk.reauthenticateWithPopup(auth.currentUser, provider('google.com'))", "Grace Hopper")
    app.run("sdk.updatePassword(auth.currentUser, 'grace horse')")
    app.claims()
    wait()
    app.claims()
    assert app.providers() == ["google.com", "password"]
    app.run("sdk.signOut(auth)")
    app.sign_in("grace.hopper@gmail.com", "grace horse")


def test_delete_after_reauthentication(app, service):
    """`deleteUser` after a reauthentication ends account and session."""
    uid = app.create()
    app.run(BY_PASSWORD)
    app.run("sdk.deleteUser(auth.currentUser)")
    assert app.user is None and service.account(localId=uid) is None


@pytest.fixture
def old_session(app, settings):
    """Ada, signed in longer ago than sensitive changes permit."""
    settings(**{"identity.recentSignInSeconds": 3})
    uid = app.create()
    wait(4.5)
    return uid


@pytest.mark.parametrize(
    "code",
    [CHANGES["password"], CHANGES["email"], CHANGES["mail"], "sdk.deleteUser(auth.currentUser)"],
)
def test_requires_recent_login(app, old_session, code):
    """A sensitive change long after the sign-in is `auth/requires-recent-login`, and possible after a reauthentication."""
    assert app.refused(code).code == "requires-recent-login"
    assert app.signed_in("password")["sub"] == old_session
    app.run(BY_PASSWORD)
    app.run(code)
    if "deleteUser" in code:
        assert app.user is None
        return
    assert app.signed_in("password")["sub"] == old_session
    wait(2)
    assert app.signed_in("password")["sub"] == old_session


def test_refresh_does_not_renew_the_sign_in(app, old_session):
    """New tokens are no reauthentication."""
    app.claims()
    assert app.refused(CHANGES["password"]).code == "requires-recent-login"


def test_requires_recent_login_with_provider(app, settings):
    """The same with a provider's credential."""
    settings(**{"identity.recentSignInSeconds": 3})
    app.run(f"sdk.signInWithCredential(auth, {GOOGLE})", token=TOKEN)
    wait(4.5)
    assert app.refused("sdk.deleteUser(auth.currentUser)").code == "requires-recent-login"
    result = app.run(f"sdk.reauthenticateWithCredential(auth.currentUser, {GOOGLE})", token=TOKEN)
    assert result["operationType"] == "reauthenticate"
    app.run("sdk.deleteUser(auth.currentUser)")
    assert app.user is None
