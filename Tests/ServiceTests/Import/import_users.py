"""Imports users with firebase_admin, as a back end does, in every way of hashing that it knows, and signs them in.

Arguments: host and port of the service, the project. Prints what went wrong, as a JSON array.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import urllib.error
import urllib.request

import firebase_admin
from firebase_admin import auth

host, project = sys.argv[1:]
os.environ["FIREBASE_AUTH_EMULATOR_HOST"] = host
os.environ["GOOGLE_CLOUD_PROJECT"] = project
firebase_admin.initialize_app(options={"projectId": project})
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


def sign_in(email, password):
    body = json.dumps({"email": email, "password": password, "returnSecureToken": True}).encode()
    request = urllib.request.Request(
        f"http://{host}/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=any",
        body,
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer).get("localId")
    except urllib.error.HTTPError:
        return None


PASSWORD, SALT = "password", b"NaCl"
SECRET = PASSWORD.encode()
SIGNER_KEY = base64.b64decode(
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
)


def chain(digest, rounds):
    value = digest(SALT + SECRET).digest()
    for _ in range(rounds - 1):
        value = digest(value).digest()
    return value


# Of each algorithm: what the SDK is told, the hash, and another password and salt than these.
ways = {
    "scrypt": (
        auth.UserImportHash.scrypt(key=SIGNER_KEY, salt_separator=b"\x07", rounds=8, memory_cost=14),
        base64.b64decode("V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw=="),
    ),
    "standard-scrypt": (
        auth.UserImportHash.standard_scrypt(
            memory_cost=1024, parallelization=16, block_size=8, derived_key_length=64
        ),
        hashlib.scrypt(SECRET, salt=SALT, n=1024, r=8, p=16, dklen=64),
    ),
    "bcrypt": (
        auth.UserImportHash.bcrypt(),
        b"$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a",
        "U*U*U",
        None,
    ),
    "pbkdf-sha1": (auth.UserImportHash.pbkdf_sha1(1000), hashlib.pbkdf2_hmac("sha1", SECRET, SALT, 1000)),
    "pbkdf2-sha256": (
        auth.UserImportHash.pbkdf2_sha256(100000),
        hashlib.pbkdf2_hmac("sha256", SECRET, SALT, 100000, 64),
    ),
    "md5": (auth.UserImportHash.md5(0), hashlib.md5(SALT + SECRET).hexdigest().encode()),
    "sha1": (auth.UserImportHash.sha1(1), chain(hashlib.sha1, 1)),
    "sha256": (auth.UserImportHash.sha256(1), chain(hashlib.sha256, 1)),
    "sha512": (auth.UserImportHash.sha512(8192), chain(hashlib.sha512, 8192)),
    "hmac-md5": (auth.UserImportHash.hmac_md5(b"secret"), hmac.digest(b"secret", SECRET + SALT, "md5")),
    "hmac-sha1": (auth.UserImportHash.hmac_sha1(b"secret"), hmac.digest(b"secret", SECRET + SALT, "sha1")),
    "hmac-sha256": (auth.UserImportHash.hmac_sha256(b"secret"), hmac.digest(b"secret", SECRET + SALT, "sha256")),
    "hmac-sha512": (auth.UserImportHash.hmac_sha512(b"secret"), hmac.digest(b"secret", SECRET + SALT, "sha512")),
}
for name, (algorithm, digest, *other) in ways.items():
    password, salt = other or (PASSWORD, SALT)
    email = f"{name}@example.com"
    user = auth.ImportUserRecord(name, email=email, password_hash=digest, password_salt=salt)
    result = auth.import_users([user], hash_alg=algorithm)
    check(result.success_count == 1, f"{name}: {[error.reason for error in result.errors]}")
    check(sign_in(email, "x" + password) is None, f"{name}: a wrong password signs in")
    check(sign_in(email, password) == name, f"{name}: the password does not sign in")
    check(sign_in(email, password) == name, f"{name}: the password does not sign in again")
listed = {user.uid: user for user in auth.list_users().iterate_all()}
check(sorted(listed) == sorted(ways), f"listed: {sorted(listed)}")
for uid, user in listed.items():
    check(len(base64.urlsafe_b64decode(user.password_hash)) == 64, f"{uid}: is not hashed anew")

# Everything that a record holds, and what is wrong with one among others.
users = [
    auth.ImportUserRecord(
        "full",
        email="full@example.com",
        email_verified=True,
        display_name="Test User",
        phone_number="+15555550101",
        photo_url="https://example.com/photo.png",
        disabled=True,
        user_metadata=auth.UserMetadata(1476235905000, 1476235906000),
        provider_data=[auth.UserProvider("fb", "facebook.com", email="full@example.com", display_name="Facebook User")],
        custom_claims={"admin": True},
    ),
    auth.ImportUserRecord("second", email="full@example.com"),
    auth.ImportUserRecord("third", provider_data=[auth.UserProvider("fb", "facebook.com")]),
]
result = auth.import_users(users)
errors = [(error.index, error.reason) for error in result.errors]
check(
    errors
    == [
        (1, "email exists in other account in database"),
        (2, "raw id exists in other account in database"),
    ],
    f"errors: {errors}",
)
full = auth.get_user("full")
check(
    (full.email_verified, full.display_name, full.phone_number, full.disabled, full.custom_claims)
    == (True, "Test User", "+15555550101", True, {"admin": True}),
    "full: its members",
)
check(full.user_metadata.creation_timestamp == 1476235905000, "full: created")
check(full.user_metadata.last_sign_in_timestamp == 1476235906000, "full: last sign-in")
check([data.provider_id for data in full.provider_data] == ["facebook.com", "phone"], "full: providers")
result = auth.import_users([auth.ImportUserRecord("full", email="full@example.com", display_name="Again")])
check(result.failure_count == 0 and auth.get_user("full").display_name == "Again", "full: is not replaced")
try:
    short = auth.UserImportHash.scrypt(key=b"short", rounds=8, memory_cost=14)
    auth.import_users([auth.ImportUserRecord("x", password_hash=b"x" * 64, password_salt=SALT)], hash_alg=short)
    wrong.append("a short signer key is accepted")
except firebase_admin.exceptions.FirebaseError as error:
    check("INVALID_HASH_PARAMETER" in str(error), f"a short signer key: {error}")
print(json.dumps(wrong))
