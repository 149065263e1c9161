"""What a mutated draft is: by name, a function that changes a `Registration` or an `Assertion`.

A name says what is changed, from the whole to the part. Those of `client` and `auth` are for both ceremonies.
"""

import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, utils
from fido2 import cbor

from authenticator import (
    AT, BE, BS, ED, NOT_BEFORE, ORIGINS, UP, UV, AAGUID_EXTENSION, EdDSA, ES256, RS256, Registration, b64, der, name,
    sha256,
)

BOTH, REGISTRATION, ASSERTION = {}, {}, {}
CONSTRAINTS = (x509.BasicConstraints(False, None), True)


def mutation(table, label):
    def register(change):
        assert label not in table, label
        table[label] = change
        return change

    return register


def each(table, prefix, changes):
    for label, change in changes.items():
        mutation(table, f"{prefix}.{label}")(change)


def text(draft):
    return json.dumps(draft.client, separators=(",", ":")).encode()


# Client data


def client(**members):
    return lambda draft: draft.client.update(members)


def client_without(member):
    return lambda draft: draft.client.pop(member)


def client_bytes(change):
    def apply(draft):
        draft.client_bytes = change(text(draft), draft)

    return apply


def origin(change):
    return lambda draft: draft.client.update(origin=change(draft.origin))


def challenge(change):
    return lambda draft: draft.client.update(challenge=change(draft.challenge))


mutation(BOTH, "nothing")(lambda draft: None)
each(BOTH, "client.type", {
    "other": lambda draft: draft.client.update(
        type="webauthn.get" if draft.type == "webauthn.create" else "webauthn.create"),
    "case": lambda draft: draft.client.update(type=draft.type.upper()),
    "empty": client(type=""), "number": client(type=1), "null": client(type=None), "absent": client_without("type"),
    "u2f": client(type="navigator.id.getAssertion"),
})
each(BOTH, "client.challenge", {
    "other": lambda draft: draft.client.update(challenge=b64(draft.random.randbytes(32))),
    "truncated": challenge(lambda bytes: b64(bytes[:-1])), "longer": challenge(lambda bytes: b64(bytes + b"\0")),
    "padded": challenge(lambda bytes: b64(bytes) + "="), "twice-encoded": challenge(lambda bytes: b64(b64(bytes).encode())),
    "standard-alphabet": challenge(lambda bytes: b64(bytes).replace("-", "+").replace("_", "/")),
    "space": challenge(lambda bytes: b64(bytes)[:9] + " " + b64(bytes)[9:]),
    "unused-bits": challenge(lambda bytes: b64(bytes)[:-1] + chr(ord(b64(bytes)[-1]) + 1)),
    "hexadecimal": challenge(lambda bytes: bytes.hex()), "empty": client(challenge=""), "number": client(challenge=7),
    "absent": client_without("challenge"),
})
each(BOTH, "client.origin", {
    "other": client(origin="https://example.net"), "http": origin(lambda origin: origin.replace("https", "http") + "#"),
    "port": origin(lambda origin: origin + ":444"), "slash": origin(lambda origin: origin + "/"),
    "case": origin(lambda origin: origin.upper()), "subdomain": client(origin="https://evil.example.com"),
    "suffix": client(origin="https://example.com.example.net"), "user": client(origin="https://example.com@example.net"),
    "null": client(origin=None), "null-text": client(origin="null"), "empty": client(origin=""),
    "number": client(origin=1), "list": client(origin=[ORIGINS[0]]), "absent": client_without("origin"),
    "rp-id": client(origin="example.com"), "app": client(origin="android:apk-key-hash:" + "A" * 43),
    "another-expected": lambda draft: draft.client.update(origin=draft.random.choice(ORIGINS)),
})
each(BOTH, "client.frame", {
    "cross-origin": client(crossOrigin=True), "same-origin": client(crossOrigin=False), "text": client(crossOrigin="true"),
    "null": client(crossOrigin=None), "top-origin": client(crossOrigin=True, topOrigin="https://example.net"),
    "top-origin-alone": client(topOrigin="https://example.net"), "top-origin-number": client(topOrigin=1),
})
each(BOTH, "client.member", {
    "unknown": client(extraData="clientDataJSON may be extended with additional fields in the future"),
    "nested": client(extra={"a": [1, 2.5e3, None, {"b": "\u65e5\u672c"}]}),
    "token-binding": client(tokenBinding={"status": "supported"}),
    "token-binding-odd": client(tokenBinding={"status": "odd"}), "token-binding-text": client(tokenBinding="supported"),
})
each(BOTH, "client.json", {
    "white-space": client_bytes(lambda text, draft: b" \r\n\t" + text.replace(b":", b" : ").replace(b" : //", b"://")
                                .replace(b"android : apk-key-hash : ", b"android:apk-key-hash:")
                                .replace(b"com : 8443", b"com:8443") + b"\n"),
    "escaped": client_bytes(lambda text, draft: text.replace(b"webauthn", b"\\u0077eb\\u0061uthn")),
    "byte-order-mark": client_bytes(lambda text, draft: b"\xef\xbb\xbf" + text),
    "utf-16": client_bytes(lambda text, draft: text.decode().encode("utf-16")),
    "utf-32": client_bytes(lambda text, draft: text.decode().encode("utf-32-le")),
    "duplicate-type": client_bytes(lambda text, draft: b'{"type":"webauthn.none",' + text[1:]),
    "duplicate-challenge": client_bytes(lambda text, draft: b'{"challenge":"AAAA",' + text[1:]),
    "duplicate-extra": client_bytes(lambda text, draft: b'{"a":1,"a":2,' + text[1:]),
    "trailing": client_bytes(lambda text, draft: text + b"x"), "trailing-nul": client_bytes(lambda text, draft: text + b"\0"),
    "two": client_bytes(lambda text, draft: text + text), "array": client_bytes(lambda text, draft: b"[" + text + b"]"),
    "empty": client_bytes(lambda text, draft: b""), "null": client_bytes(lambda text, draft: b"null"),
    "truncated": client_bytes(lambda text, draft: text[: draft.random.randrange(len(text))]),
    "comma": client_bytes(lambda text, draft: text[:-1] + b",}"),
    "invalid-utf-8": client_bytes(lambda text, draft: text[:-1] + b',"a":"\xff"}'),
    "overlong-utf-8": client_bytes(lambda text, draft: text[:-1] + b',"a":"\xc0\xaf"}'),
    "lone-surrogate": client_bytes(lambda text, draft: text[:-1] + b',"a":"\\ud800"}'),
    "escaped-nul": client_bytes(lambda text, draft: text[:-1] + b',"a":"\\u0000"}'),
    "control-character": client_bytes(lambda text, draft: text[:-1] + b',"a":"\n"}'),
    "nan": client_bytes(lambda text, draft: text[:-1] + b',"a":NaN}'),
    "leading-zero": client_bytes(lambda text, draft: text[:-1] + b',"a":01}'),
    "huge-number": client_bytes(lambda text, draft: text[:-1] + b',"a":1e999}'),
    "deep": client_bytes(lambda text, draft: text[:-1] + b',"a":' + b"[" * 100 + b"]" * 100 + b"}"),
    "oversized": client_bytes(lambda text, draft: text[:-1] + b',"a":"' + b"x" * 70_000 + b'"}'),
    "comment": client_bytes(lambda text, draft: b"/**/" + text),
    "single-quotes": client_bytes(lambda text, draft: text.replace(b'"', b"'")),
})


