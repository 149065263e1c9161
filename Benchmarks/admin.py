"""What a page of accounts costs among few of them and among many, by `accounts:batchGet` and by each order of
`accounts:query`, and what an admin's lookup costs beside its statements alone. Run it by `make bench-admin`.

For each page it walks from the first account on and prints the CPU of the service and of PostgreSQL, and the mean time of
the statement by pg_stat_statements; last, the ratio of the second number of accounts to the first. It fails beyond 1.3.
Each walk goes over its pages once before it is measured: few accounts are in the server's buffers anyway, and what a page
costs is not what a disk or the kernel's cache costs. `--cold` leaves that out.
"""

import argparse
import http.client
import json
import os
import tempfile

import bench

PAGE = 100
ORDERS = ["USER_ID", "CREATED_AT", "USER_EMAIL"]


def fill(postgres, first, last):
    """Accounts with an address and an identity each; no order of theirs is that of the table."""
    source = f"(SELECT n, md5(n::text) AS id FROM generate_series({first}, {last}) n) n"
    made = "timestamptz '2020-01-01 00:00:00+00' + interval '1 second' * hashint4(n::int)::bigint * 0.01"
    postgres.sql(f"""
        INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original, email_verified,
            display_name, created_at)
        SELECT '{bench.PROJECT}', id, '', '{{google.com}}', 0, md5(id) || '@example.com', md5(id) || '@example.com', true,
            'Ada Lovelace', {made} FROM {source}""")
    postgres.sql(f"""
        INSERT INTO account_emails (project, tenant, email_key, account)
        SELECT '{bench.PROJECT}', '', md5(id) || '@example.com', id FROM {source}""")
    postgres.sql(f"""
        INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
        SELECT '{bench.PROJECT}', '', 'google.com', n::text, id, 'https://accounts.google.com' FROM {source}""")
    postgres.sql(f"""
        INSERT INTO linked_credentials (project, account, provider, tenant, subject, email, linked_at, updated_at)
        SELECT '{bench.PROJECT}', id, 'google.com', '', n::text, md5(id) || '@example.com', now(), now() FROM {source}""")
    postgres.sql(f"""
        INSERT INTO account_activity (project, account, last_sign_in_at, last_refresh_at)
        SELECT '{bench.PROJECT}', id, now(), now() FROM {source}""")
    postgres.sql("VACUUM ANALYZE")
    postgres.sql("CHECKPOINT")


class Walk:
    """One page after the other, over one connection."""

    def __init__(self, service, bearer):
        self.connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=60)
        self.headers = {"Content-Type": "application/json", "Authorization": "Bearer " + bearer}

    def call(self, method, path, body=None):
        self.connection.request(method, f"/v1/projects/{bench.PROJECT}/{path}",
                                json.dumps(body) if body is not None else None, self.headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            bench.fail(f"{path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def batch_get(self, token):
        page = self.call("GET", f"accounts:batchGet?maxResults={PAGE}&nextPageToken={token or ''}")
        return page.get("users", []), page.get("nextPageToken")

    def query(self, token, **members):
        body = {**members, "pageSize": PAGE, **({"pageToken": token} if token else {})}
        page = self.call("POST", "accounts:query", body)
        return page.get("userInfo", []), page.get("nextPageToken")

    def pages(self, fetch, count):
        token = None
        for _ in range(count):
            users, token = fetch(token)
            if len(users) != PAGE:
                bench.fail(f"a page of {len(users)} accounts")


def paths(walk):
    found = {"batchGet": walk.batch_get}
    for order in ORDERS:
        found[f"query {order}"] = lambda token, order=order: walk.query(token, sortBy=order)
        found[f"query {order}, descending"] = lambda token, order=order: walk.query(token, sortBy=order, order="DESC")
    found["query USER_ID, by provider"] = lambda token: walk.query(token, sortBy="USER_ID", providerId="google.com")
    return found


def measure(walk, service, postgres, pages, cold):
    results = {}
    for name, fetch in paths(walk).items():
        walk.pages(fetch, 10 if cold else pages)
        postgres.sql("SELECT pg_stat_statements_reset()")
        before = service.cpu_us(), postgres.cpu_us()
        walk.pages(fetch, pages)
        after = service.cpu_us(), postgres.cpu_us()
        statement = float(postgres.sql("SELECT sum(total_exec_time) FROM pg_stat_statements "
                                       "WHERE query LIKE '%linked_credentials%' AND query NOT LIKE '%pg_stat%'")) * 1000
        results[name] = [(after[i] - before[i]) / pages for i in range(2)] + [statement / pages]
        print(f"{name:<34}{results[name][0]:>10,.0f}{results[name][1]:>10,.0f}{results[name][2]:>12,.0f}", flush=True)
    return results


def lookup(service, postgres, bearer, accounts, seconds):
    """An admin's lookup of one account beside its statements alone."""
    requests = bench.Requests(tempfile.mkdtemp(prefix="bench-"), "none")
    ids = postgres.sql(f"SELECT md5(n::text) FROM generate_series(1, {accounts}, {max(1, accounts // 10_000)}) n").split()
    path = f"/v1/projects/{bench.PROJECT}/accounts:lookup"
    file = requests.write("lookup", (("POST", path, "application/json", json.dumps({"localId": [id]})) for id in ids))
    postgres.sql("VACUUM ANALYZE")
    ceiling = bench.pgbench(postgres, "admin_lookup", seconds, accounts)
    result = bench.Load(service.url, service.cpu_us, postgres).measure(file, 64, seconds, "bearer=" + bearer)
    spent = bench.cpu_of(result)
    print(f"\nlookup by an admin at {accounts:,} accounts: {result['rps']:,.0f} in a second, {spent:.0f} µs, "
          f"of which PostgreSQL {result['postgres_us']:.0f}; its statements alone {ceiling:.0f} µs: {spent / ceiling:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=lambda text: [int(n) for n in text.split(",")], default=[10_000, 1_000_000])
    parser.add_argument("--pages", type=int, default=90, help="of 100 accounts each, for each measurement")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--seconds", type=int, default=5, help="of each lookup; 0 leaves it out")
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    postgres = bench.PostgreSQL(os.environ["DATABASE_URL"])
    postgres.sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
    service = bench.Service(options.program, os.environ["DATABASE_URL"])
    service.run("migrate")
    service.run("projects", "create", bench.PROJECT)
    bearer = service.run("admin-keys", "create", "--name", "bench").strip().split("\n")[0].split()[-1]
    service.start()
    try:
        measured, filled = [], 0
        for count in options.accounts:
            fill(postgres, filled + 1, count)
            filled = count
            print(f"\n{f'a page of {PAGE} among {count:,}':<34}{'service':>10}{'DB µs':>10}{'statement':>12}")
            # A connection that was idle meanwhile would have been closed.
            measured.append(measure(Walk(service, bearer), service, postgres, options.pages, options.cold))
            if options.seconds:
                lookup(service, postgres, bearer, count, options.seconds)
    finally:
        service.stop()
    print(f"\n{'the last to the first':<34}{'CPU':>10}{'statement':>12}")
    worst = 0
    for name, first in measured[0].items():
        last = measured[-1][name]
        ratios = sum(last[:2]) / sum(first[:2]), last[2] / first[2]
        worst = max(worst, *ratios)
        print(f"{name:<34}{ratios[0]:>10.2f}{ratios[1]:>12.2f}")
    if worst > 1.3:
        bench.fail(f"a page costs {worst:.2f} times as much")


main()
