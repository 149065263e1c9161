"""Authlib: the code flow by discovery, its check of the ID token, refresh, introspection and revocation."""

import urllib.parse

import pytest
import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from authlib.oidc.core import CodeIDToken
from joserfc.jwk import ECKey, KeySet

CALLBACK = "https://tea.example.com/callback"


def discover(service):
    return requests.get(service.issuer + "/.well-known/openid-configuration", timeout=30).json()


def keys(metadata):
    return JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], timeout=30).json())


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
def test_signs_in_and_refreshes(service, method):
    metadata = discover(service)
    client = service.client(token_endpoint_auth_method=method)
    session = OAuth2Session(
        client["client_id"], client.get("client_secret"), scope="openid email offline_access", redirect_uri=CALLBACK,
        code_challenge_method="S256", token_endpoint_auth_method=method, token_endpoint=metadata["token_endpoint"],
        revocation_endpoint_auth_method=method,
    )
    verifier, nonce = generate_token(48), generate_token()
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce)
    person = service.person()
    answer = person.visit(url)
    assert person.headings == ["Sign in", "One moment …", "Allow access?", "One moment …"], person.headings
    assert urllib.parse.parse_qs(urllib.parse.urlsplit(answer).query)["iss"] == [metadata["issuer"]]

    token = session.fetch_token(authorization_response=answer, code_verifier=verifier, state=state)
    claims = jwt.decode(token["id_token"], keys(metadata), claims_cls=CodeIDToken, claims_options={
        "iss": {"essential": True, "value": metadata["issuer"]}, "aud": {"essential": True, "value": client["client_id"]}},
        claims_params={"nonce": nonce, "client_id": client["client_id"], "access_token": token["access_token"]})
    claims.validate()
    assert claims["email"] == person.email

    user = session.get(metadata["userinfo_endpoint"])
    assert user.json() == {"sub": claims["sub"], "email": person.email, "email_verified": False}, user.text
    renewed = session.refresh_token(metadata["token_endpoint"])
    assert renewed["refresh_token"] != token["refresh_token"]
    if method != "none":
        # Introspection is for clients that authenticate.
        assert session.introspect_token(metadata["introspection_endpoint"], renewed["access_token"]).json()["active"]
    assert session.revoke_token(metadata["revocation_endpoint"], renewed["refresh_token"]).ok
    assert session.get(metadata["userinfo_endpoint"]).status_code == 401


def test_authenticates_with_a_key(service):
    metadata = discover(service)
    key = ECKey.generate_key("P-256", {"kid": "one"})
    client = service.client(token_endpoint_auth_method="private_key_jwt", jwks={"keys": [key.as_dict(private=False)]})
    assert "client_secret" not in client
    session = OAuth2Session(
        client["client_id"], key, scope="openid email offline_access", redirect_uri=CALLBACK,
        code_challenge_method="S256", token_endpoint_auth_method=PrivateKeyJWT(metadata["token_endpoint"], alg="ES256"),
        token_endpoint=metadata["token_endpoint"])
    verifier = generate_token(48)
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    token = session.fetch_token(authorization_response=service.person().visit(url), code_verifier=verifier, state=state)
    assert token["refresh_token"]
    assert session.refresh_token(metadata["token_endpoint"])["access_token"] != token["access_token"]


def test_access_tokens_are_what_rfc_9068_says(service):
    metadata = discover(service)
    resource = "https://api.example.com/tea"
    client = service.client(token_endpoint_auth_method="none")
    session = OAuth2Session(client["client_id"], scope="tea.brew", redirect_uri=CALLBACK, code_challenge_method="S256",
                            token_endpoint_auth_method="none")
    verifier = generate_token(48)
    url, _ = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier,
                                              resource=resource)
    answer = service.person().visit(url)
    token = session.fetch_token(metadata["token_endpoint"], authorization_response=answer, code_verifier=verifier)

    class Validator(JWTBearerTokenValidator):
        def get_jwks(self):
            return KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=30).json())

    validator = Validator(metadata["issuer"], resource)
    claims = validator.authenticate_token(token["access_token"])
    validator.validate_token(claims, ["tea.brew"], None)
    assert claims["client_id"] == client["client_id"]
