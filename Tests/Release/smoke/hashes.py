"""Password hashes as other systems made them, one upload of `accounts:batchCreate` for each algorithm."""

import base64
import hashlib
import hmac
import itertools
import os

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

PASSWORD, SALT, KEY = "correct horse", b"salt of 16 bytes", bytes(range(64))
# Of another program; the password stands in its test vectors.
BCRYPT = (b"$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U")


def base64_text(data):
    return base64.b64encode(data).decode()


def scrypt(salt, cost, block, length):
    return hashlib.scrypt(PASSWORD.encode(), salt=salt, n=cost, r=block, p=1, dklen=length, maxmem=2**27)


def firebase(separator=b"-"):
    """Firebase's own: the signer key, encrypted with what scrypt makes of the password."""
    cipher = Cipher(algorithms.AES(scrypt(SALT + separator, 2**10, 8, 32)), modes.CTR(bytes(16))).encryptor()
    return cipher.update(KEY) + cipher.finalize()


ARGON2 = {"hashType": "ARGON2_ID", "version": "VERSION_13", "memoryCostKib": 1024, "iterations": 2, "parallelism": 1,
          "hashLengthBytes": 32}
# The parameters of an upload, the hash, and the password.
UPLOADS = [
    ({"hashAlgorithm": "MD5", "rounds": 0}, hashlib.md5(SALT + PASSWORD.encode()).digest(), PASSWORD),
    ({"hashAlgorithm": "SHA1", "rounds": 1}, hashlib.sha1(SALT + PASSWORD.encode()).digest(), PASSWORD),
    ({"hashAlgorithm": "SHA256", "rounds": 1}, hashlib.sha256(SALT + PASSWORD.encode()).digest(), PASSWORD),
    ({"hashAlgorithm": "SHA512", "rounds": 1, "passwordHashOrder": "PASSWORD_AND_SALT"},
     hashlib.sha512(PASSWORD.encode() + SALT).digest(), PASSWORD),
    ({"hashAlgorithm": "HMAC_SHA256", "signerKey": base64_text(KEY)},
     hmac.digest(KEY, PASSWORD.encode() + SALT, "sha256"), PASSWORD),
    ({"hashAlgorithm": "PBKDF_SHA1", "rounds": 1000},
     hashlib.pbkdf2_hmac("sha1", PASSWORD.encode(), SALT, 1000), PASSWORD),
    ({"hashAlgorithm": "PBKDF2_SHA256", "rounds": 1000},
     hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), SALT, 1000), PASSWORD),
    ({"hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "blockSize": 8, "parallelization": 1, "dkLen": 64},
     scrypt(SALT, 1024, 8, 64), PASSWORD),
    ({"hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 10, "signerKey": base64_text(KEY),
      "saltSeparator": base64_text(b"-")}, firebase(), PASSWORD),
    ({"hashAlgorithm": "BCRYPT"}, *BCRYPT),
    ({"hashAlgorithm": "ARGON2", "argon2Parameters": ARGON2},
     Argon2id(salt=SALT, length=32, iterations=2, lanes=1, memory_cost=1024).derive(PASSWORD.encode()), PASSWORD),
]


TURNS = itertools.cycle(UPLOADS)


def upload(email):
    """An upload of one account, with the next algorithm: its body, and the account's password."""
    parameters, digest, password = next(TURNS)
    user = {"localId": "imported" + os.urandom(6).hex(), "email": email, "passwordHash": base64_text(digest)}
    if parameters["hashAlgorithm"] != "BCRYPT":
        user["salt"] = base64_text(SALT)
    return {**parameters, "users": [user]}, password
