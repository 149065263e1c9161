"""Codes of mails: verification, reset, change of address, what they say, and when they are over."""

import pytest

SETTINGS = "{url: location.href}"


def test_verify_email(app, service):
    """The code of a verification mail can be looked at, and verifies the address, also in later tokens."""
    app.create()
    app.run(f"sdk.sendEmailVerification(auth.currentUser, {SETTINGS})")
    mail = service.mail("VERIFY_EMAIL", "ada@example.com")
    info = app.run("sdk.checkActionCode(auth, code)", code=mail["oobCode"])
    assert info == {
        "operation": "VERIFY_EMAIL", "data": {"email": "ada@example.com", "previousEmail": None, "multiFactorInfo": None},
    }
    app.signed_in("password", email_verified=False)
    app.run("sdk.applyActionCode(auth, code)", code=mail["oobCode"])
    app.run("auth.currentUser.reload()")
    assert app.user["emailVerified"]
    app.token(force=True)
    app.signed_in("password", email_verified=True)
    assert app.refused("sdk.applyActionCode(auth, code)", code=mail["oobCode"]).code == "invalid-action-code"


def test_link_of_a_mail(app, service):
    """`parseActionCodeURL` reads the link of a mail."""
    app.create()
    app.run(f"sdk.sendEmailVerification(auth.currentUser, {SETTINGS})")
    mail = service.mail("VERIFY_EMAIL", "ada@example.com")
    url = app.run("return {...sdk.parseActionCodeURL(link)}", link=mail["oobLink"])
    assert (url["operation"], url["code"], url["continueUrl"]) == ("VERIFY_EMAIL", mail["oobCode"], app.page.url)
    assert app.run("sdk.isSignInWithEmailLink(auth, link)", link=mail["oobLink"]) is False


def test_reset_password(app, service):
    """A reset tells whose it is, sets the password once, and proves the address."""
    uid = app.create()
    app.run("sdk.signOut(auth)")
    app.run(f"sdk.sendPasswordResetEmail(auth, 'ada@example.com', {SETTINGS})")
    code = service.mail("PASSWORD_RESET", "ada@example.com")["oobCode"]
    assert app.run("sdk.verifyPasswordResetCode(auth, code)", code=code) == "ada@example.com"
    assert app.refused("sdk.confirmPasswordReset(auth, code, 'short')", code=code).code == "weak-password"
    app.run("sdk.confirmPasswordReset(auth, code, 'new horse')", code=code)
    for again in ["sdk.verifyPasswordResetCode(auth, code)", "sdk.confirmPasswordReset(auth, code, 'other horse')"]:
        assert app.refused(again, code=code).code == "invalid-action-code"
    assert app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')").code == "wrong-password"
    assert app.sign_in(password="new horse") == uid
    app.signed_in("password", email_verified=True)


def test_reset_of_nobody(app):
    """A reset for an address that nobody has is `auth/user-not-found`."""
    assert app.refused("sdk.sendPasswordResetEmail(auth, 'nobody@example.com')").code == "user-not-found"


def test_reset_ends_sessions(app, device, service):
    """A reset on one device signs the others out at their next refresh."""
    app.create()
    other = device()
    other.run("sdk.sendPasswordResetEmail(auth, 'ada@example.com')")
    code = service.mail("PASSWORD_RESET", "ada@example.com")["oobCode"]
    other.run("sdk.confirmPasswordReset(auth, code, 'new horse')", code=code)
    assert app.refused("auth.currentUser.getIdToken(true)").code == "user-token-expired"
    assert app.user is None


def test_newer_reset_ends_older(app, service):
    """Only the newest mail of a kind is good."""
    app.create()
    codes = []
    for _ in range(2):
        app.run("sdk.sendPasswordResetEmail(auth, 'ada@example.com')")
        codes.append(service.mail("PASSWORD_RESET", "ada@example.com")["oobCode"])
    assert app.refused("sdk.verifyPasswordResetCode(auth, code)", code=codes[0]).code == "invalid-action-code"
    assert app.run("sdk.verifyPasswordResetCode(auth, code)", code=codes[1]) == "ada@example.com"


