"""Sign-in at identity providers by popup and by redirect, at every provider of the demo."""

import pytest

from conftest import Refused

# The subjects that they have for Ada, or for Grace where Ada has no account.
SUBJECTS = {
    "oidc.demo": "1001", "google.com": "10730000000002", "github.com": "583201", "apple.com": "4001",
    "microsoft.com": "4001", "facebook.com": "4001", "twitter.com": "4001", "yahoo.com": "4001", "oidc.yahoojp": "4001",
    "oidc.line": "4001", "linkedin.com": "4001", "oidc.slack": "4001", "oidc.gitlab": "4001", "oauth.discord": "4001",
    "oauth.feedly": "4001", "oauth.x": "4001", "oauth.plain": "4001",
}
# Those whose word about Ada's or Grace's address counts (docs/guide/linking.md).
BELIEVED = {"oidc.demo", "google.com", "apple.com"}
WITHOUT_ID_TOKEN = {
    "github.com", "facebook.com", "twitter.com", "oauth.discord", "oauth.feedly", "oauth.x", "oauth.plain",
}


def person(provider):
    return "Grace Hopper" if provider == "google.com" else "Ada Lovelace"


def check(app, provider, result, operation="signIn", is_new=True):
    """Checks the result, the user and the tokens of a first sign-in at a provider."""
    email = "grace.hopper@gmail.com" if provider == "google.com" else "ada@example.com"
    assert (result["operationType"], result["providerId"]) == (operation, provider)
    assert result["info"]["providerId"] == provider and bool(result["info"]["isNewUser"]) == is_new
    assert result["info"]["profile"], "the provider's profile is handed on"
    user = result["user"]
    [data] = user["providerData"]
    # Apple tells the name at a person's first visit alone.
    name = user["displayName"] if provider == "apple.com" else person(provider)
    assert (data["providerId"], data["uid"], data["displayName"]) == (provider, SUBJECTS[provider], name)
    assert (user["email"], user["emailVerified"]) == (email, provider in BELIEVED)
    assert (user["displayName"], user["isAnonymous"]) == (name, False)
    credential = result["credential"]
    assert (credential["providerId"], credential["signInMethod"]) == (provider, provider)
    assert credential["accessToken"] or credential["idToken"]
    assert bool(credential.get("idToken")) == (provider not in WITHOUT_ID_TOKEN)
    assert bool(credential.get("secret")) == (provider == "twitter.com")
    claims = app.signed_in(provider, email=email, email_verified=provider in BELIEVED, name=name)
    assert claims["firebase"]["identities"][provider] == [SUBJECTS[provider]]


# One of each way back: a query, a post, a fragment, and OAuth 1.
WAYS_BACK = ["google.com", "apple.com", "oidc.yahoojp", "twitter.com"]


@pytest.mark.parametrize("provider", WAYS_BACK)
def test_popup(app, provider):
    """`signInWithPopup` opens the provider, closes its window and signs a new person in."""
    result = app.popup("sdk.signInWithPopup(auth, provider(id))", person(provider), id=provider)
    check(app, provider, result)


@pytest.mark.parametrize("provider", SUBJECTS)
def test_redirect(app, provider):
    """`signInWithRedirect` leaves the app, and `getRedirectResult` has the sign-in when it is back, once."""
    result = app.redirect("sdk.signInWithRedirect(auth, provider(id))", person(provider), id=provider)
    check(app, provider, result)
    app.reload()
    assert app.user["uid"] == result["user"]["uid"]
    assert app.run("sdk.getRedirectResult(auth)") is None


@pytest.mark.parametrize("provider", WAYS_BACK)
def test_own_callback(app, settings, provider):
    """The same with a redirect URI of the project's own."""
    settings(**{"identity.callback": "own"})
    result = app.popup("sdk.signInWithPopup(auth, provider(id))", person(provider), id=provider)
    check(app, provider, result)
    app.run("sdk.signOut(auth)")
    again = app.redirect("sdk.signInWithRedirect(auth, provider(id))", person(provider), id=provider)
    assert again["user"]["uid"] == result["user"]["uid"]


def test_second_visit(app):
    """The same person at the same provider is the same user, and new no more."""
    first = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    app.run("sdk.signOut(auth)")
    second = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    assert second["user"]["uid"] == first["user"]["uid"] and not second["info"]["isNewUser"]


def test_github_username(app):
    """`getAdditionalUserInfo` has the login that GitHub knows the person by."""
    result = app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    assert result["info"]["username"] == "adalovelace"


