"""mod_auth_openidc, in Apache: signs in, refreshes, is logged out through the back channel, and signs out everywhere."""

import pathlib
import secrets
import socket
import subprocess
import time
import urllib.parse

import pytest
import requests

from person import Person

MODULES = pathlib.Path("/usr/lib/apache2/modules")
pytestmark = pytest.mark.skipif(not (MODULES / "mod_auth_openidc.so").exists(), reason="libapache2-mod-auth-openidc")

CONFIGURATION = """
ServerRoot {folder}
PidFile {folder}/apache.pid
Mutex file:{folder}
Listen 127.0.0.1:{port}
ServerName 127.0.0.1:{port}
User www-data
Group www-data
DocumentRoot {folder}/pages
ErrorLog {folder}/error.log
LogLevel auth_openidc:debug
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule auth_openidc_module {modules}/mod_auth_openidc.so
OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID {client_id}
OIDCClientSecret {client_secret}
OIDCRedirectURI /callback
OIDCCryptoPassphrase {passphrase}
OIDCPKCEMethod S256
OIDCScope "{scope}"
OIDCInfoHook access_token id_token userinfo session
OIDCSessionInactivityTimeout 600
<Location />
    AuthType openid-connect
    Require claim email:{email}
</Location>
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Apache:
    """An application behind Apache, for one user."""

    def __init__(self, service, person, folder, scope):
        port = free_port()
        self.url, self.person, self.log = f"http://127.0.0.1:{port}", person, folder / "error.log"
        client = service.client(
            redirect_uris=[f"{self.url}/callback"], post_logout_redirect_uris=[f"{self.url}/bye"],
            backchannel_logout_uri=f"{self.url}/callback?logout=backchannel")
        (folder / "pages").mkdir()
        (folder / "pages/index.html").write_text("Tea for members")
        folder.chmod(0o755)
        for parent in (folder.parent, folder.parent.parent):
            parent.chmod(0o755)
        configuration = folder / "apache.conf"
        configuration.write_text(CONFIGURATION.format(
            folder=folder, port=port, modules=MODULES, issuer=service.issuer, passphrase=secrets.token_hex(16),
            scope=scope, email=person.email, **client))
        self.process = subprocess.Popen(["/usr/sbin/apache2", "-f", configuration, "-DFOREGROUND"])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                requests.get(self.url, timeout=5, allow_redirects=False)
                return
            except requests.ConnectionError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def page(self):
        """What the user's browser gets, without going anywhere."""
        return self.person.http.get(self.url + "/", timeout=30, allow_redirects=False)

    def sign_in(self):
        """Goes to the service, and back with a code; the page."""
        at_service = self.page()
        assert at_service.status_code == 302, at_service.text
        back = self.person.visit(at_service.headers["location"])
        assert back.startswith(self.url + "/callback?"), back
        page = self.person.http.get(back, timeout=30)
        assert page.text == "Tea for members", f"{page.status_code} {page.text} {self.log.read_text()}"

    def info(self):
        return self.person.http.get(self.url + "/callback?info=json", timeout=30).json()

    def refresh(self):
        token = self.info()["access_token"]
        back = urllib.parse.quote(self.url + "/")
        page = self.person.http.get(f"{self.url}/callback?refresh={back}&access_token={token}", timeout=30)
        assert page.text == "Tea for members", f"{page.url} {self.log.read_text()}"
        return token, self.info()["access_token"]

    def is_signed_out(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.page().status_code == 302:
                return True
            time.sleep(0.2)
        return False


@pytest.fixture
def apache(service, tmp_path, request):
    apache = Apache(service, service.person(), tmp_path, request.param)
    yield apache
    apache.stop()


@pytest.mark.parametrize("apache", ["openid email offline_access"], indirect=True)
def test_refreshes_until_the_user_ends_the_session(service, apache):
    apache.sign_in()
    for _ in range(3):
        before, after = apache.refresh()
        assert before != after
    user = requests.post(f"{service.url}/v1/accounts:signInWithPassword?key=any", timeout=30, json={
        "email": apache.person.email, "password": "correct horse", "returnSecureToken": True}).json()
    own = {"idToken": user["idToken"]}
    sessions = requests.post(f"{service.url}/v1/accounts:listSessions?key=any", timeout=30, json=own).json()["sessions"]
    [granted] = [session["sessionId"] for session in sessions if session.get("clientId")]
    assert apache.page().status_code == 200
    ended = requests.post(f"{service.url}/v1/accounts:signOut?key=any", timeout=30,
                          json={**own, "scope": "session", "sessionId": granted})
    assert ended.ok, ended.text
    assert apache.is_signed_out(), apache.log.read_text()


@pytest.mark.parametrize("apache", ["openid email"], indirect=True)
def test_signs_out_everywhere(service, apache):
    apache.sign_in()
    there = apache.person.http.get(f"{apache.url}/callback?logout={urllib.parse.quote(apache.url + '/bye')}",
                                   timeout=30, allow_redirects=False)
    assert there.headers["location"].startswith(service.issuer + "/oauth/logout?"), there.headers
    assert apache.person.visit(there.headers["location"]).startswith(apache.url + "/bye")
    # The browser has no session left at the service either.
    again = Person(apache.person.email)
    again.http.cookies = apache.person.http.cookies
    again.visit(apache.page().headers["location"])
    assert again.headings[0] == "Sign in", again.headings


@pytest.mark.parametrize("apache", ["openid email"], indirect=True)
def test_is_told_when_the_browser_signs_out(service, apache):
    apache.sign_in()
    assert apache.page().status_code == 200
    apache.person.visit(service.issuer + "/oauth/logout")
    assert apache.is_signed_out(), apache.log.read_text()
