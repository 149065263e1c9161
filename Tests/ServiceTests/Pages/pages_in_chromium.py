"""Opens pages in Chromium as people do, and prints what is wrong with them as a JSON list.

The argument is a JSON file: {"visits": [{"name", "url", "variants", "steps", "own", "others"}], "screenshots": folder (optional)}.
A step is {"heading"} or {"says": text} (what must come to be there), {"sees": text} (which comes by itself where scripts run,
and with a reload where not), {"fill": {selector: text}}, {"press": selector} (by keyboard), {"toggle": selector} (the same where the page stays), {"twice": selector} (two clicks at
once), {"back": true}, {"goto": url}, {"tab": url} (in another tab, which stays behind), {"arrives": start of the URL to come
to}, {"forget": true} (all cookies), {"call": url} (outside of the browser), {"post": {"path", "body"}} (JSON, by somebody
else), {"posts": url with a fragment} (whose page posts by itself, once the fragment is gone), or {"leads": start of the URL of
the page's link}. Pages whose URL begins with one of "others" are somebody else's; ours
are those of the origin of "own", else of "url".
"""

import json
import pathlib
import shutil
import sys
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error as PlaywrightError, TimeoutError, sync_playwright

SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 640}}
# size, colours, scripts
VARIANTS = {
    "desktop": ("desktop", "light", True),
    "desktop-dark": ("desktop", "dark", False),
    "phone": ("phone", "light", False),
    "phone-dark": ("phone", "dark", True),
}
# Best practices of axe are taken as rules.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}

job = json.loads(pathlib.Path(sys.argv[1]).read_text())
findings = []
paints = []


