"""What a page of accounts costs among few of them and among many, by `accounts:batchGet` and by each order of
`accounts:query`, and what an admin's lookup costs beside its statements alone. Run it by `make bench-admin`.

Each number of accounts is in a database of its own. For each page it walks from the first account on in both, in turns,
and prints the CPU of the service and of PostgreSQL and the mean time of the statement by pg_stat_statements (medians of the
rounds), and the ratio of the second number of accounts to the first. It fails when the CPU is beyond 1.3.
Each walk goes over its pages once before it is measured: few accounts are in the server's buffers anyway, and what a page
costs is not what a disk or the kernel's cache costs. `--cold` leaves that out.
"""

import argparse
import http.client
import json
import os
import re
import statistics
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
        INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
        SELECT '{bench.PROJECT}', '', id, now(), now() FROM {source}""")
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


class Site:
    """A number of accounts in a database of their own, and a service on it."""

    def __init__(self, program, conninfo, accounts):
        self.accounts = accounts
        self.postgres = bench.PostgreSQL(conninfo)
        self.postgres.sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        self.service = bench.Service(program, conninfo)
        self.service.run("migrate")
        self.service.run("projects", "create", bench.PROJECT)
        self.bearer = self.service.run("admin-keys", "create", "--name", "bench").strip().split("\n")[0].split()[-1]
        fill(self.postgres, 1, accounts)
        self.service.start()

    def measure(self, name, pages, cold):
        """CPU of the service and of PostgreSQL, and time of the statement, in microseconds a page."""
        walk = Walk(self.service, self.bearer)
        fetch = paths(walk)[name]
        walk.pages(fetch, 10 if cold else pages)
        self.postgres.sql("SELECT pg_stat_statements_reset()")
        before = self.service.cpu_us(), self.postgres.cpu_us()
        walk.pages(fetch, pages)
        after = self.service.cpu_us(), self.postgres.cpu_us()
        statement = float(self.postgres.sql(
            "SELECT sum(total_exec_time) FROM pg_stat_statements WHERE query LIKE '%linked_credentials%' "
            "AND query NOT LIKE '%pg_stat%' AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )) * 1000
        return [(after[i] - before[i]) / pages for i in range(2)] + [statement / pages]


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


def database(postgres, url, name):
    """Another database of the same server."""
    postgres.sql(f"CREATE DATABASE {name}")
    return re.sub(r"dbname=\S+", f"dbname={name}", url)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=lambda text: [int(n) for n in text.split(",")], default=[10_000, 1_000_000])
    parser.add_argument("--pages", type=int, default=90, help="of 100 accounts each, for each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--seconds", type=int, default=5, help="of each lookup; 0 leaves it out")
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    if len(options.accounts) != 2:
        parser.error("--accounts takes two numbers: 10000,1000000")
    url = os.environ["DATABASE_URL"]
    server = bench.PostgreSQL(url)
    sites = []
    try:
        for number, accounts in enumerate(options.accounts):
            sites.append(Site(options.program, database(server, url, f"accounts{number}"), accounts))
        few, many = sites
        print(f"{f'a page of {PAGE}, µs':<34}{f'among {few.accounts:,}':>24}{f'among {many.accounts:,}':>24}{'ratio':>15}")
        print(f"{'':<34}" + f"{'service':>8}{'DB':>8}{'statem.':>8}" * 2 + f"{'CPU':>8}{'statem.':>8}", flush=True)
        worst = 0
        for name in paths(Walk(few.service, few.bearer)):
            # In turns: the machine has other guests.
            pairs = [(few.measure(name, options.pages, options.cold), many.measure(name, options.pages, options.cold))
                     for _ in range(options.rounds)]
            middle = [[statistics.median(pair[site][i] for pair in pairs) for i in range(3)] for site in range(2)]
            cpu = statistics.median(sum(pair[1][:2]) / sum(pair[0][:2]) for pair in pairs)
            statement = statistics.median(pair[1][2] / pair[0][2] for pair in pairs)
            worst = max(worst, cpu)
            figures = "".join(f"{value:>8,.0f}" for site in middle for value in site)
            print(f"{name:<34}{figures}{cpu:>8.2f}{statement:>8.2f}", flush=True)
        for site in sites if options.seconds else []:
            lookup(site.service, site.postgres, site.bearer, site.accounts, options.seconds)
    finally:
        for site in sites:
            site.service.stop()
    if worst > 1.3:
        bench.fail(f"a page costs {worst:.2f} times as much")


if __name__ == "__main__":
    main()
