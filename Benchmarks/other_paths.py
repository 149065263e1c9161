"""Paths of bench.py besides those that a service does all day: accounts that passwords open, sign-ins by custom token and by
the link of a mail, the answer to a conflict; and what hashing does to the requests beside it.
"""

import base64
import hashlib
import json
import os
import subprocess
import time

import applications

PROJECT = "bench-project"
PROVIDER = "oidc.bench"
PASSWORD = "correct horse battery"
AUDIENCE = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
COUNT = 5_000


def sign_up_password(bench, es_sign, rs_verify):
    """Its statements, a hash and a signature."""
    bodies = ({"email": f"sign-up-{n}@example.net", "password": PASSWORD, "returnSecureToken": True}
              for n in range(COUNT))
    ceiling = bench.ceiling("sign_up_password") + bench.hash_us() + es_sign
    # Long enough for the requests that are under way at its end, half done and not counted, to weigh little.
    bench.path("sign_up_password", bench.requests.json("signUp", bodies), ceiling, connections=[64],
               seconds=3 * bench.options.seconds, note="once")
    time.sleep(2)  # until their hashes are done


def sign_in_custom_token(bench, es_sign, rs_verify):
    """Its statements, a verification and a signature."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding
    file = json.loads(bench.service.run("service-accounts", "create", "--project", PROJECT))
    key = serialization.load_pem_private_key(file["private_key"].encode(), None)
    time.sleep(0.6)  # every node knows it after half a second
    part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=").decode()
    now = int(time.time())

    def token(account):
        claims = {"iss": file["client_email"], "sub": file["client_email"], "aud": AUDIENCE, "uid": account, "iat": now,
                  "exp": now + 3600}
        text = part(b'{"alg":"RS256","typ":"JWT"}') + "." + part(json.dumps(claims).encode())
        return text + "." + part(key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))

    bodies = ({"token": token(person.account), "returnSecureToken": True} for person in bench.people[:COUNT])
    bench.path("sign_in_custom_token", bench.requests.json("signInWithCustomToken", bodies),
               bench.ceiling("sign_in_custom_token") + rs_verify + es_sign)


def update_profile(bench, es_sign, rs_verify):
    """A change of an account: locked, read, written and read again, in one transaction."""
    kept = os.path.join(bench.folder, "update-tokens")
    bench.load.wrk(bench.requests.refresh(bench.tokens), 64, 600, "once", "keep=" + kept)
    with open(kept) as file:
        tokens = [line.split("\t")[1] for line in file][:COUNT]
    bodies = ({"idToken": token, "displayName": f"Ada {n}"} for n, token in enumerate(tokens))
    bench.plain_path("update_profile", bench.requests.json("update", bodies))


def admin_lookup(bench, es_sign, rs_verify):
    """One account by its ID, then by its address, as a back end asks."""
    bearer = bench.service.run("admin-keys", "create", "--name", "bench").strip().split()[-1]
    for name, member, value in [("admin_lookup", "localId", "{}"), ("admin_lookup_email", "email", "{}@example.com")]:
        requests = bench.requests.write(name, (
            ("POST", f"/v1/projects/{PROJECT}/accounts:lookup", "application/json",
             json.dumps({member: [value.format(person.account)]})) for person in bench.people[:COUNT]))
        bench.plain_path(name, requests, "bearer=" + bearer)


def sign_in_link(bench, es_sign, rs_verify):
    """Its statements and a signature, of people who came by links before. The codes are made in SQL, as a mail would
    bring them: each is good once."""
    bench.change_config("signIn.email.passwordRequired", {"signIn": {"email": {"passwordRequired": False}}})
    bench.postgres.sql(f"UPDATE accounts SET email_link = true WHERE project = '{PROJECT}' AND email_verified")
    bench.postgres.sql(f"""
        INSERT INTO oob_codes (project, tenant, type, owner, code_hash, email, proved, created_at, valid_until, expires_at)
        SELECT '{PROJECT}', '', 'PGBENCH', 'u' || n, sha256(('pgbench' || n)::bytea), 'x', true, now(), 'infinity', 'infinity'
        FROM generate_series(1, {bench.options.accounts}) n
        """)
    people = bench.people[:COUNT]
    code = lambda person: "code" + person.account.zfill(38) + "A"  # ends as the base64url of 32 bytes may
    bench.postgres.copy(
        "oob_codes",
        "project, tenant, type, owner, code_hash, email, proved, created_at, valid_until, expires_at",
        ((PROJECT, "", "EMAIL_SIGNIN", p.account + "@example.com",
          "\\\\x" + hashlib.sha256(code(p).encode()).hexdigest(), p.account + "@example.com", "t",
          "2026-01-01 00:00:00+00", "2100-01-01 00:00:00+00", "2100-01-01 00:00:00+00") for p in people),
    )
    bodies = ({"email": p.account + "@example.com", "oobCode": code(p)} for p in people)
    ceiling = bench.ceiling("sign_in_link") + es_sign
    bench.path("sign_in_link", bench.requests.json("signInWithEmailLink", bodies), ceiling, "once", connections=[64],
               seconds=60)


def sign_in_passkey(bench, es_sign, rs_verify):
    """A synchronized passkey, beside a sign-in with an ID token of the same run: both verify a signature and open a session.
    Passkeys and challenges are made in SQL."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    if "sign_in_idp" not in bench.json:
        return
    origin, party = "https://bench.example", hashlib.sha256(b"bench.example").digest()
    bench.change_config("passkeyConfig", {"passkeyConfig": {"rpId": "bench.example", "expectedOrigins": [origin]}})
    people, key, now = bench.people[:COUNT], ec.generate_private_key(ec.SECP256R1()), time.time()
    numbers = key.public_key().public_numbers()
    cose = bytes.fromhex("a5010203262001215820") + numbers.x.to_bytes(32) + b"\x22\x58\x20" + numbers.y.to_bytes(32)
    base64text = lambda data: base64.b64encode(data).decode()
    url = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    identity = lambda person: hashlib.sha256(b"passkey" + person.account.encode()).digest()
    handle = lambda person: hashlib.sha256(person.account.encode()).digest()
    challenge = lambda person: hashlib.sha256(b"challenge" + person.account.encode()).digest()
    stored = lambda person: json.dumps([{
        "id": url(identity(person)), "userHandle": base64text(handle(person)), "publicKey": base64text(cose), "signCount": 0,
        "hasVerifiedUser": True, "isBackupEligible": True, "isBackedUp": True, "transports": ["internal"],
        "aaguid": base64text(bytes(16)), "attestation": "none", "enrolledAt": now, "lastUsedAt": now,
    }])
    bench.postgres.sql("CREATE TABLE bench_passkeys (account text PRIMARY KEY, passkeys text)")
    bench.postgres.copy("bench_passkeys", "account, passkeys", ((p.account, stored(p)) for p in people))
    bench.postgres.sql("UPDATE accounts a SET passkeys = b.passkeys, methods = a.methods || '{passkey}' FROM bench_passkeys b "
                       f"WHERE a.project = '{PROJECT}' AND a.account = b.account")
    bench.postgres.copy("account_passkeys", "project, tenant, credential, account",
                        ((PROJECT, "", url(identity(p)), p.account) for p in people))
    owner, hexadecimal = hashlib.sha256(b"passkey_challenge").hexdigest(), "\\\\x"
    bench.postgres.copy(
        "flows", "project, tenant, state_hash, provider, session_hash, purpose, payload, created_at, expires_at",
        ((PROJECT, "", hexadecimal + hashlib.sha256(challenge(p)).hexdigest(), "", hexadecimal + owner, "passkeySignIn",
          hexadecimal, "2026-01-01 00:00:00+00", "2100-01-01 00:00:00+00") for p in people),
    )
    data = party + b"\x1d" + bytes(4)

    def body(person):
        client = json.dumps({"type": "webauthn.get", "challenge": url(challenge(person)), "origin": origin}).encode()
        signature = key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return {"authenticatorAuthenticationResponse": {
            "id": url(identity(person)), "rawId": url(identity(person)), "type": "public-key", "response": {
                "clientDataJSON": url(client), "authenticatorData": url(data), "signature": url(signature),
                "userHandle": url(handle(person))}}}

    requests = bench.requests.write("passkeys", (
        ("POST", f"/v2/accounts/passkeySignIn:finalize?key={bench.requests.key}", "application/json", json.dumps(body(p)))
        for p in people))
    bench.path("sign_in_passkey", requests, bench.json["sign_in_idp"]["cpu_us"], "once", connections=[64], seconds=60)