def focus(page, selector):
    """By the Tab key alone: what it does not reach cannot be used without a mouse."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return True
    return False


def run_scripts(session, scripts):
    session.send("Emulation.setScriptExecutionDisabled", {"value": not scripts})


def look(page, session, scripts, name, report):
    """What must hold on every page."""
    # Axe is a script itself; those of the page had their chance.
    run_scripts(session, True)
    for violation in Axe().run(page, options=RULES).response["violations"]:
        nodes = "; ".join(node["html"] for node in violation["nodes"])
        report(f"axe {violation['id']}: {violation['help']}: {nodes}")
    if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
        report("is wider than the window")
    for box in page.evaluate(
        "[...document.querySelectorAll('button, input:not([type=hidden]), a')].map(e => ({html: e.outerHTML,"
        " height: e.getBoundingClientRect().height}))"
    ):
        # What is not shown has none.
        if 0 < box["height"] < 44:
            report(f"is hard to hit: {box}")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
    if paint is not None:
        paints.append((paint, name))
    if job.get("screenshots"):
        path = pathlib.Path(job["screenshots"]) / f"{name}.png"
        page.screenshot(path=str(path), full_page=True)
    run_scripts(session, scripts)


def visit(browser, item, variant):
    size, scheme, scripts = VARIANTS[variant]
    name = f"{item['name']}-{variant}"
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(15_000)
    session = context.new_cdp_session(page)
    run_scripts(session, scripts)

    def report(text):
        findings.append(f"{name}: {text}")

    origin = "/".join((item.get("own") or item["url"]).split("/")[:3]) + "/"
    posts = []

    others = item.get("others", [])

    def requested(request):
        if not request.url.startswith((origin, *others)):
            report(f"asks another host: {request.url}")
        if request.method == "POST":
            posts.append(request.url)

    page.on("request", requested)
    # Chromium notes the status of an error page here as well.
    page.on("console", lambda message: "status of" in message.text or report(f"console: {message.text}"))
    page.on("pageerror", lambda error: report(f"script: {error}"))

    def settled():
        """Pages lead on by themselves: the last one counts."""
        for _ in range(50):
            url = page.url
            page.wait_for_load_state("load")
            page.wait_for_timeout(100)
            if page.url == url:
                return

    def says(text):
        try:
            return text in page.inner_text("main")
        except PlaywrightError:  # it led on meanwhile
            return False

    def look_here(name):
        """A page that leads on while it is looked at was not meant."""
        for _ in range(5):
            settled()
            url, before = page.url, len(findings)
            if not url.startswith(origin):
                return
            try:
                if page.evaluate("document.contentType") == "text/html":
                    look(page, session, scripts, name, report)
                if page.url == url:
                    return
            except PlaywrightError as error:
                # A form comes back to its own URL.
                if page.url == url and "navigation" not in str(error):
                    raise
                run_scripts(session, scripts)
            del findings[before:]
        report(f"leads on without end from {page.url}")

    page.goto(item["url"], wait_until="load")
    look_here(name)
    for number, step in enumerate(item.get("steps", [])):
        if "heading" in step:
            try:
                page.locator("h1:visible").get_by_text(step["heading"], exact=True).wait_for()
            except TimeoutError:
                headings = page.locator("h1:visible").all_inner_texts()
                report(f"says {headings!r} at {page.url} instead of {step['heading']!r}")
            continue
        if "says" in step:
            # Of what is for want of scripts, Playwright's own search by text knows nothing.
            for _ in range(100):
                if says(step["says"]):
                    break
                page.wait_for_timeout(100)
            else:
                report(f"does not say {step['says']!r}: {page.inner_text('main')!r}")
            continue
        if "arrives" in step:
            try:
                page.wait_for_url(lambda url: url.startswith(step["arrives"]), wait_until="load")
            except TimeoutError:
                report(f"is at {page.url} instead of {step['arrives']}")
            continue
        if "call" in step:
            urllib.request.urlopen(step["call"]).read()
            continue
        if "forget" in step:
            context.clear_cookies()
            continue
        if "tab" in step:
            tab = context.new_page()
            tab.goto(step["tab"], wait_until="load")
            continue
        if "leads" in step:
            link = page.locator("main a").get_attribute("href") or ""
            if not link.startswith(step["leads"]):
                report(f"leads to {link}")
            continue
        if "posts" in step:
            addresses = []

            def sends(request):
                if request.method == "POST":
                    addresses.append(page.url)
                return request.method == "POST"

            # Another fragment alone would load nothing.
            page.goto("about:blank")
            with page.expect_request(sends):
                page.goto(step["posts"], wait_until="commit")
            if addresses[0] != step["posts"].partition("#")[0]:
                report(f"posts from {addresses[0]}")
            continue
        if "post" in step:
            headers = {"Content-Type": "application/json"}
            answer = context.request.post(origin[:-1] + step["post"]["path"], data=step["post"]["body"], headers=headers)
            if not answer.ok:
                report(f"{step['post']['path']}: {answer.status}")
            continue
        if "sees" in step:
            if not scripts:
                page.reload(wait_until="load")
            try:
                page.get_by_text(step["sees"], exact=True).first.wait_for(timeout=10_000)
            except TimeoutError:
                report(f"does not come to show {step['sees']!r}")
            continue
        if "fill" in step:
            for selector, text in step["fill"].items():
                if not focus(page, selector):
                    report(f"the keyboard does not reach {selector}")
                page.keyboard.type(text)
            continue
        if "twice" in step:
            before = len(posts)
            # Without scripts the second click's navigation takes the place of the first one's, which is aborted.
            with page.expect_event("load"):
                page.locator(step["twice"]).dblclick(no_wait_after=True)
            if len(posts) != before + 1 and scripts:
                report(f"{len(posts) - before} requests for one double click")
        elif "toggle" in step:
            if not focus(page, step["toggle"]):
                report(f"the keyboard does not reach {step['toggle']}")
            page.keyboard.press("Enter")
        elif "back" in step:
            page.go_back(wait_until="load")
        elif "goto" in step:
            page.goto(step["goto"], wait_until="load")
        else:
            if not focus(page, step["press"]):
                report(f"the keyboard does not reach {step['press']}")
            with page.expect_navigation(wait_until="load"):
                page.keyboard.press("Enter")
        look_here(f"{name}-{number}")
    context.close()


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
        args=["--no-sandbox", "--headless=new", "--disable-dev-shm-usage"],
    )
    for item in job["visits"]:
        for variant in item["variants"] or VARIANTS:
            try:
                visit(browser, item, variant)
            except Exception as error:  # noqa: BLE001
                findings.append(f"{item['name']}-{variant}: {error}")
    browser.close()
if job.get("screenshots"):
    slowest = "\n".join(f"{paint:7.1f} ms {name}" for paint, name in sorted(paints))
    (pathlib.Path(job["screenshots"]) / f"first-paint-{job['visits'][0]['name']}.txt").write_text(slowest + "\n")
print(json.dumps(findings, ensure_ascii=False))
