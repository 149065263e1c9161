"""Measures the service under load; see docs/maintainers/performance.md. Run it with `make bench`.

usage: bench.py [--accounts N] [--seconds S] [--connections 1,16,64] [--only PATH,…] [--json FILE]
       bench.py --url http://127.0.0.1:9099 --key API_KEY [--pid PID,…]
"""

import argparse
import base64
import concurrent.futures
import contextlib
import copy
import hashlib
import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import other_paths

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = "bench-project"
PROVIDER = "oidc.bench"
PASSWORD = "correct horse battery"
TICK = 1_000_000 / os.sysconf("SC_CLK_TCK")  # microseconds


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def fail(message):
    sys.exit(f"bench: {message}")


# --- Processes


def cpu_us(pid, with_dead_children=False):
    """User and system time that a process has used, in microseconds."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15 if with_dead_children else 13]) * TICK


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            pass
    return found


class PostgreSQL:
    """The private server of scripts/with-postgres."""

    def __init__(self, conninfo):
        self.conninfo = conninfo
        self.pid = int(self.value("SELECT pg_read_file('postmaster.pid')").split("\n")[0])

    def sql(self, text, stdin=None):
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.conninfo, "-c", text],
            input=stdin, capture_output=True, text=True,
        )
        if done.returncode:
            fail(f"psql: {done.stderr}")
        return done.stdout.strip()

    value = sql

    def copy(self, table, columns, rows):
        """COPY of rows of texts; None is NULL."""
        with subprocess.Popen(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.conninfo, "-c",
             f"COPY {table} ({columns}) FROM STDIN"], stdin=subprocess.PIPE, text=True,
        ) as psql:
            for row in rows:
                psql.stdin.write("\t".join("\\N" if value is None else value for value in row) + "\n")
        if psql.returncode:
            fail(f"COPY {table} failed")

    def cpu_us(self):
        return cpu_us(self.pid, with_dead_children=True) + sum(cpu_us(pid) for pid in children(self.pid))

    def counters(self):
        """Statements run so far, and bytes of WAL."""
        text = self.sql("SELECT sum(calls)::bigint, pg_current_wal_lsn() - '0/0'::pg_lsn FROM pg_stat_statements")
        statements, wal = text.split("|")
        return int(statements or 0), int(wal.split(".")[0])


class Service:
    """`identity serve`, as it is run in production."""

    def __init__(self, program, conninfo):
        self.environment = {
            "PATH": os.environ["PATH"],
            "IDENTITY_DATABASE_URL": conninfo,
            "IDENTITY_HTTP_BIND": "127.0.0.1:0",
            "IDENTITY_ENCRYPTION_KEYS": "bench:" + base64.b64encode(secrets.token_bytes(32)).decode(),
            "IDENTITY_LOG_LEVEL": "warning",
            "IDENTITY_OUTBOUND_ALLOW": "loopback",
            **{name: value for name, value in os.environ.items() if name.startswith("IDENTITY_")},
        }
        self.program = program

    def twin(self):
        other = copy.copy(self)
        other.environment = dict(self.environment)
        return other

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True)
        if done.returncode:
            fail(f"identity {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def start(self):
        port = 20_000 + secrets.randbelow(12_000)  # below those that the kernel gives to clients
        self.environment["IDENTITY_HTTP_BIND"] = f"127.0.0.1:{port}"
        self.environment["IDENTITY_HTTP_PUBLIC_URL"] = f"http://127.0.0.1:{port}"
        began = time.monotonic()
        self.process = subprocess.Popen([self.program, "serve"], env=self.environment)
        self.url = f"http://127.0.0.1:{port}"
        while True:
            if self.process.poll() is not None:
                fail("identity serve ended")
            try:
                if Client(self.url).call("GET", "/readyz")[0] == 200:
                    break
            except OSError:
                time.sleep(0.002)
        self.ready_ms = (time.monotonic() - began) * 1000

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()

    def cpu_us(self):
        return cpu_us(self.process.pid)

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


class Client:
    def __init__(self, url, bearer=None):
        self.host = urllib.parse.urlsplit(url).netloc
        self.bearer = bearer

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        headers = {"Content-Type": "application/json"}
        if self.bearer:
            headers["Authorization"] = "Bearer " + self.bearer
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if text.startswith("{") else text

    def must(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        if status != 200:
            fail(f"{method} {path}: {status} {answer}")
        return answer


# --- Data


class Person:
    """Account `u<n>` with one session, whose refresh token is known."""

    def __init__(self, number, project_number):
        self.account = f"u{number}"
        self.session = f"session{number:014}A"  # ends as the base64url of 16 bytes may
        self.secret = b64(hashlib.sha256(b"secret" + self.account.encode()).digest())
        self.refresh_token = b64(f"{project_number}.{self.account}.{self.session}.{self.secret}".encode())


def fill(postgres, count, project_number, issuer):
    """Accounts `u1` to `u<count>` of two sign-in methods with a session each, as `Person` knows them."""
    now = "2026-01-01 00:00:00+00"
    base64url = "translate(rtrim(encode({}, 'base64'), '='), '+/', '-_')".format
    secret = base64url("sha256(('secretu' || n)::bytea)")
    tables = {
        "accounts": {
            "project": f"'{PROJECT}'", "account": "'u' || n", "tenant": "''", "methods": "'{oidc.bench,password}'",
            "valid_since": "0", "email": "'u' || n || '@example.com'", "email_original": "'u' || n || '@example.com'",
            "email_verified": "true", "display_name": "'Ada Lovelace'", "photo_url": "'https://example.com/ada.png'",
            "created_at": f"'{now}'",
        },
        "account_emails": {
            "project": f"'{PROJECT}'", "tenant": "''", "email_key": "'u' || n || '@example.com'", "account": "'u' || n",
        },
        "credential_subjects": {
            "project": f"'{PROJECT}'", "tenant": "''", "provider": f"'{PROVIDER}'", "subject": "'s' || n",
            "account": "'u' || n", "issuer": f"'{issuer}'",
        },
        "linked_credentials": {
            "project": f"'{PROJECT}'", "account": "'u' || n", "provider": f"'{PROVIDER}'", "tenant": "''",
            "subject": "'s' || n", "email": "'u' || n || '@example.com'", "display_name": "'Ada Lovelace'",
            "linked_at": f"'{now}'", "updated_at": f"'{now}'",
        },
        "account_activity": {
            "project": f"'{PROJECT}'", "tenant": "''", "account": "'u' || n", "last_sign_in_at": f"'{now}'",
            "last_refresh_at": f"'{now}'",
        },
        "sessions": {
            "project": f"'{PROJECT}'", "account": "'u' || n", "session": "'session' || lpad(n::text, 14, '0') || 'A'",
            "tenant": "''", "secret_hash": f"sha256(({secret})::bytea)", "auth_time": str(int(time.time())),
            "sign_in_provider": f"'{PROVIDER}'", "created_at": f"'{now}'", "last_used_at": f"'{now}'",
            "user_agent": "'wrk'", "address_prefix": "'127.0.0.0/24'",
        },
    }

    def insert(table):
        columns = tables[table]
        postgres.sql(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns.values())} "
                     f"FROM generate_series(1, {count}) n")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(insert, tables))
    postgres.sql("VACUUM ANALYZE")
    postgres.sql("CHECKPOINT")
    sizes = {table: int(postgres.sql(f"SELECT pg_total_relation_size('{table}')")) / count for table in tables}
    return {**sizes, "sum": sum(sizes.values())}


class ProviderKey:
    """The key of an identity provider whose ID tokens apps hand in: RS256, as Google's."""

    def __init__(self):
        from cryptography.hazmat.primitives.asymmetric import rsa
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        number = self.key.public_key().public_numbers().n
        self.jwks = {"keys": [{
            "kty": "RSA", "kid": "bench", "alg": "RS256", "use": "sig", "e": "AQAB", "n": b64(number.to_bytes(256, "big")),
        }]}

    def token(self, issuer, subject, email, nonce=None, kid="bench", email_verified=True):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding
        now = int(time.time())
        claims = {
            "iss": issuer, "aud": "bench-client", "sub": subject, "iat": now, "exp": now + 86_400, "email": email,
            "email_verified": email_verified, "name": "Ada Lovelace", **({"nonce": nonce} if nonce else {}),
        }
        text = b64(json.dumps({"alg": "RS256", "kid": kid}).encode()) + "." + b64(json.dumps(claims).encode())
        return text + "." + b64(self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))


