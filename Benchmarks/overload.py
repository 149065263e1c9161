"""What more load than it can carry does to the service: ten times the connections, a stalled database, a full queue of
password hashes. Run it by `make bench-overload`. It prints a line for each phase and fails unless the service recovers."""

import argparse
import os
import re
import signal
import threading
import time
import urllib.request

import bench

CONNECTIONS = 640


class Overload(bench.Bench):
    HEAD = f"{'phase':<44}{'conn':>5}{'answers/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'200':>9}{'503':>8}{'other':>7}{'MB':>6}"

    def run(self):
        self.configure(signingAlgorithm="ES256")
        refresh = self.requests.refresh(self.tokens)
        password = self.requests.json("signInWithPassword", (
            {"email": p.account + "@example.com", "password": bench.PASSWORD, "returnSecureToken": True}
            for p in self.people[:256]))
        print(f"{self.resting_mb:.1f} MB at rest\n\n{self.HEAD}")
        self.phase("refresh", refresh, 64, 5, healthy=True)
        self.phase("refresh, ten times the connections", refresh, CONNECTIONS, 10, healthy=True)
        self.phase("refresh, the database stalls for 10 s", refresh, CONNECTIONS, 15, stall=10)
        self.phase("refresh, the database stalls for 40 s", refresh, CONNECTIONS, 45, stall=40)
        began = time.monotonic()
        while self.load.wrk(refresh, 1, 1, may_fail=True)["failures"]:
            pass
        print(f"… healthy again {time.monotonic() - began:.1f} s after the load ended (a run of 1 s without a failure)")
        self.phase("refresh", refresh, 64, 5, healthy=True)
        self.phase("password sign-in, more than hashes may wait", password, CONNECTIONS, 10)
        self.phase("refresh", refresh, 64, 5, healthy=True)

    def phase(self, name, requests, connections, seconds, healthy=False, stall=0):
        """`healthy`: no request may fail. `stall`: seconds for which the database's processes stand still."""
        peak = [0.0]
        ended = threading.Event()

        def watch():
            while not ended.wait(0.1):
                peak[0] = max(peak[0], self.service.memory_mb())

        def hold():
            time.sleep(1)
            backends = bench.children(self.postgres.pid)
            for pid in backends:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(stall)
            for pid in backends:
                os.kill(pid, signal.SIGCONT)

        threads = [threading.Thread(target=watch)] + ([threading.Thread(target=hold)] if stall else [])
        before = self.statuses()
        for thread in threads:
            thread.start()
        result = self.load.wrk(requests, connections, seconds, may_fail=not healthy)
        for thread in threads[1:]:
            thread.join()
        ended.set()
        threads[0].join()
        time.sleep(0.2)
        after = self.statuses()
        counts = {status: after[status] - before.get(status, 0) for status in after}
        good, shed = counts.pop(200, 0), counts.pop(503, 0)
        others = sum(counts.values())
        print(f"{name:<44}{connections:>5}{(good + shed + others) / result['seconds']:>11,.0f}"
              f"{result['p50_us'] / 1000:>9.1f}{result['p99_us'] / 1000:>9.1f}{good:>9,}{shed:>8,}{others:>7,}"
              f"{peak[0]:>6.0f}", flush=True)
        if others:
            bench.fail(f"answers that are neither 200 nor 503: {counts}")

    def statuses(self):
        """Answers so far by status, from the service's own metrics, without those of health."""
        with urllib.request.urlopen(self.metrics) as page:
            text = page.read().decode()
        counts = {}
        for route, status, count in re.findall(
                r'duration_seconds_count\{[^}]*http_route="([^"]*)",http_response_status_code="(\d+)"\} (\d+)', text):
            if route not in ("/healthz", "/readyz"):
                counts[int(status)] = counts.get(int(status), 0) + int(count)
        return counts


def main():
    parser = argparse.ArgumentParser(description="Shows the service under more load than it can carry.")
    parser.add_argument("--accounts", type=int, default=10_000)
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    if "DATABASE_URL" not in os.environ:
        bench.fail("run it by scripts/with-postgres, as `make bench-overload` does")
    port = 19_000 + os.getpid() % 900
    os.environ["IDENTITY_METRICS_BIND"] = f"127.0.0.1:{port}"
    with Overload(options, os.environ["DATABASE_URL"], options.program) as run:
        run.metrics = f"http://127.0.0.1:{port}/metrics"
        run.prepare()
        run.run()


if __name__ == "__main__":
    main()
