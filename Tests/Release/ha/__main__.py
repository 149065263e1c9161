"""Breaks the highly available cluster of deploy/ha under a steady load, and prints what requests notice of it.

usage: Tests/Release/ha [--only EXPERIMENT,…] [--load service|sql] [--database haproxy|hosts] [--users N] [--rate N]

Ends with 1 if an acknowledged write was lost or two primaries acknowledged writes at the same time. With --goals, also if
another goal was missed. Run it as root, by `make ha-test`: each database machine then has its own network namespace.
"""

import argparse
import asyncio
import collections
import os
import signal
import sys
import time

RELEASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(RELEASE))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(RELEASE, "soak"), os.path.join(ROOT, "deploy/ha")]

import cluster as clusters
from cluster import Failure, wait_until
from load import Figures, ServiceLoad, SQLLoad
from observer import Observer, promotions

Goal = collections.namedtuple("Goal", "name value limit")


class Experiments:
    """Each method breaks something, waits, and mends it."""

    ALL = ("switchover", "postgres", "machine", "lag", "standby", "patroni", "hang", "frozen", "network", "etcd", "etcd-and-standby", "node")
    TITLES = {
        "switchover": "planned switchover",
        "postgres": "kill -9 of the primary's PostgreSQL",
        "machine": "kill -9 of everything on the primary's machine",
        "lag": "kill -9 of the primary's machine, standbys lagging",
        "standby": "kill -9 of everything on the synchronous standby's machine",
        "patroni": "kill -9 of the primary's Patroni alone",
        "hang": "the primary's Patroni hangs",
        "frozen": "the primary's machine freezes",
        "network": "network of the primary cut for 30 s",
        "etcd": "etcd gone for 60 s",
        "etcd-and-standby": "etcd and a standby gone for 40 s",
        "node": "one node killed, one added",
    }

    def __init__(self, cluster, options):
        self.cluster, self.options = cluster, options

    def leader(self):
        return wait_until(self.cluster.leader, 30, "a primary")

    def by_role(self, role):
        members = self.cluster.members()
        return next(machine for machine in self.cluster.machines if members[machine.name]["role"] == role)

    async def in_thread(self, function, *arguments):
        return await asyncio.to_thread(function, *arguments)

    async def new_leader(self, old, seconds=60):
        def found():
            leader = self.cluster.leader()
            return leader if leader and leader is not old else None
        return await self.in_thread(wait_until, found, seconds, "a new primary")

    async def switchover(self):
        old, candidate = self.leader(), self.by_role("sync_standby")
        answer = await self.in_thread(old.ask, "POST", "/switchover", {"leader": old.name, "candidate": candidate.name}, 60)
        if not answer or answer[0] != 200:
            raise Failure(f"Patroni refused the switchover: {answer}")
        await self.new_leader(old)

    async def postgres(self):
        old = self.leader()
        old.kill_postgres()
        await self.new_leader(old)

    async def lose(self, machine):
        machine.patroni.send(signal.SIGKILL)
        machine.kill_postgres()
        machine.etcd.send(signal.SIGKILL)
        machine.patroni.child.wait()
        machine.etcd.child.wait()

    async def replace(self, machine):
        machine.start_etcd()
        await self.in_thread(machine.start_patroni)

    async def machine(self):
        old = self.leader()
        await self.lose(old)
        await self.new_leader(old)
        await asyncio.sleep(5)
        await self.replace(old)

    async def lag(self):
        """With asynchronous replication (--set synchronous_mode=false), this one must find lost writes."""
        old = self.leader()
        receivers = [number for machine in self.cluster.machines for number in machine.backends("walreceiver")]
        for number in receivers:
            os.kill(number, signal.SIGSTOP)
        await asyncio.sleep(1)
        await self.lose(old)
        for number in receivers:
            os.kill(number, signal.SIGCONT)
        await self.new_leader(old)
        await asyncio.sleep(5)
        await self.replace(old)

    async def standby(self):
        standby = self.by_role("sync_standby")
        await self.lose(standby)
        await asyncio.sleep(20)
        await self.replace(standby)

    async def patroni(self):
        """The unit starts it again after two seconds."""
        old = self.leader()
        await self.in_thread(old.patroni.kill)
        await asyncio.sleep(2)
        await self.in_thread(old.start_patroni)

    async def hang(self):
        """PostgreSQL goes on as a primary whose lock expires."""
        old = self.leader()
        old.patroni.send(signal.SIGSTOP)
        try:
            await self.new_leader(old)
            await asyncio.sleep(5)
        finally:
            old.patroni.send(signal.SIGCONT)

    async def frozen(self):
        """Nothing of it answers, and no connection to it ends; later it goes on as if nothing had been."""
        old = self.leader()
        old.signal(signal.SIGSTOP)
        try:
            await self.new_leader(old)
            await asyncio.sleep(5)
        finally:
            old.signal(signal.SIGCONT)

    async def network(self):
        old = self.leader()
        self.cluster.network.cut(old)
        await asyncio.sleep(30)
        self.cluster.network.mend(old)

    def stop_etcd(self):
        for machine in self.cluster.machines:
            machine.etcd.send(signal.SIGKILL)
        for machine in self.cluster.machines:
            machine.etcd.child.wait()

    def start_etcd(self):
        for machine in self.cluster.machines:
            machine.start_etcd()

    async def etcd(self):
        self.stop_etcd()
        await asyncio.sleep(60)
        self.start_etcd()

    async def etcd_and_standby(self):
        lost = self.by_role("replica")
        self.stop_etcd()
        await self.in_thread(lost.patroni.kill)
        lost.kill_postgres()
        await asyncio.sleep(40)
        self.start_etcd()
        await self.in_thread(lost.start_patroni)

    async def node(self):
        node = self.cluster.nodes[0]
        await self.in_thread(node.process.kill)
        await asyncio.sleep(10)
        node.start()
        await self.in_thread(wait_until, lambda: node.ask("/readyz") == 200, 30, "the start of a node")


