"""Sessions: what a reload keeps, several devices, tokens that are renewed, sessions that end elsewhere."""

import pytest

PERSISTENCES = ["browserLocalPersistence", "browserSessionPersistence", "inMemoryPersistence", "indexedDBLocalPersistence"]


@pytest.mark.parametrize("persistence", PERSISTENCES)
def test_reload(app, persistence):
    """A reload of the page keeps the user, but for one in memory."""
    app.run(f"sdk.setPersistence(auth, sdk.{persistence})")
    uid = app.create()
    app.reload()
    if persistence == "inMemoryPersistence":
        assert app.user is None
        return
    assert app.user["uid"] == uid
    app.signed_in("password")
    app.run("sdk.signOut(auth)")
    app.reload()
    assert app.user is None


@pytest.mark.parametrize("persistence", PERSISTENCES)
def test_second_tab(app, persistence):
    """A second tab of the device has the user where it is kept for all of them."""
    app.run(f"sdk.setPersistence(auth, sdk.{persistence})")
    uid = app.create()
    tab = app.tab()
    if persistence in {"browserSessionPersistence", "inMemoryPersistence"}:
        assert tab.user is None
    else:
        # Chromium tells another tab's process of new localStorage a moment later; the SDK looks again every second.
        tab.page.wait_for_function("uid => auth.currentUser?.uid === uid", arg=uid)
        tab.signed_in("password")


def test_sign_out_reaches_other_tabs(app):
    """A sign-out in one tab signs the others out."""
    app.create()
    tab = app.tab()
    tab.page.wait_for_function("auth.currentUser !== null")
    app.run("sdk.signOut(auth)")
    tab.page.wait_for_function("auth.currentUser === null")


def test_change_of_persistence(app):
    """A user who is signed in moves along when the persistence changes."""
    uid = app.create()
    app.run("sdk.setPersistence(auth, sdk.browserSessionPersistence)")
    app.reload()
    assert app.user["uid"] == uid and app.tab().user is None
    app.signed_in("password")


def test_reload_asks_the_service(app, service):
    """At its start the SDK looks its user up, and forgets one who was deleted meanwhile."""
    service.delete(app.create())
    app.reload()
    assert app.user is None


def test_reload_while_the_service_is_away(app):
    """A service that cannot be reached at the start signs nobody out."""
    uid = app.create()
    app.context.route("**/accounts:lookup**", lambda route: route.abort())
    app.reload()
    assert app.user["uid"] == uid
    app.context.unroute("**/accounts:lookup**")
    app.signed_in("password")


def test_two_devices(app, device):
    """Signing one device out leaves the other alone."""
    uid = app.create()
    other = device()
    assert other.sign_in() == uid
    sessions = {each.claims()["firebase"]["sid"] for each in [app, other]}
    assert len(sessions) == 2
    app.run("sdk.signOut(auth)")
    assert other.signed_in("password")["sub"] == uid
    other.reload()
    assert other.signed_in("password")["sub"] == uid


@pytest.mark.parametrize(
    "code", ["sdk.updatePassword(auth.currentUser, 'new horse')", "sdk.updateEmail(auth.currentUser, 'ada@new.example')"]
)
def test_change_on_another_device(app, device, code):
    """A new password or address ends the other devices' sessions at their next refresh, and keeps its own."""
    app.create()
    other = device()
    uid = other.sign_in()
    other.run("sdk.onAuthStateChanged(auth, user => heard.push(!!user)); return null")
    app.run(code)
    assert other.refused("auth.currentUser.getIdToken(true)").code == "user-token-expired"
    assert other.user is None and other.run("heard.pop()") is False
    assert app.signed_in("password")["sub"] == uid
    app.page.wait_for_timeout(1100)
    assert app.signed_in("password")["sub"] == uid


def test_ended_session_at_reload_of_the_user(app, device):
    """The same shows at `reload()` of the user, before any refresh."""
    app.create()
    other = device()
    other.sign_in()
    app.run("sdk.updatePassword(auth.currentUser, 'new horse')")
    assert other.refused("auth.currentUser.reload()").code == "user-token-expired"
    assert other.user is None


def test_ended_session_at_reload_of_the_page(app, device):
    """The same when the page is loaded again: the SDK starts with nobody."""
    app.create()
    other = device()
    other.sign_in()
    app.run("sdk.updatePassword(auth.currentUser, 'new horse')")
    other.reload()
    assert other.user is None


def test_token_is_kept(app):
    """A token that is good is not asked for again."""
    app.create()
    asked = []
    app.page.on("request", lambda request: asked.append(request.url))
    first = app.token()
    assert app.token() == first and not asked
    assert app.token(force=True) != first and any("/v1/token" in url for url in asked)


def test_refresh_token_is_kept(app):
    """A forced refresh gives another ID token of the same session."""
    app.create()
    first, second = app.claims(), app.claims()
    assert first["firebase"]["sid"] == second["firebase"]["sid"] and first["auth_time"] == second["auth_time"]


def test_rotating_refresh_tokens(app, settings):
    """Where refresh tokens rotate, the SDK follows them, through reloads as well."""
    settings(**{"identity.rotateRefreshTokens": True})
    app.create()
    tokens = set()
    for _ in range(3):
        tokens.add(app.user["stsTokenManager"]["refreshToken"])
        app.claims()
    assert len(tokens) == 3
    app.reload()
    app.signed_in("password")


def test_refresh_at_its_hour(device):
    """A token that is about to end is renewed when it is asked for."""
    app = device()
    app.page.clock.install()
    app.open()
    app.create()
    first = app.token()
    app.page.clock.set_system_time(app.run("Date.now() / 1000") + 54 * 60)
    assert app.token() == first
    app.page.clock.set_system_time(app.run("Date.now() / 1000") + 6 * 60)
    second = app.token()
    assert second != first and app.service.claims(second)["auth_time"] == app.service.claims(first)["auth_time"]


def test_refresh_by_itself(device):
    """While somebody listens, the SDK renews the token some minutes before its hour, again and again."""
    app = device()
    app.page.clock.install()
    app.open()
    app.create()
    app.run("auth._startProactiveRefresh(); return null")
    app.run("sdk.onIdTokenChanged(auth, async user => heard.push(await user.getIdToken())); return null")
    app.page.wait_for_function("heard.length == 1")
    for count in [2, 3]:
        app.page.clock.fast_forward("56:00")
        app.page.wait_for_function(f"heard.length == {count}")
    tokens = app.run("heard")
    assert len(set(tokens)) == 3
    assert len({app.service.claims(token)["auth_time"] for token in tokens}) == 1


def test_network_error(app):
    """Without a network it is `auth/network-request-failed`, and the session lives on."""
    app.create()
    app.context.set_offline(True)
    assert app.refused("auth.currentUser.getIdToken(true)").code == "network-request-failed"
    assert app.user
    app.context.set_offline(False)
    app.signed_in("password")