def test_verify_before_update(app, service):
    """A new address counts once the mail to it is answered; the session ends with the old address."""
    uid = app.create()
    app.run(f"sdk.verifyBeforeUpdateEmail(auth.currentUser, 'ada@new.example', {SETTINGS})")
    assert app.user["email"] == "ada@example.com"
    code = service.mail("VERIFY_AND_CHANGE_EMAIL", "ada@new.example")["oobCode"]
    info = app.run("sdk.checkActionCode(auth, code)", code=code)
    assert info["operation"] == "VERIFY_AND_CHANGE_EMAIL"
    assert (info["data"]["email"], info["data"]["previousEmail"]) == ("ada@new.example", "ada@example.com")
    app.run("sdk.applyActionCode(auth, code)", code=code)
    assert app.refused("auth.currentUser.getIdToken(true)").code == "user-token-expired"
    assert app.sign_in("ada@new.example") == uid
    app.signed_in("password", email="ada@new.example", email_verified=True)


def test_verify_before_update_to_a_taken_address(app, service):
    """An address that somebody has is `auth/email-already-in-use`."""
    service.create(email="bob@example.com")
    app.create()
    code = "sdk.verifyBeforeUpdateEmail(auth.currentUser, 'bob@example.com')"
    assert app.refused(code).code == "email-already-in-use"
    app.signed_in("password")


def test_recover_email(app, service):
    """After a change the old address gets a mail that brings it back."""
    uid = app.create()
    app.run("sdk.updateEmail(auth.currentUser, 'thief@example.com')")
    app.signed_in("password", email="thief@example.com")
    code = service.mail("RECOVER_EMAIL", "ada@example.com")["oobCode"]
    info = app.run("sdk.checkActionCode(auth, code)", code=code)
    assert info["operation"] == "RECOVER_EMAIL" and info["data"]["email"] == "ada@example.com"
    app.run("sdk.applyActionCode(auth, code)", code=code)
    assert app.refused("auth.currentUser.getIdToken(true)").code == "user-token-expired"
    assert service.account(localId=uid)["email"] == "ada@example.com"


def test_sign_in_methods(app, service):
    """`fetchSignInMethodsForEmail` lists how an address signs in."""
    code = "sdk.fetchSignInMethodsForEmail(auth, email)"
    assert app.run(code, email="ada@example.com") == []
    app.create()
    assert app.run(code, email="ada@example.com") == ["password"]
    app.run("sdk.linkWithCredential(auth.currentUser, sdk.GoogleAuthProvider.credential('{\"sub\": \"g-1\"}'))")
    assert sorted(app.run(code, email="ada@example.com")) == ["google.com", "password"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("sdk.applyActionCode(auth, 'nonsense')", "invalid-action-code"),
        ("sdk.checkActionCode(auth, 'nonsense')", "invalid-action-code"),
        ("sdk.confirmPasswordReset(auth, 'nonsense', 'new horse')", "invalid-action-code"),
        ("sdk.confirmPasswordReset(auth, '', 'new horse')", "internal-error"),
        ("sdk.sendPasswordResetEmail(auth, '')", "missing-email"),
        ("sdk.sendPasswordResetEmail(auth, 'ada@example.com', {url: 'https://b.example/'})", "unauthorized-continue-uri"),
        ("sdk.sendPasswordResetEmail(auth, 'ada@example.com', {url: 'no url'})", "invalid-continue-uri"),
        ("sdk.sendPasswordResetEmail(auth, 'ada@example.com', {url: ''})", "invalid-continue-uri"),
        ("sdk.verifyBeforeUpdateEmail(auth.currentUser, 'no address')", "invalid-new-email"),
    ],
)
def test_refused(app, code, error):
    """Each mistake has the code that the documentation names, and the session goes on."""
    app.create()
    assert app.refused(code).code == error
    app.signed_in("password")