class Readiness:
    """What /readyz of the nodes says, sampled."""

    def __init__(self, cluster):
        self.cluster, self.samples = cluster, []

    async def run(self):
        while True:
            for node in self.cluster.nodes:
                self.samples.append((time.time(), node.name, await asyncio.to_thread(node.ask, "/readyz")))
            await asyncio.sleep(0.25)

    def not_ready(self, since, until):
        """From when on, and for how long, a node said 503; None if none did."""
        times = [at for at, _, status in self.samples if since <= at <= until and status == 503]
        return (times[0] - since, times[-1] - since) if times else None


def busy_ticks():
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


class Trial:
    def __init__(self, cluster, load, options):
        self.cluster, self.load, self.options = cluster, load, options
        self.observer, self.readiness = Observer(cluster), Readiness(cluster)
        self.experiments = Experiments(cluster, options)
        self.rows, self.broken, self.missed = [], [], []

    async def run(self, names):
        load = asyncio.create_task(self.load.run())
        ready = asyncio.create_task(self.readiness.run())
        try:
            await asyncio.sleep(5)
            for name in names:
                await self.perform(name)
                if load.done():
                    load.result()
                    raise Failure("the load ended early")
        finally:
            self.load.is_over = self.observer.is_over = True
            ready.cancel()
            await asyncio.wait([load], timeout=60)
            load.cancel()

    async def perform(self, name):
        title = Experiments.TITLES[name]
        print(f"{time.strftime('%H:%M:%S')}  {title}", flush=True)
        await asyncio.to_thread(self.cluster.wait_for_standbys, 180)
        await asyncio.sleep(5)
        busy, began = busy_ticks(), time.time()
        await getattr(self.experiments, name.replace("-", "_"))()
        await asyncio.to_thread(self.cluster.wait_for_standbys, 180)
        await asyncio.sleep(5)
        ended, after = time.time(), busy_ticks()
        share = (after[0] - busy[0]) / max(1, after[1] - busy[1])
        promoted = promotions(self.cluster, began)
        figures = Figures([request for request in list(self.load.requests) if request.ended >= began],
                          promoted[-1][0] if promoted else None)
        checked, lost = await self.load.verify()
        wrong = await asyncio.to_thread(self.observer.split_brain)
        self.broken += [f"{title}: {line}" for line in lost + wrong]
        self.judge(name, title, figures, len(lost))
        self.rows.append([title, f"{len(figures.requests)}", f"{len(figures.failed)}", f"{figures.server_errors}",
                          f"{figures.worst_second:.2f} s", f"{figures.pause:.2f} s",
                          f"{promoted[-1][0] - began:.1f} s" if promoted else "none",
                          f"{figures.after_promotion:.2f} s" if promoted else "",
                          f"{len(lost)} of {checked}", f"{len(wrong)}", f"{share:.0%}"])
        details = ", ".join(f"{count} × {kind} {outcome}, after {after:.1f} s" for (kind, outcome), count, after in figures.kinds())
        print(f"          {len(figures.requests)} requests, median {figures.median * 1000:.0f} ms, {len(figures.failed)} failed"
              + (f" ({details})" if details else ""))
        if promoted and promoted[-1][1]:
            print(f"          PostgreSQL took writes {promoted[-1][1] - promoted[-1][0]:.2f} s after Patroni promoted it")
        if not_ready := self.readiness.not_ready(began, ended):
            print(f"          /readyz was 503 from {not_ready[0]:.1f} s to {not_ready[1]:.1f} s after the fault")
        for line in (lost + wrong)[:5]:
            print(f"          BROKEN: {line}", flush=True)

    def judge(self, name, title, figures, lost):
        goals = []
        if name == "switchover":
            goals = [Goal("failed requests", len(figures.failed), 0), Goal("p99 of the worst second", figures.worst_second, 2)]
        elif name in ("postgres", "machine", "lag"):
            goals = [Goal("seconds from promotion to writes", figures.after_promotion, 2), Goal("5xx", figures.server_errors, 0)]
        elif name == "frozen":
            goals = [Goal("seconds from promotion to writes", figures.after_promotion, 3)]
        elif name == "etcd":
            goals = [Goal("failed requests", len(figures.failed), 0)]
        elif name == "node":
            goals = [Goal("failed requests", len(figures.failed), self.options.users)]
        for goal in goals:
            if goal.value is None or goal.value > goal.limit:
                self.missed.append(f"{title}: {goal.name} {goal.value if isinstance(goal.value, int) else f'{goal.value or 0:.2f}'}, "
                                   f"goal {goal.limit}")

    def report(self):
        head = ["Experiment", "Requests", "Failed", "5xx", "p99 of the worst second", "Longest pause", "Promotion after",
                "Writes after promotion", "Lost", "Split brain", "CPU"]
        widths = [max(len(row[column]) for row in [head, *self.rows]) for column in range(len(head))]
        line = lambda row: "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        print("\n" + line(head) + "\n" + line(["-" * width for width in widths]))
        for row in self.rows:
            print(line(row))
        for text in self.missed:
            print(f"missed: {text}")
        for text in self.broken[:20]:
            print(f"BROKEN: {text}")