class Provider:
    """The identity provider, in a process of its own."""

    def __init__(self, folder):
        self.key = ProviderKey()
        path = os.path.join(folder, "jwks")
        with open(path, "w") as file:
            json.dump(self.key.jwks, file)
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "provider.py"), path],
                                        stdout=subprocess.PIPE, text=True)
        self.issuer = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def token(self, *arguments, **more):
        return self.key.token(self.issuer, *arguments, **more)

    def counts(self):
        """How often each document was fetched."""
        return Client(self.issuer).must("GET", "/counts")

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Requests:
    """Files of requests for load.lua."""

    def __init__(self, folder, key):
        self.folder, self.key = folder, key

    def write(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            for line in lines:
                file.write("\t".join(line) + "\n")
        return path

    def json(self, method, bodies, name=None):
        path, kind = f"/v1/accounts:{method}?key={self.key}", "application/json"
        return self.write(name or method, (("POST", path, kind, json.dumps(body)) for body in bodies))

    def refresh(self, tokens):
        # `account` is not part of the protocol, and ignored: it lets the load generator follow rotated tokens.
        path, kind = f"/v1/token?key={self.key}", "application/x-www-form-urlencoded"
        return self.write("token", (
            ("POST", path, kind, f"grant_type=refresh_token&refresh_token={token}&account={account}")
            for account, token in tokens
        ))


# --- Measuring


class Load:
    def __init__(self, url, service_cpu, postgres=None):
        self.url, self.service_cpu, self.postgres = url, service_cpu, postgres

    def command(self, requests, connections, seconds, *options):
        return ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s",
                os.path.join(HERE, "load.lua"), self.url, "--", requests, *options]

    def wrk(self, requests, connections, seconds, *options, may_fail=False):
        done = subprocess.run(self.command(requests, connections, seconds, *options), capture_output=True, text=True)
        lines = [line for line in done.stdout.split("\n") if line.startswith("{")]
        if done.returncode or not lines:
            fail(f"wrk: {done.stdout} {done.stderr}")
        result = json.loads(lines[-1])
        if result["failures"] and not may_fail:
            fail(f"{result['failures']} of {result['requests']} requests failed: {done.stderr}")
        return result

    def measure(self, requests, connections, seconds, *options):
        before = self.counters()
        result = self.wrk(requests, connections, seconds, *options)
        after = self.counters()
        count = max(1, result["requests"])
        result["rps"] = result["requests"] / result["seconds"]
        names = ["service_us", "postgres_us", "statements", "wal_bytes"]
        result.update({name: (after[i] - before[i]) / count for i, name in enumerate(names)})
        return result

    def counters(self):
        if not self.postgres:
            return self.service_cpu(), 0, 0, 0
        # The autovacuum and the checkpointer belong to it.
        return self.service_cpu(), self.postgres.cpu_us(), *self.postgres.counters()


