"""Makes vectors.json: tokens that PyJWT signed, for a clock that stands at 1,800,000,000.

    python3 make_vectors.py > vectors.json     (needs PyJWT[crypto])

Each case has the error that IdentityServer must return, or null.
"""

import base64
import json
import sys

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

NOW = 1_800_000_000
RSA, RSA_OTHER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
EC = ec.generate_private_key(ec.SECP256R1())
CASES = []


def claims(**changes):
    made = {"iss": "https://securetoken.google.com/my-project", "aud": "my-project", "sub": "ada", "iat": NOW - 100,
            "exp": NOW + 3500, "auth_time": NOW - 100, "email": "ada@example.com", "email_verified": True,
            "role": "admin", "firebase": {"sign_in_provider": "password", "sid": "s1"}}
    made.update(changes)
    return {name: value for name, value in made.items() if value is not ...}


def case(title, error, token=None, *, key=RSA, algorithm="RS256", kid="rsa", cookie=False, headers=None, **changes):
    token = token or jwt.encode(claims(**changes), key, algorithm, headers={"kid": kid, **(headers or {})})
    CASES.append({"name": title, "token": token, "error": error, "cookie": cookie})
    return token


def part(value):
    return base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).decode().rstrip("=")


def jwk(key, kid, algorithm):
    kind = jwt.algorithms.RSAAlgorithm if algorithm == "RS256" else jwt.algorithms.ECAlgorithm
    return {**json.loads(kind.to_jwk(key.public_key())), "kid": kid, "use": "sig", "alg": algorithm}


good = case("RS256", None)
head, body, signature = good.split(".")
case("ES256", None, key=EC, algorithm="ES256", kid="ec")
case("the project's own issuer", None, iss="https://auth.example.com/my-project")
case("text beyond ASCII", None, name="Ada Löveläce 😀\n\"\\/")
case("expired within the skew", None, exp=NOW - 59)
case("issued within the skew", None, iat=NOW + 59, auth_time=NOW + 59)
case("a session cookie", None, iss="https://session.firebase.google.com/my-project", cookie=True, exp=NOW + 900_000)

case("a cookie as an ID token", "issuer", iss="https://session.firebase.google.com/my-project")
case("an ID token as a cookie", "issuer", cookie=True)
case("another issuer", "issuer", iss="https://securetoken.google.com/other")
case("no issuer", "issuer", iss=...)
case("another project", "audience", aud="other")
case("several audiences", "audience", aud=["my-project", "other"])
case("no audience", "audience", aud=...)
case("expired", "expired", exp=NOW - 60)
case("no expiry", "malformed", exp=...)
case("an expiry in text", "malformed", exp=str(NOW + 100))
case("issued in the future", "notYetValid", iat=NOW + 61)
case("signed in in the future", "notYetValid", auth_time=NOW + 61)
case("no auth_time", "malformed", auth_time=...)
case("no subject", "subject", sub=...)
case("an empty subject", "subject", sub="")
case("a long subject", "subject", sub="x" * 129)
case("a tenant's account", "tenant", firebase={"tenant": "t1", "sid": "s1"})

case("another key with the known ID", "signature", key=RSA_OTHER)
case("an unknown key", "unknownKey", key=RSA_OTHER, kid="other")
case("no key ID", "unknownKey", f"{part({'alg': 'RS256'})}.{body}.{signature}")
case("alg none", "algorithm", jwt.encode(claims(), None, "none", headers={"kid": "rsa"}))
public = jwk(RSA, "rsa", "RS256")
case("HS256 with the public key", "algorithm", jwt.encode(claims(), public["n"] * 2, "HS256", headers={"kid": "rsa"}))
case("RS512", "algorithm", algorithm="RS512")
case("PS256", "algorithm", algorithm="PS256")
case("the other algorithm's key", "algorithm", key=EC, algorithm="ES256", kid="rsa")
case("critical extensions", "malformed", headers={"crit": ["b64"], "b64": True})
case("other claims under the signature", "signature", f"{head}.{part(claims(role='root'))}.{signature}")
case("another signature", "signature", f"{head}.{body}.{part(bytes(256))}")
case("a short signature", "signature", f"{head}.{body}.{part(bytes(16))}")
case("no signature", "signature", f"{head}.{body}.")
case("two parts", "malformed", f"{head}.{body}")
case("four parts", "malformed", f"{good}.x")
case("padding", "malformed", f"{good}==")
case("a space", "malformed", f" {good}")
case("empty", "malformed", ".")
case("no JSON", "malformed", f"{part(b'not JSON')}.{body}.{signature}")


def signed(payload):
    """A token with any payload; PyJWT signs the bytes."""
    return jwt.PyJWS().encode(payload, RSA, "RS256", headers={"kid": "rsa"})


case("a member twice", "malformed", signed(json.dumps(claims())[:-1].encode() + b', "sub": "eve"}'))
case("a list", "malformed", signed(b"[1]"))
case("text after the claims", "malformed", signed(json.dumps(claims()).encode() + b" x"))

json.dump({"now": NOW, "keys": {"keys": [public, jwk(EC, "ec", "ES256")]}, "cases": CASES}, sys.stdout, indent=1)
print()
