"""Every alert of monitoring/alerts.yml is fired by its real cause, in a real Prometheus, and ends with it.

The rules are those that ship, with hours and minutes shortened alike. What they compare with (shares, milliseconds, a clock's
30 s) stays.
"""

import contextlib
import http.client
import http.server
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cluster as clusters  # noqa: E402

PROGRAM = "/usr/bin/prometheus"
pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="needs Prometheus")

FACTOR = 60
INTERVAL = 500  # milliseconds between scrapes
UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
MAIL_SERVER = os.path.join(clusters.ROOT, "Tests/TestKit/Mail/mail_server.py")

with open(os.path.join(clusters.ROOT, "monitoring/alerts.yml")) as rules:
    RULES = rules.read()


def shortened(rules):
    """Every duration, and every age of a minute or more: a node's configuration is half a second old."""
    def duration(match):
        return f"{int(match[1]) * UNITS[match[2]] // FACTOR}ms"

    def age(match):
        return match[1] + (f"{int(match[2]) / FACTOR:g}" if int(match[2]) >= 60 else match[2])
    return re.sub(r"(_(?:age|oldest)_seconds\)* > )(\d+)\b", age, re.sub(r"\b(\d+)([smhd])\b", duration, rules))


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


@contextlib.contextmanager
def going_on(*functions):
    """Each is called again and again meanwhile, on a thread of its own. Nobody minds what fails."""
    is_over = threading.Event()

    def repeat(function):
        while not is_over.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                function()
    threads = [threading.Thread(target=repeat, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


class Prometheus:
    def __init__(self, nodes, interval=INTERVAL):
        self.folder = tempfile.mkdtemp(prefix="identity-prometheus-", dir="/tmp")
        self.port = free_port()
        targets = ", ".join(f'"127.0.0.1:{node.metrics_port}"' for node in nodes)
        self.write("rules.yml", shortened(RULES))
        self.write("prometheus.yml",
                   f"global: {{ scrape_interval: {interval}ms, scrape_timeout: {interval}ms, evaluation_interval: {INTERVAL}ms }}\n"
                   "rule_files: [rules.yml]\n"
                   f"scrape_configs: [{{ job_name: identity, static_configs: [{{ targets: [{targets}] }}] }}]\n")
        with open(os.path.join(self.folder, "log"), "w") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", PROGRAM, "--config.file", self.folder + "/prometheus.yml",
                 "--storage.tsdb.path", self.folder + "/data", "--web.listen-address", f"127.0.0.1:{self.port}"],
                stdout=log, stderr=log)

    def __enter__(self):
        try:
            clusters.wait_until(self.is_ready, 60, "the start of Prometheus")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()

    def ask(self, path, **parameters):
        status, text = self.get(f"/api/v1/{path}?" + urllib.parse.urlencode(parameters))
        assert status == 200, text
        return json.loads(text)["data"]

    def is_ready(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log")) as log:
                raise RuntimeError(log.read())
        try:
            return self.get("/-/ready")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def value(self, query):
        """Of a query whose result is one number at most."""
        found = self.ask("query", query=query)["result"]
        return float(found[0]["value"][1]) if found else 0

    def evaluations(self):
        return int(re.search(r"(?m)^prometheus_rule_group_iterations_total\{.*\} (\d+)$", self.get("/metrics")[1])[1])

    def firing(self):
        """Their labels."""
        return [alert["labels"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"]

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Shipped(clusters.Node):
    """A node whose log another process reads."""

    def open_log(self):
        with super().open_log() as log:
            self.shipper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=log)
        return self.shipper.stdin

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.shipper.send_signal(signal.SIGCONT)
        super().stop(how)
        if self.process:
            self.shipper.wait()


class Endpoint(http.server.ThreadingHTTPServer):
    """A project's webhook, and a provider. Nothing listens at its port before `listen`."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer, bind_and_activate=False)
        self.server_bind()
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.thread, self.status, self.once = None, 200, []

    def listen(self):
        self.server_activate()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        if self.thread:
            self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.answer(self.server.once.pop() if self.server.once else self.server.status)

    def do_GET(self):
        url = self.server.url
        self.answer(200, {
            "issuer": url, "authorization_endpoint": url + "/authorize", "token_endpoint": url + "/token",
            "jwks_uri": url + "/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"]})

    def answer(self, status, body=None):
        data = json.dumps(body or {}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class World:
    """Two nodes, of which clients use the first. The other has one connection to the database, and logs each request."""

    def __init__(self, cluster, webhook, provider):
        self.webhook, self.provider = webhook, provider
        self.cluster, self.postgres = cluster, cluster.postgres.primary
        self.node = cluster.nodes[0]
        self.small = Shipped("small", {**cluster.environment, "IDENTITY_DATABASE_CONNECTIONS": "1", "IDENTITY_LOG_LEVEL": "info"},
                             cluster.folder)
        cluster.nodes.append(self.small)
        self.small.start()
        webhook.listen()
        admin = {"authorization": "Bearer " + cluster.admin}
        for method, path, body in (
            ("PATCH", "config?updateMask=identity.rateLimits,identity.webhook,signIn.anonymous", {
                "identity": {"rateLimits": {"enabled": False}, "webhook": {
                    "url": webhook.url, "types": ["account.created"], "secrets": ["whsec_" + "QUFB" * 10]}},
                "signIn": {"anonymous": {"enabled": True}}}),
            ("POST", "oauthIdpConfigs?oauthIdpConfigId=oidc.own", {
                "clientId": "app", "issuer": provider.url, "enabled": True}),
        ):
            status, answer = self.call(self.node, path, body, method, f"/v2/projects/{clusters.PROJECT}/", admin)
            assert status == 200, answer
        for node in cluster.nodes:
            clusters.wait_until(lambda: self.sign_up(node)[0] == 200, what="the configuration")

    def call(self, node, path, body, method="POST", prefix="/v1/", headers=None):
        if not headers:
            path += f"?key={self.cluster.key}"
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=40)
        with contextlib.closing(connection):
            connection.request(method, prefix + path, json.dumps(body), {"content-type": "application/json", **(headers or {})})
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if response.status == 200 else text

    def sign_up(self, node, **body):
        return self.call(node, "accounts:signUp", body)

    def sign_in_at_provider(self):
        self.call(self.node, "accounts:createAuthUri", {"providerId": "oidc.own", "continueUri": "http://localhost/"})
        time.sleep(0.05)

    def live(self):
        """A client of the first node: it signs up, and refreshes."""
        status, answer = self.sign_up(self.node)
        for _ in range(5 if status == 200 else 0):
            time.sleep(0.05)
            self.call(self.node, "token", {"grantType": "refresh_token", "refreshToken": answer["refreshToken"]})

    def send(self, node, path, body, times=1):
        """Sends a request so often on a new connection, which the caller reads and closes."""
        data = json.dumps(body).encode()
        connection = socket.create_connection(("127.0.0.1", node.port), 40)
        connection.sendall(times * (b"POST /v1/%s?key=%s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                                    b"content-length: %d\r\n\r\n%s" % (path.encode(), self.cluster.key.encode(), len(data), data)))
        return connection

    @contextlib.contextmanager
    def flood(self, path, body, count):
        """So many clients at once."""
        with contextlib.ExitStack() as connections:
            for _ in range(count):
                connections.enter_context(contextlib.closing(self.send(self.node, path, body)))
            yield


@pytest.fixture(scope="module")
def world():
    with contextlib.ExitStack() as stack:
        webhook, provider = Endpoint(), Endpoint()
        stack.callback(webhook.stop)
        stack.callback(provider.stop)
        cluster = stack.enter_context(clusters.Cluster(clocks=(0,)))
        made = World(cluster, webhook, provider)
        made.prometheus = stack.enter_context(Prometheus(cluster.nodes))
        stack.enter_context(going_on(made.live, made.live))
        yield made


@contextlib.contextmanager
def node_killed(world):
    world.small.stop(signal.SIGKILL)
    yield
    world.small.start()


@contextlib.contextmanager
def database_stopped(world):
    world.postgres.stop()
    yield
    world.postgres.start()


@contextlib.contextmanager
def table_locked(world):
    """Statements wait for it, and give up after five seconds."""
    with contextlib.ExitStack() as connections, world.postgres.locked("accounts"):
        def sign_up():
            connections.enter_context(contextlib.closing(world.send(world.node, "accounts:signUp", {})))
            time.sleep(0.5)
        with going_on(sign_up):
            yield


def locked_often(world, table):
    def lock():
        with world.postgres.locked(table):
            time.sleep(0.4)
    return going_on(lock)


def sessions_locked_often(world):
    return locked_often(world, "sessions")


@contextlib.contextmanager
def more_clients_than_connections(world):
    _, account = world.sign_up(world.small)
    with locked_often(world, "accounts"), going_on(
            lambda: world.sign_up(world.small),
            lambda: world.call(world.small, "accounts:lookup", {"idToken": account["idToken"]})):
        yield


@contextlib.contextmanager
def many_passwords_at_once(world):
    with world.flood("accounts:signInWithPassword", {"email": "nobody@example.com", "password": "correct horse"}, 100):
        yield


@contextlib.contextmanager
def many_statements_at_once(world):
    with world.postgres.locked("accounts"), world.flood("accounts:signUp", {}, 400):
        yield


@contextlib.contextmanager
def no_mail_server(world):
    email = "grace@example.com"
    assert world.sign_up(world.node, email=email, password="correct horse")[0] == 200
    assert world.call(world.node, "accounts:sendOobCode", {"requestType": "PASSWORD_RESET", "email": email})[0] == 200
    yield
    with subprocess.Popen([sys.executable, MAIL_SERVER], stdout=subprocess.PIPE, text=True) as server:
        mailer = clusters.Node("mailer", {
            **world.cluster.environment, "IDENTITY_MAIL_SMTP_HOST": "127.0.0.1", "IDENTITY_MAIL_SMTP_TLS": "none",
            "IDENTITY_MAIL_SMTP_PORT": str(json.loads(server.stdout.readline())["port"]),
            "IDENTITY_MAIL_SMTP_FROM": "mail@auth.example"}, world.cluster.folder)
        try:
            mailer.start()
            clusters.wait_until(lambda: "taken" in server.stdout.readline(), what="the email")
        finally:
            mailer.stop()
            server.kill()


@contextlib.contextmanager
def webhook_fails(world):
    world.webhook.status = 500
    yield
    world.webhook.status = 200


@contextlib.contextmanager
def webhook_gone_once(world):
    world.webhook.once = [410]
    yield


@contextlib.contextmanager
def log_shipper_stalls(world):
    """Requests of which each is a line, until 4 MiB of them wait."""
    def request():
        with contextlib.closing(world.send(world.small, "token", {}, 500)) as connection:
            read = b""
            while read.count(b"HTTP/1.1 400") < 500:
                more = connection.recv(1 << 16)
                if not more:
                    raise ConnectionError
                read += more
    world.small.shipper.send_signal(signal.SIGSTOP)
    with going_on(request):
        yield
    world.small.shipper.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def provider_down(world):
    with going_on(world.sign_in_at_provider):
        yield
        world.provider.listen()


@contextlib.contextmanager
def clock_off(world):
    world.small.set_clock(60)
    yield
    world.small.set_clock(0)


@contextlib.contextmanager
def many_connections(world):
    number, limit = world.small.process.pid, 200
    usual = resource.prlimit(number, resource.RLIMIT_NOFILE)
    resource.prlimit(number, resource.RLIMIT_NOFILE, (limit, usual[1]))
    with contextlib.ExitStack() as connections:
        for _ in range(int(limit * 0.9) - len(os.listdir(f"/proc/{number}/fd"))):
            connections.enter_context(socket.create_connection(("127.0.0.1", world.small.port)))
        yield
    resource.prlimit(number, resource.RLIMIT_NOFILE, usual)


CAUSES = [
    ("IdentityDown", node_killed),
    ("IdentityNotReady", database_stopped),
    ("IdentityErrors", table_locked),
    ("IdentityRefreshSlow", sessions_locked_often),
    ("IdentityPoolWaiting", more_clients_than_connections),
    ("IdentityOverloaded", many_passwords_at_once),
    ("IdentityOverloaded", many_statements_at_once),
    ("IdentityOutboxOld", no_mail_server),
    ("IdentityDeliveriesFailing", webhook_fails),
    ("IdentityLogLinesDropped", log_shipper_stalls),
    ("IdentityProviderFailing", provider_down),
    ("IdentityConfigurationOld", database_stopped),
    ("IdentityClockWrong", clock_off),
    ("IdentityFilesRunOut", many_connections),
    ("IdentityMessagesGivenUp", webhook_gone_once),
]

# Of severity `page`, what else fires. A node on a busy machine may miss scrapes in any case.
PAGES_ASIDE = {
    database_stopped: ["IdentityNotReady", "IdentityErrors"],
    table_locked: ["IdentityNotReady"],
    many_passwords_at_once: ["IdentityErrors"],
    many_statements_at_once: ["IdentityErrors", "IdentityNotReady"],
    more_clients_than_connections: ["IdentityNotReady"],
}
# What looks back for an hour goes on for a minute here.
LASTING = {"IdentityMessagesGivenUp"}


def test_each_alert_has_its_cause():
    assert {alert for alert, _ in CAUSES} == set(re.findall(r"alert: *(\w+)", RULES))


def test_every_duration_is_shortened():
    rules = shortened(RULES)
    for pattern in (r"for: *(\S+)", r"\[([^\]]+)\]"):
        assert re.findall(pattern, RULES) and all(re.fullmatch(r"\d+ms", found) for found in re.findall(pattern, rules))
    assert "offset" not in rules
    assert all(float(age) < 60 for age in re.findall(r"_(?:age|oldest)_seconds\)* > (\S+)", rules))


def test_nothing_fires_of_ordinary_traffic(world):
    enough = 16 * UNITS["m"] // FACTOR // INTERVAL  # longer than any rule looks back and waits, but for one
    up, refreshes = 'min(count_over_time(up{job="identity"}[1h]))', (
        'rate(http_server_request_duration_seconds_count{http_route="/v1/token", http_response_status_code="200"}[5s])')
    clusters.wait_until(lambda: min(world.prometheus.evaluations(), world.prometheus.value(up)) > enough, 120, "the evaluations")
    assert world.prometheus.value(refreshes) > 0
    for rule in world.prometheus.ask("rules")["groups"][0]["rules"]:
        assert rule["health"] == "ok", rule
    assert world.prometheus.ask("query", query='count_over_time(ALERTS{alertname!="IdentityDown", severity="page", alertstate="firing"}[1h])')["result"] == []


@pytest.mark.parametrize("alert, cause", CAUSES, ids=[f"{alert}-{cause.__name__}" for alert, cause in CAUSES])
def test_an_alert_is_fired_by_its_cause_and_ends_with_it(world, alert, cause):
    seen = []

    def firing():
        now = world.prometheus.firing()
        seen.extend(now)
        return {labels["alertname"] for labels in now}
    clusters.wait_until(lambda: not world.prometheus.firing(), 120, "the end of what was before")
    # The cause ends also if nothing fires.
    with cause(world), contextlib.suppress(TimeoutError):
        clusters.wait_until(lambda: alert in firing(), 90)
    assert alert in {labels["alertname"] for labels in seen}
    clusters.wait_until(lambda: firing() <= LASTING, 120, f"the end of {alert}")
    pages = {labels["alertname"] for labels in seen if labels["severity"] == "page"}
    assert pages <= {alert, "IdentityDown", *PAGES_ASIDE.get(cause, [])}, "somebody is woken for what it is not"
    checks = {labels["check"] for labels in seen if labels["alertname"] == "IdentityNotReady"}
    assert checks <= ({"database"} if cause == database_stopped else {"requests"})


def test_a_silent_database_is_told_from_a_node_that_is_down(world):
    """A scrape takes three seconds then; Prometheus waits for ten by default."""
    with Prometheus(world.cluster.nodes, interval=4_000) as prometheus:
        def firing():
            return {labels["alertname"] for labels in prometheus.firing()}
        with world.postgres.frozen():
            clusters.wait_until(lambda: {"IdentityNotReady", "IdentityConfigurationOld"} <= firing(), 90, "the alerts")
            assert "IdentityDown" not in firing()
        clusters.wait_until(lambda: not firing(), 120, "the end of the alerts")
