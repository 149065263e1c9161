"""Whether the time of an answer tells who has an account (threats.md, T-E1). Run it by `make bench-timing`.

Requests about addresses that somebody has and that nobody has come in turns, one at a time. It prints a line for each kind
and fails when the medians differ by more than 2 % of the time of one password hash, twice in a row.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import time

import bench

SHARE = 0.02


class Timing(bench.Bench):
    HEAD = f"{'request':<44}{'samples':>9}{'known ms':>10}{'unknown ms':>12}{'apart µs':>10}{'of a hash':>11}"

    def run(self):
        self.connection = http.client.HTTPConnection(self.service.url.removeprefix("http://"))
        known = [p.account + "@example.com" for p in self.people[:256]]
        unknown = [f"nobody{number}@example.com" for number in range(256)]
        kinds = {
            "signInWithPassword, a wrong password": (
                "signInWithPassword", lambda address: {"email": address, "password": "not the password"}),
            "signInWithPassword, one in two forms": (
                "signInWithPassword", lambda address: {"email": address, "password": "nöt the password"}),
            "sendOobCode, a reset of the password": (
                "sendOobCode", lambda address: {"requestType": "PASSWORD_RESET", "email": address}),
            "createAuthUri, an address's methods": (
                "createAuthUri", lambda address: {"identifier": address, "continueUri": "http://localhost"}),
        }
        print(self.HEAD)
        told = [name for name, (method, body) in kinds.items() if not self.looks_alike(name, method, body, known, unknown)]
        if told:
            bench.fail("the time of an answer tells who has an account: " + "; ".join(told))

    hash_us = None

    def looks_alike(self, name, method, body, known, unknown):
        for _ in range(2):
            times = self.sample_times(method, body, known, unknown)
            medians = [statistics.median(values) for values in times]
            self.hash_us = self.hash_us or medians[0]  # the first kind is little else
            apart = abs(medians[0] - medians[1])
            print(f"{name:<44}{len(times[0]):>9,}{medians[0] / 1000:>10.3f}{medians[1] / 1000:>12.3f}{apart:>10.0f}"
                  f"{apart / self.hash_us:>11.2%}", flush=True)
            if apart <= SHARE * self.hash_us:
                return True
        return False

    def sample_times(self, method, body, known, unknown):
        """Microseconds of answers, for addresses that somebody has and for others."""
        times = ([], [])
        answers = (set(), set())
        for number in range(self.options.samples):
            turn = [(0, known), (1, unknown)]
            random.shuffle(turn)
            for kind, addresses in turn:
                address = addresses[number % len(addresses)]
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
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    if "DATABASE_URL" not in os.environ:
        bench.fail("run it by scripts/with-postgres, as `make bench-timing` does")
    with Timing(options, os.environ["DATABASE_URL"], options.program) as run:
        run.prepare()
        run.run()


if __name__ == "__main__":
    main()
