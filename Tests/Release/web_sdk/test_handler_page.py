"""The handler page in Chromium, whose history the tests read by DevTools.

usage: .venv/bin/pytest Tests/Release/web_sdk/test_handler_page.py
"""

import urllib.parse


def test_a_fragment_leaves_the_address_before_it_is_posted(service, browser):
    """T-B11: nobody finds a provider's code in the history, nor does a page that comes later in a referrer."""
    context = browser.new_context()
    page = context.new_page()
    secret = "secret-of-the-provider"
    address = f"{service.url}/__/auth/handler"
    events = []
    page.on("framenavigated", lambda frame: events.append(frame.url))
    page.on("request", lambda request: events.append(request.method))
    with page.expect_request(lambda request: request.method == "POST") as posted:
        page.goto(f"{address}#state=none&code={secret}&id_token={secret}")
    fields = urllib.parse.parse_qs(posted.value.post_data)
    assert fields["code"] == fields["id_token"] == [secret] and fields["state"] == ["none"]
    page.get_by_text("auth/invalid-credential").wait_for()
    assert events.index(address) < events.index("POST"), events
    history = context.new_cdp_session(page).send("Page.getNavigationHistory")["entries"]
    assert any(entry["url"] == address for entry in history), history
    assert not any(secret in entry["url"] for entry in history), history
    assert secret not in posted.value.headers.get("referer", "")
    context.close()
