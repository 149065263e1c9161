"""Measures what a second node adds, as `make bench-nodes`: refreshes with rotation, each node with a share of one core.

The nodes are what is limited: the load generator and PostgreSQL have the rest of the machine. One node and two are measured
in turns. Needs root, for a control group (version 1 or 2).

usage: two_nodes.py [--share 0.25] [--seconds S] [--rounds N] [--accounts N]
"""

import argparse
import concurrent.futures
import os
import statistics
import sys

import bench

GROUPS = "/sys/fs/cgroup"


class Quota:
    """A control group that gives a process a share of one core."""

    def __init__(self, name, share):
        is_first = os.path.isdir(f"{GROUPS}/cpu")
        self.path = f"{GROUPS}/cpu/{name}" if is_first else f"{GROUPS}/{name}"
        period, quota = 20_000, int(20_000 * share)
        os.makedirs(self.path, exist_ok=True)
        if is_first:
            self.write("cpu.cfs_period_us", period)
            self.write("cpu.cfs_quota_us", quota)
        else:
            self.write("cpu.max", f"{quota} {period}")

    def write(self, name, value):
        with open(f"{self.path}/{name}", "w") as file:
            file.write(str(value))

    def limit(self, pid):
        self.write("cgroup.procs", pid)

    def remove(self):
        os.rmdir(self.path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--accounts", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=32, help="per node")
    parser.add_argument("--program", default=os.environ.get("IDENTITY_PROGRAM", "identity"))
    options = parser.parse_args()
    if os.geteuid():
        bench.fail("needs root")
    quotas = [Quota(f"identity-bench-{number}", options.share) for number in range(2)]
    with bench.Bench(options, os.environ["DATABASE_URL"], options.program) as run:
        run.prepare()
        run.configure(signingAlgorithm="ES256", rotateRefreshTokens=True)
        run.keep_sessions()
        second = run.service.twin()
        second.start()
        try:
            nodes = [run.service, second]
            for quota, node in zip(quotas, nodes):
                quota.limit(node.process.pid)
            print(f"each node has {options.share:.2f} of a core, and {options.connections} connections\n")
            print(f"{'nodes':>5}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'service µs':>12}{'postgres µs':>13}")
            ratios = []
            for _ in range(options.rounds):
                one, two = measure(run, options, nodes[:1]), measure(run, options, nodes)
                ratios.append(two / one)
            print(f"\ntwo nodes answer {statistics.median(ratios):.2f} times as many as one "
                  f"({min(ratios):.2f} to {max(ratios):.2f})")
        finally:
            second.stop()
    for quota in quotas:
        quota.remove()


def measure(run, options, nodes):
    """Requests in a second that the nodes answer together; each has accounts of its own."""
    run.put_sessions_back()
    share = len(run.tokens) // 2
    loads = []
    for number, node in enumerate(nodes):
        requests = run.requests.refresh(run.tokens[number * share:(number + 1) * share])
        path = f"{requests}-{number}"
        os.rename(requests, path)
        loads.append((bench.Load(node.url, node.cpu_us), path))
    before = [node.cpu_us() for node in nodes], run.postgres.cpu_us()
    with concurrent.futures.ThreadPoolExecutor(len(loads)) as pool:
        results = list(pool.map(lambda load: load[0].wrk(load[1], options.connections, options.seconds, "follow"), loads))
    count = sum(result["requests"] for result in results)
    rate = sum(result["requests"] / result["seconds"] for result in results)
    service = sum(node.cpu_us() - cpu for node, cpu in zip(nodes, before[0])) / count
    postgres = (run.postgres.cpu_us() - before[1]) / count
    print(f"{len(nodes):>5}{rate:>9,.0f}{max(r['p50_us'] for r in results) / 1000:>9.2f}"
          f"{max(r['p99_us'] for r in results) / 1000:>9.2f}{service:>12.0f}{postgres:>13.0f}", flush=True)
    return rate


if __name__ == "__main__":
    sys.exit(main())
