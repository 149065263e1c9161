"""An OpenID provider that costs next to nothing, for bench.py: a code is the ID token that it stands for.

usage: provider.py JWKS_FILE    prints its port; GET /counts says how often each of its documents was fetched
"""

import asyncio
import json
import sys
import urllib.parse


class Provider(asyncio.Protocol):
    documents, counts = {}, {}

    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].decode("latin-1")
            length = 0
            for line in head.split("\r\n")[1:]:
                name, _, value = line.partition(":")
                if name.lower() == "content-length":
                    length = int(value)
            if len(self.buffer) < end + 4 + length:
                return
            body = self.buffer[end + 4:end + 4 + length]
            self.buffer = self.buffer[end + 4 + length:]
            self.answer(head.split(" ", 2)[1], body)

    def answer(self, path, body):
        status, answer = 200, self.documents.get(path)
        if path == "/token":
            code = urllib.parse.parse_qs(body.decode())["code"][0]
            answer = {"access_token": "access", "token_type": "Bearer", "expires_in": 3600, "id_token": code}
        elif path == "/counts":
            answer = self.counts
        elif answer is None:
            status, answer = 404, {}
        if path in self.documents:
            self.counts[path] = self.counts.get(path, 0) + 1
        text = json.dumps(answer).encode()
        self.transport.write(b"HTTP/1.1 %d OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
                             % (status, len(text), text))


async def main():
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    issuer = f"http://127.0.0.1:{port}"
    with open(sys.argv[1]) as file:
        Provider.documents["/keys"] = json.load(file)
    Provider.documents["/.well-known/openid-configuration"] = {
        "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
        "jwks_uri": issuer + "/keys", "code_challenge_methods_supported": ["S256"],
        "id_token_signing_alg_values_supported": ["RS256"], "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
    }
    print(port, flush=True)
    await server.serve_forever()


asyncio.run(main())
