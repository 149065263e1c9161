#!/usr/bin/python3
"""Runs the highly available cluster of this folder on one machine, until Ctrl-C.

usage: deploy/ha/cluster.py [--program PROGRAM | --without-nodes]

Three database machines (etcd, Patroni, PostgreSQL), each with its own folder and address, HAProxy, and two nodes. The files
that they read are those that `configure` writes for real machines. Run it by `make ha`; `make ha-test` gives each
database machine its own network namespace.
"""

import argparse
import base64
import glob
import http.client
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAMES = ("db1", "db2", "db3")
NODE_ADDRESSES = ("127.0.0.21", "127.0.0.22")
PORTS = {"PostgreSQL": 5432, "Patroni": 8008, "etcd": 2379, "etcd's peers": 2380}
PROJECT = "demo-project"


class Failure(Exception):
    """What the operator can do something about."""


def wait_until(condition, seconds=30, what="it", pause=0.1):
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise Failure(f"{what} took more than {seconds} s")
        time.sleep(pause)
    return found


def require_programs():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    packages = {"patroni": "patroni", "etcd": "etcd-server", "haproxy": "haproxy", "openssl": "openssl", "setpriv": "util-linux", "pgrep": "procps"}
    missing = [package for name, package in packages.items() if not shutil.which(name)]
    if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
        missing.append("postgresql")
    if missing:
        raise Failure(f"missing packages: {' '.join(missing)}; run scripts/install-dependencies ha")


class Process:
    """A program that ends with this one, whatever becomes of it."""

    def __init__(self, cluster, name, arguments, environment=None, machine=None, user=None, dying="TERM"):
        self.name, self.log = name, os.path.join(cluster.folder, name + ".log")
        words = ["setpriv", "--pdeathsig", dying]
        if user and os.getuid() == 0:
            words += [f"--reuid={user}", f"--regid={user}", "--init-groups"]
        if machine and machine.namespace:
            words = ["nsenter", f"--net=/proc/{machine.namespace.pid}/ns/net", "--", *words]
        with open(self.log, "a") as log:
            self.child = subprocess.Popen(
                [*words, "--", *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/",
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", **(environment or {})}, start_new_session=True)

    @property
    def is_running(self):
        return self.child.poll() is None

    def send(self, number):
        if self.is_running:
            self.child.send_signal(number)

    def kill(self, how=signal.SIGKILL):
        self.send(how)
        self.child.wait()

    def last_lines(self, count=15):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-count:])


class Machine:
    """A database machine: etcd, Patroni, and the PostgreSQL that Patroni starts."""

    def __init__(self, cluster, name, address):
        self.cluster, self.name, self.address = cluster, name, address
        self.folder = os.path.join(cluster.folder, name)
        self.namespace = self.etcd = self.patroni = None

    def start_etcd(self):
        with open(os.path.join(self.folder, "etcd.env")) as file:
            settings = dict(line.strip().split("=", 1) for line in file if line.strip() and line[0] != "#")
        self.etcd = Process(self.cluster, self.name + "-etcd", ["etcd"], settings, self, self.cluster.user)

    def start_patroni(self):
        # What patroni.service.conf does: a new Patroni must not find the PostgreSQL of the one before.
        self.kill_postgres(signal.SIGQUIT)
        wait_until(lambda: self.postmaster is None, 30, "the end of PostgreSQL")
        self.patroni = Process(self.cluster, self.name + "-patroni", ["patroni", os.path.join(self.folder, "patroni.yml")],
                               machine=self, user=self.cluster.user)

    @property
    def postmaster(self):
        """The process of PostgreSQL, if it runs."""
        try:
            with open(os.path.join(self.folder, "postgres", "postmaster.pid")) as file:
                number = int(file.readline())
            with open(f"/proc/{number}/cmdline", "rb") as file:
                return number if self.folder.encode() in file.read() else None
        except (OSError, ValueError):
            return None

    def backends(self, title):
        """PostgreSQL's processes of a kind, such as `walreceiver`."""
        done = subprocess.run(["pgrep", "-P", str(self.postmaster or 0), "-f", f"^postgres: .*{title}"], capture_output=True, text=True)
        return [int(word) for word in done.stdout.split()]

    def kill_postgres(self, how=signal.SIGKILL):
        if number := self.postmaster:
            try:
                os.kill(number, how)
            except ProcessLookupError:
                pass

    def signal(self, number):
        """Sends a signal to every process of the machine."""
        if postmaster := self.postmaster:
            for process in [postmaster, *self.backends("")]:
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    pass
        self.patroni.send(number)
        self.etcd.send(number)

    def ask(self, method, path, body=None, timeout=3, port=8008):
        """Asks Patroni, or etcd. Returns the status and the body, or None without a response."""
        connection = http.client.HTTPSConnection(self.address, port, timeout=timeout, context=self.cluster.tls)
        try:
            connection.request(method, path, json.dumps(body) if body else None)
            response = connection.getresponse()
            text = response.read().decode()
            return response.status, json.loads(text) if text[:1] == "{" else text
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def knows_etcd_version(self):
        answer = self.ask("GET", "/version", port=2379)
        return answer is not None and answer[0] == 200 and answer[1].get("etcdcluster", "not_decided") != "not_decided"

    def sql(self, text, database="postgres", **variables):
        """Runs statements as a superuser over the machine's socket, which works without its network too."""
        words = [word for name, value in variables.items() for word in ("-v", f"{name}={value}")]
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *words, self.conninfo(database)], input=text,
            capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def conninfo(self, database="postgres"):
        return (f"host={self.folder}/run dbname={database} user=postgres password={self.cluster.secret('superuser')} "
                "connect_timeout=3")


