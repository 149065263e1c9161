"""A software authenticator, with the browser in front of it, whose every part a test can change.

A `Registration` or an `Assertion` is a draft: its fields are what an honest authenticator would say. `response()` signs what
the draft then holds, so a changed field is signed too; what happens to the bytes afterwards is a matter of `damage`.
"""

import base64
import datetime
import hashlib
import json
import struct

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cbor

RP_ID = "example.com"
ORIGINS = ["https://example.com", "https://app.example.com:8443", "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS0H1T8sYJQfFg"]
UP, UV, BE, BS, AT, ED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sha256(data):
    return hashlib.sha256(data).digest()


class ES256:
    alg = -7

    def __init__(self, random):
        self.private = ec.derive_private_key(random.getrandbits(255) + 1, ec.SECP256R1())
        numbers = self.private.public_key().public_numbers()
        self.cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}

    def sign(self, message):
        return self.private.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))


class EdDSA:
    alg = -8

    def __init__(self, random):
        self.private = ed25519.Ed25519PrivateKey.from_private_bytes(random.randbytes(32))
        self.cose = {1: 1, 3: -8, -1: 6, -2: self.private.public_key().public_bytes_raw()}

    def sign(self, message):
        return self.private.sign(message)


class RS256:
    """Always the key of WebAuthn's test vectors, from two Mersenne primes: another one takes long to find."""

    alg = -257
    p, q, e = 2**1279 - 1, 2**2203 - 1, 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    private = rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), rsa.RSAPublicNumbers(e, p * q)
    ).private_key()

    def __init__(self, random):
        self.cose = {1: 3, 3: -257, -1: (self.p * self.q).to_bytes(436), -2: self.e.to_bytes(3)}

    def sign(self, message):
        return self.private.sign(message, padding.PKCS1v15(), hashes.SHA256())


ALGORITHMS = [ES256, EdDSA, RS256]


# Certificates

NOT_BEFORE, NOT_AFTER = datetime.datetime(2024, 1, 1), datetime.datetime(3024, 1, 1)
OID = x509.NameOID
AAGUID_EXTENSION = x509.ObjectIdentifier("1.3.6.1.4.1.45724.1.1.4")


def name(common_name, unit="Authenticator Attestation", country="JP", organization="Example"):
    parts = [(OID.COUNTRY_NAME, country), (OID.ORGANIZATION_NAME, organization), (OID.ORGANIZATIONAL_UNIT_NAME, unit)]
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in parts + [(OID.COMMON_NAME, common_name)] if text])


class Issuer:
    """A certificate authority of the tests."""

    def __init__(self, random, common_name, parent=None, is_authority=True):
        self.private = ec.derive_private_key(random.getrandbits(255) + 1, ec.SECP256R1())
        self.name = name(common_name, unit="Authority")
        self.certificate = certificate(
            parent or self, self.name, self.private.public_key(), serial=random.getrandbits(64) + 1,
            extensions=[(x509.BasicConstraints(is_authority, None), True)],
        )


def certificate(issuer, subject, public_key, serial, extensions, not_before=NOT_BEFORE, not_after=NOT_AFTER):
    builder = (
        x509.CertificateBuilder().issuer_name(issuer.name).subject_name(subject).public_key(public_key)
        .serial_number(serial).not_valid_before(not_before).not_valid_after(not_after)
    )
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, is_critical)
    return builder.sign(issuer.private, hashes.SHA256(), ecdsa_deterministic=True)


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


class Manufacturer:
    """Makes attestation certificates, with a root that the tests trust."""

    def __init__(self, random):
        self.root = Issuer(random, "Root")
        self.stranger = Issuer(random, "Root")
        self.intermediate = Issuer(random, "Intermediate", parent=self.root)
        self.impostor = Issuer(random, "Impostor", parent=self.root, is_authority=False)


# Drafts


class Draft:
    def __init__(self, random, credential):
        self.random = random
        self.credential = credential
        self.challenge = random.randbytes(32)
        self.requires_uv = random.random() < 0.5
        self.origin = random.choice(ORIGINS)
        self.client = {"type": self.type, "challenge": b64(self.challenge), "origin": self.origin}
        if random.random() < 0.8:
            self.client["crossOrigin"] = False
        # Text instead of a member, or other bytes instead of all.
        self.client_bytes = None
        self.rp_hash = sha256(RP_ID.encode())
        self.flags = UP | (UV if self.requires_uv or random.random() < 0.5 else 0)
        self.extensions = None
        if random.random() < 0.2:
            self.extensions = cbor.encode(random.choice([{}, {"credProtect": 2}, {"credBlob": True, "minPinLength": 4}]))
            self.flags |= ED
        self.id = credential.id
        self.damage = {}

    def client_data(self):
        if self.client_bytes is not None:
            return self.client_bytes
        return json.dumps(self.client, separators=(",", ":")).encode()

    def damaged(self, part, data):
        return self.damage[part](data) if part in self.damage else data