def conflict(bench, es_sign, rs_verify):
    """Its statements and a verification: an identity that nobody has, with somebody's address that the provider does
    not vouch for."""
    # `COUNT` different ones: a provider's token that waits to be confirmed is found by itself.
    tokens = [bench.provider.token("stranger" + p.account, p.account + "@example.com", email_verified=False)
              for p in bench.people[:COUNT]]
    bench.path("conflict", bench.with_idp(tokens), bench.ceiling("conflict") + rs_verify, "once", connections=[64],
               seconds=60)


def beside_hashes(bench, es_sign, rs_verify):
    """Refresh at 64 connections by itself and with 200 password sign-ins in flight: how much longer its p99 is."""
    refresh = bench.requests.refresh(bench.tokens)
    passwords = bench.requests.json("signInWithPassword", (
        {"email": p.account + "@example.com", "password": PASSWORD, "returnSecureToken": True} for p in bench.people[:256]
    ), "hashes")
    seconds = bench.options.seconds
    bench.settle()
    alone = bench.load.wrk(refresh, 64, seconds)
    hashing = subprocess.Popen(bench.load.command(passwords, 200, seconds + 4), stdout=subprocess.PIPE, text=True)
    time.sleep(2)  # until 200 are in flight
    beside = bench.load.wrk(refresh, 64, seconds)
    output = hashing.communicate()[0]
    hashed = json.loads([line for line in output.split("\n") if line.startswith("{")][-1])
    ratio = beside["p99_us"] / alone["p99_us"]
    bench.json["refresh_beside_hashes"] = {
        "p99_us": beside["p99_us"], "alone_p99_us": alone["p99_us"], "ratio": round(ratio, 3),
        "rps": round(beside["requests"] / beside["seconds"]), "hashes": hashed["requests"],
    }
    print(f"refresh at 64 connections: p99 {alone['p99_us'] / 1000:.1f} ms; with 200 password sign-ins in flight "
          f"({hashed['requests']} done, {hashed['failures']} failed) {beside['p99_us'] / 1000:.1f} ms, {ratio:.2f} times as long")
    time.sleep(2)


ALL = {
    "applications": applications.applications, "list_accounts": applications.list_accounts,
    "update_profile": update_profile, "admin_lookup": admin_lookup,
    "sign_in_custom_token": sign_in_custom_token, "sign_in_link": sign_in_link, "sign_in_passkey": sign_in_passkey, "conflict": conflict,
    "beside_hashes": beside_hashes, "sign_up_password": sign_up_password,
}
