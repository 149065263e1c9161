"""Two accounts, one person: each conflict has its code, and can be resumed with what the error holds."""

import pytest

from conftest import Refused, fake


def test_account_exists_with_different_credential(app):
    """A provider whose word about the address does not count does not get into the account; the owner links it."""
    uid = app.create("ada@example.com")
    app.run("sdk.signOut(auth)")
    with pytest.raises(Refused) as caught:
        app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    error = caught.value
    assert (error.code, error.email) == ("account-exists-with-different-credential", "ada@example.com")
    assert app.user is None
    assert app.run("sdk.fetchSignInMethodsForEmail(auth, 'ada@example.com')") == ["password"]
    app.run("window.pending = credentialFrom(failure); return null")
    assert app.sign_in() == uid
    result = app.run("sdk.linkWithCredential(auth.currentUser, pending)")
    assert (result["operationType"], result["user"]["uid"]) == ("link", uid)
    assert app.providers() == ["github.com", "password"]
    app.claims()
    app.run("sdk.signOut(auth)")
    again = app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    assert again["user"]["uid"] == uid


@pytest.mark.parametrize(
    "provider",
    [
        "microsoft.com", "facebook.com", "twitter.com", "yahoo.com", "oidc.line", "oidc.slack", "oauth.discord", "oauth.x",
        "linkedin.com", "oidc.gitlab", "oidc.yahoojp", "oauth.feedly", "oauth.plain",
    ],
)
def test_conflict_of_each_provider(app, provider):
    """The conflict and its resumption with every provider whose word does not count."""
    uid = app.create("ada@example.com")
    app.run("sdk.signOut(auth)")
    with pytest.raises(Refused) as caught:
        app.popup("sdk.signInWithPopup(auth, provider(id))", id=provider)
    assert caught.value.code == "account-exists-with-different-credential"
    app.run("window.pending = credentialFrom(failure); return null")
    app.sign_in()
    assert app.run("sdk.linkWithCredential(auth.currentUser, pending)")["user"]["uid"] == uid
    assert app.providers() == sorted(["password", provider])
    app.claims()


def test_conflict_by_redirect(app):
    """`getRedirectResult` brings the same error, and it is resumed the same way."""
    uid = app.create("ada@example.com")
    app.run("sdk.signOut(auth)")
    with pytest.raises(Refused) as caught:
        app.redirect("sdk.signInWithRedirect(auth, provider('github.com'))")
    assert (caught.value.code, caught.value.email) == ("account-exists-with-different-credential", "ada@example.com")
    app.run("window.pending = credentialFrom(failure); return null")
    app.sign_in()
    assert app.run("sdk.linkWithCredential(auth.currentUser, pending)")["user"]["uid"] == uid
    app.claims()


def test_conflict_between_providers(app):
    """Where the account's own way in is a provider, its popup comes between."""
    uid = app.popup("sdk.signInWithPopup(auth, provider('oidc.demo'))")["user"]["uid"]
    app.run("sdk.signOut(auth)")
    with pytest.raises(Refused) as caught:
        app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    assert caught.value.code == "account-exists-with-different-credential"
    app.run("window.pending = credentialFrom(failure); return null")
    assert app.run("sdk.fetchSignInMethodsForEmail(auth, 'ada@example.com')") == ["oidc.demo"]
    assert app.popup("sdk.signInWithPopup(auth, provider('oidc.demo'))")["user"]["uid"] == uid
    app.run("sdk.linkWithCredential(auth.currentUser, pending)")
    assert app.providers() == ["github.com", "oidc.demo"]
    app.claims()


def test_conflict_resumed_by_reauthentication_code(app):
    """A credential of the error signs in by itself once it is linked."""
    app.create("ada@example.com")
    app.run("sdk.signOut(auth)")
    with pytest.raises(Refused):
        app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    app.run("window.pending = credentialFrom(failure); return null")
    assert app.refused("sdk.signInWithCredential(auth, pending)").code == "account-exists-with-different-credential"
    assert app.user is None


def test_trusted_provider_joins(app):
    """A provider whose word counts signs in to the account of a proven address, and is linked without asking."""
    code = "sdk.signInWithCredential(auth, new sdk.OAuthProvider(id).credential({idToken: token}))"
    uid = app.run(code, id="google.com", token=fake("g-1", email="ada@gmail.com", email_verified=True))["user"]["uid"]
    app.run("sdk.signOut(auth)")
    result = app.run(code, id="oidc.demo", token=fake("d-1", email="ada@gmail.com", email_verified=True))
    assert result["user"]["uid"] == uid and not result["info"]["isNewUser"]
    assert app.providers() == ["google.com", "oidc.demo"]
    app.signed_in("oidc.demo")


def test_takeover_of_unproven_account(app, device):
    """Who proves an address gets the account that somebody opened with it, whose password and sessions go."""
    uid = app.create("grace.hopper@gmail.com")
    owner = device()
    result = owner.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    assert result["user"]["uid"] == uid and owner.providers() == ["google.com"]
    owner.signed_in("google.com", email_verified=True)
    assert app.refused("auth.currentUser.getIdToken(true)").code == "user-token-expired"
    code = "sdk.signInWithEmailAndPassword(auth, 'grace.hopper@gmail.com', 'correct horse')"
    assert app.refused(code).code == "wrong-password"