async def configure(cluster, provider):
    """A project with rotation and a provider, without rate limits."""
    from wire import Node
    admin = cluster.command("admin-keys", "create", "--name", "ha").strip().split("\n")[0].split()[-1]
    node = Node("haproxy", 9090, cluster.key, admin, clusters.PROJECT)
    for method, path, body in (
        ("PATCH", f"/v2/projects/{clusters.PROJECT}/config?updateMask=identity.rateLimits,identity.rotateRefreshTokens",
         {"identity": {"rateLimits": {"enabled": False}, "rotateRefreshTokens": True}}),
        ("POST", f"/v2/projects/{clusters.PROJECT}/oauthIdpConfigs?oauthIdpConfigId=oidc.one",
         {"clientId": "soak", "issuer": f"{provider.url}/oidc.one", "enabled": True}),
    ):
        answer = await node.call(method, path, body, admin=True)
        if answer.status != 200:
            raise Failure(f"{method} {path}: {answer.status} {answer.body}")
    # Every node knows it half a second later.
    await asyncio.sleep(1)
    return node


async def main(options, names):
    settings = dict(pair.split("=", 1) for pair in options.set)
    program = options.program if options.load == "service" else None
    with clusters.Cluster(program, in_namespaces=os.getuid() == 0, say=print, settings=settings,
                          uses_hosts=options.database == "hosts") as cluster:
        if options.load == "service":
            from wire import Provider
            provider = Provider()
            await provider.start()
            load = ServiceLoad(await configure(cluster, provider), provider, options.users, options.rate)
        else:
            load = SQLLoad(cluster.url("owner"), options.users, options.rate)
        await load.prepare()
        trial = Trial(cluster, load, options)
        try:
            await trial.run(names)
        except Failure as failure:
            trial.broken.append(f"the experiments ended early: {failure}")
            for machine in cluster.machines:
                print(f"\n{machine.name}:\n{machine.patroni.last_lines(30)}", file=sys.stderr)
        finally:
            trial.report()
            if options.keep_logs:
                import glob
                import shutil
                os.makedirs(options.keep_logs, exist_ok=True)
                for log in glob.glob(cluster.folder + "/*.log"):
                    shutil.copy(log, options.keep_logs)
        return 1 if trial.broken else 2 if trial.missed and options.goals else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.environ.get("IDENTITY_PROGRAM") or os.path.join(ROOT, ".build/dist/program/identity"))
    parser.add_argument("--only", default="", help="some of: " + ", ".join(Experiments.ALL))
    parser.add_argument("--load", choices=("service", "sql"), default="service")
    parser.add_argument("--database", choices=("haproxy", "hosts"), default="haproxy", help="how the primary is found")
    parser.add_argument("--users", type=int, default=300)
    parser.add_argument("--rate", type=float, default=300, help="requests a second")
    parser.add_argument("--goals", action="store_true", help="end with 2 if a goal was missed")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="replaces a setting of patroni.yml")
    parser.add_argument("--keep-logs", metavar="FOLDER")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name] or list(Experiments.ALL)
    if unknown := set(names) - set(Experiments.ALL):
        parser.error(f"no such experiment: {', '.join(sorted(unknown))}")
    if options.load == "sql":
        names = [name for name in names if name != "node"]
    if os.getuid() != 0:
        print("Not root: the network stays whole.")
        names = [name for name in names if name != "network"]
    elif "HA_NAMESPACE" not in os.environ:
        # Our own network, so that nothing of the machine's is in the way and nothing stays.
        os.environ["HA_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    clusters.stop_on_signals()
    try:
        if options.load == "service" and not os.access(options.program, os.X_OK):
            raise Failure(f"{options.program} is no program; run make release")
        sys.exit(asyncio.run(main(options, names)))
    except Failure as failure:
        print(f"ha-test: {failure}", file=sys.stderr)
        sys.exit(69)
    except KeyboardInterrupt:
        sys.exit(130)
