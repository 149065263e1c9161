"""What one bad question in each batch costs the good ones: sign-ins with native tokens, some of which were used.

usage: python Benchmarks/poisoned_batch.py [--workers 64] [--seconds 10] [--rounds 3]

Prints the p50 and p99 of good sign-ins without and with replayed tokens, in turns, and the ratio of the medians of the
p99s. The load of both is the same: in the clean turns, fresh tokens take the place of replayed ones.
"""

import argparse
import asyncio
import hashlib
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "Tests/Release"), os.path.join(ROOT, "Tests/Release/soak")]

import cluster as clusters
import jwt
from wire import Node, Provider

PEOPLE = 500


def token(provider, person, serial):
    """The form of a sign-in whose token carries a nonce, and is therefore good once."""
    now, nonce = int(time.time()), f"n{serial}"
    claims = {"iss": f"{provider.url}/oidc.one", "aud": "bench", "sub": f"p{person}", "iat": now - 2, "exp": now + 3600,
              "nonce": hashlib.sha256(nonce.encode()).hexdigest()}
    return f"id_token={jwt.encode(claims, provider.key, 'ES256', {'kid': '1'})}&nonce={nonce}&providerId=oidc.one"


async def sign_in(node, form):
    return await node.call("POST", "accounts:signInWithIdp", {"postBody": form, "requestUri": "http://localhost"})


async def turn(node, provider, used, is_poisoned, options, serials):
    """One in eight workers sends used tokens when it is poisoned, and fresh ones when not."""
    end, times, refused = time.monotonic() + options.seconds, [], 0

    async def worker(number):
        nonlocal refused
        while time.monotonic() < end:
            serial = next(serials)
            is_bad = number % 8 == 0
            form = used[serial % len(used)] if is_bad and is_poisoned else token(provider, serial % PEOPLE, serial)
            began = time.monotonic()
            answer = await sign_in(node, form)
            if is_bad:
                refused += answer.label != "ok"
                continue
            if answer.label != "ok":
                sys.exit(f"a good sign-in got {answer}")
            times.append(time.monotonic() - began)

    await asyncio.gather(*(worker(number) for number in range(options.workers)))
    times.sort()
    p50, p99 = (times[int(len(times) * share)] * 1000 for share in (0.5, 0.99))
    name = "poisoned" if is_poisoned else "clean"
    print(f"{name:<10}{len(times):>7,} good sign-ins, {refused:>6,} refused   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms",
          flush=True)
    return p99


async def main(options):
    provider = Provider()
    await provider.start()
    with clusters.Cluster(clocks=(0,)) as cluster:
        node = Node("fast", cluster.nodes[0].port, cluster.key, cluster.admin, clusters.PROJECT)
        for path, body in (
            (f"/v2/projects/{clusters.PROJECT}/oauthIdpConfigs?oauthIdpConfigId=oidc.one",
             {"clientId": "bench", "issuer": f"{provider.url}/oidc.one", "enabled": True}),
            (f"/v2/projects/{clusters.PROJECT}/config?updateMask=identity.rateLimits",
             {"identity": {"rateLimits": {"enabled": False}}}),
        ):
            answer = await node.call("PATCH" if "config?" in path else "POST", path, body, admin=True)
            if answer.status != 200:
                sys.exit(f"{path}: {answer.body}")
        await asyncio.sleep(2)
        serials = iter(range(10**9))
        used = [token(provider, person, next(serials)) for person in range(PEOPLE)]
        for form in used:
            answer = await sign_in(node, form)
            if answer.label != "ok":
                sys.exit(f"the first sign-in got {answer}")
        p99s = {False: [], True: []}
        for _ in range(options.rounds):
            for is_poisoned in (False, True):
                p99s[is_poisoned].append(await turn(node, provider, used, is_poisoned, options, serials))
        ratio = statistics.median(p99s[True]) / statistics.median(p99s[False])
        print(f"p99 with a bad question in each batch: {ratio:.2f} × without")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    asyncio.run(main(parser.parse_args()))
