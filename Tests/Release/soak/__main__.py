"""Simulated people at two nodes with clocks of their own; everything that is answered is held against a model.

usage: python Tests/Release/soak [--minutes M] [--seed N] [--workers N] [--people N] [--faults all|KIND,…]
       python Tests/Release/soak --first-sign-ins 20000
       python Tests/Release/soak --imports 10000

A violation prints what the person did, as short as it can be told, and the seed. Run it by `make soak`.
"""

import argparse
import asyncio
import collections
import json
import os
import random
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

import cluster as clusters
from faults import Faults
from person import Person, Violation
from wire import Node, Provider

LIMITS = {"enabled": False}  # One address does what a city does.


class World:
    """What all people share."""

    def __init__(self, cluster, provider, options):
        self.cluster, self.provider, self.options = cluster, provider, options
        self.nodes = [Node(node.name, node.port, cluster.key, cluster.admin, clusters.PROJECT) for node in cluster.nodes]
        self.account = json.loads(cluster.service_account)
        # By enrolment, the step of time of the last code of an app: the next one must be of a later step.
        self.operations, self.counts, self.last_steps = 0, collections.Counter(), {}
        self.began, self.drift = time.monotonic(), 3
        self.faults, self.is_failing, self.failed_until = 0, 0, 0
        self.violations = []

    def time_at(self, node):
        return time.time() + next(process.clock for process in self.cluster.nodes if process.name == node.name)

    def custom_token(self, uid):
        import jwt
        now = int(time.time())
        token = jwt.encode({"iss": self.account["client_email"], "sub": self.account["client_email"], "uid": uid,
                           "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
                           "iat": now - 5, "exp": now + 3000}, self.account["private_key"], "RS256")
        return token, now - 5

    @property
    def is_over(self):
        return len(self.violations) >= self.options.violations

    def found(self, violation, person):
        """Shows it; the person's place is taken by somebody else."""
        if not self.is_over:
            show(violation, person, self.options)
        self.violations.append(violation)

    def count(self, step, answer):
        self.counts[step.name.split(" ")[0].rstrip(","), answer.label] += 1

    def excuses(self, faults_before):
        """Whether something was broken on purpose since then."""
        return self.is_failing or self.faults != faults_before or time.monotonic() < self.failed_until

    async def configure(self):
        node = self.nodes[0]
        config = {
            "signIn": {"email": {"enabled": True, "passwordRequired": False}, "anonymous": {"enabled": True},
                       "phoneNumber": {"enabled": True}},
            "mfa": {"state": "ENABLED", "providerConfigs": [
                {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 1}}]},
            "authorizedDomains": ["localhost"],
            "identity": {"rateLimits": LIMITS, "keepLastSignInMethod": True, "sms": {
                "url": self.provider.url + "/sms", "body": "to=%TO%&text=%CODE%"}},
        }
        await self.must(node, "PATCH", f"/v2/projects/{clusters.PROJECT}/config?updateMask=signIn,mfa,authorizedDomains,"
                        "identity.rateLimits,identity.keepLastSignInMethod,identity.sms", config)
        for provider in Person.PROVIDERS:
            await self.must(node, "POST", f"/v2/projects/{clusters.PROJECT}/oauthIdpConfigs?oauthIdpConfigId={provider}", {
                "clientId": "soak", "issuer": f"{self.provider.url}/{provider}", "enabled": True})
        for node in self.nodes:
            while (await self.knows(node)).label != "ok":
                await asyncio.sleep(0.1)

    @staticmethod
    async def knows(node):
        """Whether the configuration has come to the node, in which it is a moment later."""
        return await node.call("POST", "accounts:sendOobCode", {
            "requestType": "EMAIL_SIGNIN", "email": "nobody@example.com", "returnOobLink": True,
            "continueUrl": "http://localhost/", "canHandleCodeInApp": True}, admin=True)

    async def must(self, node, method, path, body):
        answer = await node.call(method, path, body, admin=True)
        if answer.status != 200:
            sys.exit(f"soak: {method} {path}: {answer.status} {answer.body}")


async def live(people, locks, world, rng, deadline):
    """One worker: takes whoever is free, and lives a moment of that life."""
    while time.monotonic() < deadline and not world.is_over:
        index = rng.randrange(len(people))
        if locks[index].locked():
            continue
        async with locks[index]:
            person = people[index]
            try:
                await person.live()
                # Lives end, so that beginnings are met as often as what comes later.
                if person.serial > world.options.life:
                    await person.check_audit_log()
                    people[index] = world.new_person()
            except Violation as violation:
                world.found(violation, person)
                people[index] = world.new_person()
            if len(person.history) > 400:
                del person.history[:200]


async def soak(world, options):
    rng = random.Random(options.seed)
    numbers = iter(range(1, 10_000_000))
    world.new_person = lambda: Person(next(numbers), world, random.Random(rng.random()))
    people = [world.new_person() for _ in range(options.people)]
    locks = [asyncio.Lock() for _ in people]
    deadline = time.monotonic() + options.minutes * 60
    faults = Faults(world, options, random.Random(rng.random()))
    workers = [live(people, locks, world, random.Random(rng.random()), deadline) for _ in range(options.workers)]
    await asyncio.gather(*workers, faults.run(deadline), report(world, deadline))
    for person in people if not world.is_over else ():
        try:
            await person.check_audit_log()
        except Violation as violation:
            world.found(violation, person)
    return faults


async def report(world, deadline):
    while time.monotonic() < deadline and not world.is_over:
        before = world.operations
        await asyncio.sleep(min(10, max(0.1, deadline - time.monotonic())))
        print(f"{time.monotonic() - world.began:6.0f} s  {world.operations:>9,} operations, "
              f"{(world.operations - before) / 10:,.0f} a second", flush=True)


