"""Links and unlinks of the signed-in user: by credential, popup, redirect, password, mail and phone."""

import pytest

from conftest import Refused, fake
from test_providers import SUBJECTS, person

NUMBER = "+14155550102"


@pytest.mark.parametrize("provider", ["google.com", "github.com", "apple.com", "oidc.demo", "twitter.com"])
def test_link_credential(app, provider):
    """A provider's credential is linked; the user stays, and the tokens stay those of the first sign-in."""
    uid = app.create()
    before = app.claims()
    code = "sdk.linkWithCredential(auth.currentUser, new sdk.OAuthProvider(id).credential({idToken: token}))"
    result = app.run(code, id=provider, token=fake("p-1", email="ada@work.example", name="Ada"))
    assert (result["operationType"], result["providerId"], result["user"]["uid"]) == ("link", provider, uid)
    assert not result["info"]["isNewUser"]
    assert app.providers() == sorted(["password", provider])
    assert app.user["email"] == "ada@example.com"
    claims = app.signed_in(app.claims()["firebase"]["sign_in_provider"], email="ada@example.com")
    assert claims["firebase"]["identities"][provider] == ["p-1"]
    assert claims["auth_time"] >= before["auth_time"]
    app.run("sdk.signOut(auth)")
    again = app.run("sdk.signInWithCredential(auth, new sdk.OAuthProvider(id).credential({idToken: token}))",
                    id=provider, token=fake("p-1", email="ada@work.example"))
    assert again["user"]["uid"] == uid and not again["info"]["isNewUser"]


@pytest.mark.parametrize("provider", SUBJECTS)
def test_link_popup(app, provider):
    """`linkWithPopup` adds each provider of the demo to a guest, who is a guest no more and keeps the uid."""
    uid = app.run("sdk.signInAnonymously(auth)")["user"]["uid"]
    result = app.popup("sdk.linkWithPopup(auth.currentUser, provider(id))", person(provider), id=provider)
    assert (result["operationType"], result["providerId"], result["user"]["uid"]) == ("link", provider, uid)
    assert not result["user"]["isAnonymous"]
    [data] = result["user"]["providerData"]
    assert (data["providerId"], data["uid"]) == (provider, SUBJECTS[provider])
    claims = app.signed_in(provider)
    assert claims["firebase"]["identities"][provider] == [SUBJECTS[provider]]


@pytest.mark.parametrize("provider", ["google.com", "apple.com", "oidc.yahoojp", "twitter.com"])
def test_link_redirect(app, provider):
    """`linkWithRedirect` does the same by way of the redirect."""
    uid = app.create("somebody@example.com")
    result = app.redirect("sdk.linkWithRedirect(auth.currentUser, provider(id))", person(provider), id=provider)
    assert (result["operationType"], result["user"]["uid"]) == ("link", uid)
    assert app.providers() == sorted(["password", provider])
    app.claims()
    app.reload()
    assert app.providers() == sorted(["password", provider])


def test_guest_gets_a_password(app):
    """A guest who links an address and a password stays the same user, and signs in with them."""
    uid = app.run("sdk.signInAnonymously(auth)")["user"]["uid"]
    code = "sdk.linkWithCredential(auth.currentUser, sdk.EmailAuthProvider.credential('ada@example.com', 'correct horse'))"
    result = app.run(code)
    assert (result["operationType"], result["user"]["uid"], result["user"]["isAnonymous"]) == ("link", uid, False)
    app.signed_in("password", email="ada@example.com", provider_id=None)
    app.reload()
    assert not app.user["isAnonymous"] and app.providers() == ["password"]
    app.run("sdk.signOut(auth)")
    assert app.sign_in() == uid


def test_guest_gets_an_email_link(app):
    """A guest who links the link of a mail has a proven address."""
    uid = app.run("sdk.signInAnonymously(auth)")["user"]["uid"]
    app.run("sdk.sendSignInLinkToEmail(auth, 'ada@example.com', {url: location.href, handleCodeInApp: true})")
    link = app.service.mail("EMAIL_SIGNIN", "ada@example.com")["oobLink"]
    code = "sdk.linkWithCredential(auth.currentUser, sdk.EmailAuthProvider.credentialWithLink('ada@example.com', link))"
    result = app.run(code, link=link)
    assert (result["operationType"], result["user"]["uid"]) == ("link", uid)
    app.signed_in("password", email="ada@example.com", email_verified=True)


def test_guest_gets_a_phone(app, service):
    """`linkWithPhoneNumber` gives a guest a number."""
    uid = app.run("sdk.signInAnonymously(auth)")["user"]["uid"]
    app.run("window.wait = await sdk.linkWithPhoneNumber(auth.currentUser, number, verifier()); return null", number=NUMBER)
    result = app.run("wait.confirm(code)", code=service.code(NUMBER))
    assert (result["operationType"], result["user"]["uid"], result["user"]["phoneNumber"]) == ("link", uid, NUMBER)
    app.signed_in("phone", phone_number=NUMBER)


