"""A user at the pages of the service, in a browser without scripts.

    person.py URL    signs up or in, allows what an application asks for, and follows where that leads

The page says where to go by a redirect, or by a refresh of its own, as our pages do.
"""

import html.parser
import sys
import urllib.parse

import requests

EMAIL, PASSWORD = "ada@example.com", "correct horse"


class Page(html.parser.HTMLParser):
    """The forms of a page, where it goes by itself, and its heading."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.leads_to, self.heading, self._in_heading = [], None, "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append({"action": attributes.get("action", ""), "fields": {}, "buttons": []})
        elif tag == "input" and self.forms and attributes.get("name"):
            self.forms[-1]["fields"][attributes["name"]] = attributes.get("value", "")
        elif tag == "button" and self.forms:
            self.forms[-1]["buttons"].append(attributes.get("value"))
        elif tag == "meta" and attributes.get("http-equiv") == "refresh":
            self.leads_to = attributes["content"].split("url=", 1)[1]
        self._in_heading = tag == "h1"

    def handle_data(self, data):
        if self._in_heading:
            self.heading += data

    def handle_endtag(self, tag):
        self._in_heading = False


class Person:
    def __init__(self, email=EMAIL, password=PASSWORD):
        self.email, self.password = email, password
        self.http = requests.Session()
        self.headings = []

    def visit(self, url):
        """Goes on until a page of somebody else's: its URL."""
        return self.finish(self.http.get(url, allow_redirects=False, timeout=30))

    def finish(self, answer):
        """Goes on until a page of somebody else's: its URL. Or until a page has nothing to do: its heading."""
        own = urllib.parse.urlsplit(answer.url).netloc
        for _ in range(20):
            if answer.is_redirect:
                next_url = urllib.parse.urljoin(answer.url, answer.headers["location"])
            else:
                page = Page(answer.text)
                self.headings.append(page.heading)
                next_url = page.leads_to
                if not next_url and answer.ok and not page.forms:
                    return page.heading
                if not next_url:
                    answer = self.act(page, answer)
                    continue
            if urllib.parse.urlsplit(next_url).netloc != own:
                return next_url
            answer = self.http.get(next_url, allow_redirects=False, timeout=30)
        raise AssertionError(f"no end: {self.headings}")

    def act(self, page, answer):
        """Signs in, allows it, or signs out."""
        for name, typed in [("allow", {}), ("signOut", {}), ("signIn", {"email": self.email, "password": self.password})]:
            for form in page.forms:
                if name in form["buttons"]:
                    fields = {**form["fields"], **typed, "do": name}
                    return self.http.post(urllib.parse.urljoin(answer.url, form["action"]), data=fields, timeout=30,
                                          headers={"Sec-Fetch-Site": "same-origin"}, allow_redirects=False)
        raise AssertionError(f"nothing to do on “{page.heading}”: {answer.status_code} {answer.text}")


if __name__ == "__main__":
    requests.get(Person().visit(sys.argv[1]), timeout=30)