def cpu_of(result):
    """Microseconds a request, of the service and PostgreSQL together."""
    return result["service_us"] + result["postgres_us"]


def pgbench(postgres, script, seconds, accounts):
    """CPU of PostgreSQL and pgbench per transaction, in microseconds; the same statement one at a time."""
    before = postgres.cpu_us()
    own = os.times()
    done = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", "-c", "8", "-j", "1", "-T", str(seconds), "-D", f"accounts={accounts}",
         "-f", os.path.join(HERE, "ceiling", script + ".sql"), postgres.conninfo], capture_output=True, text=True,
    )
    match = re.search(r"transactions actually processed: (\d+)", done.stdout)
    failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
    if done.returncode or not match or (failed and int(failed.group(1))):
        fail(f"pgbench {script}: {done.stdout} {done.stderr}")
    end = os.times()
    time.sleep(0.3)  # until the server has seen its backends end
    spent = (end.children_user + end.children_system - own.children_user - own.children_system) * 1e6
    return (postgres.cpu_us() - before + spent) / int(match.group(1))


def openssl(algorithm, seconds):
    """Microseconds of one signature and of one verification."""
    done = subprocess.run(["openssl", "speed", "-mr", "-seconds", str(seconds), algorithm], capture_output=True, text=True)
    for line in done.stdout.split("\n"):
        fields = line.split(":")
        if fields[0] in ("+F2", "+F4"):
            return 1e6 / float(fields[-2]), 1e6 / float(fields[-1])
    fail(f"openssl speed {algorithm}: {done.stdout} {done.stderr}")


