"""What the simulated people see of the service: calls over kept connections, and answers."""

import asyncio
import base64
import json
import time
import urllib.parse


def claims_of(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


class Answer:
    """An answer, or what is known when none came: nothing."""

    def __init__(self, status=None, body=None, node=None, error=None):
        self.status, self.body, self.node, self.error = status, body if isinstance(body, dict) else {}, node, error

    @property
    def is_unknown(self):
        return self.status is None or self.status >= 500

    @property
    def label(self):
        if self.is_unknown:
            return "unknown"
        if self.status != 200:
            error = self.body.get("error")
            return error.get("message", "").split(" : ")[0] if isinstance(error, dict) else f"status {self.status}"
        if "errorMessage" in self.body:
            return self.body["errorMessage"].split(" : ")[0]
        for member, label in (("needConfirmation", "conflict"), ("mfaPendingCredential", "mfa"), ("temporaryProof", "proof")):
            if member in self.body:
                return label
        return "ok"

    @property
    def uid(self):
        return self.body.get("localId") or (claims_of(self.id_token)["sub"] if self.id_token else None)

    @property
    def id_token(self):
        return self.body.get("idToken") or self.body.get("id_token")

    @property
    def refresh_token(self):
        return self.body.get("refreshToken") or self.body.get("refresh_token")

    def __repr__(self):
        if self.is_unknown:
            return f"{self.node}: no answer ({self.status or self.error})"
        detail = "" if self.status == 200 else " " + str(self.body.get("error", {}).get("message"))
        return f"{self.node}: {self.label}{detail if ' : ' in detail else ''}" + (f" {self.uid}" if self.uid else "")


class Node:
    """One process of the service."""

    def __init__(self, name, port, key, admin, project):
        self.name, self.port, self.key, self.admin, self.project = name, port, key, admin, project
        self.idle = []
        self.slowest = 0

    async def call(self, method, path, body=None, admin=False, timeout=40):
        """`path` after /v1/, or whole when it begins with a slash."""
        if not path.startswith("/"):
            path = f"/v1/projects/{self.project}/{path}" if admin else f"/v1/{path}"
        if not admin:
            path += ("&" if "?" in path else "?") + "key=" + self.key
        data = json.dumps(body).encode() if body is not None else b""
        head = (f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                f"content-length: {len(data)}\r\n" + (f"authorization: Bearer {self.admin}\r\n" if admin else "") + "\r\n")
        began = time.monotonic()
        reader = writer = None
        try:
            async with asyncio.timeout(timeout):
                reader, writer = await self.connection()
                writer.write(head.encode() + data)
                answer = await self.read(reader)
            self.idle.append((time.monotonic(), reader, writer))
            self.slowest = max(self.slowest, time.monotonic() - began)
            return answer
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            if writer:
                writer.close()
            return Answer(node=self.name, error=type(error).__name__)

    async def connection(self):
        """The one used last, unless the service is about to end it: after 75 s without a request it does."""
        while self.idle:
            since, reader, writer = self.idle.pop()
            if time.monotonic() - since < 60 and not reader.at_eof():
                return reader, writer
            writer.close()
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def read(self, reader):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, length = int(head.split(" ", 2)[1]), 0
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                length = int(value)
        body = await reader.readexactly(length)
        parsed = json.loads(body) if body[:1] == b"{" else {}
        return Answer(status, parsed, self.name)

    def forget_connections(self):
        for *_, writer in self.idle:
            writer.close()
        self.idle.clear()


class Provider:
    """An OpenID provider, and the gateway that takes SMS: what the service calls."""

    def __init__(self, clock=time.time):
        from cryptography.hazmat.primitives.asymmetric import ec
        self.key, self.clock = ec.generate_private_key(ec.SECP256R1()), clock
        self.sms, self.serial = {}, 0

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    def document(self, path):
        if path.endswith("/.well-known/openid-configuration"):
            issuer = self.url + path.removesuffix("/.well-known/openid-configuration")
            return {
                "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
                "jwks_uri": issuer + "/keys", "id_token_signing_alg_values_supported": ["ES256"],
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
            }
        if path.endswith("/keys"):
            numbers = self.key.public_key().public_numbers()
            encode = lambda value: base64.urlsafe_b64encode(value.to_bytes(32, "big")).rstrip(b"=").decode()
            return {"keys": [{"kty": "EC", "crv": "P-256", "kid": "1", "alg": "ES256", "use": "sig",
                              "x": encode(numbers.x), "y": encode(numbers.y)}]}

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = next((int(line.split(":")[1]) for line in head.split("\r\n")
                               if line.lower().startswith("content-length:")), 0)
                body = await reader.readexactly(length)
                path = head.split(" ", 2)[1]
                answer = self.document(path)
                if path == "/sms":
                    form = dict(urllib.parse.parse_qsl(body.decode()))
                    self.sms.setdefault(form["to"], []).append(form["text"])
                    answer = {}
                data = json.dumps(answer or {}).encode()
                writer.write(b"HTTP/1.1 %d OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
                             % (200 if answer is not None else 404, len(data), data))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.close()

    def id_token(self, provider, subject, email=None, verified=False):
        import jwt
        self.serial += 1
        now = int(self.clock())
        claims = {"iss": f"{self.url}/{provider}", "aud": "soak", "sub": subject, "iat": now - 2, "exp": now + 3600,
                  "jti": str(self.serial)}
        if email:
            claims.update(email=email, email_verified=verified)
        return jwt.encode(claims, self.key, "ES256", {"kid": "1"})
