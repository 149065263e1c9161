"""Emails through Debian's Postfix, as it refuses and delays them."""

import collections
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cluster as clusters  # noqa: E402

pytestmark = pytest.mark.skipif(os.getuid() != 0 or not os.path.exists("/usr/sbin/postfix"), reason="needs root, and Postfix")

class Postfix:
    """One server, which delivers to nobody and notes to whom it would have."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="identity-postfix-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.conf, self.log = os.path.join(self.folder, "conf"), os.path.join(self.folder, "maillog")
        for name in ("conf", "queue", "data"):
            os.mkdir(os.path.join(self.folder, name))
        shutil.chown(os.path.join(self.folder, "data"), "postfix")
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self.port = chosen.getsockname()[1]
        with open(os.path.join(self.conf, "main.cf"), "w") as file:
            file.write(f"compatibility_level = 3.6\nqueue_directory = {self.folder}/queue\ndata_directory = {self.folder}/data\n"
                       f"maillog_file = {self.log}\nmaillog_file_prefixes = /tmp\ninet_interfaces = 127.0.0.1\n"
                       "myhostname = mx.example\nmydestination =\nmynetworks = 127.0.0.0/8\ndefault_transport = discard\n"
                       "smtpd_peername_lookup = no\n"
                       # For who offers TLS.
                       f"smtpd_tls_cert_file = {self.folder}/tls.pem\nsmtpd_tls_key_file = {self.folder}/tls.pem\n"
                       # Otherwise it is slower with each refusal.
                       "smtpd_soft_error_limit = 1000\nsmtpd_hard_error_limit = 2000\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-subj", "/CN=mx.example", "-days", "2",
                        "-keyout", f"{self.folder}/tls.pem", "-out", f"{self.folder}/tls.crt"], check=True, capture_output=True)
        with open(f"{self.folder}/tls.pem", "a") as file, open(f"{self.folder}/tls.crt") as certificate:
            file.write(certificate.read())
        self.write([])
        self.start()

    def write(self, options):
        # Debian's own services, outside of its chroot, and our port instead of 25.
        with open("/usr/share/postfix/master.cf.dist") as file:
            lines = re.findall(r"(?m)^\w+ +unix(?:-dgram)? .*$", file.read())
        lines = [re.sub(r"^((?:\S+\s+){4})y", r"\1n", line) for line in lines]
        lines += [f"127.0.0.1:{self.port} inet n - n - - smtpd", *(f"  -o {option}" for option in options)]
        with open(os.path.join(self.conf, "master.cf"), "w") as file:
            file.write("\n".join(lines) + "\n")

    def run(self, word):
        return subprocess.run(["/usr/sbin/postfix", "-c", self.conf, word], capture_output=True).returncode == 0

    def start(self):
        # It refuses while the one before has not quite ended.
        clusters.wait_until(lambda: self.run("start"), what="Postfix")

    def become(self, *options):
        """Starts again with other options of its smtpd: connections of before would not have them."""
        self.run("abort")
        clusters.wait_until(lambda: not self.run("status"), what="the end of Postfix")
        self.write(options)
        self.start()

    def text(self):
        with open(self.log) as file:
            return file.read()

    def sent(self):
        """How many emails it took for each address."""
        return collections.Counter(re.findall(r"discard\[\d+\]: \w+: to=<([^>]+)>.*status=sent", self.text()))

    def stop(self):
        subprocess.run(["/usr/sbin/postfix", "-c", self.conf, "stop"], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Mailer:
    """A node that sends emails through it."""

    def __init__(self, cluster, postfix):
        self.cluster, self.postfix, self.serial = cluster, postfix, 0

    def ask(self, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.cluster.nodes[0].port, timeout=40)
        connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")

    def send(self, name):
        """Asks for an email to an address that has had none."""
        self.serial += 1
        email = f"{name}.{self.serial}@example.com"
        assert self.ask(f"/v1/accounts:signUp?key={self.cluster.key}", {"email": email, "password": "correct horse"})[0] == 200
        status, answer = self.ask(f"/v1/accounts:sendOobCode?key={self.cluster.key}", {"requestType": "PASSWORD_RESET", "email": email})
        assert status == 200, answer
        return email

    def says(self, what):
        status, answer = self.ask("/readyz")
        return status == 200 and answer["dependencies"]["mail"] == what

    def wait_for(self, email):
        clusters.wait_until(lambda: self.postfix.sent()[email] == 1, 90, f"the email to {email}")


@pytest.fixture(scope="module")
def mailer():
    postfix = Postfix()
    try:
        with clusters.Cluster(clocks=(0,), IDENTITY_MAIL_SMTP_HOST="127.0.0.1", IDENTITY_MAIL_SMTP_TLS="none",
                              IDENTITY_MAIL_SMTP_PORT=str(postfix.port), IDENTITY_MAIL_SMTP_FROM="mail@auth.example",
                              # A name that some servers refuse.
                              IDENTITY_MAIL_SMTP_HELLO_NAME="vm") as cluster:
            yield Mailer(cluster, postfix)
    finally:
        postfix.stop()


REFUSALS = {
    "554 5.7.1 of the client": (["smtpd_client_restrictions=reject"], "reject: .*554 5.7.1 .*Client host rejected"),
    "504 5.5.2 of the name": (["smtpd_helo_restrictions=reject_non_fqdn_helo_hostname"], "reject: .*504 5.5.2 .*Helo command rejected"),
    "550 in the greeting": (["smtpd_client_restrictions=reject", "smtpd_delay_reject=no", "access_map_reject_code=550",
                             "reject_code=550"], "reject: .*550 5.7.1 .*Client host rejected"),
    "530 5.7.0 before TLS": (["smtpd_tls_security_level=encrypt"], "disconnect from .* mail=0/1"),
    "450 4.7.1 for now": (["smtpd_client_restrictions=check_client_access,static:DEFER"], "reject: .*450 4.7.1"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_node_loses_nothing_and_says_so(mailer, name):
    options, reply = REFUSALS[name]
    mailer.postfix.become(*options)
    email = mailer.send("refused")
    clusters.wait_until(lambda: re.search(reply, mailer.postfix.text()), what="the refusal")
    clusters.wait_until(lambda: mailer.says("failed"), what="the report of it")
    mailer.postfix.become()
    mailer.wait_for(email)
    mailer.wait_for(mailer.send("later"))
    clusters.wait_until(lambda: mailer.says("ok"), what="the report of the mend")


def test_one_recipient_is_no_outage(mailer):
    mailer.wait_for(mailer.send("before"))
    table = os.path.join(mailer.postfix.folder, "recipients")
    with open(table, "w") as file:
        file.write("/^gone/ REJECT\n")
    mailer.postfix.become(f"smtpd_recipient_restrictions=check_recipient_access,regexp:{table},permit_mynetworks")
    gone = mailer.send("gone")
    clusters.wait_until(lambda: f"to=<{gone}>" in mailer.postfix.text() and "Recipient address rejected" in mailer.postfix.text(),
                        what="the refusal")
    mailer.wait_for(mailer.send("other"))
    assert mailer.says("ok")
    assert mailer.postfix.sent()[gone] == 0


@pytest.mark.parametrize("options", [
    ["smtpd_delay_reject=no", "smtpd_client_restrictions=sleep,12"], ["smtpd_end_of_data_restrictions=sleep,12"],
], ids=["banner", "data"])
def test_a_slow_server_gets_each_email_once(mailer, options):
    mailer.postfix.become(*options)
    email = mailer.send("slow")
    mailer.wait_for(email)
    mailer.postfix.become()


def test_nothing_came_twice(mailer):
    assert not [email for email, count in mailer.postfix.sent().items() if count > 1]
