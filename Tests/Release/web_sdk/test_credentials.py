"""`signInWithCredential` with what an app got from a provider by itself, here the emulator's fake tokens."""

import pytest

from conftest import fake

CREDENTIALS = {
    "google.com": "sdk.GoogleAuthProvider.credential(token)",
    "apple.com": "new sdk.OAuthProvider('apple.com').credential({idToken: token})",
    "microsoft.com": "new sdk.OAuthProvider('microsoft.com').credential({idToken: token})",
    "facebook.com": "new sdk.OAuthProvider('facebook.com').credential({idToken: token})",
    "twitter.com": "new sdk.OAuthProvider('twitter.com').credential({idToken: token})",
    "github.com": "new sdk.OAuthProvider('github.com').credential({idToken: token})",
    "yahoo.com": "new sdk.OAuthProvider('yahoo.com').credential({idToken: token})",
    "oidc.demo": "new sdk.OAuthProvider('oidc.demo').credential({idToken: token})",
    "oidc.unheard-of": "new sdk.OAuthProvider('oidc.unheard-of').credential({idToken: token})",
}


@pytest.mark.parametrize("provider", CREDENTIALS)
def test_fake_id_token(app, provider):
    """A fake ID token of any provider opens an account with the address, the name and the picture that it tells."""
    token = fake(
        "abc-1", email="ada@example.com", email_verified=True, name="Ada Lovelace", picture="https://example.com/ada.png"
    )
    result = app.run(f"sdk.signInWithCredential(auth, {CREDENTIALS[provider]})", token=token)
    assert (result["operationType"], result["providerId"]) == ("signIn", provider)
    assert result["info"]["isNewUser"] and result["info"]["providerId"] == provider
    # As the provider's own: Google's has no "sub".
    assert result["info"]["profile"]["id" if provider == "google.com" else "sub"] == "abc-1"
    user = result["user"]
    [data] = user["providerData"]
    assert (data["providerId"], data["uid"], data["email"]) == (provider, "abc-1", "ada@example.com")
    assert (user["displayName"], user["photoURL"]) == ("Ada Lovelace", "https://example.com/ada.png")
    assert (user["email"], user["emailVerified"]) == ("ada@example.com", True)
    claims = app.signed_in(provider, email="ada@example.com", email_verified=True, name="Ada Lovelace")
    assert claims["firebase"]["identities"] == {"email": ["ada@example.com"], provider: ["abc-1"]}
    again = app.run(f"sdk.signInWithCredential(auth, {CREDENTIALS[provider]})", token=token)
    assert again["user"]["uid"] == user["uid"] and not again["info"]["isNewUser"]


def test_access_token_beside_id_token(app):
    """The access token that an app hands in comes back in the credential of the result."""
    code = "sdk.signInWithCredential(auth, sdk.GoogleAuthProvider.credential(token, 'access-1'))"
    credential = app.run(code, token=fake("g-1", email="ada@gmail.com", email_verified=True))["credential"]
    assert credential["accessToken"] == "access-1"
    app.signed_in("google.com")


def test_without_address(app):
    """A provider that tells no address makes a user without one."""
    code = "sdk.signInWithCredential(auth, new sdk.OAuthProvider('twitter.com').credential({idToken: token}))"
    user = app.run(code, token=fake("t-1"))["user"]
    assert user["email"] is None
    app.signed_in("twitter.com", email=None)


@pytest.mark.parametrize("token", ["nonsense", "{}", "a.b.c"])
def test_bad_token(app, token):
    """What is no ID token is `auth/invalid-credential`."""
    code = "sdk.signInWithCredential(auth, sdk.GoogleAuthProvider.credential(token))"
    assert app.refused(code, token=token).code == "invalid-credential"


def test_access_token_that_is_none(app):
    """An access token that the provider does not know is `auth/invalid-credential`."""
    code = "sdk.signInWithCredential(auth, sdk.GithubAuthProvider.credential('nonsense'))"
    assert app.refused(code).code == "invalid-credential"
