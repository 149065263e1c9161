"""What rotation of keys, cleanup and an upgrade do to a service under load. Run it by `make bench-maintenance`.

Two nodes carry a steady load of refreshes with rotation and sign-ins (steady.py), as many in a second as keep the machine
busy for half of the time, while one thing after the other is done to them. It prints the p99 of the refreshes meanwhile and
its ratio to the p99 just before and after, how much of the machine its host gave to others meanwhile, and fails when a request
did, or when a ratio is 2 or more.

`--previous PROGRAM` is an earlier release: its nodes serve while this one's `identity migrate` runs, then nodes of both.
"""

import argparse
import array
import dataclasses
import os
import signal
import statistics
import subprocess
import sys
import time

import bench

EXPIRED = "now() - interval '1 hour'"
# Rows that expired, by table; n is their number.
LEFT_OVERS = {
    "flows": ("project, state_hash, tenant, provider, session_hash, purpose, payload, created_at, expires_at",
              f"sha256(n::text::bytea), '', 'oidc.bench', '', 'signIn', sha256('{{}}'), {EXPIRED}, {EXPIRED}"),
    "pending_credentials": ("project, handle_hash, tenant, provider, subject, payload, created_at, expires_at",
                            f"sha256(n::text::bytea), '', 'oidc.bench', n::text, sha256('{{}}'), {EXPIRED}, {EXPIRED}"),
    "used_id_tokens": ("project, token_hash, expires_at", f"sha256(n::text::bytea), {EXPIRED}"),
    "oob_codes": ("project, tenant, type, owner, code_hash, email, proved, created_at, valid_until, expires_at",
                  f"'', 'EMAIL_SIGNIN', n::text, sha256(n::text::bytea), n::text, false, {EXPIRED}, {EXPIRED}, {EXPIRED}"),
    "outbox": ("project, message, kind, payload, created_at, attempts, next_attempt_at, delivered_at, expires_at",
               f"'left' || n, 'mail', '', {EXPIRED}, 1, {EXPIRED}, {EXPIRED}, {EXPIRED}"),
    "sessions": ("project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at, last_used_at, "
                 "revoked_at",
                 "'u' || n, 'left' || n, '', '', 0, 'password', now(), now(), now() - interval '16 days'"),
}


