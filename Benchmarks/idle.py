"""What a node asks its database for while it has nothing to do, and what messages that wait add to it. Run it by
`make bench-idle`.

It measures `identity serve` and `identity dev` first with empty queues, then with `--rows` in each one: messages that
nobody can deliver, and rows that the sweeper has to pass over. `serve` is scraped every 15 seconds, as by
Prometheus. The page of `dev` asks every second while it is visible.

It prints the table of docs/maintainers/performance.md, and fails when a node works too much, or asks more often because
more rows wait.
"""

import argparse
import base64
import hashlib
import json
import os
import secrets
import signal
import subprocess
import tempfile
import time
import urllib.request

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import bench

# Statements a second of an idle node, whatever waits; the part of a core that it takes, with its PostgreSQL.
MOST_STATEMENTS, MOST_CPU = 20, 0.02
DAYS_3 = "now() + interval '3 days'"


def sealed(key_id, key, place, value):
    """As KeyRing seals it."""
    nonce = secrets.token_bytes(12)
    text = AESGCM(key).encrypt(nonce, json.dumps(value).encode(), place.encode())
    return "\\\\x" + (bytes([1, len(key_id)]) + key_id.encode() + nonce + text).hex()


class Queues:
    """Rows that wait in a database."""

    def __init__(self, postgres, project, key_id, key):
        self.postgres, self.project, self.key_id, self.key = postgres, project, key_id, key

    def messages(self, kind, count, payload, due="now()", attempts=0, expiry=None, key_id=None):
        """Messages of a kind, each with what `payload` makes of its number."""
        name = kind + secrets.token_hex(4)
        self.postgres.sql("CREATE TABLE IF NOT EXISTS bench_payloads (message text, payload bytea); TRUNCATE bench_payloads")
        ids = [f"{name}-{number}" for number in range(count)]
        self.postgres.copy("bench_payloads", "message, payload", (
            (id, sealed(key_id or self.key_id, self.key, f"outbox/{self.project}/{id}", payload(number)))
            for number, id in enumerate(ids)))
        self.postgres.sql(f"""
            INSERT INTO outbox (project, message, kind, payload, tenant, attempts, next_attempt_at, created_at, expires_at)
            SELECT '{self.project}', message, '{kind}', payload, '', {attempts}, {due}, now(), {expiry or "NULL"}
            FROM bench_payloads
            """)

    def mails(self, count):
        """Emails with a link, each with its code."""
        codes = [base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode() for _ in range(count)]
        tag = secrets.token_hex(4)
        self.messages("mail", count, lambda number: {
            "template": "verifyEmail", "to": f"u{number}@example.com",
            "link": f"http://127.0.0.1/emulator/action?mode=verifyEmail&oobCode={codes[number]}&apiKey=any",
        }, expiry=DAYS_3)
        self.postgres.copy(
            "oob_codes", "project, tenant, type, owner, code_hash, email, proved, created_at, valid_until, expires_at",
            ((self.project, "", "VERIFY_EMAIL", f"{tag}-{number}", "\\\\x" + hashlib.sha256(code.encode()).hexdigest(),
              f"u{number}@example.com", "f", "now", "tomorrow", "tomorrow") for number, code in enumerate(codes)))

    def sms(self, count, due="now()", attempts=0):
        """SMS, each with its code."""
        tag = secrets.token_hex(4)
        sessions = [f"{tag}-{number}" for number in range(count)]
        self.messages("sms", count, lambda number: {
            "to": f"+4917{number:08}", "code": "123456", "validUntil": time.time() - 978_307_200 + 86_400,
            "session": sessions[number],
        }, due=due, attempts=attempts, expiry=DAYS_3)
        self.postgres.copy(
            "verification_codes",
            "project, tenant, purpose, owner, session_hash, phone_number, code_hash, created_at, valid_until, expires_at",
            ((self.project, "", "signIn", session, "\\\\x" + hashlib.sha256(session.encode()).hexdigest(),
              f"+4917{number:08}", "\\\\x00", "now", "tomorrow", "tomorrow") for number, session in enumerate(sessions)))

    def all(self, count):
        """What a node that serves can have waiting for long."""
        later = "now() + interval '1 hour'"
        # No mail server takes them.
        self.mails(count)
        # Their receivers are down.
        self.sms(count, due=later, attempts=8)
        for kind in ["webhook", "webhook.grant", "application.logout", "provider.revocation", "provider.forgotten_tokens"]:
            self.messages(kind, count, lambda _: {}, due=later, attempts=8)
        # A newer release wrote them.
        self.messages("kind.to.come", count, lambda _: {})
        # What expired and stays: clients in use, and ended sessions that are kept for the revocation feed.
        self.postgres.sql(f"""
            INSERT INTO oauth_clients (project, client, metadata, origin, expires_at, created_at, updated_at)
            SELECT '{self.project}', 'c' || n, '{{}}', 'dynamic', now() - interval '1 day', now(), now()
            FROM generate_series(1, {count}) n;
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
                last_used_at, client)
            SELECT '{self.project}', 'a' || n, 'l' || n, '', '', 0, 'password', now(), now(), 'c' || n
            FROM generate_series(1, {count}) n;
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
                last_used_at, revoked_at)
            SELECT '{self.project}', 'a' || n, 'e' || n, '', '', 0, 'password', now(), now(), now()
            FROM generate_series(1, {count}) n
            """)


