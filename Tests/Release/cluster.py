"""The release program as it runs in production: nodes with clocks of their own, PostgreSQL with a standby."""

import base64
import contextlib
import errno
import glob
import http.client
import os
import re
import secrets
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROJECT = "soak-project"


def program():
    """What `make release` made, or IDENTITY_PROGRAM."""
    return os.environ.get("IDENTITY_PROGRAM") or os.path.join(ROOT, ".build/dist/program/identity")


def wait_until(condition, seconds=30, what="it"):
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what} took more than {seconds} s")
        time.sleep(0.02)
    return found


def await_configuration(*metrics):
    """Waits until the nodes with these metrics have read the configuration once more."""
    since = time.monotonic()

    def is_read(url):
        asked = time.monotonic()
        with urllib.request.urlopen(url, timeout=30) as answer:
            age = re.search(r"(?m)^identity_configuration_age_seconds (\S+)$", answer.read().decode()).group(1)
        return asked - float(age) > since

    for url in metrics:
        wait_until(lambda: is_read(url), 60, f"the configuration at {url}")


class Server:
    """One PostgreSQL, on a socket in the folder of the cluster. A crash of it loses nothing while the machine stays up."""

    def __init__(self, postgres, port):
        self.postgres, self.port, self.process = postgres, port, None
        self.data = os.path.join(postgres.folder, f"data{port}")

    def start(self):
        log = open(os.path.join(self.postgres.folder, f"log{self.port}"), "a")
        self.process = subprocess.Popen(
            [*self.postgres.user, self.postgres.bin + "/postgres", "-D", self.data, "-p", str(self.port),
             "-c", "listen_addresses=", "-c", f"unix_socket_directories={self.postgres.folder}", "-c", "fsync=off",
             "-c", "max_connections=200", "-c", "wal_log_hints=on", "-c", "wal_keep_size=128MB", "-c", "max_wal_size=256MB",
             "-c", "hot_standby=on"],
            stdout=log, stderr=log, cwd="/")
        wait_until(self.answers, what="the start of PostgreSQL")

    def answers(self):
        done = subprocess.run([self.postgres.bin + "/pg_isready", "-q", "-h", self.postgres.folder, "-p", str(self.port)])
        return done.returncode == 0

    def stop(self, how=signal.SIGINT):
        """SIGINT ends it properly, SIGQUIT at once."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    @property
    def psql(self):
        return [self.postgres.bin + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.postgres.folder,
                "-p", str(self.port), "-U", "postgres", "-d", "postgres"]

    def sql(self, text):
        done = subprocess.run([*self.psql, "-c", text], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    @contextlib.contextmanager
    def locked(self, table):
        """Nobody else reads or writes the table meanwhile, as when a migration or VACUUM FULL has it."""
        with subprocess.Popen(self.psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            session.stdin.write(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n")
            session.stdin.flush()
            if session.stdout.readline() != "locked\n":
                raise RuntimeError(f"{table} could not be locked")
            yield

    @contextlib.contextmanager
    def frozen(self):
        """Nothing of it answers, and no connection to it ends; then it goes on as if nothing had been."""
        number = self.process.pid
        os.kill(number, signal.SIGSTOP)  # first: it starts no more
        with open(f"/proc/{number}/task/{number}/children") as file:
            numbers = [number, *map(int, file.read().split())]
        try:
            for number in numbers:
                os.kill(number, signal.SIGSTOP)
            yield
        finally:
            for number in numbers:
                os.kill(number, signal.SIGCONT)


class Postgres:
    """A primary, and a synchronous standby where one is asked for."""

    def __init__(self, folder, standby=False):
        found = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True).stdout.strip()
        self.bin = found if os.path.exists(found + "/initdb") else sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder = folder
        self.user = []
        if os.getuid() == 0:
            self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--reset-env", "--pdeathsig",
                         "INT", "--"]
            shutil.chown(folder, "postgres", "postgres")
        self.primary, self.standby = Server(self, 5432), Server(self, 5433) if standby else None
        self.run("initdb", "-D", self.primary.data, "-U", "postgres", "--auth=trust", "--no-sync", "--no-instructions",
                 "-E", "UTF8", "--locale=C.UTF-8")
        self.primary.start()
        if standby:
            self.clone()
            self.require_standby(True)
        ports = "5432,5433" if standby else "5432"
        hosts = ",".join([folder] * (2 if standby else 1))
        self.conninfo = (f"host={hosts} port={ports} user=postgres dbname=postgres connect_timeout=2"
                         + (" target_session_attrs=read-write" if standby else ""))

    def run(self, name, *arguments):
        done = subprocess.run([*self.user, f"{self.bin}/{name}", *arguments], cwd="/", capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")

    def clone(self):
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.run("pg_basebackup", "-h", self.folder, "-p", str(self.primary.port), "-U", "postgres", "-D",
                 self.standby.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.standby.start()

    def require_standby(self, is_required):
        """A commit waits for the standby, so that nothing acknowledged is lost with the primary."""
        names = "*" if is_required else ""
        self.primary.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.primary.sql("SELECT pg_reload_conf()")
        if is_required:
            wait_until(lambda: self.primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync",
                       what="the standby's catching up")

    def promote(self):
        """Loses the primary at once and makes the standby the primary; returns when that takes writes."""
        self.primary.stop(signal.SIGQUIT)
        # Before it takes writes: there is nobody yet to wait for.
        with open(os.path.join(self.standby.data, "postgresql.auto.conf"), "a") as file:
            file.write("\nsynchronous_standby_names = ''\n")
        self.standby.sql("SELECT pg_reload_conf()")
        self.standby.sql("SELECT pg_promote(true, 30)")
        self.primary, self.standby = self.standby, self.primary

    def fill(self):
        """Takes all room that the small file system has left."""
        with open(os.path.join(self.folder, "filler"), "wb", buffering=0) as file:
            block = bytes(1 << 20)
            try:
                while True:
                    if file.write(block) < len(block):
                        block = block[:len(block) // 2] or b"0"
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def make_room(self):
        """The room is back. A server that could write no WAL has ended, and is started again as an operator would."""
        os.unlink(os.path.join(self.folder, "filler"))
        for server in (self.primary, self.standby):
            if server and server.process.poll() is not None:
                server.start()
        wait_until(self.primary.answers, what="PostgreSQL's recovery")
        if self.standby:
            wait_until(lambda: self.primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync",
                       what="the standby's catching up")

    def restore_standby(self):
        self.standby.stop(signal.SIGQUIT)
        self.clone()
        self.require_standby(True)

    def stop(self):
        for server in (self.primary, self.standby):
            if server:
                server.stop(signal.SIGQUIT)


def clock_library(folder):
    """clock.c, compiled once for a cluster."""
    library = os.path.join(folder, "clock.so")
    if not os.path.exists(library):
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, os.path.join(os.path.dirname(__file__), "clock.c")],
                       check=True)
    return library


class Node:
    """`identity serve`, with a clock that is off by so many seconds."""

    def __init__(self, name, environment, folder, clock=0.0):
        self.name, self.environment, self.clock = name, dict(environment), clock
        self.port, self.metrics_port = (20_000 + secrets.randbelow(12_000) for _ in range(2))  # below those that callers get
        self.log = os.path.join(folder, name + ".log")
        self.environment["IDENTITY_HTTP_BIND"] = f"127.0.0.1:{self.port}"
        self.environment["IDENTITY_METRICS_BIND"] = f"127.0.0.1:{self.metrics_port}"
        self.offset = os.path.join(folder, name + ".clock")
        self.environment.update(LD_PRELOAD=clock_library(folder), CLOCK_OFFSET=self.offset)
        self.process = None

    def set_clock(self, seconds):
        self.clock = seconds
        # In place: the node has mapped this very file.
        descriptor = os.open(self.offset, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(descriptor, struct.pack("=q", round(seconds * 1e9)), 0)
        os.close(descriptor)

    def start(self):
        self.set_clock(self.clock)
        with self.open_log() as log:
            # It ends with whatever becomes of the test.
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", program(), "serve"],
                                            env=self.environment, stdout=log, stderr=log)
        wait_until(self.is_ready, what=f"the start of {self.name}")

    def open_log(self):
        return open(self.log, "a")

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.last_lines()}")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False

    def last_lines(self):
        with open(self.log) as file:
            return "".join(file.readlines()[-20:])

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(how)
            self.process.wait()


class Cluster:
    """Two nodes of one database, whose clocks are 2.4 s apart, with a project for the test.

    With `megabytes` (only root may), the database is on a file system of that size, so that it can be filled.
    """

    def __init__(self, clocks=(0.9, -1.5), standby=False, megabytes=None, **environment):
        self.folder = tempfile.mkdtemp(prefix="identity-release-", dir="/tmp")
        os.chmod(self.folder, 0o711)
        self.nodes, self.postgres, self.is_mounted = [], None, False
        try:
            self.start(clocks, standby, megabytes, environment)
        except BaseException:
            self.stop()
            raise

    def start(self, clocks, standby, megabytes, environment):
        postgres = os.path.join(self.folder, "postgres")
        os.mkdir(postgres, 0o700)
        if megabytes:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "none", postgres], check=True)
            self.is_mounted = True
        self.postgres = Postgres(postgres, standby)
        self.environment = {
            "PATH": os.environ["PATH"],
            "IDENTITY_DATABASE_URL": self.postgres.conninfo,
            "IDENTITY_ENCRYPTION_KEYS": "soak:" + base64.b64encode(secrets.token_bytes(32)).decode(),
            "IDENTITY_HTTP_PUBLIC_URL": "https://auth.example",
            "IDENTITY_LOG_LEVEL": "warning",
            "IDENTITY_OUTBOUND_ALLOW": "loopback",
            **environment,
        }
        self.command("migrate")
        self.key = self.command("projects", "create", PROJECT).split()[-1]
        self.admin = self.command("admin-keys", "create", "--name", "soak").strip().split("\n")[0].split()[-1]
        self.service_account = self.command("service-accounts", "create", "--project", PROJECT)
        for name, clock in zip(("fast", "slow"), clocks):
            self.nodes.append(Node(name, self.environment, self.folder, clock))
            self.nodes[-1].start()

    def command(self, *arguments):
        done = subprocess.run([program(), *arguments], env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"identity {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def stop(self):
        for node in self.nodes:
            node.stop(signal.SIGKILL)
        if self.postgres:
            self.postgres.stop()
        if self.is_mounted:
            subprocess.run(["umount", os.path.join(self.folder, "postgres")], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