# Authenticator data


def flags(set=0, clear=0):
    def apply(draft):
        draft.flags = draft.flags & ~clear | set

    return apply


def extensions(bytes):
    def apply(draft):
        draft.extensions = bytes
        draft.flags |= ED

    return apply


def demand_uv(draft):
    draft.requires_uv = True
    draft.flags &= ~UV


def waive_uv(draft):
    draft.requires_uv = False
    draft.flags &= ~UV


each(BOTH, "auth.rp", {
    "other": lambda draft: setattr(draft, "rp_hash", sha256(b"example.net")),
    "subdomain": lambda draft: setattr(draft, "rp_hash", sha256(b"app.example.com")),
    "origin": lambda draft: setattr(draft, "rp_hash", sha256(ORIGINS[0].encode())),
    "zero": lambda draft: setattr(draft, "rp_hash", bytes(32)),
})
each(BOTH, "auth.flags", {
    "not-present": flags(clear=UP), "not-verified": demand_uv, "not-verified-preferred": waive_uv,
    "backed-up-alone": flags(set=BS, clear=BE), "reserved-1": flags(set=0x02), "reserved-5": flags(set=0x20),
    "only-verified": flags(set=UV, clear=UP), "zero": flags(clear=0xFF), "all": flags(set=0xFF),
    "extensions-missing": lambda draft: (setattr(draft, "extensions", None), flags(set=ED)(draft)),
    "extensions-unannounced": lambda draft: (setattr(draft, "extensions", b"\xa0"), flags(clear=ED)(draft)),
})
each(BOTH, "auth.extensions", {
    "empty": extensions(b"\xa0"), "known": extensions(cbor.encode({"credProtect": 3})),
    "unknown": extensions(cbor.encode({"example.unknown": [1, {"a": b"\0"}]})), "array": extensions(b"\x81\x01"),
    "integer": extensions(b"\x01"), "integer-key": extensions(b"\xa1\x01\x02"), "null": extensions(b"\xa1\x61a\xf6"),
    "undefined": extensions(b"\xa1\x61a\xf7"), "float": extensions(b"\xa1\x61a\xf9\x3c\x00"),
    "tag": extensions(b"\xa1\x61a\xc1\x01"), "indefinite": extensions(b"\xbf\x61a\x01\xff"),
    "long-length": extensions(b"\xa1\x78\x01a\x01"), "duplicate": extensions(b"\xa2\x61a\x01\x61a\x02"),
    "unsorted": extensions(b"\xa2\x61b\x01\x61a\x02"), "truncated": extensions(b"\xa2\x61a\x01"),
    "deep": extensions(b"\xa1\x61a" + b"\x81" * 12 + b"\x01"), "deepest": extensions(b"\xa1\x61a" + b"\x81" * 600 + b"\x01"),
    "twice": extensions(b"\xa0\xa0"),
})


