"""Second factors: phones and authenticator apps, enrolled, asked for, withdrawn."""

import base64
import hashlib
import hmac
import struct
import time

import pytest

from conftest import Refused

NUMBER = "+14155550106"
ASSERTION = "sdk.PhoneMultiFactorGenerator.assertion(sdk.PhoneAuthProvider.credential(verification, code))"


def totp(secret, step=0):
    """The code that an authenticator app shows (RFC 6238), `step` codes from now."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", int(time.time()) // 30 + step), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(int.from_bytes(digest[place:place + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


@pytest.fixture
def ada(app, service):
    """Ada, signed in, with a proven address."""
    uid = app.create()
    service.change(uid, emailVerified=True)
    app.run("auth.currentUser.getIdToken(true)")
    app.run("auth.currentUser.reload()")
    return uid


def enroll_phone(app, number=NUMBER, name="Ada's phone"):
    code = (
        "const session = await sdk.multiFactor(auth.currentUser).getSession();"
        "return new sdk.PhoneAuthProvider(auth).verifyPhoneNumber({phoneNumber: number, session}, verifier())"
    )
    verification = app.run(code, number=number)
    app.run(f"sdk.multiFactor(auth.currentUser).enroll({ASSERTION}, name)",
            verification=verification, code=app.service.code(number), name=name)


def enroll_app(app, name="Ada's app"):
    """Enrols an authenticator app and returns its secret; `app.used` is the code that it took."""
    code = (
        "const session = await sdk.multiFactor(auth.currentUser).getSession();"
        "window.secret = await sdk.TotpMultiFactorGenerator.generateSecret(session); return secret"
    )
    secret = app.run(code)
    assert (secret["codeLength"], secret["codeIntervalSeconds"], secret["hashingAlgorithm"]) == (6, 30, "SHA1")
    assertion = "sdk.TotpMultiFactorGenerator.assertionForEnrollment(secret, code)"
    app.used = totp(secret["secretKey"], -1)
    app.run(f"sdk.multiFactor(auth.currentUser).enroll({assertion}, name)", code=app.used, name=name)
    return secret["secretKey"]


def factors(app):
    return app.run("sdk.multiFactor(auth.currentUser).enrolledFactors.map(factor => ({...factor}))")


def first_factor(app, code="sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')"):
    """A sign-in that must end in the question for the second factor, kept as `resolver`; returns its hints."""
    assert app.refused(code).code == "multi-factor-auth-required"
    app.run("window.resolver = sdk.getMultiFactorResolver(auth, failure); return null")
    return app.run("resolver.hints.map(hint => ({...hint}))")


def resolve_phone(app, number=NUMBER):
    code = (
        "const options = {multiFactorHint: resolver.hints[0], session: resolver.session};"
        "return new sdk.PhoneAuthProvider(auth).verifyPhoneNumber(options, verifier())"
    )
    verification = app.run(code)
    return app.run(f"resolver.resolveSignIn({ASSERTION})", verification=verification, code=app.service.code(number))


def resolve_app(app, code):
    return app.run(
        "resolver.resolveSignIn(sdk.TotpMultiFactorGenerator.assertionForSignIn(resolver.hints[0].uid, code))", code=code
    )


def test_phone(app, ada):
    """A phone is enrolled, asked for at the next sign-in, and told in the tokens."""
    enroll_phone(app)
    [factor] = factors(app)
    assert (factor["factorId"], factor["phoneNumber"], factor["displayName"]) == ("phone", NUMBER, "Ada's phone")
    app.signed_in("password")
    app.reload()
    app.signed_in("password")
    app.run("sdk.signOut(auth)")
    [hint] = first_factor(app)
    assert (hint["uid"], hint["factorId"], hint["displayName"]) == (factor["uid"], "phone", "Ada's phone")
    assert hint["phoneNumber"] != NUMBER and hint["phoneNumber"].endswith(NUMBER[-4:])
    assert app.user is None
    result = resolve_phone(app)
    assert (result["operationType"], result["user"]["uid"]) == ("signIn", ada)
    claims = app.signed_in("password")["firebase"]
    assert (claims["sign_in_second_factor"], claims["second_factor_identifier"]) == ("phone", factor["uid"])


def test_app(app, ada):
    """An authenticator app is enrolled, asked for at the next sign-in, and told in the tokens."""
    secret = enroll_app(app)
    [factor] = factors(app)
    assert (factor["factorId"], factor["displayName"]) == ("totp", "Ada's app")
    app.signed_in("password")
    app.run("sdk.signOut(auth)")
    [hint] = first_factor(app)
    assert (hint["uid"], hint["factorId"]) == (factor["uid"], "totp")
    result = resolve_app(app, totp(secret))
    assert (result["operationType"], result["user"]["uid"]) == ("signIn", ada)
    claims = app.signed_in("password")["firebase"]
    assert (claims["sign_in_second_factor"], claims["second_factor_identifier"]) == ("totp", factor["uid"])
    app.reload()
    assert app.signed_in("password")["firebase"]["sign_in_second_factor"] == "totp"


def test_wrong_codes(app, ada):
    """A wrong code is `auth/invalid-verification-code`, and so is one that was used; the right one still works."""
    secret = enroll_app(app)
    app.run("sdk.signOut(auth)")
    first_factor(app)
    for code in ["000000", app.used]:
        with pytest.raises(Refused) as caught:
            resolve_app(app, code)
        assert caught.value.code == "invalid-verification-code"
    resolve_app(app, totp(secret))
    app.signed_in("password")


def test_both(app, ada):
    """With both kinds enrolled the person chooses; each is good."""
    enroll_phone(app)
    secret = enroll_app(app)
    assert sorted(factor["factorId"] for factor in factors(app)) == ["phone", "totp"]
    app.run("sdk.signOut(auth)")
    hints = first_factor(app)
    place = next(index for index, hint in enumerate(hints) if hint["factorId"] == "totp")
    app.run(
        f"resolver.resolveSignIn(sdk.TotpMultiFactorGenerator.assertionForSignIn(resolver.hints[{place}].uid, code))",
        code=totp(secret),
    )
    app.signed_in("password")


@pytest.mark.parametrize("kind", ["phone", "app"])
def test_withdraw(app, ada, kind):
    """What is withdrawn is asked for no more, and the session goes on."""
    enroll_phone(app) if kind == "phone" else enroll_app(app)
    app.run("const user = sdk.multiFactor(auth.currentUser); await user.unenroll(user.enrolledFactors[0]); return null")
    assert factors(app) == []
    app.signed_in("password")
    app.run("sdk.signOut(auth)")
    assert app.sign_in() == ada
    app.signed_in("password")


def test_reauthentication(app, ada):
    """A reauthentication asks for the second factor as well."""
    secret = enroll_app(app)
    before = app.claims()
    first_factor(app, "sdk.reauthenticateWithCredential(auth.currentUser, password('ada@example.com', 'correct horse'))")
    time.sleep(1.1)
    result = resolve_app(app, totp(secret))
    assert (result["operationType"], result["user"]["uid"]) == ("reauthenticate", ada)
    assert app.claims(force=False)["auth_time"] > before["auth_time"]
    app.signed_in("password")
    app.run("sdk.updatePassword(auth.currentUser, 'new horse')")
    app.signed_in("password")


@pytest.mark.parametrize("way", ["popup", "redirect"])
def test_provider_and_second_factor(app, way):
    """A provider's sign-in asks for the second factor, by popup and by redirect."""
    uid = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")["user"]["uid"]
    secret = enroll_app(app)
    app.run("sdk.signOut(auth)")
    with pytest.raises(Refused) as caught:
        if way == "popup":
            app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
        else:
            app.redirect("sdk.signInWithRedirect(auth, provider('google.com'))", "Grace Hopper")
    assert caught.value.code == "multi-factor-auth-required"
    app.run("window.resolver = sdk.getMultiFactorResolver(auth, failure); return null")
    result = resolve_app(app, totp(secret))
    assert (result["user"]["uid"], result["providerId"]) == (uid, "google.com")
    assert app.signed_in("google.com")["firebase"]["sign_in_second_factor"] == "totp"