class State:
    """What a node and its PostgreSQL do over some seconds."""

    def __init__(self, options, postgres, pid):
        self.options, self.postgres, self.pid = options, postgres, pid
        # `identity dev` starts its PostgreSQL itself, without the extension; its statements are transactions of their own.
        self.counts_statements = "pg_stat_statements" in postgres.sql("SHOW shared_preload_libraries")
        if self.counts_statements:
            postgres.sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def statements(self):
        if self.counts_statements:
            query = "SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'"
        else:
            query = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        return int(self.postgres.sql(query) or 0)

    def measure(self, name, rows, visits=None, interval=15):
        """`visits` is what somebody reads meanwhile, every so many seconds."""
        self.postgres.sql("VACUUM ANALYZE")
        time.sleep(self.options.settle)
        seconds = self.options.seconds
        before = self.statements(), bench.cpu_us(self.pid), self.postgres.cpu_us()
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if visits:
                urllib.request.urlopen(visits).read()
            time.sleep(min(interval, left))
        node, server = bench.cpu_us(self.pid) - before[1], self.postgres.cpu_us() - before[2]
        rate = (self.statements() - before[0]) / seconds
        node, server = node / seconds / 1e6, server / seconds / 1e6
        print(f"| {name} | {rows:,} | {rate:.1f} | {node:.1%} | {server:.1%} |", flush=True)
        return rate, node + server


class Dev:
    """`identity dev` on a folder of its own."""

    def __init__(self, program, folder):
        os.chmod(folder, 0o755)
        self.folder, self.port = folder, 20_000 + secrets.randbelow(12_000)
        self.process = subprocess.Popen(
            [program, "dev", "--data", f"{folder}/data", "--port", str(self.port), "--demo-providers", "none"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("ready "):
                break
        else:
            bench.fail("identity dev ended")
        # What it prints from now on must not make it wait.
        self.output = subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)

    def postgres(self):
        with open(f"{self.folder}/data/conninfo") as file:
            return bench.PostgreSQL(file.read().strip())

    def key(self):
        with open(f"{self.folder}/data/encryption.key") as file:
            return base64.b64decode(file.read())

    def stop(self):
        self.output.kill()
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def measure_dev(options):
    with tempfile.TemporaryDirectory(prefix="bench-idle-") as folder:
        dev = Dev(options.program, folder)
        try:
            postgres = dev.postgres()
            queues = Queues(postgres, "demo-project", "dev", dev.key())
            state = State(options, postgres, dev.process.pid)
            results = [state.measure("`dev`", 0)]
            queues.mails(1_500)
            results.append(state.measure("`dev`, emails", 1_500))
            queues.mails(options.rows - 1_500)
            queues.sms(options.rows)
            results.append(state.measure("`dev`, emails and SMS", options.rows))
            state.measure("`dev`, emails and SMS, its page open", options.rows, f"http://127.0.0.1:{dev.port}/dev", 1)
            return results
        finally:
            dev.stop()


def measure_serve(options, conninfo):
    service = bench.Service(options.program, conninfo)
    service.environment.update(IDENTITY_METRICS_BIND=f"127.0.0.1:{19_000 + os.getpid() % 900}")
    service.run("migrate")
    service.run("projects", "create", bench.PROJECT)
    key_id, key = service.environment["IDENTITY_ENCRYPTION_KEYS"].split(":")
    postgres = bench.PostgreSQL(conninfo)
    service.start()
    try:
        state = State(options, postgres, service.process.pid)
        metrics = f"http://{service.environment['IDENTITY_METRICS_BIND']}/metrics"
        results = [state.measure("`serve`", 0, metrics)]
        Queues(postgres, bench.PROJECT, key_id, base64.b64decode(key)).all(options.rows)
        results.append(state.measure("`serve`, each queue", options.rows, metrics))
        return results
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description="Measures a node that has nothing to do.")
    parser.add_argument("--program", default=".build/release/identity")
    parser.add_argument("--rows", type=int, default=10_000, help="in each queue")
    parser.add_argument("--seconds", type=float, default=60, help="for each measurement")
    parser.add_argument("--settle", type=float, default=10, help="seconds before each measurement")
    parser.add_argument("--only", default="serve,dev")
    options = parser.parse_args()
    if "DATABASE_URL" not in os.environ:
        bench.fail("run it by scripts/with-postgres, as `make bench-idle` does")
    print("| Node | rows in each queue | statements/s | node, of a core | PostgreSQL, of a core |\n| --- | --- | --- | --- | --- |")
    results = []
    if "serve" in options.only:
        results += [("serve", measure_serve(options, os.environ["DATABASE_URL"]))]
    if "dev" in options.only:
        results += [("dev", measure_dev(options))]
    failed = {name for name, states in results for rate, cpu in states
              if rate > min(MOST_STATEMENTS, states[0][0] + 1) or cpu > MOST_CPU}
    if failed:
        bench.fail(f"an idle node works too much: {', '.join(failed)}")


if __name__ == "__main__":
    main()