class Steady:
    """The load, and its record."""

    def __init__(self, folder, requests):
        self.path = os.path.join(folder, "record")
        self.process = subprocess.Popen([sys.executable, os.path.join(bench.HERE, "steady.py"), requests, self.path],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def end(self):
        """When each request was sent and answered, and whether it was a refresh; and what failed."""
        self.tell("end")
        faults = self.process.communicate()[0]
        record = array.array("d")
        with open(self.path, "rb") as file:
            record.frombytes(file.read())
        return list(zip(record[0::3], record[1::3], record[2::3])), faults


def cpu_seconds():
    """What all cores together spent idle, and what the host gave to others."""
    with open("/proc/stat") as file:
        figures = [int(text) / os.sysconf("SC_CLK_TCK") for text in file.readline().split()[1:]]
    return figures[3], figures[7]


@dataclasses.dataclass
class Window:
    begin: float
    end: float
    # By what was done in it.
    took: float
    # The part of the machine's time that its host gave to others: it moves every p99.
    stolen: float

    def holds(self, moment):
        return self.begin <= moment < self.end


class Maintenance(bench.Bench):
    def __init__(self, options, conninfo):
        super().__init__(options, conninfo, options.previous or options.program)
        self.nodes, self.phases = [], []

    def __exit__(self, *arguments):
        if hasattr(self, "steady"):
            self.steady.process.kill()
        if hasattr(self, "clock"):
            self.clock.kill()
        for node in self.nodes:
            if node.process.poll() is None:
                node.stop()
        super().__exit__(*arguments)

    def run(self):
        self.prepare()
        self.configure(signingAlgorithm="ES256", rotateRefreshTokens=True)
        self.command_environment = self.service.environment
        self.nodes = [self.service, self.node(self.service.program)]
        self.clock = subprocess.Popen(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.postgres.conninfo],
                                      stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.steady = Steady(self.folder, self.requests_of_all_kinds())
        self.send_to(self.nodes)
        self.find_rate()
        self.phase("nothing", lambda: None, rounds=2)
        self.phase("migrate", self.migrate, is_needed=True)
        self.phase("one node after the other", self.replace_nodes, rounds=3, is_needed=True)
        if self.wants("keys rotate"):
            self.let_a_day_pass()
        self.phase("keys rotate", self.rotate, rounds=3)
        self.phase("keys revoke", self.revoke)
        if self.wants("keys reencrypt"):
            self.keep_flows()
        self.phase("keys reencrypt", lambda: self.command("keys", "reencrypt"))
        if self.wants("cleanup"):
            self.leave_over()
        self.phase("cleanup", self.sweep)
        self.report()

    # The load

    def requests_of_all_kinds(self):
        """Nineteen refreshes, a sign-in, and so on."""
        with open(self.requests.refresh(self.tokens)) as file:
            refreshes = file.readlines()
        with open(self.with_idp([self.token(person) for person in self.people[:1000]])) as file:
            sign_ins = file.readlines()
        path = os.path.join(self.folder, "steady")
        with open(path, "w") as file:
            for number, line in enumerate(refreshes):
                file.write(line)
                if number % 19 == 18:
                    file.write(sign_ins[number // 19 % len(sign_ins)])
        return path

    def send_to(self, nodes):
        self.nodes = nodes
        self.steady.tell("nodes " + ",".join(node.url for node in nodes))

    def find_rate(self):
        """Sends as much as is answered, then as much as keeps the machine busy for the part of the time that was asked for."""
        self.answered(3)
        most = self.answered(4) / 4
        self.rate = self.options.rate or int(most / 5)
        for is_last in (False, False, True):
            self.steady.tell(f"rate {self.rate}")
            # What so many requests left behind is no work of those that come now.
            self.postgres.sql("VACUUM ANALYZE")
            time.sleep(2)
            unused = sum(cpu_seconds())
            time.sleep(4)
            busy = 1 - (sum(cpu_seconds()) - unused) / 4 / os.cpu_count()
            if not is_last and not self.options.rate:
                self.rate = int(self.rate * self.options.busy / busy)
        print(f"{most:,.0f} requests in a second at most; {self.rate:,} from now on: the machine is busy for {busy:.0%}",
              flush=True)

    def answered(self, seconds):
        before = self.postgres.sql("SELECT sum(n_tup_upd) FROM pg_stat_user_tables WHERE relname = 'sessions'")
        time.sleep(seconds)
        after = self.postgres.sql("SELECT sum(n_tup_upd) FROM pg_stat_user_tables WHERE relname = 'sessions'")
        return (int(after) - int(before)) * 20 / 19

    def phase(self, name, action, rounds=1, is_needed=False):
        """Quiet, then the action for at least as long, and quiet again."""
        if not self.wants(name):
            return action() if is_needed else None
        windows = []
        quiet = self.quiet()
        for _ in range(rounds):
            during = self.window(action)
            before, quiet = quiet, self.quiet()
            windows.append((before, during, quiet))
        self.phases.append((name, windows))
        print(f"{name}: " + ", ".join(f"{during.took:.1f} s" for _, during, _ in windows), flush=True)

    def quiet(self):
        """A moment for what was done to settle, then one that counts."""
        time.sleep(2)
        return self.window(lambda: None)

    def window(self, action):
        began, stolen = time.monotonic(), cpu_seconds()[1]
        action()
        took = time.monotonic() - began
        time.sleep(max(0, self.options.seconds - took))
        ended = time.monotonic()
        return Window(began, ended, took, (cpu_seconds()[1] - stolen) / (ended - began) / os.cpu_count())

    # What is done

    def node(self, program, **environment):
        node = self.service.twin()
        node.program = program
        node.environment.update(environment)
        # Starting is not a node's work either; root alone can take it back.
        is_root, own = os.geteuid() == 0, os.getpriority(os.PRIO_PROCESS, 0)
        if is_root:
            os.setpriority(os.PRIO_PROCESS, 0, 19)
        try:
            node.start()
        finally:
            if is_root:
                os.setpriority(os.PRIO_PROCESS, 0, own)
        for thread in os.listdir(f"/proc/{node.process.pid}/task") if is_root else []:
            os.setpriority(os.PRIO_PROCESS, int(thread), own)
        return node

    def command(self, *arguments):
        """A command of this release. What it shares the machine with goes first: it is not a node's work."""
        done = subprocess.run(["nice", "-n", "19", self.options.program, *arguments], env=self.command_environment,
                              capture_output=True, text=True)
        if done.returncode:
            bench.fail(f"identity {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def migrate(self):
        """The nodes of before go on, and see what is configured from now on."""
        print(self.command("migrate"), end="")
        self.configure(rotateRefreshTokens=True)
        time.sleep(0.6)
        for node in self.nodes:
            if bench.Client(node.url).call("GET", "/readyz")[0] != 200:
                print(f"a node of before is not ready any more: {node.url}")

    def replace_nodes(self):
        """A node of this release comes beside each of before, which is taken out; some seconds later it is told to end, and
        some seconds after that it is the next one's turn (docs/operations/production.md). They have a second encryption
        key, for later."""
        keys = self.service.environment["IDENTITY_ENCRYPTION_KEYS"].split(",")[0]
        second = "second:" + keys.split(":")[1]
        for old in list(self.nodes):
            new = self.node(self.options.program, IDENTITY_ENCRYPTION_KEYS=f"{keys},{second}")
            print(f"a node was ready after {new.ready_ms:.0f} ms", flush=True)
            self.send_to([node for node in self.nodes if node is not old] + [new])
            time.sleep(3)
            old.process.send_signal(signal.SIGTERM)
            if status := old.process.wait():
                bench.fail(f"a node that was told to end returned {status}")
            time.sleep(3)
        self.service = self.nodes[0]
        self.command_environment = {**self.service.environment, "IDENTITY_ENCRYPTION_KEYS": f"{second},{keys}"}

    def rotate(self):
        """The next keys are published, and a day passes for them, but not for those that sign."""
        self.command("keys", "rotate")
        time.sleep(1)
        self.let_a_day_pass()

    def let_a_day_pass(self):
        """For keys that are published. Over a connection that is open before: its start is nobody's work but the benchmark's."""
        self.clock.stdin.write("""
            WITH due AS (UPDATE signing_keys SET active_from = now() WHERE active_from > now() RETURNING kid)
            UPDATE configuration SET version = version + 1 WHERE EXISTS (SELECT FROM due);
            """)
        self.clock.stdin.flush()

    def revoke(self):
        """Every key that signs, one after the other."""
        for line in self.command("keys", "list").split("\n"):
            if " current " in line:
                self.command("keys", "revoke", line.split()[0])

    def wants(self, phase):
        return not self.options.only or phase in self.options.only

    def keep_flows(self):
        """Something to reencrypt: flows that began."""
        starts = [{"providerId": bench.PROVIDER, "continueUri": "http://localhost/callback"}] * 1000
        requests = self.requests.json("createAuthUri", starts)
        bench.Load(self.nodes[0].url, lambda: 0).wrk(requests, 16, self.options.seconds)
        print(f"{int(self.postgres.sql('SELECT count(*) FROM flows')):,} flows to reencrypt")

    def leave_over(self):
        self.hold_sweepers()
        for table, (columns, values) in LEFT_OVERS.items():
            self.postgres.sql(f"INSERT INTO {table} ({columns}) SELECT '{bench.PROJECT}', {values} "
                              f"FROM generate_series(1, {self.options.rows}) n")
        self.postgres.sql("ANALYZE")
        self.postgres.sql("CHECKPOINT")
        self.hold_sweepers()

    def hold_sweepers(self):
        """As if one had begun a moment ahead: the next turn is a minute after that."""
        self.postgres.sql("UPDATE configuration SET swept_at = now() + interval '55 seconds'")

    def expired(self):
        return int(self.postgres.sql("SELECT " + " + ".join(
            f"(SELECT count(*) FROM (SELECT FROM {table} WHERE "
            + ("revoked_at < now() - interval '15 days'" if table == "sessions" else "expires_at < now()") + " LIMIT 1) t)"
            for table in LEFT_OVERS)))

    def sweep(self):
        """Whoever looks first now sweeps: nodes look once a minute."""
        self.postgres.sql("UPDATE configuration SET swept_at = now() - interval '1 hour'")
        began = time.monotonic()
        while self.expired():
            if time.monotonic() - began > 150:
                bench.fail("what expired is still there")
            time.sleep(0.5)

    # What it showed

    def report(self):
        record, faults = self.steady.end()
        p99 = lambda *windows: statistics.quantiles(
            [answered - sent for window in windows for sent, answered, is_refresh in record
             if window.holds(sent) and answered > 0 and is_refresh], n=100)[98] * 1000
        print(f"\n{len(record):,} requests, {self.rate:,} in a second; {self.options.accounts:,} accounts\n")
        print(f"{'meanwhile':<28}{'seconds':>9}{'p99 ms':>9}{'quiet':>9}{'ratio':>7}{'failed':>8}{'stolen':>14}")
        worst = 0
        for name, windows in self.phases:
            for before, during, after in windows:
                quiet, busy = p99(before, after), p99(during)
                failed = sum(1 for sent, answered, _ in record if during.holds(sent) and answered < 0)
                worst = max(worst, busy / quiet)
                stolen = f"{during.stolen:.1%} {(before.stolen + after.stolen) / 2:.1%}"
                print(f"{name:<28}{during.took:>9.1f}{busy:>9.1f}{quiet:>9.1f}{busy / quiet:>7.2f}{failed:>8}{stolen:>14}")
        if faults or any(answered < 0 for _, answered, _ in record):
            bench.fail(f"requests failed:\n{faults}")
        if worst >= 2:
            bench.fail(f"a p99 moved by a factor of {worst:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=100_000, help="that expired, of each table")
    parser.add_argument("--seconds", type=int, default=10, help="of each window, at least")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="what to do meanwhile, by the table's names")
    parser.add_argument("--busy", type=float, default=0.5, help="for how much of the time the load keeps the machine busy")
    parser.add_argument("--rate", type=int, help="requests in a second, instead")
    parser.add_argument("--program", default=".build/release/identity")
    parser.add_argument("--previous", help="an earlier release's program")
    options = parser.parse_args()
    if "DATABASE_URL" not in os.environ:
        bench.fail("run it by scripts/with-postgres, as `make bench-maintenance` does")
    with Maintenance(options, os.environ["DATABASE_URL"]) as run:
        run.run()


if __name__ == "__main__":
    main()