def test_enrolment_ends_other_sessions(app, device, service):
    """Whether a second device lives on after an enrolment, its next sign-in asks for the factor."""
    uid = app.create()
    service.change(uid, emailVerified=True)
    app.token(force=True)
    enroll_phone(app)
    assert app.signed_in("password")["sub"] == uid
    other = device()
    first_factor(other)
    assert resolve_phone(other)["user"]["uid"] == uid
    other.signed_in("password")


def test_unproven_address(app):
    """Without a proven address it is `auth/unverified-email`."""
    app.create()
    with pytest.raises(Refused) as caught:
        enroll_phone(app)
    assert caught.value.code == "unverified-email"
    app.signed_in("password")


def test_guest(app):
    """A guest enrols none: `auth/unsupported-first-factor`."""
    app.run("sdk.signInAnonymously(auth)")
    with pytest.raises(Refused) as caught:
        enroll_phone(app)
    assert caught.value.code == "unsupported-first-factor"


def test_same_phone_twice(app, ada):
    """The same number again is `auth/second-factor-already-in-use`."""
    enroll_phone(app)
    with pytest.raises(Refused) as caught:
        enroll_phone(app)
    assert caught.value.code == "second-factor-already-in-use"
    app.signed_in("password")


def test_two_apps(app, ada):
    """A second authenticator app is `auth/maximum-second-factor-count-exceeded`."""
    enroll_app(app)
    with pytest.raises(Refused) as caught:
        enroll_app(app)
    assert caught.value.code == "maximum-second-factor-count-exceeded"


def test_withdraw_what_is_not_there(app, ada):
    """`auth/multi-factor-info-not-found` for a factor that the account does not have."""
    assert app.refused("sdk.multiFactor(auth.currentUser).unenroll('none')").code == "multi-factor-info-not-found"
    app.signed_in("password")


def test_revert_by_mail(app, ada, service):
    """The mail about a new second factor takes it back."""
    enroll_phone(app)
    code = service.mail("REVERT_SECOND_FACTOR_ADDITION", "ada@example.com")["oobCode"]
    info = app.run("return JSON.parse(JSON.stringify(await sdk.checkActionCode(auth, code)))", code=code)
    assert info["operation"] == "REVERT_SECOND_FACTOR_ADDITION"
    assert info["data"]["multiFactorInfo"]["factorId"] == "phone" and info["data"]["email"] == "ada@example.com"
    app.run("sdk.applyActionCode(auth, code)", code=code)
    assert "mfaInfo" not in service.account(localId=ada)