def damage(part, change):
    def apply(draft):
        draft.damage[part] = lambda data: change(data, draft.random)

    return apply


each(BOTH, "auth.length", {
    "empty": damage("authData", lambda data, random: b""), "trailing": damage("authData", lambda data, random: data + b"\0"),
    "36": damage("authData", lambda data, random: data[:36]), "37": damage("authData", lambda data, random: data[:37]),
    "truncated": damage("authData", lambda data, random: data[: random.randrange(len(data))]),
    "twice": damage("authData", lambda data, random: data + data),
    "oversized": damage("authData", lambda data, random: data + bytes(70_000)),
})


# Bytes after the signature


def flip(data, random, start=0, end=None):
    data = bytearray(data)
    place = random.randrange(start, len(data) if end is None else min(end, len(data)))
    data[place] ^= 1 << random.randrange(8)
    return bytes(data)


def region(start, end):
    return damage("authData", lambda data, random: flip(data, random, start, end))


each(BOTH, "damage.flip", {
    "client": damage("clientDataJSON", flip), "auth.rp": region(0, 32), "auth.flags": region(32, 33),
    "auth.count": region(33, 37),
})
each(REGISTRATION, "damage.flip", {
    "auth.aaguid": region(37, 53), "auth.id-length": region(53, 55), "auth.id": region(55, 71),
    "auth.key": damage("authData", lambda data, random: flip(data, random, 71)),
    "auth.any": damage("authData", flip), "object": damage("attestationObject", flip),
    "object.head": damage("attestationObject", lambda data, random: flip(data, random, 0, 40)),
})
each(ASSERTION, "damage.flip", {"signature": damage("signature", flip), "auth.any": damage("authData", flip)})


def inserted(data, random):
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(1) + data[place:]


def deleted(data, random):
    place = random.randrange(len(data))
    return data[:place] + data[place + 1:]


def repeated(data, random):
    place = random.randrange(len(data))
    return data[:place] + data[place: place + 8] + data[place:]


for label, change in {"insert": inserted, "delete": deleted, "repeat": repeated}.items():
    mutation(BOTH, f"damage.{label}.client")(damage("clientDataJSON", change))
    mutation(BOTH, f"damage.{label}.auth")(damage("authData", change))
    mutation(REGISTRATION, f"damage.{label}.object")(damage("attestationObject", change))
    mutation(ASSERTION, f"damage.{label}.signature")(damage("signature", change))


# The new credential


def as_format(format, change=lambda draft: None):
    def apply(draft):
        draft.format = format
        change(draft)

    return apply


def having(**attributes):
    def apply(draft):
        for attribute, value in attributes.items():
            setattr(draft, attribute, value)

    return apply


def without_credential(draft):
    draft.credential_bytes = b""
    draft.flags &= ~AT