@pytest.mark.parametrize("way", ["popup", "redirect"])
def test_credential_already_in_use(app, way):
    """A guest who links what belongs to another account is told, and signs in to that one with the error's credential."""
    owner = app.popup("sdk.signInWithPopup(auth, provider('github.com'))")["user"]["uid"]
    app.run("sdk.signOut(auth)")
    guest = app.run("sdk.signInAnonymously(auth)")["user"]["uid"]
    with pytest.raises(Refused) as caught:
        if way == "popup":
            app.popup("sdk.linkWithPopup(auth.currentUser, provider('github.com'))")
        else:
            app.redirect("sdk.linkWithRedirect(auth.currentUser, provider('github.com'))")
    assert (caught.value.code, caught.value.email) == ("credential-already-in-use", "ada@example.com")
    assert app.user["uid"] == guest and app.claims()["sub"] == guest
    result = app.run("sdk.signInWithCredential(auth, credentialFrom(failure))")
    assert (result["operationType"], result["user"]["uid"]) == ("signIn", owner)
    app.signed_in("github.com")


def test_credential_of_the_app_already_in_use(app):
    """The same with a credential that the app had itself, and with which it then signs in."""
    token = fake("g-1", email="ada@gmail.com", email_verified=True)
    code = "sdk.signInWithCredential(auth, sdk.GoogleAuthProvider.credential(token))"
    owner = app.run(code, token=token)["user"]["uid"]
    app.run("sdk.signOut(auth)")
    app.run("sdk.signInAnonymously(auth)")
    error = app.refused("sdk.linkWithCredential(auth.currentUser, sdk.GoogleAuthProvider.credential(token))", token=token)
    assert error.code == "credential-already-in-use"
    app.signed_in("anonymous")
    assert app.run(code, token=token)["user"]["uid"] == owner
    app.signed_in("google.com")


@pytest.mark.parametrize(
    "provider",
    ["google.com", "apple.com", "oidc.demo", "twitter.com", "oidc.yahoojp", "facebook.com"],
)
def test_credential_already_in_use_at_each_provider(app, provider):
    """The same with other kinds of providers."""
    person = "Katherine Johnson"
    owner = app.popup("sdk.signInWithPopup(auth, provider(id))", person, id=provider)["user"]["uid"]
    app.run("sdk.signOut(auth)")
    app.run("sdk.signInAnonymously(auth)")
    with pytest.raises(Refused) as caught:
        app.popup("sdk.linkWithPopup(auth.currentUser, provider(id))", person, id=provider)
    assert caught.value.code == "credential-already-in-use"
    assert app.run("sdk.signInWithCredential(auth, credentialFrom(failure))")["user"]["uid"] == owner
    app.signed_in(provider)


def test_email_of_another_account(app, service):
    """A link whose address belongs to another account is `auth/email-already-in-use`."""
    service.create(email="ada@example.com", password="correct horse")
    app.run("sdk.signInAnonymously(auth)")
    code = "sdk.linkWithCredential(auth.currentUser, sdk.GoogleAuthProvider.credential(token))"
    error = app.refused(code, token=fake("g-1", email="ada@example.com", email_verified=True))
    assert error.code == "email-already-in-use"
    code = "sdk.linkWithCredential(auth.currentUser, sdk.EmailAuthProvider.credential('ada@example.com', 'other horse'))"
    error = app.refused(code)
    assert error.code == "email-already-in-use"
    app.signed_in("anonymous")


def test_phone_of_another_account(app, service):
    """A number of another account is a conflict as well, and the error's credential signs in to that account."""
    owner = service.create(phoneNumber="+14155550104")
    app.run("sdk.signInAnonymously(auth)")
    app.run("window.wait = await sdk.linkWithPhoneNumber(auth.currentUser, '+14155550104', verifier()); return null")
    error = app.refused("wait.confirm(code)", code=service.code("+14155550104"))
    assert (error.code, error.phone_number) == ("account-exists-with-different-credential", "+14155550104")
    result = app.run("sdk.signInWithCredential(auth, sdk.PhoneAuthProvider.credentialFromError(failure))")
    assert result["user"]["uid"] == owner
    app.signed_in("phone", phone_number="+14155550104")


@pytest.mark.parametrize(
    ("linking", "error"),
    [("confirm", "account-exists-with-different-credential"), ("never", "email-already-in-use")],
)
def test_policy_of_the_project(app, settings, linking, error):
    """Projects that join no accounts by address say so, even for a provider whose word counts."""
    settings(**{"identity.linking": linking})
    code = "sdk.signInWithCredential(auth, new sdk.OAuthProvider(id).credential({idToken: token}))"
    app.run(code, id="google.com", token=fake("g-1", email="ada@gmail.com", email_verified=True))
    app.run("sdk.signOut(auth)")
    assert app.refused(code, id="oidc.demo", token=fake("d-1", email="ada@gmail.com", email_verified=True)).code == error
    assert app.user is None


def test_several_accounts_per_email(app, settings):
    """With several accounts per email there is no conflict: each provider has an account of its own."""
    settings(**{"signIn.allowDuplicateEmails": True})
    code = "sdk.signInWithCredential(auth, new sdk.OAuthProvider(id).credential({idToken: token}))"
    first = app.run(code, id="google.com", token=fake("g-1", email="ada@gmail.com", email_verified=True))
    second = app.run(code, id="oidc.demo", token=fake("d-1", email="ada@gmail.com", email_verified=True))
    assert second["user"]["uid"] != first["user"]["uid"] and second["info"]["isNewUser"]
    app.signed_in("oidc.demo")
