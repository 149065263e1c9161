"""Email and password: the first account, the next sign-in, what is refused, the project's policy."""

import pytest


def test_create_account(app, service):
    """A new account is signed in at once, with a user, tokens and claims that fit."""
    result = app.run("sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')")
    assert result["operationType"] == "signIn" and result["providerId"] is None
    assert result["info"] == {"isNewUser": True, "providerId": "password"}
    user = result["user"]
    assert (user["email"], user["emailVerified"], user["isAnonymous"]) == ("ada@example.com", False, False)
    [data] = user["providerData"]
    assert (data["providerId"], data["uid"], data["email"]) == ("password", "ada@example.com", "ada@example.com")
    claims = app.signed_in("password", email="ada@example.com", email_verified=False)
    assert claims["firebase"]["identities"] == {"email": ["ada@example.com"]}
    assert service.account(email="ada@example.com")["localId"] == user["uid"]


def test_sign_in(app):
    """The same address and password are the same user, in any case of letters, and not new."""
    uid = app.create()
    app.run("sdk.signOut(auth)")
    assert app.user is None
    result = app.run("sdk.signInWithEmailAndPassword(auth, 'ADA@Example.com', 'correct horse')")
    assert result["user"]["uid"] == uid and not result["info"]["isNewUser"]
    app.signed_in("password", email="ada@example.com")


def test_sign_in_by_credential(app):
    """`EmailAuthProvider.credential` does the same."""
    uid = app.create()
    result = app.run("sdk.signInWithCredential(auth, sdk.EmailAuthProvider.credential('ada@example.com', 'correct horse'))")
    assert result["user"]["uid"] == uid and result["operationType"] == "signIn"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', 'other horse')", "email-already-in-use"),
        ("sdk.createUserWithEmailAndPassword(auth, 'bob@example.com', 'short')", "weak-password"),
        ("sdk.createUserWithEmailAndPassword(auth, 'no address', 'correct horse')", "invalid-email"),
        ("sdk.createUserWithEmailAndPassword(auth, 'bob@example.com', '')", "missing-password"),
        ("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'wrong horse')", "wrong-password"),
        ("sdk.signInWithEmailAndPassword(auth, 'nobody@example.com', 'correct horse')", "user-not-found"),
        ("sdk.signInWithEmailAndPassword(auth, 'no address', 'correct horse')", "invalid-email"),
        ("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', '')", "missing-password"),
    ],
)
def test_refused(app, code, error):
    """Each mistake has the code that the documentation names, and nobody is signed in by it."""
    app.create()
    app.run("sdk.signOut(auth)")
    assert app.refused(code).code == error
    assert app.user is None


@pytest.mark.parametrize("email", ["ada@example.com", "nobody@example.com"])
def test_enumeration_protection(app, settings, email):
    """With email enumeration protection a wrong password and an unknown address are `auth/invalid-credential` alike."""
    app.create()
    settings(**{"emailPrivacyConfig.enableImprovedEmailPrivacy": True})
    code = "sdk.signInWithEmailAndPassword(auth, email, 'wrong horse')"
    assert app.refused(code, email=email).code == "invalid-credential"
    assert app.run("sdk.fetchSignInMethodsForEmail(auth, email)", email=email) == []
    app.run("sdk.sendPasswordResetEmail(auth, email)", email=email)


def test_passwords_are_off(app, settings):
    """A project without passwords says `auth/operation-not-allowed`."""
    settings(**{"signIn.email.enabled": False})
    code = "sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')"
    assert app.refused(code).code == "operation-not-allowed"


def test_only_admins_open_accounts(app, settings):
    """`auth/admin-restricted-operation` where the project lets only admins open accounts."""
    settings(**{"client.permissions.disabledUserSignup": True})
    code = "sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')"
    assert app.refused(code).code == "admin-restricted-operation"


def test_policy(app, settings):
    """`validatePassword` knows the project's policy, and what does not meet it is refused."""
    settings(passwordPolicyConfig={
        "passwordPolicyEnforcementState": "ENFORCE",
        "passwordPolicyVersions": [{"customStrengthOptions": {"minPasswordLength": 8, "containsNumericCharacter": True}}],
    })
    status = app.run("sdk.validatePassword(auth, 'horse')")
    assert (status["isValid"], status["meetsMinPasswordLength"], status["containsNumericCharacter"]) == (False, False, False)
    assert app.run("sdk.validatePassword(auth, 'correct horse 1')")["isValid"]
    code = "sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', password)"
    assert app.refused(code, password="correct horse").code == "password-does-not-meet-requirements"
    app.run(code, password="correct horse 1")
    app.signed_in("password")