each(REGISTRATION, "credential", {
    "absent": without_credential, "unannounced": flags(clear=AT), "only-announced": having(credential_bytes=b""),
    "id-empty": having(id=b""), "id-1": having(id=b"1"), "id-1023": having(id=b"x" * 1023), "id-1024": having(id=b"x" * 1024),
    "id-65535": having(id=b"x" * 65535), "aaguid-zero": having(aaguid=bytes(16), certificate_extensions=[CONSTRAINTS]),
    "length-shorter": lambda draft: setattr(draft, "length", len(draft.id) - 1),
    "length-longer": lambda draft: setattr(draft, "length", len(draft.id) + 1), "length-0": having(length=0),
    "length-65535": having(length=65535), "count-greatest": having(count=2**32 - 1), "no-key": having(key_bytes=b""),
})


def key(algorithm, change):
    """A credential of that algorithm, with other parameters, without an attestation that would look at them."""

    def apply(draft):
        draft.format = "none"
        draft.credential.key = algorithm(draft.random)
        draft.key = dict(draft.credential.key.cose)
        change(draft.key)

    return apply


def parameters(**changes):
    labels = {"kty": 1, "kid": 2, "alg": 3, "ops": 4, "iv": 5, "crv": -1, "x": -2, "y": -3, "n": -1, "e": -2, "d": -4}

    def apply(key):
        for parameter, value in changes.items():
            label = labels[parameter]
            if value is None:
                key.pop(label)
            else:
                key[label] = value(key[label]) if callable(value) else value

    return apply


def key_bytes(algorithm, change):
    def apply(draft):
        key(algorithm, lambda key: None)(draft)
        draft.key_bytes = change(cbor.encode(draft.key))

    return apply


each(REGISTRATION, "key.es256", {
    label: key(ES256, parameters(**changes)) for label, changes in {
        "alg-es384": {"alg": -35}, "alg-es512": {"alg": -36}, "alg-es256k": {"alg": -47}, "alg-ps256": {"alg": -37},
        "alg-eddsa": {"alg": -8}, "alg-rs256": {"alg": -257}, "alg-esp256": {"alg": -9}, "alg-zero": {"alg": 0},
        "alg-text": {"alg": "ES256"}, "alg-absent": {"alg": None}, "alg-unknown": {"alg": -1000},
        "alg-rs1": {"alg": -65535}, "kty-okp": {"kty": 1}, "kty-rsa": {"kty": 3}, "kty-zero": {"kty": 0},
        "kty-text": {"kty": "EC2"}, "kty-absent": {"kty": None}, "crv-p384": {"crv": 2}, "crv-ed25519": {"crv": 6},
        "crv-k1": {"crv": 8}, "crv-absent": {"crv": None}, "x-short": {"x": lambda x: x[1:]},
        "x-long": {"x": lambda x: b"\0" + x}, "x-text": {"x": "x"}, "x-integer": {"x": 7}, "x-empty": {"x": b""},
        "x-absent": {"x": None}, "x-other": {"x": lambda x: sha256(x)}, "y-other": {"y": lambda y: sha256(y)},
        "y-absent": {"y": None}, "y-compressed": {"y": True}, "y-short": {"y": lambda y: y[:31]},
        "x-field": {"x": b"\xff" * 32}, "zero": {"x": bytes(32), "y": bytes(32)}, "kid": {"kid": b"1"},
        "ops": {"ops": [2]}, "iv": {"iv": bytes(8)}, "private": {"d": bytes(32)},
    }.items()
})
each(REGISTRATION, "key.eddsa", {
    label: key(EdDSA, parameters(**changes)) for label, changes in {
        "alg-es256": {"alg": -7}, "alg-ed448": {"alg": -53}, "alg-ed25519": {"alg": -19}, "kty-ec2": {"kty": 2},
        "crv-ed448": {"crv": 7}, "crv-x25519": {"crv": 4}, "crv-p256": {"crv": 1}, "x-short": {"x": lambda x: x[1:]},
        "x-long": {"x": lambda x: x + b"\0"}, "x-other": {"x": lambda x: sha256(x)}, "x-text": {"x": "x" * 32},
        "x-absent": {"x": None}, "kid": {"kid": b"1"}, "y": {"y": bytes(32)}, "ops": {"ops": [2]},
    }.items()
})
each(REGISTRATION, "key.rs256", {
    label: key(RS256, parameters(**changes)) for label, changes in {
        "alg-rs1": {"alg": -65535}, "alg-rs384": {"alg": -258}, "alg-ps256": {"alg": -37}, "alg-es256": {"alg": -7},
        "kty-ec2": {"kty": 2}, "n-1024": {"n": (2**1024 - 105).to_bytes(128)}, "n-2048": {"n": (2**2048 - 1942289).to_bytes(256)},
        "n-4096": {"n": (2**4096 - 1549163).to_bytes(512)}, "n-8192": {"n": (2**8192 - 10895).to_bytes(1024)},
        "n-zeros": {"n": lambda n: b"\0" + n}, "n-even": {"n": lambda n: n[:-1] + b"\0"}, "n-empty": {"n": b""},
        "n-zero": {"n": bytes(256)}, "n-text": {"n": "n"}, "n-absent": {"n": None}, "e-3": {"e": b"\x03"},
        "e-1": {"e": b"\x01"}, "e-even": {"e": b"\x01\x00\x00"}, "e-zeros": {"e": b"\0\x01\0\x01"}, "e-empty": {"e": b""},
        "e-absent": {"e": None}, "e-long": {"e": b"\x01" * 9}, "kid": {"kid": b"1"},
    }.items()
})
each(REGISTRATION, "key.cbor", {
    label: key_bytes(ES256, change) for label, change in {
        "unsorted": lambda key: b"\xa5" + key[3:5] + key[1:3] + key[5:], "indefinite": lambda key: b"\xbf" + key[1:] + b"\xff",
        "long-integer": lambda key: key[:1] + b"\x18\x01" + key[2:], "long-length": lambda key: b"\xb8\x05" + key[1:],
        "duplicate": lambda key: b"\xa6" + key[:3][1:] + key[1:], "duplicate-last": lambda key: b"\xa6" + key[1:] + key[-35:],
        "array": lambda key: b"\x85" + b"\0" * 5, "empty": lambda key: b"\xa0", "bytes": lambda key: b"\x58\x4d" + key,
        "tag": lambda key: b"\xc1" + key, "point": lambda key: b"\x04" + bytes(64), "true": lambda key: b"\xf5",
        "too-many": lambda key: b"\xa6" + key[1:], "too-few": lambda key: b"\xa4" + key[1:],
        "endless": lambda key: b"\xbb" + b"\xff" * 8, "text-label": lambda key: b"\xa6" + key[1:] + b"\x61a\x01",
    }.items()
})


