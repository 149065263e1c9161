"""How long Chromium takes to show something of our pages, on loopback. Run it by `make bench-pages`.

Each state is opened a few times in a browser that runs already, each time in a profile of its own, as a popup is. The
time is the browser's own `first-contentful-paint`, from the beginning of that page's navigation. First comes a page of one
word: what the browser takes by itself. The last column is the service's part, from the request to the answer's end.
"""

import argparse
import http.server
import json
import os
import secrets
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

from playwright.sync_api import sync_playwright

HANDLER = "/__/auth/handler"
PROVIDER = "google.com"


class OneWord(http.server.BaseHTTPRequestHandler):
    """The page to compare with."""

    def do_GET(self):
        body = b"<!doctype html><title>Hello</title><p>Hello"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def address(path, **parameters):
    return path + "?" + urllib.parse.urlencode(parameters)


def begins(**changed):
    """The handler as the web SDK opens it."""
    parameters = {
        "apiKey": "any", "appName": "[DEFAULT]", "authType": "signInViaPopup", "eventId": "1234567890",
        "redirectUrl": "http://localhost:8000/app", "v": "12.0.0", "providerId": PROVIDER, "scopes": "profile", **changed,
    }
    return address(HANDLER, **{name: value for name, value in parameters.items() if value is not None})


# Name, address, language, whether scripts run.
STATES = [
    ("handler: leaves for the provider", begins(), "en", True),
    ("handler: the same, in German", begins(), "de", True),
    ("handler: the same, in Japanese", begins(), "ja", True),
    ("handler: the same, without scripts", begins(), "en", False),
    ("handler: leaves, by redirect", begins(authType="signInViaRedirect"), "en", True),
    ("handler: nothing asked for", HANDLER, "en", True),
    ("handler: unknown provider", begins(providerId="nobody.example"), "en", True),
    ("handler: no provider", begins(providerId=None), "en", True),
    ("handler: foreign page to return to", begins(redirectUrl="https://evil.example/"), "en", True),
    ("handler: unknown flow", address(HANDLER, state="unknown", code="x"), "en", True),
    ("handler: cancelled at the provider", address(HANDLER, state="unknown", error="access_denied"), "en", True),
    ("handler: hostile parameters", address(HANDLER, state="<script>", code="\x00"), "ja", True),
    ("handler: what cannot be decoded", HANDLER + "?state=%", "de", True),
    ("action: unknown code", address("/__/auth/action", mode="resetPassword", oobCode="x", apiKey="any"), "en", True),
    ("action: no mode", address("/__/auth/action", apiKey="any"), "en", True),
]


def free_port():
    return 20_000 + secrets.randbelow(12_000)  # below those that the kernel gives to clients


class Development:
    """`identity dev` of a release build, with its demo identity providers."""

    def __init__(self, program):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "dev", "--port", str(port), "--ephemeral", "--demo-providers", "all"],
            stdout=open(os.path.join(self.folder.name, "log"), "w"), stderr=subprocess.STDOUT,
        )
        for _ in range(3000):
            try:
                urllib.request.urlopen(self.url + "/readyz").read()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("bench: identity dev ended")
                time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def paint(browser, url, language, scripts, own):
    """Milliseconds until something is to be seen, and those of the answer."""
    context = browser.new_context(locale=language)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    # Where the page leads is never reached: it stays to be seen.
    page.route(lambda target: not target.startswith(own), lambda route: route.fulfill(status=204))
    page.goto(url, wait_until="commit")
    page.wait_for_timeout(300)
    session.send("Emulation.setScriptExecutionDisabled", {"value": False})
    shown, answer = page.evaluate(
        "(() => { const [navigation] = performance.getEntriesByType('navigation');"
        " return [performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,"
        " navigation.responseEnd - navigation.requestStart]; })()"
    )
    context.close()
    return shown, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--program", default=".build/release/identity")
    parser.add_argument("--json")
    options = parser.parse_args()
    bare = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OneWord)
    threading.Thread(target=bare.serve_forever, daemon=True).start()
    bare_url = f"http://127.0.0.1:{bare.server_port}"
    service = Development(options.program)
    figures = {}
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium",
                args=["--no-sandbox", "--headless=new", "--disable-dev-shm-usage"],
            )
            rows = [("a page of one word", bare_url + "/", bare_url, "en", True)]
            rows += [(name, service.url + path, service.url, language, scripts) for name, path, language, scripts in STATES]
            samples = {row[0]: [] for row in rows}
            paint(browser, bare_url + "/", "en", True, bare_url)
            # In turns, so that what else the machine does meets all of them.
            for _ in range(options.times):
                for name, url, own, language, scripts in rows:
                    samples[name].append(paint(browser, url, language, scripts, own))
            browser.close()
        print(f"{'':<40}{'median ms':>11}{'worst':>8}{'service':>9}")
        for name, values in samples.items():
            shown = [value for value, _ in values if value is not None]
            if not shown:
                print(f"{name:<40}{'nothing':>11}")
                continue
            figures[name] = {"median": statistics.median(shown), "worst": max(shown),
                             "service": statistics.median(answer for _, answer in values)}
            row = figures[name]
            print(f"{name:<40}{row['median']:>11.0f}{row['worst']:>8.0f}{row['service']:>9.1f}", flush=True)
    finally:
        service.stop()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=2)


if __name__ == "__main__":
    main()
