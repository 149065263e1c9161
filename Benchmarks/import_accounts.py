"""How fast accounts come in by `accounts:batchCreate`, with password hashes and two providers each. Run it by
`make bench-import`.

Uploads of a thousand go over a few connections at once, first of accounts that are new, then of the same ones again, which
are replaced. It prints accounts per second, and the peak of the service's memory.
"""

import argparse
import base64
import concurrent.futures
import http.client
import json
import os
import re
import time

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


def peak_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=2)
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    conninfo = os.environ["DATABASE_URL"]
    service = bench.Service(options.program, conninfo)
    service.run("migrate")
    service.run("projects", "create", "bench-import")
    bearer = service.run("admin-keys", "create", "--name", "import").strip().split("\n")[0].split()[-1]
    key = base64.b64encode(bytes(range(64))).decode()
    members = {"hashAlgorithm": "SCRYPT", "signerKey": key, "saltSeparator": "Bw==", "rounds": 8, "memoryCost": 14}
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