def test_password_after_provider(app):
    """Who signed in by a provider sets a password for the same address, and has both."""
    code = "sdk.signInWithCredential(auth, sdk.GoogleAuthProvider.credential(token))"
    uid = app.run(code, token=fake("g-1", email="ada@gmail.com", email_verified=True))["user"]["uid"]
    app.run("sdk.linkWithCredential(auth.currentUser, sdk.EmailAuthProvider.credential('ada@gmail.com', 'correct horse'))")
    assert app.providers() == ["google.com", "password"]
    app.claims()
    app.run("sdk.signOut(auth)")
    assert app.sign_in("ada@gmail.com") == uid


def test_update_phone_number(app, service):
    """`updatePhoneNumber` adds a number and later replaces it."""
    app.create()
    for number in [NUMBER, "+14155550103"]:
        verification = app.run("new sdk.PhoneAuthProvider(auth).verifyPhoneNumber(number, verifier())", number=number)
        code = "sdk.updatePhoneNumber(auth.currentUser, sdk.PhoneAuthProvider.credential(verification, code))"
        app.run(code, verification=verification, code=service.code(number))
        assert app.user["phoneNumber"] == number
        assert app.claims()["phone_number"] == number
    assert app.providers() == ["password", "phone"]


@pytest.mark.parametrize("provider", ["google.com", "oidc.demo", "phone"])
def test_unlink(app, service, provider):
    """What is unlinked is gone from the user, from the account and from later tokens, and signs in no more."""
    uid = app.create()
    if provider == "phone":
        code = "window.wait = await sdk.linkWithPhoneNumber(auth.currentUser, number, verifier()); return null"
        app.run(code, number=NUMBER)
        app.run("wait.confirm(code)", code=service.code(NUMBER))
    else:
        code = "sdk.linkWithCredential(auth.currentUser, new sdk.OAuthProvider(id).credential({idToken: token}))"
        app.run(code, id=provider, token=fake("p-1"))
    assert provider in app.providers()
    app.run("sdk.unlink(auth.currentUser, id)", id=provider)
    assert app.providers() == ["password"] and app.user["phoneNumber"] is None
    assert provider not in app.claims()["firebase"]["identities"]
    assert [info["providerId"] for info in service.account(localId=uid)["providerUserInfo"]] == ["password"]
    app.reload()
    assert app.providers() == ["password"]
    assert app.refused("sdk.unlink(auth.currentUser, id)", id=provider).code == "no-such-provider"


def test_unlink_password(app, service):
    """The password can be unlinked beside a provider; the address stays."""
    app.create()
    app.run("sdk.linkWithCredential(auth.currentUser, sdk.GoogleAuthProvider.credential(token))", token=fake("g-1"))
    app.run("sdk.unlink(auth.currentUser, 'password')")
    assert app.providers() == ["google.com"] and app.user["email"] == "ada@example.com"
    app.claims()
    app.run("sdk.signOut(auth)")
    assert app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')").code == "wrong-password"


def test_last_way_in(app, settings):
    """Where the project keeps the last way in, its removal is `auth/operation-not-allowed`."""
    settings(**{"identity.keepLastSignInMethod": True})
    app.run("sdk.signInWithCredential(auth, sdk.GoogleAuthProvider.credential(token))", token=fake("g-1"))
    assert app.refused("sdk.unlink(auth.currentUser, 'google.com')").code == "operation-not-allowed"
    assert app.providers() == ["google.com"]
    app.signed_in("google.com")


def test_link_twice(app):
    """A second identity of one provider, and the same one again, are `auth/provider-already-linked`."""
    app.create()
    code = "sdk.linkWithCredential(auth.currentUser, sdk.GoogleAuthProvider.credential(token))"
    app.run(code, token=fake("g-1"))
    for subject in ["g-1", "g-2"]:
        assert app.refused(code, token=fake(subject)).code == "provider-already-linked"
    assert app.providers() == ["google.com", "password"]
    app.claims()


def test_popup_for_a_linked_provider(app):
    """A popup for a provider that is linked ends as `auth/provider-already-linked`, a redirect before it begins."""
    app.popup("sdk.signInWithPopup(auth, provider('oidc.demo'))")
    with pytest.raises(Refused) as caught:
        app.popup("sdk.linkWithPopup(auth.currentUser, provider('oidc.demo'))", "Katherine Johnson")
    assert caught.value.code == "provider-already-linked"
    assert app.refused("sdk.linkWithRedirect(auth.currentUser, provider('oidc.demo'))").code == "provider-already-linked"
    app.signed_in("oidc.demo")


def test_link_with_popup_cancelled(app):
    """Who cancels a link stays signed in as before."""
    uid = app.create()
    with pytest.raises(Refused) as caught:
        app.popup("sdk.linkWithPopup(auth.currentUser, provider('google.com'))", "Cancel")
    assert caught.value.code == "user-cancelled"
    assert app.user["uid"] == uid and app.providers() == ["password"]
    app.signed_in("password")
