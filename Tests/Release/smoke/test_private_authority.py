"""`outbound.authorities`: a provider whose certificate a company's own CA has signed."""

import http.client
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cluster as clusters  # noqa: E402


class Discovery(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        issuer = f"https://localhost:{self.server.server_port}"
        body = json.dumps({
            "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
            "jwks_uri": issuer + "/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def provider(tmp_path):
    """Its port, and the file of its CA."""
    os.chmod(tmp_path, 0o755)
    key, ca, request, certificate = (str(tmp_path / name) for name in ("key", "ca.pem", "request", "certificate.pem"))
    names = str(tmp_path / "names")
    with open(names, "w") as file:
        file.write("subjectAltName=DNS:localhost\n")
    for words in (
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", ca, "-subj", "/CN=Own CA"],
        ["req", "-new", "-key", key, "-out", request, "-subj", "/CN=localhost"],
        ["x509", "-req", "-in", request, "-CA", ca, "-CAkey", key, "-CAcreateserial", "-out", certificate, "-extfile", names],
    ):
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Discovery)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, ca
    server.shutdown()


@pytest.mark.parametrize("is_trusted", [True, False])
def test_is_called_if_the_node_trusts_the_authority(provider, is_trusted):
    port, ca = provider
    environment = {"IDENTITY_OUTBOUND_AUTHORITIES": ca} if is_trusted else {}
    with clusters.Cluster(clocks=(0,), **environment) as cluster:
        def call(path, body, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", cluster.nodes[0].port, timeout=40)
            connection.request("POST", path, json.dumps(body), {"content-type": "application/json", **headers})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        made = call(f"/v2/projects/{clusters.PROJECT}/oauthIdpConfigs?oauthIdpConfigId=oidc.own", {
            "clientId": "app", "issuer": f"https://localhost:{port}", "enabled": True}, authorization=f"Bearer {cluster.admin}")
        assert made[0] == 200, made
        status, answer = call(f"/v1/accounts:createAuthUri?key={cluster.key}", {
            "providerId": "oidc.own", "continueUri": "http://localhost/"})
        assert (status == 200) == is_trusted, answer
        if is_trusted:
            assert answer["authUri"].startswith(f"https://localhost:{port}/authorize?")