# The attestation


def object_bytes(change):
    return lambda draft: setattr(draft, "object", lambda object: change(object, cbor.encode(object)))


def with_object(**members):
    def change(object, encoded):
        object = {**object, **{name: value for name, value in members.items() if value is not None}}
        return cbor.encode({name: value for name, value in object.items() if name not in members or members[name] is not None})

    return object_bytes(change)


each(REGISTRATION, "object", {
    "fmt-unknown": as_format("example"), "fmt-u2f": as_format("fido-u2f"), "fmt-tpm": as_format("tpm"),
    "fmt-apple": as_format("apple"), "fmt-android-key": as_format("android-key"),
    "fmt-safetynet": as_format("android-safetynet"), "fmt-compound": as_format("compound"), "fmt-empty": as_format(""),
    "fmt-case": as_format("None"), "fmt-number": with_object(fmt=1), "fmt-bytes": with_object(fmt=b"none"),
    "fmt-absent": with_object(fmt=None), "statement-absent": with_object(attStmt=None),
    "statement-array": with_object(attStmt=[]), "statement-text": with_object(attStmt="x"),
    "data-absent": with_object(authData=None), "data-text": with_object(authData="x"), "data-array": with_object(authData=[1]),
    "extra": with_object(epAtt=True), "extra-longer": with_object(example=[1]),
    "unsorted": object_bytes(lambda object, encoded: b"\xa3" + b"".join(
        cbor.encode(name) + cbor.encode(object[name]) for name in ("authData", "fmt", "attStmt"))),
    "duplicate": object_bytes(lambda object, encoded: b"\xa4\x63fmt\x64none" + encoded[1:]),
    "indefinite": object_bytes(lambda object, encoded: b"\xbf" + encoded[1:] + b"\xff"),
    "long-length": object_bytes(lambda object, encoded: b"\xb8\x03" + encoded[1:]),
    "long-key": object_bytes(lambda object, encoded: encoded[:1] + b"\x78\x03" + encoded[2:]),
    "tag": object_bytes(lambda object, encoded: b"\xd9\xd9\xf7" + encoded),
    "trailing": object_bytes(lambda object, encoded: encoded + b"\0"),
    "trailing-item": object_bytes(lambda object, encoded: encoded + b"\xa0"),
    "truncated": object_bytes(lambda object, encoded: encoded[:-1]), "empty": object_bytes(lambda object, encoded: b""),
    "empty-map": object_bytes(lambda object, encoded: b"\xa0"), "array": object_bytes(lambda object, encoded: b"\x83" + encoded[1:]),
    "oversized": with_object(zzzzzzzzz=bytes(70_000)), "deep": with_object(zzzzzzzzz=[[[[[[[[1]]]]]]]]),
    "endless-array": object_bytes(lambda object, encoded: b"\x9b" + b"\xff" * 8),
    "endless-text": object_bytes(lambda object, encoded: b"\x7b" + b"\xff" * 8),
    "many-opened": object_bytes(lambda object, encoded: b"\x81" * 5000),
    "key-case": object_bytes(lambda object, encoded: encoded.replace(b"\x63fmt", b"\x63Fmt", 1)),
})


