"""requests-oauth2client: pushed requests, devices, exchanged tokens, all by discovery."""

import time

import requests
from requests_oauth2client import AuthorizationPending, OAuth2Client, SlowDown

from conftest import PASSWORD

CALLBACK = "https://tea.example.com/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


def client_of(service, **members):
    made = service.client(**members)
    auth = (made["client_id"], made["client_secret"]) if "client_secret" in made else made["client_id"]
    return OAuth2Client.from_discovery_endpoint(
        service.issuer + "/.well-known/openid-configuration", issuer=service.issuer, auth=auth, redirect_uri=CALLBACK,
        # It reads all endpoints but this one from discovery.
        device_authorization_endpoint=service.issuer + "/oauth/device_authorization", testing=True)


def test_pushed_request(service):
    client = client_of(service)
    request = client.authorization_request(scope="openid email offline_access")
    pushed = client.pushed_authorization_request(request)
    person = service.person()
    answer = person.visit(f"{service.issuer}/oauth/authorize?client_id={client.client_id}&request_uri={pushed.request_uri}")
    token = client.authorization_code(request.validate_callback(answer))
    assert token.id_token.email == person.email
    assert client.userinfo(token)["email"] == person.email
    assert client.refresh_token(token).access_token != token.access_token
    client.revoke_access_token(token)
    assert not client.introspect_token(token)["active"]


def test_tokens_bound_to_a_key(service):
    made = service.client(token_endpoint_auth_method="none")
    client = OAuth2Client.from_discovery_endpoint(
        service.issuer + "/.well-known/openid-configuration", issuer=service.issuer, auth=made["client_id"],
        redirect_uri=CALLBACK, dpop_bound_access_tokens=True, testing=True)
    request = client.authorization_request(scope="openid email offline_access")
    assert request.dpop_key
    answer = service.person().visit(request.uri)
    # This release of the client cannot validate an ID token that comes with a DPoP token.
    token = client.authorization_code(request.validate_callback(answer), validate=False)
    assert token.token_type == "DPoP"
    user = requests.get(service.issuer + "/oauth/userinfo", auth=token, timeout=30)
    assert user.ok and user.json()["email"], user.text
    stolen = requests.get(service.issuer + "/oauth/userinfo", timeout=30,
                          headers={"Authorization": f"DPoP {token.access_token}"})
    assert stolen.status_code in (400, 401), stolen.text
    renewed = client.refresh_token(token)
    assert renewed.token_type == "DPoP" and renewed.access_token != token.access_token
    without = requests.post(service.issuer + "/oauth/token", timeout=30, data={
        "grant_type": "refresh_token", "refresh_token": renewed.refresh_token, "client_id": made["client_id"]})
    assert without.json()["error"] == "invalid_grant", without.text


def test_device(service):
    client = client_of(service, token_endpoint_auth_method="none", grant_types=[DEVICE, "refresh_token"])
    asked = client.authorize_device(scope="openid offline_access")
    for expected in (AuthorizationPending, SlowDown):
        try:
            client.device_code(asked.device_code)
            raise AssertionError("granted")
        except expected:
            pass
    person = service.person()
    page = person.http.get(asked.verification_uri_complete, timeout=30)
    assert asked.user_code in page.text
    answer = person.http.post(page.url, data={"user_code": asked.user_code}, timeout=30, allow_redirects=False,
                              headers={"Sec-Fetch-Site": "same-origin"})
    assert "Device connected" in person.finish(answer)
    time.sleep(5)
    token = client.device_code(asked.device_code)
    assert token.refresh_token and token.id_token.sub


def test_exchange(service):
    client = client_of(service, grant_types=[EXCHANGE])
    answer = requests.post(f"{service.url}/v1/accounts:signInWithPassword?key=any", timeout=30, json={
        "email": service.person().email, "password": PASSWORD, "returnSecureToken": True}).json()
    token = client.token_exchange(subject_token=answer["idToken"], subject_token_type="id_token", scope="tea.brew",
                                  resource="https://api.example.com/tea")
    seen = client.introspect_token(token)
    assert seen["active"] and seen["sub"] == answer["localId"] and seen["aud"] == ["https://api.example.com/tea"]
