"""How fast accounts come in by `accounts:batchCreate`, with password hashes and two providers each. Run it by
`make bench-import`.

Uploads of a thousand go over a few connections at once, first of accounts that are new, then of the same ones again, which
are replaced. It prints accounts per second, and the peak of the service's memory.

With `--first N` it instead prints the median times of a sign-in, a refresh and a lookup, one at a time: right after an import
into a database that was empty when the service started, after so many first sign-ins in a row into another one, and in both
once more after ANALYZE. Autovacuum is off meanwhile.
"""

import argparse
import base64
import concurrent.futures
import http.client
import json
import os
import re
import statistics
import tempfile
import time
import urllib.parse

import bench

UPLOAD = 1000
HASH = base64.urlsafe_b64encode(bytes(range(64))).decode()


def account(number):
    name = f"user{number:07}"
    email = f"{name}@example.com"
    return {
        "localId": f"{name}abcdefghijklmnopq",
        "email": email,
        "emailVerified": number % 2 == 0,
        "displayName": f"Name of {name}",
        "photoUrl": f"https://example.com/photos/{name}.png",
        "passwordHash": HASH,
        "salt": base64.urlsafe_b64encode(f"salt{number:012}".encode()).decode(),
        "createdAt": "1476235905000",
        "lastLoginAt": "1476235906000",
        "providerUserInfo": [
            {"providerId": "google.com", "rawId": f"1{number:020}", "email": email, "displayName": f"Name of {name}"},
            {"providerId": "github.com", "rawId": f"{number}", "email": email, "displayName": name},
        ],
    }