class Credential:
    """A key pair, and what a server stores of it."""

    def __init__(self, random, algorithm=None):
        self.key = (algorithm or random.choice(ALGORITHMS))(random)
        self.id = random.randbytes(random.choice([16, 32, 64]))
        self.user = random.randbytes(28)
        self.count = random.choice([0, 0, 7, 2**31])
        self.is_eligible = random.random() < 0.5


class Registration(Draft):
    type = "webauthn.create"

    def __init__(self, random, manufacturer, credential=None, format=None):
        super().__init__(random, credential or Credential(random))
        self.manufacturer = manufacturer
        self.flags |= AT | random.choice([0, BE, BE | BS])
        self.count = self.credential.count
        self.aaguid = random.randbytes(16)
        self.key = dict(self.credential.key.cose)
        self.key_bytes = None
        self.credential_bytes = None
        self.length = None
        self.format = format or random.choice(["none", "self", "x5c"])
        # Instead of what the format says.
        self.statement = None
        # Of the attestation certificate.
        self.subject = name("Model 1")
        self.issuer = random.choice([manufacturer.root, manufacturer.intermediate])
        self.certificate_extensions = [(x509.BasicConstraints(False, None), True)]
        if random.random() < 0.5:
            self.certificate_extensions.append((self.aaguid_extension(self.aaguid), False))
        self.dates = (NOT_BEFORE, NOT_AFTER)
        self.chain = None
        self.object = None

    @staticmethod
    def aaguid_extension(aaguid):
        return x509.UnrecognizedExtension(AAGUID_EXTENSION, b"\x04\x10" + aaguid)

    def attested_credential(self):
        if self.credential_bytes is not None:
            return self.credential_bytes
        length = len(self.id) if self.length is None else self.length
        key = cbor.encode(self.key) if self.key_bytes is None else self.key_bytes
        return self.aaguid + struct.pack(">H", length) + self.id + key

    def response(self):
        client = self.client_data()
        data = self.rp_hash + struct.pack(">BI", self.flags, self.count) + self.attested_credential()
        data += self.extensions or b""
        message = data + sha256(client)
        if self.format == "self":
            statement = {"alg": self.credential.key.alg, "sig": self.credential.key.sign(message)}
        elif self.format == "x5c":
            private = ec.derive_private_key(self.random.getrandbits(255) + 1, ec.SECP256R1())
            leaf = certificate(
                self.issuer, self.subject, private.public_key(), self.random.getrandbits(64) + 1,
                self.certificate_extensions, *self.dates,
            )
            chain = [leaf] + ([self.issuer.certificate] if self.issuer is not self.manufacturer.root else [])
            signature = private.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
            statement = {"alg": -7, "sig": signature, "x5c": [der(link) for link in chain]}
        else:
            statement = {}
        if self.statement is not None:
            statement = self.statement(statement)
        object = {
            "fmt": {"self": "packed", "x5c": "packed"}.get(self.format, self.format),
            "attStmt": statement,
            "authData": self.damaged("authData", data),
        }
        encoded = cbor.encode(object) if self.object is None else self.object(object)
        return {
            "clientDataJSON": self.damaged("clientDataJSON", client),
            "attestationObject": self.damaged("attestationObject", encoded),
        }


class Assertion(Draft):
    type = "webauthn.get"

    def __init__(self, random, credential=None):
        super().__init__(random, credential or Credential(random))
        credential = self.credential
        if credential.is_eligible:
            self.flags |= random.choice([BE, BE | BS])
        self.count = credential.count + random.choice([1, 5]) if credential.count else random.choice([0, 1])
        self.handle = credential.user
        self.tail = b""
        self.signer = credential.key
        self.signature = None

    def response(self):
        client = self.client_data()
        data = self.rp_hash + struct.pack(">BI", self.flags, self.count) + self.tail + (self.extensions or b"")
        message = data + sha256(client)
        signature = self.signature(message) if self.signature else self.signer.sign(message)
        return {
            "clientDataJSON": self.damaged("clientDataJSON", client),
            "authenticatorData": self.damaged("authData", data),
            "signature": self.damaged("signature", signature),
        }