def statement(format, change):
    return as_format(format, lambda draft: setattr(draft, "statement", change))


def replaced(**members):
    def change(statement):
        statement = {**statement, **members}
        return {name: value for name, value in statement.items() if value is not None}

    return change


each(REGISTRATION, "none", {
    "statement": statement("none", lambda _: {"alg": -7}), "statement-unknown": statement("none", lambda _: {"a": 1}),
    "statement-x5c": statement("none", lambda _: {"x5c": []}),
})
each(REGISTRATION, "self", {
    "alg-other": statement("self", lambda old: {**old, "alg": -257 if old["alg"] == -7 else -7}),
    "alg-unknown": statement("self", replaced(alg=-35)), "alg-absent": statement("self", replaced(alg=None)),
    "alg-text": statement("self", replaced(alg="ES256")), "sig-absent": statement("self", replaced(sig=None)),
    "sig-text": statement("self", replaced(sig="sig")), "sig-empty": statement("self", replaced(sig=b"")),
    "sig-flipped": statement("self", lambda old: {**old, "sig": old["sig"][:-1] + bytes([old["sig"][-1] ^ 1])}),
    "sig-zero": statement("self", lambda old: {**old, "sig": bytes(len(old["sig"]))}),
    "sig-truncated": statement("self", lambda old: {**old, "sig": old["sig"][:-1]}),
    "x5c-empty": statement("self", replaced(x5c=[])), "x5c-null": statement("self", lambda old: {**old, "x5c": False}),
    "x5c-text": statement("self", replaced(x5c="x")), "ecdaa": statement("self", replaced(ecdaaKeyId=b"1")),
    "extra": statement("self", replaced(ver="2.0")), "empty": statement("self", lambda old: {}),
})
each(REGISTRATION, "x5c", {
    "alg-other": statement("x5c", replaced(alg=-257)), "alg-unknown": statement("x5c", replaced(alg=-35)),
    "alg-eddsa": statement("x5c", replaced(alg=-8)), "sig-absent": statement("x5c", replaced(sig=None)),
    "sig-flipped": statement("x5c", lambda old: {**old, "sig": old["sig"][:-1] + bytes([old["sig"][-1] ^ 1])}),
    "not-array": statement("x5c", lambda old: {**old, "x5c": old["x5c"][0]}),
    "not-bytes": statement("x5c", lambda old: {**old, "x5c": ["x"]}), "not-der": statement("x5c", replaced(x5c=[b"\x30\x00"])),
    "leaf-trailing": statement("x5c", lambda old: {**old, "x5c": [old["x5c"][0] + b"\0"] + old["x5c"][1:]}),
    "leaf-twice": statement("x5c", lambda old: {**old, "x5c": old["x5c"][:1] + old["x5c"]}),
    "reversed": as_format("x5c", lambda draft: having(
        issuer=draft.manufacturer.intermediate, statement=lambda old: {**old, "x5c": old["x5c"][::-1]})(draft)),
    "without-intermediate": as_format("x5c", lambda draft: having(
        issuer=draft.manufacturer.intermediate, statement=lambda old: {**old, "x5c": old["x5c"][:1]})(draft)),
    "with-root": as_format("x5c", lambda draft: having(
        statement=lambda old: {**old, "x5c": old["x5c"] + [der(draft.manufacturer.root.certificate)]})(draft)),
    "with-stranger": as_format("x5c", lambda draft: having(
        statement=lambda old: {**old, "x5c": old["x5c"] + [der(draft.manufacturer.stranger.certificate)]})(draft)),
    "many": statement("x5c", lambda old: {**old, "x5c": old["x5c"] + old["x5c"][-1:] * 9}),
})


def certified(**attributes):
    return as_format("x5c", having(**attributes))


def certificate_extensions(*extensions):
    return certified(certificate_extensions=list(extensions))