class Paths:
    """A service on an empty database, whose answers are timed."""

    def __init__(self, postgres, program, conninfo, name):
        postgres.sql(f"CREATE DATABASE {name}")
        conninfo = re.sub(r"dbname=\S+", f"dbname={name}", conninfo)
        self.postgres, self.service = bench.PostgreSQL(conninfo), bench.Service(program, conninfo)
        self.service.run("migrate")
        self.key = self.service.run("projects", "create", "bench-import").split()[-1]
        bearer = self.service.run("admin-keys", "create", "--name", "import").strip().split("\n")[0].split()[-1]
        self.provider = bench.Provider(tempfile.mkdtemp(prefix="bench-"))
        self.service.start()
        self.admin = bench.Client(self.service.url, bearer)
        self.admin.must("PATCH", "/v2/projects/bench-import/config?updateMask=identity.rateLimits",
                        {"identity": {"rateLimits": {"enabled": False}}})
        self.admin.must("POST", "/v2/projects/bench-import/oauthIdpConfigs?oauthIdpConfigId=oidc.bench", {
            "clientId": "bench-client", "clientSecret": "bench-secret", "issuer": self.provider.issuer, "enabled": True,
            "definition": {"emailTrust": "claim"},
        })
        time.sleep(0.6)  # every node knows after half a second
        self.connection = http.client.HTTPConnection(self.service.url.removeprefix("http://"))

    def stop(self):
        self.service.stop()
        self.provider.stop()

    def upload(self, start, members):
        users = [account(number) for number in range(start, start + UPLOAD)]
        for user in users:
            user["providerUserInfo"][0]["providerId"] = "oidc.bench"
        answer = self.admin.must("POST", "/v1/projects/bench-import/accounts:batchCreate", {**members, "users": users})
        if "error" in answer:
            bench.fail(f"batchCreate: {answer}"[:300])

    def call(self, path, body, kind="application/json"):
        """Milliseconds and the answer."""
        began = time.perf_counter()
        self.connection.request("POST", f"/v1/{path}?key={self.key}", body, {"Content-Type": kind})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            bench.fail(f"{path}: {answer.status} {text[:300]}")
        return (time.perf_counter() - began) * 1000, json.loads(text)

    def sign_in(self, number):
        """As an imported account, which has the same subject."""
        token = self.provider.token(f"1{number:020}", f"user{number:07}@example.com")
        return self.call("accounts:signInWithIdp", json.dumps({
            "requestUri": "http://localhost", "postBody": f"id_token={token}&providerId=oidc.bench",
            "returnSecureToken": True,
        }))

    def medians(self, numbers):
        sign_ins = [self.sign_in(number) for number in numbers]
        refreshes = [self.call("token", urllib.parse.urlencode(
            {"grant_type": "refresh_token", "refresh_token": answer["refreshToken"]}), "application/x-www-form-urlencoded",
        ) for _, answer in sign_ins]
        lookups = [self.call("accounts:lookup", json.dumps({"idToken": answer["id_token"]})) for _, answer in refreshes]
        return [statistics.median(time for time, _ in times) for times in (sign_ins, refreshes, lookups)]

    def report(self, name, count):
        step = max(3, count // 200)
        early = self.medians(range(1, count, step))
        self.postgres.sql("ANALYZE")
        self.medians(range(0, count, step))  # plans anew
        late = self.medians(range(2, count, step))
        for path, before, after in zip(("sign-in", "refresh", "lookup"), early, late):
            print(f"{name:<24}{path:<10}{before:>9.2f}{after:>9.2f}{before / after:>9.2f}", flush=True)


def early_plans(options, postgres, conninfo, members):
    postgres.sql("ALTER SYSTEM SET autovacuum = off")
    postgres.sql("SELECT pg_reload_conf()")
    print(f"\n{'ms, medians':<34}{'before':>9}{'after':>9}{'ratio':>9}")
    paths = Paths(postgres, options.program, conninfo, "imported")
    try:
        for start in range(0, options.accounts, UPLOAD):
            paths.upload(start, members)
        paths.report("import", options.accounts)
    finally:
        paths.stop()
    paths = Paths(postgres, options.program, conninfo, "signed_up")
    try:
        for number in range(options.first):
            paths.sign_in(number)
        paths.report("first sign-ins", options.first)
    finally:
        paths.stop()


def peak_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="first sign-ins, such as 10000")
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    conninfo = os.environ["DATABASE_URL"]
    members = {
        "hashAlgorithm": "SCRYPT", "signerKey": base64.b64encode(bytes(range(64))).decode(), "saltSeparator": "Bw==",
        "rounds": 8, "memoryCost": 14,
    }
    if options.first:
        return early_plans(options, bench.PostgreSQL(conninfo), conninfo, members)
    service = bench.Service(options.program, conninfo)
    service.run("migrate")
    service.run("projects", "create", "bench-import")
    bearer = service.run("admin-keys", "create", "--name", "import").strip().split("\n")[0].split()[-1]
    uploads = [
        json.dumps({**members, "users": [account(number) for number in range(start, start + UPLOAD)]})
        for start in range(0, options.accounts, UPLOAD)
    ]
    service.start()
    postgres = bench.PostgreSQL(conninfo)

    def upload(body):
        connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=60)
        connection.request("POST", "/v1/projects/bench-import/accounts:batchCreate", body,
                           {"Content-Type": "application/json", "Authorization": "Bearer " + bearer})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200 or "error" in json.loads(text):
            bench.fail(f"batchCreate: {answer.status} {text[:300]}")

    try:
        print(f"{'accounts':<12}{'seconds':>9}{'per s':>9}{'CPU s':>8}{'DB s':>8}{'peak MB':>9}")
        for name in ("new", "replaced"):
            cpu, database, began = service.cpu_us(), postgres.cpu_us(), time.perf_counter()
            with concurrent.futures.ThreadPoolExecutor(options.connections) as pool:
                list(pool.map(upload, uploads))
            seconds = time.perf_counter() - began
            print(f"{name:<12}{seconds:>9.1f}{options.accounts / seconds:>9,.0f}"
                  f"{(service.cpu_us() - cpu) / 1e6:>8.1f}{(postgres.cpu_us() - database) / 1e6:>8.1f}"
                  f"{peak_mb(service.process.pid):>9.0f}", flush=True)
    finally:
        service.stop()


if __name__ == "__main__":
    main()