class Node:
    """`identity serve`."""

    def __init__(self, cluster, name, address):
        self.cluster, self.name, self.address, self.process = cluster, name, address, None

    def start(self):
        environment = {**self.cluster.environment, "IDENTITY_HTTP_BIND": f"{self.address}:9099"}
        self.process = Process(self.cluster, self.name, [self.cluster.program, "serve"], environment)

    def ask(self, path):
        """Returns the status of a GET, None without a response."""
        connection = http.client.HTTPConnection(self.address, 9099, timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


class Network:
    """Network namespaces of the database machines, on a bridge of the namespace that we are in ourselves."""

    def __init__(self, machines, bridge="10.77.0.1"):
        self.machines = machines
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "machines", "type", "bridge")
        run("ip", "address", "add", bridge + "/24", "dev", "machines")
        run("ip", "link", "set", "machines", "up")
        for machine in machines:
            machine.namespace = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--net", "sleep", "infinity"])
            own = os.readlink("/proc/self/ns/net")
            wait_until(lambda: os.readlink(f"/proc/{machine.namespace.pid}/ns/net") != own, what="a network namespace")
            run("ip", "link", "add", machine.name, "type", "veth", "peer", "name", "eth0", "netns", str(machine.namespace.pid))
            run("ip", "link", "set", machine.name, "master", "machines", "up")
            self.inside(machine, "ip", "link", "set", "lo", "up")
            self.inside(machine, "ip", "address", "add", machine.address + "/24", "dev", "eth0")
            self.inside(machine, "ip", "link", "set", "eth0", "up")

    @staticmethod
    def inside(machine, *words, **more):
        run("nsenter", f"--net=/proc/{machine.namespace.pid}/ns/net", "--", *words, **more)

    def cut(self, machine):
        """Drops silently what the machine sends and what it is sent."""
        rules = 'table netdev cutoff {{ chain everything {{ type filter hook ingress device "{}" priority 0; policy drop; }}; }}'
        run("nft", rules.format(machine.name))
        self.inside(machine, "nft", rules.format("eth0"))

    def mend(self, machine):
        run("nft", "delete", "table", "netdev", "cutoff")
        self.inside(machine, "nft", "delete", "table", "netdev", "cutoff")

    def stop(self):
        for machine in self.machines:
            if machine.namespace:
                machine.namespace.kill()
                machine.namespace.wait()