def show(violation, person, options):
    print(f"\nVIOLATION (seed {options.seed}): {violation}\n", file=sys.stderr)
    for state in person.states[:3]:
        for account in state.accounts.values():
            print(f"  account {account.uid}: {account.email} verified {account.verified} {sorted(account.methods)} "
                  f"phone {account.phone} link {account.link} factors {len(account.factors)} disabled {account.disabled}",
                  file=sys.stderr)
        print(f"  sessions {state.sessions}\n", file=sys.stderr)
    for moment, name, serial, answer in shortened(person.history):
        print(f"  {moment:9.3f}  #{serial} {name} → {answer}", file=sys.stderr)


def shortened(history):
    """Without what only looked, but for the last of it."""
    changes = [entry for entry in history[:-6] if not entry[1].startswith(("lookup", "admin: lookup", "token"))]
    return changes[-40:] + history[-6:]


async def first_sign_ins(world, count, _):
    """Each person signs in for the first time, in one of five ways; its tokens are used at once at both nodes."""
    dead, numbers = [], iter(range(count))
    rng = random.Random(1)

    async def worker():
        for number in numbers:
            email, node = f"first{number}@example.com", world.nodes[number % 2]
            way = number % 8
            if way == 0:
                answer = await node.call("POST", "accounts:signUp", {})
            elif way == 1:
                answer = await node.call("POST", "accounts:signInWithCustomToken", {"token": world.custom_token(f"first-{number}")})
            elif way == 2:
                code = await node.call("POST", "accounts:sendOobCode", {
                    "requestType": "EMAIL_SIGNIN", "email": email, "returnOobLink": True, "canHandleCodeInApp": True,
                    "continueUrl": "http://localhost/"}, admin=True)
                answer = await node.call("POST", "accounts:signInWithEmailLink", {
                    "email": email, "oobCode": code.body["oobCode"]})
            elif way == 3 and number % 40 == 3:
                answer = await node.call("POST", "accounts:signUp", {"email": email, "password": "correct horse"})
            else:
                token = world.provider.id_token("oidc.one", f"first{number}", email, rng.random() < 0.5)
                answer = await node.call("POST", "accounts:signInWithIdp", {
                    "postBody": f"id_token={token}&providerId=oidc.one", "requestUri": "http://localhost"})
            if answer.label != "ok":
                dead.append((number, answer))
                continue
            for other in world.nodes:
                found = await other.call("POST", "accounts:lookup", {"idToken": answer.id_token})
                renewed = await other.call("POST", "token", {"grantType": "refresh_token", "refreshToken": answer.refresh_token})
                if found.label != "ok" or renewed.label != "ok":
                    dead.append((number, way, node.name, other.name, found, renewed))
    began = time.monotonic()
    await asyncio.gather(*(worker() for _ in range(16)))
    print(f"{count:,} first sign-ins in {time.monotonic() - began:.0f} s, {len(dead)} dead tokens")
    return dead


async def imports(world, count, seed):
    """Accounts with raw passwords, 25 at a time; now and then somebody signs in."""
    failed, numbers = [], iter(range(0, count, 25))

    async def worker():
        for number in numbers:
            users = [{"localId": f"in{number + i}", "email": f"in{number + i}@example.com", "rawPassword": "correct horse"}
                     for i in range(25)]
            answer = await world.nodes[number // 25 % 2].call("POST", "accounts:batchCreate", {"users": users}, admin=True, timeout=120)
            if answer.label != "ok" or answer.body.get("error"):
                failed.append((number, answer, answer.body))
            answer = await world.nodes[number // 25 % 2].call("POST", "accounts:signInWithPassword", {
                "email": f"in{number + 7}@example.com", "password": "correct horse"})
            if answer.label != "ok":
                failed.append((number, answer))
    began = time.monotonic()
    await asyncio.gather(*(worker() for _ in range(4)))
    dead = [node.name for node in world.cluster.nodes if node.process.poll() is not None]
    print(f"{count:,} imports with raw passwords in {time.monotonic() - began:.0f} s, {len(failed)} failed, "
          f"{len(dead)} nodes died")
    return failed + dead


async def main(options):
    provider = Provider()
    await provider.start()
    is_filled = options.faults and ("full" in options.faults or options.faults == "all")
    with clusters.Cluster(standby=bool(options.faults), megabytes=2000 if is_filled else None) as cluster:
        world = World(cluster, provider, options)
        await world.configure()
        if options.first_sign_ins or options.imports:
            task = first_sign_ins if options.first_sign_ins else imports
            wrong = await task(world, options.first_sign_ins or options.imports, options.seed)
            for entry in wrong[:10]:
                print(entry, file=sys.stderr)
            return bool(wrong)
        faults = await soak(world, options)
        for (name, label), count in sorted(world.counts.items()):
            print(f"  {name:<28}{label:<40}{count:>8,}")
        print(f"seed {options.seed}: {world.operations:,} operations in {time.monotonic() - world.began:.0f} s, "
              f"{len(world.violations)} violation{'' if len(world.violations) == 1 else 's'}{faults.summary()}")
        for violation in world.violations:
            print(f"violation: {violation}")
        return bool(world.violations or faults.wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--workers", type=int, default=24)
    parser.add_argument("--life", type=int, default=600, help="operations after which somebody else takes a person's place")
    parser.add_argument("--faults", default="", help="all, or some of: kill, terminate, restart, promote, full, clock, stop")
    parser.add_argument("--violations", type=int, default=1, help="after how many of them to stop")
    parser.add_argument("--first-sign-ins", type=int)
    parser.add_argument("--imports", type=int)
    sys.exit(asyncio.run(main(parser.parse_args())))
