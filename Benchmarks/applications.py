"""What applications ask of the service as an OpenID provider: the authorization endpoint, a code's redemption, userinfo and
introspection. And the list of accounts that back ends read.
"""

import base64
import hashlib
import json
import urllib.parse

PROJECT = "bench-project"
REDIRECT = "https://bench.example/callback"
VERIFIER = "v" * 43
COUNT = 5_000


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Applications:
    """A confidential client, to which every account of the sample granted what it asks for, in a browser that is signed in.
    The sessions are made in SQL."""

    def __init__(self, bench):
        self.bench = bench
        bench.change_config("identity.oauth.enabled", {"identity": {"oauth": {"enabled": True}}})
        made = bench.admin.must("POST", f"/v2/projects/{PROJECT}/oauthClients", {
            "client_name": "Bench", "redirect_uris": [REDIRECT], "trusted": True,
            "grant_types": ["authorization_code", "refresh_token"],
        })
        self.client, self.basic = made["client_id"], "Basic " + base64.b64encode(
            f"{made['client_id']}:{made['client_secret']}".encode()).decode()
        self.people = bench.people[:COUNT]
        self.number = base64.urlsafe_b64decode(self.people[0].refresh_token + "==").split(b".")[0].decode()
        grant = json.dumps({"scopes": ["openid", "email", "offline_access"], "resources": [], "redirectURI": REDIRECT,
                            "refreshes": True})
        columns = ("project, tenant, account, auth_time, sign_in_provider, created_at, last_used_at, user_agent, "
                   "address_prefix, session, secret_hash, client, application_grant, browser_session")
        own = "project, tenant, account, auth_time, sign_in_provider, now(), now(), user_agent, address_prefix"
        sample = (f"FROM sessions WHERE client IS NULL AND session LIKE 'session%' AND account IN "
                  f"({bench.sample_accounts(COUNT)})")
        secret = "translate(rtrim(encode(sha256(('secret' || account)::bytea), 'base64'), '='), '+/', '-_')"
        browser, application = "'browser' || substr(session, 8)", "'applica' || substr(session, 8)"
        for session, secret_hash, client, granted in [
            (browser, f"sha256(('browser.' || {secret})::bytea)", "NULL", "NULL"),
            (application, f"sha256(({secret})::bytea)", f"'{self.client}'", f"'{grant}'::jsonb"),
        ]:
            bench.postgres.sql(f"INSERT INTO sessions ({columns}) SELECT {own}, {session}, {secret_hash}, {client}, {granted}, "
                               f"{browser} {sample}")
        bench.postgres.sql("VACUUM ANALYZE sessions")

    def token(self, person, kind):
        """Of the person's session for this client, or in the browser."""
        return b64(f"{self.number}.{person.account}.{kind}{person.session[7:]}.{person.secret}".encode())

    def post(self, endpoint, bodies, name, headers=()):
        kind = "application/x-www-form-urlencoded"
        return self.bench.requests.write(name, (
            ("POST", f"/{PROJECT}/oauth/{endpoint}", kind, urllib.parse.urlencode(body), *headers) for body in bodies))

    def access_tokens(self):
        bench, kept = self.bench, self.bench.folder + "/access-tokens"
        refresh = self.post("token", (
            {"grant_type": "refresh_token", "refresh_token": self.token(p, "applica")} for p in self.people
        ), "application_refresh", [f"Authorization: {self.basic}"])
        bench.load.wrk(refresh, 64, 600, "once", "keep=" + kept, "members=access_token")
        with open(kept) as file:
            return file.read().split()


def applications(bench, es_sign, rs_verify):
    """Beside `accounts:lookup`, which reads the same."""
    own = Applications(bench)
    tokens = own.access_tokens()
    asked = own.post("introspect", ({"token": token} for token in tokens), "introspect", [f"Authorization: {own.basic}"])
    bench.plain_path("introspect", asked)
    bench.plain_path("userinfo", bench.requests.write("userinfo", (
        ("GET", f"/{PROJECT}/oauth/userinfo", "", "", f"Authorization: Bearer {token}") for token in tokens)))
    challenge = b64(hashlib.sha256(VERIFIER.encode()).digest())
    query = urllib.parse.urlencode({
        "client_id": own.client, "response_type": "code", "redirect_uri": REDIRECT, "scope": "openid email",
        "code_challenge": challenge, "code_challenge_method": "S256", "state": "s",
    })
    kept = bench.folder + "/codes"
    visits = bench.requests.write("authorize", (
        ("GET", f"/{PROJECT}/oauth/authorize?{query}", "", "", f"Cookie: identity-session-{own.number}={own.token(p, 'browser')}")
        for p in own.people))
    bench.plain_path("authorize", visits, "once", "keep=" + kept, "members=code", connections=[64], seconds=60)
    with open(kept) as file:
        codes = file.read().split()
    redeem = own.post("token", (
        {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, "redirect_uri": REDIRECT} for code in codes
    ), "redeem", [f"Authorization: {own.basic}"])
    bench.plain_path("redeem", redeem, "once", connections=[64], seconds=60)


def list_accounts(bench, es_sign, rs_verify):
    """Pages of 100, from places all over the accounts."""
    path, token, lines = f"/v1/projects/{PROJECT}/accounts:batchGet?maxResults=100", "", []
    while token is not None and len(lines) < 50:
        lines.append(("GET", f"{path}&nextPageToken={token}", "", ""))
        token = bench.admin.must("GET", lines[-1][1]).get("nextPageToken")
    requests = bench.requests.write("list", lines[:-1] or lines)  # the last one may be short
    bench.plain_path("list_100", requests, "bearer=" + bench.admin.bearer)
