"""Shows below each failed test what it sent and received; expects the tests of known_differences.txt to fail."""

import os
import pathlib

import pytest
import requests

KNOWN = pathlib.Path(__file__).with_name("known_differences.txt")
IS_EMULATOR = "FIREBASE_AUTH_EMULATOR_HOST" in os.environ
exchanges = []
send = requests.Session.send


def recorded(session, request, **options):
    body = request.body.decode(errors="replace") if isinstance(request.body, bytes) else request.body or ""
    exchanges.append(f"{request.method} {request.url} {body}")
    answer = send(session, request, **options)
    exchanges.append(f"    {answer.status_code} {answer.text}")
    return answer


requests.Session.send = recorded


def pytest_collection_modifyitems(items):
    lines = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    reasons = dict(line.split(maxsplit=1) for line in lines)
    for item in items:
        reason = reasons.pop(item.nodeid.removeprefix("integration/"), None)
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=not IS_EMULATOR))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    report = yield
    if report.failed:
        report.sections.append(("exchanges", "\n".join(exchanges)))
    if call.when != "setup":
        exchanges.clear()
    return report