# --- The run


class Bench:
    """One run: every path on the same machine, with its ceiling and floors."""

    def __init__(self, options, conninfo, program):
        self.options = options
        self.postgres = PostgreSQL(conninfo)
        self.service = Service(program, conninfo)
        self.folder = tempfile.mkdtemp(prefix="bench-")
        self.rows, self.json = [], {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Stops what it started."""
        if hasattr(self.service, "process"):
            self.service.stop()
        if hasattr(self, "provider"):
            self.provider.stop()

    def prepare(self):
        self.postgres.sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        self.service.run("migrate")
        made = self.service.run("projects", "create", PROJECT).split()
        key, number = made[-1], made[-2]
        token = self.service.run("admin-keys", "create", "--name", "bench").strip().split("\n")[0].split()[-1]
        self.requests = Requests(self.folder, key)
        self.provider = Provider(self.folder)
        print(f"filling in {self.options.accounts:,} accounts …", flush=True)
        began = time.monotonic()
        sizes = fill(self.postgres, self.options.accounts, number, self.provider.issuer)
        print(f"took {time.monotonic() - began:.0f} s; bytes of an account, with indexes: "
              + ", ".join(f"{table} {size:.0f}" for table, size in sizes.items()), flush=True)
        self.service.start()
        self.resting_mb = self.service.memory_mb()
        self.admin = Client(self.service.url, token)
        self.configure(rateLimits={"enabled": False})  # one address does what a city does
        self.load = Load(self.service.url, self.service.cpu_us, self.postgres)
        self.admin.must("POST", f"/v2/projects/{PROJECT}/oauthIdpConfigs?oauthIdpConfigId={PROVIDER}", {
            "clientId": "bench-client", "clientSecret": "bench-secret", "issuer": self.provider.issuer, "enabled": True,
            "definition": {"emailTrust": "claim"},
        })
        people = [Person(1 + index * self.options.accounts // self.sample, number) for index in range(self.sample)]
        self.people = people
        self.tokens = [(p.account, p.refresh_token) for p in people]
        self.give_passwords(key)

    @property
    def sample(self):
        """Accounts that requests are made for, spread over all."""
        return min(self.options.accounts, 20_000)

    def give_passwords(self, key):
        """Every account of the sample gets the hash that the service made for one."""
        Client(self.service.url).must("POST", f"/v1/accounts:signUp?key={key}",
                                      {"email": "first@example.com", "password": PASSWORD})
        self.postgres.sql(f"""
            UPDATE accounts a SET password_hash = f.password_hash, password_salt = f.password_salt,
                password_parameters = f.password_parameters
            FROM accounts f WHERE f.email = 'first@example.com' AND a.account IN ({self.sample_accounts(256)})
            """)

    def configure(self, **settings):
        self.change_config(",".join("identity." + name for name in settings), {"identity": settings})

    def change_config(self, mask, config):
        self.admin.must("PATCH", f"/v2/projects/{PROJECT}/config?updateMask={mask}", config)
        time.sleep(0.6)  # every node knows after half a second

    def wants(self, path):
        return not self.options.only or path in self.options.only

    def path(self, name, requests, ceiling_us, *options, connections=None, seconds=None, note=""):
        """Measures one path at each number of connections; the last one counts."""
        for count in connections or self.options.connections:
            self.settle()
            result = self.load.measure(requests, count, seconds or self.options.seconds, *options)
            result.update(path=name, connections=count, ceiling_us=ceiling_us, note=note, mb=self.service.memory_mb())
            result["cpu_us"] = result["service_us"] + result["postgres_us"]
            result["ratio"] = result["cpu_us"] / ceiling_us
            self.rows.append(result)
            print(self.line(result), flush=True)
        self.json[name] = {
            "cpu_us": round(result["cpu_us"], 1), "ceiling_us": round(ceiling_us, 1), "ratio": round(result["ratio"], 3),
            "statements": round(result["statements"], 3), "p50_us": result["p50_us"], "p99_us": result["p99_us"],
            "rps": round(result["rps"]), "wal_bytes": round(result["wal_bytes"]), "accounts": self.options.accounts,
        }

    def plain_path(self, name, requests, *options, **more):
        """One without a ceiling."""
        self.path(name, requests, 1, *options, **more)
        for member in ("ceiling_us", "ratio"):
            del self.json[name][member]

    HEADER = (f"{'path':<22}{'conn':>5}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'service':>9}{'postgres':>9}{'CPU µs':>9}"
              f"{'ceiling':>9}{'ratio':>7}{'stmts':>7}{'WAL B':>8}{'MB':>6}")

    def line(self, r):
        return (f"{r['path']:<22}{r['connections']:>5}{r['rps']:>9,.0f}{r['p50_us'] / 1000:>9.2f}{r['p99_us'] / 1000:>9.2f}"
                f"{r['service_us']:>9.0f}{r['postgres_us']:>9.0f}{r['cpu_us']:>9.0f}{r['ceiling_us']:>9.0f}"
                f"{r['ratio']:>7.2f}{r['statements']:>7.2f}{r['wal_bytes']:>8.0f}{r['mb']:>6.0f}")

    def settle(self):
        """What the path before left to clean up counts for neither the next path nor its ceiling."""
        self.postgres.sql("VACUUM")

    def ceiling(self, script):
        self.settle()
        return pgbench(self.postgres, script, self.options.seconds, self.options.accounts)

    def hash_us(self):
        """CPU of one bare hash of a password, in microseconds, on as many threads as the service has for them."""
        done = subprocess.run([self.options.floor, "scrypt", "5"], capture_output=True, text=True, check=True)
        return float(done.stdout)

    def run(self):
        self.prepare()
        es_sign, es_verify = openssl("ecdsap256", 2)
        rs_sign, rs_verify = openssl("rsa2048", 2)
        print(f"\nopenssl speed: P-256 {es_sign:.0f} µs to sign, {es_verify:.0f} to verify; "
              f"RSA-2048 {rs_sign:.0f} and {rs_verify:.0f}")
        print(f"first healthy answer after {self.service.ready_ms:.0f} ms; {self.resting_mb:.1f} MB at rest\n")
        print(self.HEADER)
        empty = self.requests.write("empty", [("GET", "/healthz", "", "")])
        self.path("(empty route)", empty, 1, note="floor")
        self.json.pop("(empty route)")
        self.configure(signingAlgorithm="ES256")
        if self.wants("refresh_no_rotation"):
            requests = self.requests.refresh(self.tokens)
            # The first refresh of a session in a minute writes, and how many of these a measurement has depends on the sample.
            self.load.wrk(requests, 64, 600, "once")
            self.path("refresh_no_rotation", requests, self.ceiling("refresh_no_rotation") + es_sign)
        if self.wants("lookup"):
            self.lookup(es_verify)
        if self.wants("sign_in_idp"):
            tokens = [self.token(p) for p in self.people[:5000]]
            self.path("sign_in_idp", self.with_idp(tokens), self.ceiling("sign_in_idp") + rs_verify + es_sign)
        if self.wants("sign_up_idp"):
            tokens = [self.provider.token(f"new{n}", f"new{n}@example.net") for n in range(16000)]
            self.path("sign_up_idp", self.with_idp(tokens), self.ceiling("sign_up_idp") + rs_verify + es_sign, "once",
                      connections=self.options.connections[-1:], seconds=60)
        for name, measure in other_paths.ALL.items():
            if self.wants(name):
                measure(self, es_sign, rs_verify)
        self.rotation(es_sign, rs_sign)
        # What takes memory of its own comes after it was looked at: connections to the provider, hashes of 16 MiB each.
        for name, step in [("sign_in_code", self.code_flow), ("sign_in_password", self.password)]:
            if self.wants(name):
                step()
        self.report()

    loaded_mb = 0

    def rotation(self, es_sign, rs_sign):
        """Refreshes that move the tokens on, in turns with pgbench, which does the same: what else the machine does meets
        both. The ratio is the median; the sessions are put back each time."""
        self.configure(signingAlgorithm="ES256", rotateRefreshTokens=True)
        self.keep_sessions()
        requests = self.requests.refresh(self.tokens)
        for name, algorithm, sign in [("refresh_es256", "ES256", es_sign), ("refresh_rs256", "RS256", rs_sign)]:
            if not self.wants(name):
                continue
            self.configure(signingAlgorithm=algorithm)
            pairs = []
            for connections in self.options.connections[:-1] + self.options.connections[-1:] * 5:
                self.put_sessions_back()
                self.path(name, requests, 1, "follow", connections=[connections])
                row = self.rows[-1]
                if connections == self.options.connections[-1]:
                    row["ceiling_us"] = self.ceiling("refresh") + sign
                    row["ratio"] = row["cpu_us"] / row["ceiling_us"]
                    pairs.append(self.rows.pop())
            median = sorted(pairs, key=lambda row: row["ratio"])[len(pairs) // 2]
            print(f"{name}: ratios of the pairs", *(f"{row['ratio']:.2f}" for row in pairs), flush=True)
            self.rows.append(median)
            self.json[name].update({key: round(median[key], 3) for key in ("cpu_us", "ceiling_us", "ratio")})
        self.put_sessions_back()
        self.loaded_mb = max(row["mb"] for row in self.rows)

    def keep_sessions(self):
        """Remembers the sessions of the sample."""
        self.postgres.sql(f"CREATE TABLE bench_sessions AS SELECT * FROM sessions WHERE project = '{PROJECT}' "
                          f"AND account IN ({self.sample_accounts(self.sample)})")

    def sample_accounts(self, count):
        """The first accounts of the sample, as a query."""
        return (f"SELECT 'u' || (1 + i * {self.options.accounts}::bigint / {self.sample}) "
                f"FROM generate_series(0, {count - 1}) i")

    def put_sessions_back(self):
        self.postgres.sql("DELETE FROM sessions s USING bench_sessions b WHERE s.project = b.project "
                          "AND s.account = b.account AND s.session = b.session")
        self.postgres.sql("INSERT INTO sessions SELECT * FROM bench_sessions")
        self.postgres.sql("VACUUM ANALYZE sessions")
        self.postgres.sql("CHECKPOINT")

    def lookup(self, verify):
        """With ID tokens that were never presented before, then with the same ones again, then at a node that has
        neither made nor seen them."""
        kept = os.path.join(self.folder, "id-tokens")
        tokens = []
        for _ in range(self.options.id_tokens // self.sample or 1):
            self.load.wrk(self.requests.refresh(self.tokens), 64, 600, "once", "keep=" + kept)
        with open(kept) as file:
            tokens = [line.split("\t")[1] for line in file]
        ceiling = self.ceiling("lookup") + verify
        lookups = lambda tokens: self.requests.json("lookup", ({"idToken": token} for token in tokens))
        once = dict(connections=self.options.connections[-1:], seconds=60)
        half = len(tokens) // 2
        self.path("lookup", lookups(tokens[half:]), ceiling, "once", **once)
        again = lookups(tokens[-5000:])
        self.load.wrk(again, 16, 60, "once")
        self.path("lookup_repeated", again, ceiling)
        with self.another_node():
            self.path("lookup_elsewhere", lookups(tokens[:half]), ceiling, "once", **once)

    @contextlib.contextmanager
    def another_node(self):
        """A second service on the same database."""
        service, load = self.service, self.load
        self.service = service.twin()
        self.service.start()
        self.load = Load(self.service.url, self.service.cpu_us, self.postgres)
        try:
            yield
        finally:
            self.service.stop()
            self.service, self.load = service, load

    def with_idp(self, tokens):
        return self.requests.json("signInWithIdp", (
            {"requestUri": "http://localhost", "postBody": f"id_token={token}&providerId={PROVIDER}",
             "returnSecureToken": True, "returnIdpCredential": True} for token in tokens
        ))

    def token(self, person, nonce=None, **more):
        return self.provider.token("s" + person.account[1:], person.account + "@example.com", nonce, **more)

    def code_flow(self):
        """Sign-ins by the authorization-code flow, beside sign-ins with native ID tokens: as many in a second as those by
        code, because how many requests share a statement depends on how many come, and as many as possible.

        What the provider's own call costs is measured with the same HTTP client outside of the service, where nothing
        disturbs it.
        """
        kept = os.path.join(self.folder, "flows")
        once = dict(connections=self.options.connections[-1:], seconds=60)
        people = self.people[:10_000]
        starts = [{"providerId": PROVIDER, "continueUri": "http://localhost/callback"} for _ in people]
        self.path("create_auth_uri", self.requests.json("createAuthUri", starts), 1, "once", "keep=" + kept,
                  "members=sessionId,state,nonce", **once)
        self.json.pop("create_auth_uri")
        with open(kept) as file:
            flows = [line.rstrip("\n").split("\t") for line in file]
        native = self.with_idp([self.token(person) for person in people[:5000]])
        finish = self.requests.json("signInWithIdp", (
            {"requestUri": f"http://localhost/callback?state={state}&code={self.token(person, nonce)}",
             "sessionId": session, "returnSecureToken": True, "returnIdpCredential": True}
            for person, (session, state, nonce) in zip(people, flows)
        ), "signInWithCode")
        call = float(subprocess.run([self.options.floor, "call", self.provider.issuer + "/token", "5"],
                                    capture_output=True, text=True, check=True).stdout)
        self.settle()
        busy = self.load.measure(native, once["connections"][-1], self.options.seconds)
        self.path("sign_in_code", finish, cpu_of(busy) + call, "once", note="ceiling: a native sign-in and a call", **once)
        code = self.rows[-1]
        self.settle()
        calm = self.at_rate(code["rps"], native, once["connections"][-1])
        beyond, beyond_busy = [(code["cpu_us"] - call) / cpu_of(other) for other in (calm, busy)]
        self.json["sign_in_code"].update(call_us=round(call, 1), native_us=round(cpu_of(calm), 1),
                                         native_rps=round(calm["rps"]), beyond_calls=round(beyond, 3),
                                         native_busy_us=round(cpu_of(busy), 1), beyond_calls_busy=round(beyond_busy, 3))
        print(f"a call to the provider {call:.0f} µs; beyond it a sign-in by code costs {beyond:.2f} of a native one at as many "
              f"in a second ({cpu_of(calm):.0f} µs at {calm['rps']:,.0f}/s), {beyond_busy:.2f} of one at as many as possible "
              f"({cpu_of(busy):.0f} µs at {busy['rps']:,.0f}/s)")
        again = self.provider.counts()
        storm = self.with_idp([self.token(person, kid=f"unknown-{index}") for index, person in enumerate(people[:2000])])
        refused = self.load.wrk(storm, 64, self.options.seconds, may_fail=True)["failures"]
        after = self.provider.counts()
        fetched = again.get("/keys", 0)
        self.json["key_fetches"] = {"sign_ins": fetched, "unknown_keys": after.get("/keys", 0) - fetched,
                                    "unknown_key_tokens": refused}
        print(f"fetched for all sign-ins so far: {again}; keys fetched for {refused:,} tokens with unknown key ids: "
              f"{after.get('/keys', 0) - fetched}")

    def at_rate(self, rate, requests, connections):
        """Measures requests that come about as often as told, by pauses between them."""
        pause = connections / rate * 1000
        for seconds in [1, 1, self.options.seconds]:
            result = self.load.measure(requests, connections, seconds, f"pause={pause:.0f}")
            pause = max(1, pause + connections * 1000 * (1 / rate - 1 / result["rps"]))
        return result

    def password(self):
        requests = self.requests.json("signInWithPassword", (
            {"email": p.account + "@example.com", "password": PASSWORD, "returnSecureToken": True}
            for p in self.people[:256]
        ))
        self.configure(signingAlgorithm="ES256")
        self.settle()
        ratios = []
        for _ in range(5):
            bare = self.hash_us()
            # Long enough for the 64 requests that are under way at its end, half done and not counted, to weigh little.
            result = self.load.measure(requests, 64, 15)
            time.sleep(2)  # their hashes are still to be done, and not beside the bare ones
            ratios.append(((result["service_us"] + result["postgres_us"]) / bare, bare, result))
        ratio, bare, result = sorted(ratios, key=lambda entry: entry[0])[2]
        result.update(path="sign_in_password", connections=64, ceiling_us=bare, ratio=ratio, note="median of five", mb=self.service.memory_mb())
        result["cpu_us"] = result["service_us"] + result["postgres_us"]
        self.rows.append(result)
        print(self.line(result), flush=True)
        self.json["sign_in_password"] = {
            "cpu_us": round(result["cpu_us"], 1), "ceiling_us": round(bare, 1), "ratio": round(ratio, 3),
            "statements": round(result["statements"], 3),
        }

    def report(self):
        print(f"\n{self.options.accounts:,} accounts; all of one run; CPU in µs per request, the kernel's accounting\n")
        print(self.HEADER)
        for row in self.rows:
            print(self.line(row))
        print(f"\nmemory: {self.resting_mb:.1f} MB at rest, {self.loaded_mb:.1f} MB under load; "
              f"first healthy answer after {self.service.ready_ms:.0f} ms")
        print("\nceilings: pgbench -M prepared -c 8 -j 1 of these statements, and openssl speed\n")
        for name in sorted(os.listdir(os.path.join(HERE, "ceiling"))):
            with open(os.path.join(HERE, "ceiling", name)) as file:
                print(f"-- {name}\n{file.read()}")
        self.json["memory"] = {"rest_mb": round(self.resting_mb, 1), "load_mb": round(self.loaded_mb, 1)}
        with open(self.options.json, "w") as file:
            json.dump(self.json, file, indent=2)


class Remote:
    """Any running server of the same protocol: what the wire alone shows, and CPU of the processes that are named."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="bench-")
        self.requests = Requests(self.folder, options.key)
        pids = [int(pid) for pid in options.pid.split(",") if pid]
        self.load = Load(options.url, lambda: sum(cpu_us(p) for pid in pids for p in [pid, *children(pid)]))

    def run(self):
        client = Client(self.options.url)
        run = secrets.token_hex(4)
        accounts = []
        for number in range(min(self.options.accounts, 1_000)):
            accounts.append(client.must("POST", f"/v1/accounts:signUp?key={self.options.key}", {
                "email": f"{run}{number}@example.com", "password": PASSWORD, "returnSecureToken": True,
            }))
        paths = [
            ("refresh", self.requests.refresh([(a["localId"], a["refreshToken"]) for a in accounts]), ["follow"]),
            ("lookup", self.requests.json("lookup", ({"idToken": a["idToken"]} for a in accounts)), []),
            ("sign_in_password", self.requests.json("signInWithPassword", (
                {"email": a["email"], "password": PASSWORD, "returnSecureToken": True} for a in accounts)), []),
        ]
        print(f"{'path':<22}{'conn':>5}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'CPU µs':>9}")
        for name, requests, extra in paths:
            if self.options.only and name not in self.options.only:
                continue
            for count in self.options.connections:
                r = self.load.measure(requests, count, self.options.seconds, *extra)
                print(f"{name:<22}{count:>5}{r['rps']:>9,.0f}{r['p50_us'] / 1000:>9.2f}{r['p99_us'] / 1000:>9.2f}"
                      f"{r['service_us']:>9.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Measures the service under load.")
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser.add_argument("--accounts", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    parser.add_argument("--connections", type=numbers, default=[1, 16, 64])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="paths to measure")
    parser.add_argument("--id-tokens", type=int, default=80_000, help="presented once each by lookup, half of them to another node")
    parser.add_argument("--json", default=".build/bench.json")
    parser.add_argument("--program", default=".build/release/identity")
    parser.add_argument("--floor", default="Benchmarks/.build/release/bench-floor")
    parser.add_argument("--url", help="a running server of the same protocol")
    parser.add_argument("--key", default="any", help="its API key")
    parser.add_argument("--pid", default="", help="its processes, whose CPU counts with their children's")
    options = parser.parse_args()
    if options.url:
        return Remote(options).run()
    if "DATABASE_URL" not in os.environ:
        fail("run it by scripts/with-postgres, as `make bench` does")
    with Bench(options, os.environ["DATABASE_URL"], options.program) as bench:
        bench.run()


if __name__ == "__main__":
    main()
