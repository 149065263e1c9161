"""A failover that loses commits: two nodes go on over a standby that had not got the last ones."""

import datetime
import http.client
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cluster as clusters  # noqa: E402

PASSWORD = "correct horse battery"


class Client:
    """Calls of an app, or of an admin, at one node."""

    def __init__(self, cluster, node):
        self.cluster, self.node = cluster, node

    def call(self, method, path, body=None, key=None, admin=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=40)
        headers = {"content-type": "application/json"}
        if admin:
            headers["authorization"] = "Bearer " + self.cluster.admin
        else:
            path += "?key=" + (key or self.cluster.key)
        connection.request(method, path, json.dumps(body or {}), headers)
        response = connection.getresponse()
        answer = json.loads(response.read() or b"{}")
        return response.status, answer.get("error", {}).get("message", "").split(" : ")[0] if response.status != 200 else answer

    def sign_up(self, email=None, key=None):
        body = {"email": email, "password": PASSWORD} if email else {}
        return self.call("POST", "/v1/accounts:signUp", body, key)

    def refresh(self, token):
        return self.call("POST", "/v1/token", {"grantType": "refresh_token", "refreshToken": token})

    def admin(self, method, path, body=None):
        status, answer = self.call(method, path, body, admin=True)
        assert status == 200, answer
        return answer


def wait_for_standby(postgres):
    end = postgres.primary.sql("SELECT pg_current_wal_flush_lsn()")
    clusters.wait_until(lambda: postgres.standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{end}'") == "t",
                        what="the standby's catching up")


@pytest.fixture(scope="module")
def lost():
    """The cluster after the failover, and what clients have from before it."""
    # No clock is ahead: a use after the declaration, by any clock, is one without the lost token.
    with clusters.Cluster(clocks=(0, -60), standby=True) as cluster:
        postgres = cluster.postgres
        postgres.require_standby(False)
        fast, slow = (Client(cluster, node) for node in cluster.nodes)
        fast.admin("PATCH", f"/v2/projects/{clusters.PROJECT}/config?updateMask=identity.rotateRefreshTokens,signIn.anonymous",
                   {"identity": {"rotateRefreshTokens": True}, "signIn": {"anonymous": {"enabled": True}}})
        revoked_later = cluster.command("api-keys", "create", "--project", clusters.PROJECT).split()[-1]
        for client in (fast, slow):
            clusters.wait_until(lambda: client.sign_up(key=revoked_later)[0] == 200, what="the configuration")
        users = [fast.sign_up(f"u{number}@example.com")[1] for number in range(3)]
        code = fast.admin("POST", f"/v1/projects/{clusters.PROJECT}/accounts:sendOobCode", {
            "requestType": "PASSWORD_RESET", "email": "u2@example.com", "returnOobLink": True})["oobCode"]
        wait_for_standby(postgres)
        since = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        # It gets nothing from now on.
        postgres.standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
        postgres.standby.sql("SELECT pg_reload_conf()")
        clusters.wait_until(lambda: postgres.primary.sql("SELECT count(*) FROM pg_stat_replication") == "0", what="the cut")
        lost_keys = [cluster.command("api-keys", "create", "--project", clusters.PROJECT).split()[-1] for _ in range(2)]
        for client in (fast, slow):
            clusters.wait_until(lambda: client.sign_up(key=lost_keys[1])[0] == 200, what="the new keys")
        newer = [user["refreshToken"] for user in users[:2]]
        for _ in range(2):
            newer = [slow.refresh(token)[1]["refresh_token"] for token in newer]
        newcomer = fast.sign_up("lost@example.com")[1]
        assert fast.call("POST", "/v1/accounts:resetPassword", {"oobCode": code, "newPassword": "another horse"})[0] == 200
        postgres.promote()
        for client in (fast, slow):
            clusters.wait_until(lambda: client.sign_up()[0] == 200, what="the failover")
        yield {"cluster": cluster, "clients": (fast, slow), "users": users, "newer": newer, "newcomer": newcomer, "code": code,
               "since": since, "keys": [*lost_keys, revoked_later]}


def test_revocations_hold(lost):
    """Two changes were lost and two follow, so that the version is what the nodes knew: they notice all the same."""
    cluster = lost["cluster"]
    cluster.command("api-keys", "revoke", lost["keys"][-1])
    cluster.command("api-keys", "create", "--project", clusters.PROJECT)
    for client in lost["clients"]:
        for key in lost["keys"]:
            clusters.wait_until(lambda: client.sign_up(key=key)[0] == 400, 5, "the end of a key")
        assert client.sign_up()[0] == 200


def test_what_was_lost_is_refused_so_that_apps_ask_for_a_sign_in(lost):
    for client in lost["clients"]:
        assert client.refresh(lost["newer"][0]) == (400, "TOKEN_EXPIRED")
        assert client.refresh(lost["newcomer"]["refreshToken"]) == (400, "USER_NOT_FOUND")


def test_a_declared_restore_takes_newer_tokens_once_and_ends_codes(lost):
    lost["cluster"].command("restored", "--since", lost["since"])
    fast, slow = lost["clients"]
    assert slow.call("POST", "/v1/accounts:resetPassword", {"oobCode": lost["code"], "newPassword": "third horse"}) == (
        400, "INVALID_OOB_CODE")
    clusters.wait_until(lambda: slow.refresh(lost["newer"][0])[0] == 200, 5, "the declaration")
    # Of two clients that go on with one session, one is a thief: it ends.
    status, other = fast.refresh(lost["users"][1]["refreshToken"])
    assert status == 200
    assert slow.refresh(lost["newer"][1]) == (400, "TOKEN_EXPIRED")
    assert fast.refresh(other["refresh_token"]) == (400, "TOKEN_EXPIRED")
    assert fast.refresh(lost["newcomer"]["refreshToken"]) == (400, "USER_NOT_FOUND")
