"""The three browser engines, each driven over the port that it has for that. `begin` gives a fresh profile and its first
window, `run` runs lines in a window's page.

Chromium by Playwright, WebKitGTK by its driver (W3C WebDriver), Firefox by WebDriver BiDi.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import requests
import websockets.sync.client


class Chromium:
    """Started as people start it: Playwright's own options switch the partitioning of storage off."""

    PROGRAMS = ["chromium"]

    def __init__(self, player):
        self.profile = tempfile.mkdtemp()
        self.process, url = listening([
            "chromium", "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-popup-blocking",
            "--host-resolver-rules=MAP *.example.test 127.0.0.1", "--ignore-certificate-errors",
            "--remote-debugging-port=0", f"--user-data-dir={self.profile}", "about:blank"], {})
        self.browser = player.chromium.connect_over_cdp(url)

    def begin(self):
        self.context = self.browser.new_context(ignore_https_errors=True)
        self.first = self.context.new_page()
        return self.first

    def end(self):
        self.context.close()

    def windows(self):
        self.first.evaluate("0")  # Playwright hears of new windows while it waits for an answer.
        return self.context.pages

    def go(self, window, url):
        window.goto(url)

    def run(self, window, body):
        return window.evaluate(f"async () => {{ {body} }}")

    act = run

    def tab(self):
        return self.context.new_page()

    def close(self):
        self.browser.close()
        ended(self.process, self.profile)


class WebKit:
    PROGRAMS = ["WebKitWebDriver", "Xvfb"]

    def __init__(self):
        self.screen = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-nolisten", "tcp"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        display, port = ":" + self.screen.stdout.readline().strip(), free_port()
        self.driver = subprocess.Popen(
            ["WebKitWebDriver", f"--port={port}"], env={**os.environ, "DISPLAY": display},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.driver_url = self.url = f"http://127.0.0.1:{port}"
        # It says nowhere that it listens.
        until = time.monotonic() + 60
        while not self._listens():
            assert self.driver.poll() is None and time.monotonic() < until, "WebKitWebDriver does not answer"
            time.sleep(0.05)

    def _listens(self):
        try:
            return self._call("GET", "/status")["ready"]
        except requests.ConnectionError:
            return False

    def begin(self):
        """A session is a browser with a profile of its own."""
        browser = next(pathlib.Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
        options = {"binary": str(browser), "args": ["--automation"]}
        always = {"webkitgtk:browserOptions": options, "acceptInsecureCerts": True, "timeouts": {"script": 60_000}}
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": always}})
        self.url += "/session/" + session["sessionId"]
        return self.windows()[0]

    def end(self):
        self._call("DELETE", "")
        self.url = self.driver_url

    def _call(self, method, path, body=None):
        answer = requests.request(method, self.url + path, json=body, timeout=90).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(f"{path}: {answer['error']}: {answer['message']}")
        return answer

    def windows(self):
        return self._call("GET", "/window/handles")

    def go(self, window, url):
        self._call("POST", "/window", {"handle": window})
        self._call("POST", "/url", {"url": url})

    def run(self, window, body):
        self._call("POST", "/window", {"handle": window})
        script = f"const end = arguments[0]; (async () => {{ {body} }})().then(end, error => end({{ thrown: String(error) }}))"
        value = self._call("POST", "/execute/async", {"script": script, "args": []})
        if isinstance(value, dict) and "thrown" in value:
            raise RuntimeError(value["thrown"])
        return value

    def act(self, window, body):
        """Runs lines as a person's click does: without one, WebKit opens no window."""
        self.run(window, f"""const button = document.createElement("button");
            button.id = "act";
            button.textContent = "Act";
            button.onclick = () => {{ button.remove(); {body} }};
            document.body.prepend(button);""")
        found = self._call("POST", "/element", {"using": "css selector", "value": "#act"})
        self._call("POST", f"/element/{next(iter(found.values()))}/click", {})

    def tab(self):
        # In a window: a tab would be hidden, with throttled timers, also while it holds what the other one waits for.
        return self._call("POST", "/window/new", {"type": "window"})["handle"]

    def close(self):
        for process in [self.driver, self.screen]:
            process.terminate()
            process.wait(30)


class Firefox:
    PROGRAMS = ["firefox-esr"]

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        # Lines that a test runs may open popups, as a click may.
        pathlib.Path(self.profile, "user.js").write_text('user_pref("dom.disable_open_during_load", false);\n')
        self.process, url = listening([
            "firefox-esr", "--headless", "--no-remote", "--remote-debugging-port", str(free_port()),
            "--profile", self.profile], {"HOME": self.profile})
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(websockets.sync.client.connect(url + "/session", max_size=None))
        self.number = 0
        self._call("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})

    def begin(self):
        self.user = self._call("browser.createUserContext")["userContext"]
        return self.tab()

    def end(self):
        self._call("browser.removeUserContext", userContext=self.user)

    def _call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=90))
            if answer.get("id") == self.number:
                break
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def windows(self):
        contexts = self._call("browsingContext.getTree")["contexts"]
        return [context["context"] for context in contexts if context["userContext"] == self.user]

    def go(self, window, url):
        self._call("browsingContext.navigate", context=window, url=url, wait="complete")

    def run(self, window, body):
        text = f"async () => {{ const value = await (async () => {{ {body} }})(); return JSON.stringify(value ?? null); }}"
        answer = self._call(
            "script.callFunction", functionDeclaration=text, awaitPromise=True, target={"context": window},
            userActivation=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    act = run

    def tab(self):
        return self._call("browsingContext.create", type="tab", userContext=self.user)["context"]

    def close(self):
        self.stack.close()
        ended(self.process, self.profile)


def listening(command, environment):
    """Starts a browser; the process, and the URL at which it says that it listens."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    for line in process.stderr:
        found = re.search(r"listening on (ws://\S+)", line)
        if found:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, found[1]
    raise RuntimeError(f"{command[0]} ended")


def ended(process, profile):
    process.terminate()
    process.wait(30)
    shutil.rmtree(profile, ignore_errors=True)


def free_port():
    """A port that nobody has, and that no connection is given meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
