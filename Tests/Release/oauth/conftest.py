"""The release program as an OpenID provider, for clients that nobody here wrote.

    .venv/bin/pytest Tests/Release/oauth

IDENTITY_PROGRAM names the program; without it, what `make release` made is used.
"""

import collections
import datetime
import http.server
import json
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import threading

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

sys.dont_write_bytecode = True  # nothing beside the sources
sys.path.insert(0, os.path.dirname(__file__))
from person import EMAIL, PASSWORD, Person  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROJECT = "demo-project"
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
# Whether a process here may have mounts of its own, as root usually does.
MOUNTS = subprocess.run(["unshare", "--mount", "mount", "--bind", AUTHORITIES, AUTHORITIES], stdin=subprocess.DEVNULL,
                        capture_output=True).returncode == 0


class Service:
    """`identity dev`, and what an admin does there."""

    def __init__(self, authorities):
        program = os.environ.get("IDENTITY_PROGRAM") or ROOT / ".build/dist/program/identity"
        command = [str(program), "dev", "--port", "0", "--ephemeral"]
        if MOUNTS:
            # Where it alone trusts the authority of the document server.
            script = f'mount --bind {authorities} {AUTHORITIES} && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.log = collections.deque(maxlen=2000)
        self.url = self._ready()
        threading.Thread(target=lambda: self.log.extend(self.process.stdout), daemon=True).start()
        self.issuer = f"{self.url}/{PROJECT}"
        self.people = 0

    def _ready(self):
        for line in self.process.stdout:
            self.log.append(line)
            if line.startswith("ready "):
                return line.split()[1]
        raise RuntimeError("".join(self.log))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def admin(self, method, path, body=None):
        answer = requests.request(method, f"{self.url}/v2/projects/{PROJECT}{path}", json=body, timeout=30,
                                  headers={"Authorization": "Bearer owner"})
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def client(self, **members):
        """A client that an admin registers."""
        return self.admin("POST", "/oauthClients", {
            "client_name": "Tea House", "redirect_uris": ["https://tea.example.com/callback"],
            "grant_types": ["authorization_code", "refresh_token"], **members})

    def person(self):
        """Somebody with an account, in a browser of their own."""
        self.people += 1
        person = Person(f"person{self.people}@example.com")
        self.sign_up(person.email)
        return person

    def sign_up(self, email):
        answer = requests.post(f"{self.url}/v1/accounts:signUp?key=any", timeout=30,
                               json={"email": email, "password": PASSWORD})
        assert answer.ok or "EMAIL_EXISTS" in answer.text, answer.text


class Documents(http.server.BaseHTTPRequestHandler):
    """Clients' metadata documents, over https."""

    def do_GET(self):
        port = self.server.server_address[1]
        body = json.dumps({
            "client_id": f"https://localhost:{port}/agent.json", "client_name": "Agent",
            "redirect_uris": ["http://127.0.0.1:4711/callback"], "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def certificate(folder):
    """A certificate of localhost, its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    (folder / "key.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (folder / "certificate.pem").write_bytes(pem)
    (folder / "authorities.pem").write_bytes(pathlib.Path(AUTHORITIES).read_bytes() + pem)
    return folder


@pytest.fixture(scope="session")
def trusted(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def document(trusted):
    """The ID of a client that has a metadata document."""
    if not MOUNTS:
        pytest.skip("the program cannot be made to trust the test's authority: run this as root")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Documents)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted / "certificate.pem", trusted / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_address[1]}/agent.json"
    server.shutdown()


@pytest.fixture(scope="session")
def service(trusted):
    service = Service(trusted / "authorities.pem")
    service.admin("PATCH", "/config?updateMask=identity.oauth.scopes",
                  {"identity": {"oauth": {"scopes": {"tea.brew": "Brew tea"}}}})
    service.sign_up(EMAIL)
    yield service
    service.stop()
