"""Profiles, listeners, mails for a signed-in user, and what admins change under a signed-in user."""

import time

import pytest


def test_update_profile(app, service):
    """Name and picture are in the user, in the next token, and gone again with an empty text."""
    uid = app.create()
    app.run("sdk.updateProfile(auth.currentUser, {displayName: 'Ada', photoURL: 'https://example.com/a.png'})")
    assert (app.user["displayName"], app.user["photoURL"]) == ("Ada", "https://example.com/a.png")
    app.token(force=True)
    app.signed_in("password", name="Ada", picture="https://example.com/a.png")
    app.reload()
    assert app.user["displayName"] == "Ada" and app.user["providerData"][0]["displayName"] == "Ada"
    app.run("sdk.updateProfile(auth.currentUser, {displayName: '', photoURL: ''})")
    app.token(force=True)
    app.signed_in("password", name=None, picture=None)
    assert not service.account(localId=uid)["displayName"]


def test_long_name(app):
    """A name of more than 256 characters is `auth/invalid-profile-attribute`."""
    app.create()
    code = "sdk.updateProfile(auth.currentUser, {displayName: 'x'.repeat(257)})"
    assert app.refused(code).code == "invalid-profile-attribute"


def test_listeners(app):
    """Listeners hear of sign-in, of new tokens and of sign-out, in that order."""
    app.run(
        "sdk.onAuthStateChanged(auth, user => heard.push('state ' + !!user));"
        "sdk.onIdTokenChanged(auth, user => heard.push('token ' + !!user));"
        "sdk.beforeAuthStateChanged(auth, user => { heard.push('before ' + !!user) });"
        "return null"
    )
    app.page.wait_for_function("heard.length == 2")
    assert app.run("heard.splice(0)") == ["state false", "token false"]
    app.create()
    assert app.run("heard.splice(0)") == ["before true", "token true", "state true"]
    app.page.wait_for_timeout(1100)  # Tokens of one second are the same but for their id.
    app.token(force=True)
    assert app.run("heard.splice(0)") == ["token true"]
    app.run("sdk.signOut(auth)")
    assert app.run("heard.splice(0)") == ["before false", "token false", "state false"]


def test_blocked_by_the_app(app):
    """`beforeAuthStateChanged` that throws keeps the person out, as `auth/login-blocked`."""
    app.run("sdk.beforeAuthStateChanged(auth, () => { throw new Error('no') }); return null")
    assert app.refused("sdk.signInAnonymously(auth)").code == "login-blocked"
    assert app.user is None


def test_metadata(app):
    """The user's times are those of the account."""
    app.create()
    created, last = app.run("return [auth.currentUser.metadata.creationTime, auth.currentUser.metadata.lastSignInTime]")
    assert created and last
    account = app.service.account(email="ada@example.com")
    assert (app.user["createdAt"], app.user["lastLoginAt"]) == (account["createdAt"], account["lastLoginAt"])


def test_delete(app, service):
    """`deleteUser` removes the account and signs out; the address is free again."""
    uid = app.create()
    app.run("sdk.deleteUser(auth.currentUser)")
    assert app.user is None and service.account(localId=uid) is None
    assert app.create() != uid
    app.signed_in("password")


def test_update_current_user(app, device, service):
    """`updateCurrentUser` hands a user over from one instance of the SDK to another."""
    uid = app.create()
    code = (
        "const second = sdk.getAuth(sdk.initializeApp(app.options, 'second'));"
        f"sdk.connectAuthEmulator(second, '{service.url}', {{disableWarnings: true}});"
        "await sdk.updateCurrentUser(second, auth.currentUser);"
        "return [second.currentUser.uid, await second.currentUser.getIdToken(true)]"
    )
    found, token = app.run(code)
    assert found == uid and service.claims(token)["sub"] == uid


def test_language(app, service):
    """`useDeviceLanguage` sends the browser's language along."""
    asked = []
    app.page.on("request", lambda request: asked.append(request.headers.get("x-firebase-locale")))
    app.run("sdk.useDeviceLanguage(auth); return null")
    app.create()
    assert asked[-1] == "en-US"


# --- Admins


def test_disabled(app, service):
    """An account that an admin disables is signed out at its next request, and cannot sign in: `auth/user-disabled`."""
    uid = app.create()
    service.change(uid, disableUser=True)
    assert app.refused("auth.currentUser.getIdToken(true)").code == "user-disabled"
    assert app.user is None
    assert app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')").code == "user-disabled"
    service.change(uid, disableUser=False)
    app.sign_in()
    app.signed_in("password")


def test_disabled_at_reload(app, service):
    """The same at `reload()`."""
    service.change(app.create(), disableUser=True)
    assert app.refused("auth.currentUser.reload()").code == "user-disabled"
    assert app.user is None


@pytest.mark.parametrize("code", ["auth.currentUser.getIdToken(true)", "auth.currentUser.reload()"])
def test_deleted(app, service, code):
    """An account that an admin deletes is signed out at its next request."""
    service.delete(app.create())
    assert app.refused(code).code in {"user-token-expired", "user-not-found"}
    assert app.user is None
    assert app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')").code == "user-not-found"


@pytest.mark.parametrize("code", ["auth.currentUser.getIdToken(true)", "auth.currentUser.reload()"])
def test_revoked(app, service, code):
    """When an admin revokes an account's tokens, its devices are signed out: `auth/user-token-expired`."""
    uid = app.create()
    app.page.wait_for_timeout(1100)
    service.change(uid, validSince=str(int(time.time())))
    assert app.refused(code).code == "user-token-expired"
    assert app.user is None
    assert app.sign_in() == uid
    app.signed_in("password")


def test_changed_by_an_admin(app, service):
    """What an admin changes is there after `reload()`; a new address or password ends the session."""
    uid = app.create()
    service.change(uid, displayName="Ada L.", emailVerified=True)
    app.run("auth.currentUser.reload()")
    assert (app.user["displayName"], app.user["emailVerified"]) == ("Ada L.", True)
    app.token(force=True)
    app.signed_in("password", name="Ada L.", email_verified=True)
    service.change(uid, password="admin's horse")
    assert app.refused("auth.currentUser.getIdToken(true)").code == "user-token-expired"
    assert app.sign_in(password="admin's horse") == uid


def test_deletion_by_admins_alone(app, settings):
    """Where only admins delete accounts, `deleteUser` is `auth/admin-restricted-operation`."""
    app.create()
    settings(**{"client.permissions.disabledUserDeletion": True})
    assert app.refused("sdk.deleteUser(auth.currentUser)").code == "admin-restricted-operation"
    app.signed_in("password")