def run(*words, input=None):
    done = subprocess.run(words, capture_output=True, text=True, input=input)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Cluster:
    """The whole, in a temporary folder. Without a program, there are no nodes."""

    def __init__(self, program=None, in_namespaces=False, say=lambda text: None, settings=None, uses_hosts=False):
        require_programs()
        self.program, self.say, self.settings, self.uses_hosts = program, say, settings or {}, uses_hosts
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.haproxy = self.network = None
        self.nodes = []
        self.folder = tempfile.mkdtemp(prefix="identity-ha-", dir="/tmp")
        os.chmod(self.folder, 0o711)
        addresses = [f"10.77.0.{number}" for number in (11, 12, 13)] if in_namespaces else ["127.0.0.11", "127.0.0.12", "127.0.0.13"]
        self.machines = [Machine(self, name, address) for name, address in zip(NAMES, addresses)]
        try:
            if in_namespaces:
                self.network = Network(self.machines)
            else:
                self.require_free_ports()
            self.start()
        except BaseException:
            self.stop()
            raise

    def require_free_ports(self):
        wanted = [(machine.address, port, what) for machine in self.machines for what, port in PORTS.items()]
        wanted += [("127.0.0.1", 5000, "HAProxy"), ("127.0.0.1", 9090, "HAProxy")]
        if self.program:
            wanted += [(address, 9099, "a node") for address in NODE_ADDRESSES]
        taken = []
        for address, port, what in wanted:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((address, port))
                except OSError as error:
                    taken.append(f"{address}:{port} for {what}: {error.strerror}")
        if taken:
            raise Failure("ports that the cluster needs are not free:\n  " + "\n  ".join(taken))

    def secret(self, name):
        with open(os.path.join(self.folder, name + ".secret")) as file:
            return file.read().strip()

    def url(self, role):
        if self.uses_hosts:
            hosts = ",".join(f"{machine.address}:5432" for machine in self.machines)
            return (f"postgresql://identity_{role}:{self.secret(role)}@{hosts}/identity?sslmode=verify-full"
                    f"&sslrootcert={self.folder}/ca.pem&target_session_attrs=read-write&connect_timeout=2")
        with open(os.path.join(self.folder, role + "-url")) as file:
            return file.read().strip()

    def start(self):
        done = subprocess.run([os.path.join(HERE, "configure"), self.folder, *(machine.address for machine in self.machines),
                               *NODE_ADDRESSES], env={**os.environ, "ONE_MACHINE": "1"}, capture_output=True, text=True)
        if done.returncode:
            raise Failure(done.stderr.strip())
        self.tls = ssl.create_default_context(cafile=os.path.join(self.folder, "ca.pem"))
        self.tls.load_cert_chain(os.path.join(self.folder, "db1/server.pem"), os.path.join(self.folder, "db1/server.key"))
        for machine in self.machines:
            os.makedirs(os.path.join(machine.folder, "run"), exist_ok=True)
            self.adjust(os.path.join(machine.folder, "patroni.yml"))
            if os.getuid() == 0:
                for path in (machine.folder, *glob.glob(machine.folder + "/*")):
                    shutil.chown(path, self.user, self.user)
        self.say("Starting etcd, Patroni and PostgreSQL on " + ", ".join(machine.address for machine in self.machines))
        for machine in self.machines:
            machine.start_etcd()
        for machine in self.machines:
            # Before that, Patroni ends with an error.
            wait_until(lambda: machine.knows_etcd_version() or self.require_running(machine.etcd), what="the start of etcd")
        for machine in self.machines:
            machine.start_patroni()
        self.wait_for_standbys(90)
        self.leader().sql(open(os.path.join(HERE, "roles.sql")).read(), owner=self.secret("owner"), service=self.secret("service"))
        self.start_haproxy()
        if self.program:
            self.start_nodes()

    def adjust(self, path):
        """Replaces settings of Patroni, for comparisons."""
        with open(path) as file:
            text = file.read()
        for name, value in self.settings.items():
            lines = text.split("\n")
            text = "\n".join(f"{line[:len(line) - len(line.lstrip())]}{name}: {value}" if line.lstrip().startswith(name + ":") else line
                             for line in lines)
        with open(path, "w") as file:
            file.write(text)

    def start_haproxy(self):
        path = os.path.join(self.folder, "haproxy", "haproxy.cfg")
        os.makedirs(os.path.join(self.folder, "haproxy", "run"), exist_ok=True)
        # A process that changes its user itself would no longer end with this one.
        with open(path) as file:
            lines = [line for line in file if line.strip() not in ("user haproxy", "group haproxy")]
        with open(path, "w") as file:
            file.writelines(lines)
        if os.getuid() == 0:
            os.chmod(os.path.join(self.folder, "ca.pem"), 0o644)
            for name in ("", "haproxy.cfg", "run"):
                shutil.chown(os.path.join(self.folder, "haproxy", name), "haproxy", "haproxy")
        self.haproxy = Process(self, "haproxy", ["haproxy", "-db", "-f", path], user="haproxy")
        wait_until(lambda: self.is_open(5000) or self.require_running(self.haproxy), what="the start of HAProxy")
        # It takes every server for the primary until it has checked it.
        time.sleep(1)

    @staticmethod
    def is_open(port):
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def start_nodes(self):
        self.environment = {
            "IDENTITY_DATABASE_URL": self.url("service"),
            "IDENTITY_DATABASE_MIGRATION_URL": self.url("owner"),
            "IDENTITY_ENCRYPTION_KEYS": "k1:" + base64.b64encode(secrets.token_bytes(32)).decode(),
            "IDENTITY_HTTP_PUBLIC_URL": "https://auth.example",
            "IDENTITY_HTTP_TRUSTED_PROXIES": "127.0.0.1",
            "IDENTITY_LOG_LEVEL": "warning",
            "IDENTITY_OUTBOUND_ALLOW": "loopback",
        }
        self.say("Migrating the database and starting two nodes")
        self.command("migrate", environment={"IDENTITY_DATABASE_URL": self.url("owner")})
        self.key = self.command("projects", "create", PROJECT).split()[-1]
        self.nodes = [Node(self, f"node{index + 1}", address) for index, address in enumerate(NODE_ADDRESSES)]
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            wait_until(lambda: node.ask("/readyz") == 200 or self.require_running(node.process), what=f"the start of {node.name}")

    @staticmethod
    def require_running(process):
        if not process.is_running:
            raise Failure(f"{process.name} ended with {process.child.returncode}:\n{process.last_lines()}")

    def command(self, *arguments, environment=None):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], **self.environment, **(environment or {})})
        if done.returncode:
            raise Failure(f"identity {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def members(self):
        """What Patroni knows of the members, by name: role, state, timeline, lag."""
        for machine in self.machines:
            answer = machine.ask("GET", "/cluster")
            if answer and answer[0] == 200:
                return {member["name"]: member for member in answer[1]["members"]}
        return {}

    def leader(self):
        """The machine that HAProxy takes for the primary."""
        return next((machine for machine in self.machines if (machine.ask("GET", "/primary") or (0,))[0] == 200), None)

    def wait_for_standbys(self, seconds=90):
        """Until the cluster is whole: a primary, a synchronous standby and another one, all of one timeline."""
        def is_whole():
            for machine in self.machines:
                for process in (machine.etcd, machine.patroni):
                    if process:
                        self.require_running(process)
            members = self.members().values()
            roles = sorted(member["role"] for member in members)
            second = "replica" if self.settings.get("synchronous_mode") == "false" else "sync_standby"
            return (roles == ["leader", "replica", second] and len({member.get("timeline") for member in members}) == 1
                    and all(member["state"] in ("running", "streaming") for member in members))
        wait_until(is_whole, seconds, "the start of a primary and two standbys")

    def stop(self):
        """Ends everything. Nothing here is worth a checkpoint."""
        for node in self.nodes:
            if node.process:
                node.process.send(signal.SIGTERM)
        if self.haproxy:
            self.haproxy.kill()
        for machine in self.machines:
            if machine.patroni:
                machine.patroni.kill()
            machine.kill_postgres(signal.SIGQUIT)
            if machine.etcd:
                machine.etcd.kill()
        for machine in self.machines:
            try:
                wait_until(lambda: machine.postmaster is None, 5)
            except Failure:
                machine.kill_postgres()
        for node in self.nodes:
            if node.process:
                try:
                    node.process.child.wait(10)
                except subprocess.TimeoutExpired:
                    node.process.kill()
        if self.network:
            self.network.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def stop_on_signals():
    def interrupt(*_):
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def watch(cluster):
    """Prints each change of roles and of the nodes' readiness."""
    before = None
    while True:
        members = cluster.members()
        state = ", ".join(f"{name} {members[name]['role'].replace('_', ' ')}" for name in sorted(members)) or "Patroni does not respond"
        for node in cluster.nodes:
            state += f", {node.name} {'ready' if node.ask('/readyz') == 200 else 'not ready'}"
        if state != before:
            print(f"{time.strftime('%H:%M:%S')}  {state}", flush=True)
            before = state
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.path.join(ROOT, ".build/dist/program/identity"))
    parser.add_argument("--without-nodes", action="store_true", help="only the database, for experiments with psql")
    options = parser.parse_args()
    stop_on_signals()
    try:
        if not options.without_nodes and not os.access(options.program, os.X_OK):
            raise Failure(f"{options.program} is no program; run make release")
        with Cluster(None if options.without_nodes else options.program, say=print) as cluster:
            print(f"""
PostgreSQL's primary: psql '{cluster.url('service')}'
Folder with logs:     {cluster.folder}
Patroni:              patronictl -c {cluster.folder}/db1/patroni.yml list""")
            if cluster.nodes:
                print(f"""The service:          http://127.0.0.1:9090
  curl -d '{{"email": "ada@example.com", "password": "correct horse"}}' -H 'Content-Type: application/json' \\
    'http://127.0.0.1:9090/v1/accounts:signUp?key={cluster.key}'""")
            print("\nCtrl-C stops everything and deletes the folder.\n", flush=True)
            watch(cluster)
    except KeyboardInterrupt:
        print("\nStopped.")
    except Failure as failure:
        print(f"ha: {failure}", file=sys.stderr)
        sys.exit(69)


if __name__ == "__main__":
    main()