def issuer(name):
    return as_format("x5c", lambda draft: setattr(draft, "issuer", getattr(draft.manufacturer, name)))


each(REGISTRATION, "certificate", {
    "root": issuer("root"), "intermediate": issuer("intermediate"), "stranger": issuer("stranger"), "impostor": issuer("impostor"),
    "unit": certified(subject=name("Model", unit="Authenticator")), "unit-case": certified(subject=name("Model", unit="authenticator attestation")),
    "no-unit": certified(subject=name("Model", unit=None)), "no-country": certified(subject=name("Model", country=None)),
    "no-organization": certified(subject=name("Model", organization=None)), "no-name": certified(subject=name(None)),
    "authority": certificate_extensions((x509.BasicConstraints(True, None), True)),
    "no-constraints": certificate_extensions(), "constraints-not-critical": certificate_extensions((CONSTRAINTS[0], False)),
    "aaguid": as_format("x5c", lambda draft: setattr(
        draft, "certificate_extensions", [CONSTRAINTS, (draft.aaguid_extension(draft.aaguid), False)])),
    "aaguid-other": certificate_extensions(CONSTRAINTS, (Registration.aaguid_extension(b"x" * 16), False)),
    "aaguid-critical": as_format("x5c", lambda draft: setattr(
        draft, "certificate_extensions", [CONSTRAINTS, (draft.aaguid_extension(draft.aaguid), True)])),
    "aaguid-bare": as_format("x5c", lambda draft: setattr(draft, "certificate_extensions", [
        CONSTRAINTS, (x509.UnrecognizedExtension(AAGUID_EXTENSION, draft.aaguid), False)])),
    "aaguid-short": certificate_extensions(CONSTRAINTS, (x509.UnrecognizedExtension(AAGUID_EXTENSION, b"\x04\x01\x00"), False)),
    "unknown-extension": certificate_extensions(
        CONSTRAINTS, (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\0"), False)),
    "unknown-critical": certificate_extensions(
        CONSTRAINTS, (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\0"), True)),
    "expired": certified(dates=(NOT_BEFORE, NOT_BEFORE.replace(year=2025))),
    "future": certified(dates=(NOT_BEFORE.replace(year=3000), NOT_BEFORE.replace(year=3001))),
})


# Assertions


def assertion_of(algorithm, change=lambda draft: None):
    """A mutation for the keys of one algorithm; the others are left as they are."""

    def apply(draft):
        draft.credential.key = algorithm(draft.random)
        draft.signer = draft.credential.key
        change(draft)

    return apply


def ecdsa(change):
    def apply(draft):
        def signature(message):
            r, s = utils.decode_dss_signature(draft.signer.sign(message))
            return change(r, s)

        draft.signature = signature

    return assertion_of(ES256, apply)


ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def integer(bytes):
    return b"\x02" + bytes_length(bytes) + bytes


def bytes_length(bytes):
    return b"%c" % len(bytes)


def minimal(number):
    return number.to_bytes(number.bit_length() // 8 + 1)


def sequence(*parts, head=b"\x30"):
    content = b"".join(parts)
    return head + bytes_length(content) + content


def signed(sign):
    return lambda draft: setattr(draft, "signature", lambda message: sign(draft, message))


each(ASSERTION, "signature", {
    "empty": signed(lambda draft, message: b""), "zero": signed(lambda draft, message: bytes(64)),
    "other-key": lambda draft: setattr(draft, "signer", type(draft.credential.key)(draft.random)),
    "other-algorithm": lambda draft: setattr(
        draft, "signer", (EdDSA if draft.credential.key.alg == -7 else ES256)(draft.random)),
    "truncated": signed(lambda draft, message: draft.signer.sign(message)[:-1]),
    "trailing": signed(lambda draft, message: draft.signer.sign(message) + b"\0"),
    "leading": signed(lambda draft, message: b"\0" + draft.signer.sign(message)),
    "without-client-data": signed(lambda draft, message: draft.signer.sign(message[:-32])),
    "without-authenticator-data": signed(lambda draft, message: draft.signer.sign(message[-32:])),
    "hashed-twice": signed(lambda draft, message: draft.signer.sign(sha256(message))),
    "text-instead-of-hash": signed(lambda draft, message: draft.signer.sign(message[:-32] + draft.client_data())),
    "other-client-data": signed(lambda draft, message: draft.signer.sign(message[:-32] + sha256(b"{}"))),
    "es256-plain": ecdsa(lambda r, s: r.to_bytes(32) + s.to_bytes(32)),
    "es256-low-or-high": ecdsa(lambda r, s: utils.encode_dss_signature(r, ORDER - s)),
    "es256-not-reduced": ecdsa(lambda r, s: utils.encode_dss_signature(r, ORDER + s)),
    "es256-zero": ecdsa(lambda r, s: utils.encode_dss_signature(0, 0)),
    "es256-one": ecdsa(lambda r, s: utils.encode_dss_signature(1, 1)),
    "es256-negative": ecdsa(lambda r, s: sequence(integer(r.to_bytes(32)), integer(s.to_bytes(32)))),
    "es256-zeros": ecdsa(lambda r, s: sequence(integer(b"\0" + minimal(r)), integer(minimal(s)))),
    "es256-long-form": ecdsa(lambda r, s: b"\x30\x81" + sequence(integer(minimal(r)), integer(minimal(s)))[1:]),
    "es256-trailing-inside": ecdsa(lambda r, s: sequence(integer(minimal(r)), integer(minimal(s)), b"\x05\0")),
    "es256-one-integer": ecdsa(lambda r, s: sequence(integer(minimal(r)))),
    "es256-set": ecdsa(lambda r, s: sequence(integer(minimal(r)), integer(minimal(s)), head=b"\x31")),
    "es256-sha384": assertion_of(ES256, signed(
        lambda draft, message: draft.signer.private.sign(message, ec.ECDSA(hashes.SHA384())))),
    "rs256-pss": assertion_of(RS256, signed(lambda draft, message: draft.signer.private.sign(
        message, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256()))),
    "rs256-sha1": assertion_of(RS256, signed(
        lambda draft, message: draft.signer.private.sign(message, padding.PKCS1v15(), hashes.SHA1()))),
    "rs256-sha512": assertion_of(RS256, signed(
        lambda draft, message: draft.signer.private.sign(message, padding.PKCS1v15(), hashes.SHA512()))),
    "rs256-without-zeros": assertion_of(RS256, signed(lambda draft, message: draft.signer.sign(message).lstrip(b"\0")[1:])),
    "eddsa-not-reduced": assertion_of(EdDSA, signed(lambda draft, message: (
        lambda signature: signature[:32]
        + (int.from_bytes(signature[32:], "little") + 2**252 + 27742317777372353535851937790883648493).to_bytes(32, "little")
    )(draft.signer.sign(message)))),
})
each(ASSERTION, "count", {
    "equal": lambda draft: (setattr(draft.credential, "count", 7), setattr(draft, "count", 7)),
    "lower": lambda draft: (setattr(draft.credential, "count", 7), setattr(draft, "count", 6)),
    "zero": lambda draft: (setattr(draft.credential, "count", 7), setattr(draft, "count", 0)),
    "none": lambda draft: (setattr(draft.credential, "count", 0), setattr(draft, "count", 0)),
    "first": lambda draft: (setattr(draft.credential, "count", 0), setattr(draft, "count", 1)),
    "greatest": lambda draft: (setattr(draft.credential, "count", 2**31), setattr(draft, "count", 2**32 - 1)),
})
each(ASSERTION, "backup", {
    "becomes-eligible": lambda draft: (setattr(draft.credential, "is_eligible", False), flags(set=BE)(draft)),
    "loses-eligibility": lambda draft: (setattr(draft.credential, "is_eligible", True), flags(clear=BE | BS)(draft)),
    "backed-up": lambda draft: (setattr(draft.credential, "is_eligible", True), flags(set=BE | BS)(draft)),
    "no-longer-backed-up": lambda draft: (setattr(draft.credential, "is_eligible", True), flags(set=BE, clear=BS)(draft)),
})
each(ASSERTION, "handle", {
    "other": lambda draft: setattr(draft, "handle", draft.random.randbytes(28)), "absent": having(handle=None),
    "empty": having(handle=b""), "longer": lambda draft: setattr(draft, "handle", draft.handle + b"\0"),
})


def attested(change=lambda bytes: bytes):
    def apply(draft):
        key = cbor.encode(draft.credential.key.cose)
        draft.tail = change(bytes(16) + len(draft.id).to_bytes(2) + draft.id + key)
        draft.flags |= AT

    return apply


each(ASSERTION, "credential", {
    "id-other": lambda draft: setattr(draft, "id", draft.random.randbytes(32)), "attested": attested(),
    "attested-truncated": attested(lambda bytes: bytes[:-1]), "announced": flags(set=AT),
    "unannounced": lambda draft: (attested()(draft), flags(clear=AT)(draft)),
})
