"""How long the pages of the console take among a million accounts, and how large they are. Run it by `make bench-console`.

Each page is asked for over one connection of loopback, as somebody who administers everything sees it, `--rounds` times after
five that do not count. It prints the median and the slowest, and fails when a median is beyond 50 ms or a page beyond 100 kB.
"""

import argparse
import base64
import hashlib
import hmac
import html
import http.client
import os
import re
import statistics
import struct
import time
import urllib.parse

import admin
import bench

PASSWORD = "a rather long phrase"


def one_time_code(secret, step):
    """RFC 6238."""
    digest = hmac.new(base64.b32decode(secret + "=" * (-len(secret) % 8)), struct.pack(">q", step), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


class Visitor:
    """Somebody who is signed in to the console."""

    def __init__(self, service, code):
        self.connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=60)
        self.headers = {"Sec-Fetch-Site": "same-origin"}
        page = self.post("/console/set-up", {"setup": code})
        secret = re.search(r'class="key">([A-Z2-7 ]+)<', page).group(1).replace(" ", "")
        fields = {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}
        fields |= {"password": PASSWORD, "code": one_time_code(secret, int(time.time()) // 30)}
        self.post("/console/set-up", fields)

    def post(self, path, fields):
        headers = {**self.headers, "Content-Type": "application/x-www-form-urlencoded"}
        self.connection.request("POST", path, urllib.parse.urlencode(fields), headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status not in (200, 303):
            bench.fail(f"{path}: {answer.status} {text[:2000]}")
        cookie = answer.getheader("set-cookie")
        if cookie:
            self.headers["Cookie"] = cookie.split(";")[0]
        return text

    def open(self, path):
        """The seconds until the page is there, and its bytes."""
        start = time.perf_counter()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        page = answer.read()
        took = time.perf_counter() - start
        if answer.status != 200:
            bench.fail(f"{path}: {answer.status} {page.decode()[:2000]}")
        return took, page.decode()


def fill(postgres, accounts):
    """What a service that signs so many people in has besides them: an audit log, sessions, numbers."""
    postgres.sql(f"""
        INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, actor, operation)
        SELECT '{bench.PROJECT}', now() - interval '1 second' * (n * 1.2), '', md5(n::text), 'google.com', 'session',
            CASE WHEN n % 50 = 0 THEN 'ACCOUNT_UPDATED' ELSE 'SIGNED_IN' END, 'account', 'signInWithIdp'
        FROM generate_series(1, {accounts}) n""")
    postgres.sql(f"""
        INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
            last_used_at)
        SELECT '{bench.PROJECT}', md5(n::text), md5('s' || n), '', '', 0, 'google.com', now(), now()
        FROM generate_series(1, {accounts}) n""")
    postgres.sql(f"""
        INSERT INTO sign_in_counts (project, tenant, day, provider, outcome, count)
        SELECT '{bench.PROJECT}', '', current_date - d, p, o, 1000
        FROM generate_series(0, 399) d, unnest(ARRAY['google.com', 'apple.com', 'password', 'github.com']) p,
            unnest(ARRAY['signed_in', 'signed_up', 'conflict', 'refused']) o""")
    postgres.sql(f"""
        INSERT INTO outbox (project, message, kind, payload, next_attempt_at, created_at)
        SELECT '{bench.PROJECT}', n::text, 'mail', '', now() + interval '1 day', now() FROM generate_series(1, 10000) n""")
    postgres.sql("VACUUM ANALYZE")
    postgres.sql("CHECKPOINT")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    os.environ["IDENTITY_HTTP_PUBLIC_URL"] = "http://127.0.0.1"
    site = admin.Site(options.program, os.environ["DATABASE_URL"], options.accounts)
    try:
        fill(site.postgres, options.accounts)
        code = site.service.run("admins", "create", "root@example.com")
        visitor = Visitor(site.service, re.search(r"\b[\w-]{43}\b", code).group(0))
        account = site.postgres.sql("SELECT md5('4711')").strip()
        mail = site.postgres.sql("SELECT md5(md5('4711')) || '@example.com'").strip()
        project = f"/console/{bench.PROJECT}"
        newest = f"{project}/accounts"
        older = html.unescape(re.search(r'href="([^"]*after=[^"]*)"', visitor.open(newest)[1]).group(1))
        pages = {
            "projects": "/console",
            "accounts, the newest": newest,
            "accounts, the next page": older,
            "accounts, by address": f"{newest}?q={mail}",
            "accounts, by provider's id": f"{newest}?q=4711",
            "accounts, nobody": f"{newest}?q=nobody@example.com",
            "an account": f"{newest}/{account}",
            "overview": f"{project}/overview",
            "providers": f"{project}/providers",
            "settings": f"{project}/settings",
            "keys of apps": f"{project}/access",
            "audit log": f"{project}/audit",
            "audit log, of an account": f"{project}/audit?account={account}",
            "audit log, a rare action": f"{project}/audit?action=ACCOUNT_UPDATED",
            "audit log, an actor that never was": f"{project}/audit?actor=admin:nobody",
            "operations": "/console/operations",
        }
        print(f"{'among ' + format(options.accounts, ',') + ' accounts':<40}{'ms':>8}{'slowest':>10}{'kB':>8}")
        failed = []
        for name, path in pages.items():
            for _ in range(5):
                visitor.open(path)
            rounds = [visitor.open(path) for _ in range(options.rounds)]
            middle = statistics.median(took for took, _ in rounds) * 1000
            size = max(len(page.encode()) for _, page in rounds) / 1000
            print(f"{name:<40}{middle:>8.1f}{max(took for took, _ in rounds) * 1000:>10.1f}{size:>8.1f}", flush=True)
            if middle > 50 or size > 100:
                failed.append(name)
    finally:
        site.service.stop()
    if failed:
        bench.fail(f"too slow or too large: {', '.join(failed)}")


if __name__ == "__main__":
    main()
