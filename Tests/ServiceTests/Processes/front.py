"""A TLS front of this process, to which Google's host names and our own lead, as private DNS and a proxy would have it.

`lead_to` comes before anything that opens connections is imported. It returns the list in which the names stand that were
asked for and lead nowhere.
"""

import atexit
import datetime
import os
import socket
import ssl
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOSTS = ["identitytoolkit.googleapis.com", "www.googleapis.com", "auth.example.com"]
# Asked by the SDK's credentials, which do without an answer: where Google's service accounts may be used from.
UNANSWERED = "iamcredentials.googleapis.com"


def certificate():
    """A certificate for the names, which signs itself, and its key, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "front")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def front(path, port):
    """A TLS front of the service at a port, on a free port of its own; that."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            raw, _ = listener.accept()
            try:
                client = context.wrap_socket(raw, server_side=True)
                service = socket.create_connection(("127.0.0.1", port))
            except OSError:
                continue
            for pair in ((client, service), (service, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def lead_to(port):
    file = tempfile.NamedTemporaryFile("w", suffix=".pem", delete=False)
    with file:
        file.writelines(certificate())
    path = file.name
    atexit.register(os.unlink, path)
    os.environ["REQUESTS_CA_BUNDLE"] = path
    front_port, resolve, strangers = front(path, port), socket.getaddrinfo, []

    def lead(host, port, *more, **named):
        """The names lead here; other hosts must not be asked at all."""
        if host in HOSTS:
            return resolve("127.0.0.1", front_port, *more, **named)
        if host not in ("127.0.0.1", "localhost"):
            host == UNANSWERED or strangers.append(f"asks {host}")
            raise OSError(f"{host} was not to be asked")
        return resolve(host, port, *more, **named)

    socket.getaddrinfo = lead
    return strangers
