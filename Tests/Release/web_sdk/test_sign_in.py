"""Guests, custom tokens, email links and phones."""

import time

import jwt
import pytest

AUDIENCE = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
NUMBER = "+14155550101"


def custom_token(uid, **fields):
    """A custom token of an Admin SDK that was told of an emulator."""
    issuer, now = "firebase-auth-emulator@example.com", int(time.time())
    claims = {"iss": issuer, "sub": issuer, "aud": AUDIENCE, "iat": now, "exp": now + 3600, "uid": uid, **fields}
    return jwt.encode(claims, None, algorithm="none")


def test_guest(app, service):
    """A guest has an account without anything in it, and stays the same guest."""
    result = app.run("sdk.signInAnonymously(auth)")
    assert result["info"] == {"isNewUser": True, "providerId": None}
    assert result["user"]["isAnonymous"] and result["user"]["providerData"] == []
    claims = app.signed_in("anonymous", email=None, provider_id="anonymous")
    assert claims["firebase"]["identities"] == {}
    assert app.run("sdk.signInAnonymously(auth)")["user"]["uid"] == result["user"]["uid"]
    app.reload()
    assert app.user["isAnonymous"] and app.user["uid"] == result["user"]["uid"]


def test_no_guests(app, settings):
    """A project without guests says `auth/admin-restricted-operation`."""
    settings(**{"signIn.anonymous.enabled": False})
    assert app.refused("sdk.signInAnonymously(auth)").code == "admin-restricted-operation"


def test_custom_token(app):
    """A back end's token opens the account of its uid, and its claims are in the ID tokens, also in later ones."""
    code = "sdk.signInWithCustomToken(auth, token)"
    result = app.run(code, token=custom_token("own-id", claims={"role": "admin"}))
    assert result["user"]["uid"] == "own-id" and result["info"] == {"isNewUser": True, "providerId": None}
    claims = app.signed_in("custom")
    assert claims["role"] == "admin"
    again = app.run(code, token=custom_token("own-id"))
    assert not again["info"]["isNewUser"] and "role" not in app.signed_in("custom")


@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("nonsense", "invalid-custom-token"),
        (custom_token(""), "missing-identifier"),
        (custom_token("x" * 129), "missing-identifier"),
        (custom_token("own-id", claims={"sub": "other"}), "forbidden-claim"),
        (custom_token("own-id", claims={"text": "x" * 1001}), "claims-too-large"),
    ],
)
def test_bad_custom_token(app, token, error):
    """What is wrong with a custom token has its code, and nobody is signed in."""
    assert app.refused("sdk.signInWithCustomToken(auth, token)", token=token).code == error
    assert app.user is None


def test_claims_of_an_admin(app, service):
    """Claims that an admin sets come with the next token; the SDK shows them in `getIdTokenResult`."""
    uid = app.create()
    service.change(uid, customAttributes='{"level": 7}')
    assert app.run("return (await auth.currentUser.getIdTokenResult(true)).claims.level") == 7
    assert app.signed_in("password")["level"] == 7


# --- Email links


def send_link(app, email="ada@example.com"):
    app.run("sdk.sendSignInLinkToEmail(auth, email, {url: location.href, handleCodeInApp: true})", email=email)
    return app.service.mail("EMAIL_SIGNIN", email)


def test_email_link(app, service):
    """The link of a mail leads to the app, is recognized there, and makes an account with a proven address."""
    link = send_link(app)["oobLink"]
    app.page.goto(link)
    app.page.wait_for_url(app.origin + "/**")
    app.ready()
    assert app.run("sdk.isSignInWithEmailLink(auth, location.href)") is True
    result = app.run("sdk.signInWithEmailLink(auth, 'ada@example.com', location.href)")
    assert result["info"] == {"isNewUser": True, "providerId": "password"}
    assert (result["user"]["email"], result["user"]["emailVerified"]) == ("ada@example.com", True)
    app.signed_in("password", email="ada@example.com", email_verified=True)
    assert app.run("sdk.fetchSignInMethodsForEmail(auth, 'ada@example.com')") == ["emailLink"]


