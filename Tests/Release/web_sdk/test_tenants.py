"""Tenants: `auth.tenantId` leads every flow to accounts of their own."""

import pytest

from conftest import fake


@pytest.fixture
def tenant(app, service):
    """A tenant with every way in, which the app has set."""
    made = service.admin("POST", "/v2/projects/{p}/tenants", {
        "displayName": "acme", "allowPasswordSignup": True, "enableEmailLinkSignin": True, "enableAnonymousUser": True,
    })
    name = made["name"].rpartition("/")[2]
    app.run("auth.tenantId = tenant; return null", tenant=name)
    yield name
    service.admin("DELETE", f"/v2/projects/{{p}}/tenants/{name}")


def check(app, tenant, method):
    """Checks that user and tokens are the tenant's."""
    assert app.user["tenantId"] == tenant
    assert app.signed_in(method)["firebase"]["tenant"] == tenant


def test_password(app, tenant):
    """The same address has another account in a tenant than in the project."""
    uid = app.create()
    check(app, tenant, "password")
    app.run("sdk.signOut(auth)")
    assert app.sign_in() == uid
    app.run("sdk.signOut(auth)")
    app.run("auth.tenantId = null; return null")
    assert app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')").code == "user-not-found"
    assert app.create() != uid
    assert app.user["tenantId"] is None and "tenant" not in app.signed_in("password")["firebase"]


def test_guest(app, tenant):
    """A tenant's guest, who gets a password there."""
    app.run("sdk.signInAnonymously(auth)")
    check(app, tenant, "anonymous")
    app.run("sdk.linkWithCredential(auth.currentUser, sdk.EmailAuthProvider.credential('ada@example.com', 'correct horse'))")
    check(app, tenant, "password")


def test_credential(app, tenant):
    """A provider's credential, and a reauthentication with it."""
    code = "(sdk.GoogleAuthProvider.credential(token))"
    token = fake("g-1", email="ada@gmail.com", email_verified=True)
    app.run("sdk.signInWithCredential(auth, sdk.GoogleAuthProvider.credential(token))", token=token)
    check(app, tenant, "google.com")
    app.run(f"sdk.reauthenticateWithCredential(auth.currentUser, {code})", token=token)
    check(app, tenant, "google.com")


def test_email_link(app, service, tenant):
    """A mail's link names its tenant, and is good in this one alone."""
    app.run("sdk.sendSignInLinkToEmail(auth, 'ada@example.com', {url: location.href, handleCodeInApp: true})")
    link = service.mail("EMAIL_SIGNIN", "ada@example.com", tenant=tenant)["oobLink"]
    assert app.run("sdk.parseActionCodeURL(link).tenantId", link=link) == tenant
    code = "sdk.signInWithEmailLink(auth, 'ada@example.com', link)"
    app.run("auth.tenantId = null; return null")
    assert app.refused(code, link=link).code == "tenant-id-mismatch"
    app.run("auth.tenantId = tenant; return null", tenant=tenant)
    app.run(code, link=link)
    check(app, tenant, "password")


def test_popup(app, service, tenant):
    """A popup signs in at the tenant's own provider."""
    configuration = service.admin("GET", "/v2/projects/{p}/oauthIdpConfigs/oidc.demo")
    configuration.pop("name")
    service.admin(
        "POST", f"/v2/projects/{{p}}/tenants/{tenant}/oauthIdpConfigs?oauthIdpConfigId=oidc.demo",
        {**configuration, "clientSecret": "demo-secret"},
    )
    result = app.popup("sdk.signInWithPopup(auth, provider('oidc.demo'))")
    assert result["user"]["providerData"][0]["uid"] == "1001"
    check(app, tenant, "oidc.demo")


def test_changes(app, tenant):
    """A password is changed and the session lives on; a mail is asked for."""
    app.create()
    app.run("sdk.updatePassword(auth.currentUser, 'new horse')")
    check(app, tenant, "password")
    app.run("sdk.sendEmailVerification(auth.currentUser)")
    code = app.service.mail("VERIFY_EMAIL", "ada@example.com", tenant=tenant)["oobCode"]
    app.run("sdk.applyActionCode(auth, code)", code=code)
    app.run("auth.currentUser.reload()")
    assert app.user["emailVerified"]


def test_user_of_another_tenant(app, tenant):
    """A tenant's user cannot be made current where another tenant is set: `auth/tenant-id-mismatch`."""
    app.create()
    app.run("auth.tenantId = null; return null")
    assert app.refused("sdk.updateCurrentUser(auth, auth.currentUser)").code == "tenant-id-mismatch"


def test_unknown_tenant(app):
    """A tenant that there is not is `auth/invalid-tenant-id`."""
    app.run("auth.tenantId = 'nowhere-12345'; return null")
    assert app.refused("sdk.signInAnonymously(auth)").code == "invalid-tenant-id"
    code = "sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')"
    assert app.refused(code).code == "invalid-tenant-id"


def test_disabled_tenant(app, service, tenant):
    """A tenant that an admin switched off is `auth/project-disabled`."""
    app.create()
    service.admin("PATCH", f"/v2/projects/{{p}}/tenants/{tenant}?updateMask=disableAuth", {"disableAuth": True})
    error = app.refused("sdk.signInWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')")
    assert error.code == "project-disabled"


def test_ways_that_are_off(app, service):
    """A new tenant has no way in: `auth/operation-not-allowed`, and no guests."""
    made = service.admin("POST", "/v2/projects/{p}/tenants", {"displayName": "empty"})
    app.run("auth.tenantId = tenant; return null", tenant=made["name"].rpartition("/")[2])
    code = "sdk.createUserWithEmailAndPassword(auth, 'ada@example.com', 'correct horse')"
    assert app.refused(code).code == "operation-not-allowed"
    assert app.refused("sdk.signInAnonymously(auth)").code == "admin-restricted-operation"