def test_scopes_and_parameters(app):
    """Scopes and custom parameters of the app come to the provider."""
    code = "sdk.signInWithPopup(auth, provider('google.com', ['https://www.googleapis.com/auth/drive'], parameters))"
    asked = []
    app.context.on("request", lambda request: asked.append(request.url))
    result = app.popup(code, "Grace Hopper", parameters={"hd": "example.com", "prompt": "consent"})
    [url] = [url for url in asked if "/t/google/" in url and "response_type=" in url]
    assert "googleapis.com%2Fauth%2Fdrive" in url and "hd=example.com" in url and "prompt=consent" in url
    assert result["credential"]["accessToken"]


def test_login_hint(app):
    """A `login_hint` comes to the provider."""
    asked = []
    app.context.on("request", lambda request: asked.append(request.url))
    app.popup("sdk.signInWithPopup(auth, provider('oidc.demo', [], {login_hint: 'ada@example.com'}))")
    assert any("/t/demo/" in url and "login_hint=ada%40example.com" in url for url in asked)


def test_credential_of_a_popup_signs_in_again(app):
    """What `credentialFromResult` gives is good for `signInWithCredential`, as long as the provider takes it."""
    result = app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    code = "sdk.signInWithCredential(auth, sdk.GithubAuthProvider.credential(token))"
    again = app.run(code, token=result["credential"]["accessToken"])
    assert again["user"]["uid"] == result["user"]["uid"] and not again["info"]["isNewUser"]
    app.signed_in("github.com")


@pytest.mark.parametrize(
    "code",
    ["sdk.signInWithCredential(auth, credential)", "sdk.reauthenticateWithCredential(auth.currentUser, credential)"],
)
def test_google_credential_signs_in_again(app, code):
    """The same with Google's credential, which has an ID token besides, with a nonce that no app knows."""
    uid = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")["user"]["uid"]
    result = app.run(f"const credential = sdk.GoogleAuthProvider.credentialFromResult(result); return {code}")
    assert result["user"]["uid"] == uid
    app.signed_in("google.com")


@pytest.mark.parametrize("provider", ["google.com", "apple.com", "twitter.com", "oidc.demo"])
def test_person_cancels_popup(app, provider):
    """Who presses Cancel at the provider comes back as `auth/user-cancelled`, signed in as nobody."""
    with pytest.raises(Refused) as caught:
        app.popup("sdk.signInWithPopup(auth, provider(id))", "Cancel", id=provider)
    assert caught.value.code == "user-cancelled"
    assert app.user is None


def test_person_cancels_redirect(app):
    """The same with the redirect, whose result is the error."""
    with pytest.raises(Refused) as caught:
        app.redirect("sdk.signInWithRedirect(auth, provider('github.com'))", "Cancel")
    assert caught.value.code == "user-cancelled"


def test_person_closes_popup(app):
    """A window that is closed ends the sign-in as `auth/popup-closed-by-user`."""
    with app.page.expect_popup() as opened:
        app.start("sdk.signInWithPopup(auth, provider('google.com'))")
    opened.value.get_by_role("button", name="Grace Hopper").wait_for()
    opened.value.close()
    with pytest.raises(Refused) as caught:
        app.finish()
    assert caught.value.code == "popup-closed-by-user"


def test_second_popup_cancels_first(app):
    """A second popup ends the first one as `auth/cancelled-popup-request`, and signs in."""
    with app.page.expect_popup():
        app.run("void (window.first = sdk.signInWithPopup(auth, provider('google.com')).catch(error => error.code))")
    result = app.popup("sdk.signInWithPopup(auth, provider('github.com'))")
    assert result["providerId"] == "github.com"
    assert app.run("window.first") == "auth/cancelled-popup-request"


def test_provider_that_is_off(app):
    """A provider that the project does not have ends as `auth/operation-not-allowed`."""
    with app.page.expect_popup():
        app.start("sdk.signInWithPopup(auth, provider('oidc.nobody'))")
    with pytest.raises(Refused) as caught:
        app.finish()
    assert caught.value.code == "operation-not-allowed"


def test_popup_of_another_site(app):
    """An app on another site than the service's signs in by popup."""
    app.page.goto(app.origin.replace("127.0.0.1", "localhost") + "/")
    app.ready()
    result = app.popup("sdk.signInWithPopup(auth, provider('google.com'))", "Grace Hopper")
    check(app, "google.com", result)
