"""Whether the time of an answer tells who has an account (threats.md, T-E1). Run it by `make bench-timing`.

Requests about addresses that somebody has and that nobody has come in random order, one at a time, and each address once
for as long as there are others. It prints a line for each kind with z, the difference of the means in its standard errors
(Welch), without the slowest of each side, and fails when it is 3 or more, twice in a row.
"""

import argparse
import http.client
import json
import math
import os
import random
import statistics
import time

import bench

Z = 3
SLOWEST = 0.05  # what a pause of the machine made slow


class Timing(bench.Bench):
    HEAD = f"{'request':<44}{'samples':>9}{'known ms':>10}{'unknown ms':>12}{'apart µs':>10}{'z':>7}"

    def run(self):
        self.connection = http.client.HTTPConnection(self.service.url.removeprefix("http://"))
        token = self.sign_up()
        number = 0

        def unknown(known):
            nonlocal number
            number += 1
            return known.replace("@", f"-{number}@")

        people = [person.account + "@example.com" for person in self.people]
        with_passwords, others = people[:256], people[256:]
        random.shuffle(others)
        kinds = {
            "signInWithPassword, a wrong password": (
                "signInWithPassword", with_passwords, lambda address: {"email": address, "password": "not the password"}),
            "signInWithPassword, one in two forms": (
                "signInWithPassword", with_passwords, lambda address: {"email": address, "password": "nöt the password"}),
            "sendOobCode, a reset of the password": (
                "sendOobCode", others, lambda address: {"requestType": "PASSWORD_RESET", "email": address}),
            "sendOobCode, a link to sign in": (
                "sendOobCode", others, lambda address: {
                    "requestType": "EMAIL_SIGNIN", "email": address, "continueUrl": "http://localhost"}),
            "sendOobCode, a change of the address": (
                "sendOobCode", others, lambda address: {
                    "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": address}),
            "createAuthUri, an address's methods": (
                "createAuthUri", others, lambda address: {"identifier": address, "continueUri": "http://localhost"}),
        }
        print(self.HEAD)
        told = [
            name for name, (method, addresses, body) in kinds.items()
            if self.wants(method) and not self.looks_alike(name, method, body, addresses, unknown)
        ]
        if told:
            bench.fail("the time of an answer tells who has an account: " + "; ".join(told))

    def configure(self, **settings):
        # The buckets are those of production, with room for a city.
        settings["rateLimits"] = {kind: {"count": 1_000_000, "seconds": 86_400} for kind in (
            "passwordTries", "passwordTriesPerAccount", "mailsPerAccount", "mailsPerProject")}
        super().configure(**settings)
        self.change_config("signIn.email.enabled,signIn.email.passwordRequired", {
            "signIn": {"email": {"enabled": True, "passwordRequired": False}}})

    def sign_up(self):
        body = {"email": "asks@example.com", "password": bench.PASSWORD}
        return bench.Client(self.service.url).must("POST", f"/v1/accounts:signUp?key={self.requests.key}", body)["idToken"]

    def looks_alike(self, name, method, body, addresses, unknown):
        for _ in range(2):
            times = [sorted(values)[:int(len(values) * (1 - SLOWEST))]
                     for values in self.sample_times(method, body, addresses, unknown)]
            apart = statistics.mean(times[0]) - statistics.mean(times[1])
            z = apart / math.sqrt(sum(statistics.variance(values) / len(values) for values in times))
            print(f"{name:<44}{len(times[0]):>9,}{statistics.median(times[0]) / 1000:>10.3f}"
                  f"{statistics.median(times[1]) / 1000:>12.3f}{apart:>10.1f}{z:>7.1f}", flush=True)
            if abs(z) < Z:
                return True
        return False

    def sample_times(self, method, body, addresses, unknown):
        """Microseconds of answers, for addresses that somebody has and for others."""
        times = ([], [])
        answers = (set(), set())
        for number in range(self.options.samples):
            known = addresses[number % len(addresses)]
            turn = [(0, known), (1, unknown(known))]
            random.shuffle(turn)
            for kind, address in turn:
                text = json.dumps(body(address))
                began = time.perf_counter()
                self.connection.request("POST", f"/v1/accounts:{method}?key={self.requests.key}", text,
                                        {"Content-Type": "application/json"})
                answer = self.connection.getresponse()
                content = answer.read().decode()
                times[kind].append((time.perf_counter() - began) * 1e6)
                answers[kind].add((answer.status, without(content, address)))
        if answers[0] != answers[1]:
            bench.fail(f"{method} answers differently: {answers}")
        return times


def without(content, address):
    """An answer without the address, and without what is random in it."""
    answer = json.loads(content.replace(address, "ADDRESS"))
    return json.dumps({name: "" if name in ("sessionId", "authUri", "state", "nonce") else value
                       for name, value in answer.items()})


def main():
    parser = argparse.ArgumentParser(description="Shows whether the time of an answer tells who has an account.")
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--accounts", type=int, default=10_000)
    parser.add_argument("--only", type=lambda text: text.split(","), help="signInWithPassword, sendOobCode, createAuthUri")
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    if "DATABASE_URL" not in os.environ:
        bench.fail("run it by scripts/with-postgres, as `make bench-timing` does")
    for limit in ("PASSWORD_TRIES_PER_ADDRESS", "MAILS_PER_ADDRESS", "MAILS_PER_RECIPIENT", "METHOD_QUERIES_PER_ADDRESS",
                  "FLOWS_PER_ADDRESS"):
        os.environ[f"IDENTITY_RATE_LIMITS_{limit}"] = "1000000"
    with Timing(options, os.environ["DATABASE_URL"], options.program) as run:
        run.prepare()
        run.run()


if __name__ == "__main__":
    main()