def test_email_link_works_once(app):
    """A link is used up by a sign-in, and a second use is `auth/invalid-action-code`."""
    link = send_link(app)["oobLink"]
    code = "sdk.signInWithEmailLink(auth, 'ada@example.com', link)"
    app.run(code, link=link)
    assert app.refused(code, link=link).code == "invalid-action-code"
    app.signed_in("password")


def test_email_link_of_somebody_else(app):
    """The address must be the one that the mail went to: `auth/invalid-email`."""
    link = send_link(app)["oobLink"]
    assert app.refused("sdk.signInWithEmailLink(auth, 'bob@example.com', link)", link=link).code == "invalid-email"
    assert app.user is None


def test_email_link_of_existing_account(app):
    """Who has a password signs in to the same account by a mail, and the address is proven by it."""
    uid = app.create()
    app.run("sdk.signOut(auth)")
    result = app.run("sdk.signInWithEmailLink(auth, 'ada@example.com', link)", link=send_link(app)["oobLink"])
    assert result["user"]["uid"] == uid and not result["info"]["isNewUser"] and result["user"]["emailVerified"]
    app.signed_in("password", email_verified=True)


def test_email_link_needs_a_listed_domain(app):
    """A link to a domain that the project does not list is `auth/unauthorized-continue-uri`."""
    code = "sdk.sendSignInLinkToEmail(auth, 'ada@example.com', {url: 'https://elsewhere.example/', handleCodeInApp: true})"
    assert app.refused(code).code == "unauthorized-continue-uri"


# --- Phones


def test_phone(app, service):
    """A number and the code of its SMS make an account, and sign in to it the next time."""
    code = "const wait = await sdk.signInWithPhoneNumber(auth, number, verifier()); window.wait = wait; return null"
    app.run(code, number=NUMBER)
    result = app.run("wait.confirm(code)", code=service.code(NUMBER))
    assert (result["providerId"], result["info"]["isNewUser"]) == ("phone", True)
    assert result["user"]["phoneNumber"] == NUMBER
    [data] = result["user"]["providerData"]
    assert (data["providerId"], data["phoneNumber"]) == ("phone", NUMBER)
    claims = app.signed_in("phone", phone_number=NUMBER)
    assert claims["firebase"]["identities"] == {"phone": [NUMBER]}
    app.run("sdk.signOut(auth)")
    app.run(code, number=NUMBER)
    again = app.run("wait.confirm(code)", code=service.code(NUMBER))
    assert again["user"]["uid"] == result["user"]["uid"] and not again["info"]["isNewUser"]


def test_phone_by_credential(app, service):
    """`PhoneAuthProvider` and `signInWithCredential` do the same."""
    verification = app.run("new sdk.PhoneAuthProvider(auth).verifyPhoneNumber(number, verifier())", number=NUMBER)
    result = app.run(
        "sdk.signInWithCredential(auth, sdk.PhoneAuthProvider.credential(verification, code))",
        verification=verification, code=service.code(NUMBER),
    )
    assert result["user"]["phoneNumber"] == NUMBER
    app.signed_in("phone", phone_number=NUMBER)


def test_wrong_code(app, service):
    """A wrong code is `auth/invalid-verification-code`, and the right one still works."""
    verification = app.run("new sdk.PhoneAuthProvider(auth).verifyPhoneNumber(number, verifier())", number=NUMBER)
    right = service.code(NUMBER)
    wrong = "000000" if right != "000000" else "000001"
    code = "sdk.signInWithCredential(auth, sdk.PhoneAuthProvider.credential(verification, code))"
    assert app.refused(code, verification=verification, code=wrong).code == "invalid-verification-code"
    app.run(code, verification=verification, code=right)
    app.signed_in("phone")


def test_bad_number(app):
    """What is no number is `auth/invalid-phone-number`."""
    assert app.refused("sdk.signInWithPhoneNumber(auth, '12', verifier())").code == "invalid-phone-number"


def test_test_number(app, settings):
    """A number for tests has its own code and gets no SMS."""
    settings(**{"signIn.phoneNumber.testPhoneNumbers": {"+14155550199": "123456"}})
    app.run("window.wait = await sdk.signInWithPhoneNumber(auth, '+14155550199', verifier()); return null")
    assert app.run("wait.confirm('123456')")["user"]["phoneNumber"] == "+14155550199"
    app.signed_in("phone", phone_number="+14155550199")
