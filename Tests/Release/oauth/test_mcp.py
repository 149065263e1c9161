"""A server of the Model Context Protocol that accepts our tokens, and clients that reach it: the SDK's own and FastMCP's."""

import asyncio
import pathlib
import socket
import sys
import threading
import time
import urllib.parse

import httpx2
import pytest
import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.client.auth import OAuth
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token
from mcp.client.auth import OAuthClientProvider
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

PERSON = pathlib.Path(__file__).with_name("person.py")
CALLBACK = "http://127.0.0.1:4711/callback"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server(service):
    """A protected server: what docs/guide/mcp.md shows."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    verifier = JWTVerifier(jwks_uri=service.url + "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
                           issuer=service.issuer, audience=base + "/mcp", required_scopes=["tea.brew"])
    auth = RemoteAuthProvider(token_verifier=verifier, authorization_servers=[service.issuer], base_url=base)
    app = FastMCP("Tea", auth=auth)

    @app.tool
    def who() -> str:
        return get_access_token().claims["sub"]

    running = uvicorn.Server(uvicorn.Config(app.http_app(), host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        threading.Event().wait(0.05)
    yield base + "/mcp"
    running.should_exit = True
    thread.join(10)


class Storage:
    """What a client of the SDK keeps."""

    def __init__(self, client=None):
        self.tokens, self.client = None, client

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Agent:
    """The SDK's own client, with somebody at its browser."""

    def __init__(self, server, person, storage, document=None):
        self.server, self.person, self.storage, self.answers = server, person, storage, []
        metadata = OAuthClientMetadata(client_name="Agent", redirect_uris=[CALLBACK],
                                       grant_types=["authorization_code", "refresh_token"])
        self.auth = OAuthClientProvider(server, metadata, storage, self.redirect, self.callback, document)

    async def redirect(self, url):
        self.answers.append(await asyncio.to_thread(self.person.visit, url))

    async def callback(self):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.answers[-1]).query))
        assert "code" in query, self.answers[-1]
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    async def call(self):
        async with httpx2.AsyncClient(auth=self.auth, timeout=30) as http:
            async with streamable_http_client(self.server, http_client=http) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await session.initialize()
                    return await session.call_tool("who", {})


def test_a_client_that_registers_itself(service, server):
    person, storage = service.person(), Storage()
    agent = Agent(server, person, storage)

    async def twice():
        first = await agent.call()
        token = storage.tokens.access_token
        # Its access token expires: it refreshes, for the same server.
        agent.auth.context.token_expiry_time = time.time() - 1
        second = await agent.call()
        return first, second, token

    first, second, token = asyncio.run(twice())
    assert not first.is_error and first.content[0].text == second.content[0].text, (first, second)
    assert len(agent.answers) == 1 and storage.tokens.access_token != token
    # It is known now.
    again = Agent(server, person, storage)
    assert not asyncio.run(again.call()).is_error and not again.answers


def test_a_client_whose_id_is_its_metadata_document(service, server, document):
    storage = Storage()
    agent = Agent(server, service.person(), storage, document)
    assert not asyncio.run(agent.call()).is_error
    assert storage.client.client_id == document and len(agent.answers) == 1


def test_a_client_that_an_admin_registered(service, server):
    client = service.client(redirect_uris=[CALLBACK], token_endpoint_auth_method="none")
    known = OAuthClientInformationFull(client_id=client["client_id"], redirect_uris=[CALLBACK],
                                       token_endpoint_auth_method="none")
    agent = Agent(server, service.person(), Storage(known))
    assert not asyncio.run(agent.call()).is_error and len(agent.answers) == 1


def test_fastmcp_with_the_browser_of_the_machine(server, monkeypatch):
    monkeypatch.setenv("BROWSER", f"{sys.executable} {PERSON} %s &")

    async def run():
        async with Client(server, auth=OAuth(callback_port=free_port(), callback_timeout=60)) as client:
            return await client.call_tool("who")

    assert asyncio.run(run()).data
