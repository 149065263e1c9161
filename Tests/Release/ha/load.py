"""A steady load whose acknowledged writes are checked afterwards: through the service, or on PostgreSQL alone."""

import asyncio
import collections
import random
import statistics
import threading
import time

Request = collections.namedtuple("Request", "began ended kind outcome")


class Figures:
    """What the requests of a span of time experienced."""

    def __init__(self, requests, promoted=None):
        self.requests = sorted(requests, key=lambda request: request.ended)
        self.failed = [request for request in requests if request.outcome != "ok"]
        self.outcomes = collections.Counter(request.outcome for request in self.failed)
        self.server_errors = sum(count for outcome, count in self.outcomes.items() if outcome[:1] == "5")
        seconds = collections.defaultdict(list)
        for request in requests:
            seconds[int(request.began)].append(request.ended - request.began)
        self.worst_second = max((percentile(times, 99) for times in seconds.values()), default=0)
        self.median = statistics.median([request.ended - request.began for request in requests] or [0])
        good = [request.ended for request in self.requests if request.outcome == "ok"]
        # The longest time without any success.
        self.pause = max((after - before for before, after in zip(good, good[1:])), default=0)
        self.after_promotion = None
        if promoted:
            self.after_promotion = next((end - promoted for end in good if end >= promoted), float("inf"))

    def kinds(self):
        """The most frequent failures: kind and outcome, how many, and after how many seconds the first came."""
        kinds = collections.defaultdict(list)
        for request in self.failed:
            kinds[request.kind, request.outcome].append(request.ended - request.began)
        most = sorted(kinds.items(), key=lambda item: -len(item[1]))[:6]
        return [(kind, len(times), min(times)) for kind, times in most]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share / 100))]


class ServiceLoad:
    """Users who refresh their tokens, with rotation, and of whom one in 20 requests is a sign-in.

    A user whose request fails repeats it with the same token. A token that was acknowledged must work.
    """

    def __init__(self, node, provider, users, rate):
        self.node, self.provider, self.rate = node, provider, rate
        self.requests, self.lost, self.ended_sessions = [], [], []
        self.users = [None] * users
        self.is_over, self.rng = False, random.Random(1)
        self.goes_on, self.busy = asyncio.Event(), 0
        self.goes_on.set()

    async def call(self, kind, path, body):
        began = time.time()
        answer = await self.node.call("POST", path, body)
        outcome = "ok" if answer.label == "ok" else str(answer.status or answer.error)
        self.requests.append(Request(began, time.time(), kind, outcome))
        return answer

    async def sign_in(self, index):
        token = self.provider.id_token("oidc.one", f"user-{index}", f"user{index}@example.com", True)
        return await self.call("sign-in", "accounts:signInWithIdp", {
            "postBody": f"id_token={token}&providerId=oidc.one", "requestUri": "http://localhost", "returnSecureToken": True})

    async def refresh(self, token):
        return await self.call("refresh", "token", {"grantType": "refresh_token", "refreshToken": token})

    async def prepare(self):
        """Signs everybody in."""
        gate = asyncio.Semaphore(16)

        async def one(index):
            async with gate:
                answer = await self.sign_in(index)
                if answer.label != "ok":
                    raise RuntimeError(f"sign-in before the experiments: {answer} {answer.body}")
                self.users[index] = answer.refresh_token
        await asyncio.gather(*(one(index) for index in range(len(self.users))))
        self.requests.clear()

    async def run(self):
        await asyncio.gather(*(self.live(index) for index in range(len(self.users))))

    async def live(self, index):
        await asyncio.sleep(self.rng.random() * len(self.users) / self.rate)
        while not self.is_over:
            await self.goes_on.wait()
            began = time.monotonic()
            self.busy += 1
            await self.step(index)
            self.busy -= 1
            pause = self.rng.uniform(0.5, 1.5) * len(self.users) / self.rate - (time.monotonic() - began)
            await asyncio.sleep(max(0, pause))

    async def step(self, index):
        """One request, repeated until it succeeds."""
        is_new = self.rng.random() < 0.05
        answer = None
        while answer is None or answer.label != "ok":
            if answer is not None:
                # No response, or 5xx; anything else refuses a token that was acknowledged.
                if answer.status is not None and answer.status < 500 and answer.status != 429:
                    self.lost.append(f"user {index}: {answer} {answer.body}")
                    is_new = True
                if self.is_over:
                    return
                await asyncio.sleep(0.2 + 0.3 * self.rng.random())
            answer = await (self.sign_in(index) if is_new else self.refresh(self.users[index]))
        if is_new:
            self.ended_sessions.append(self.users[index])
        self.users[index] = answer.refresh_token

    async def verify(self):
        """Uses the last token of every session. Returns how many there were, and what was lost."""
        self.goes_on.clear()
        while self.busy:
            await asyncio.sleep(0.05)
        before, lost = len(self.requests), []
        gate = asyncio.Semaphore(16)
        tokens = [*self.ended_sessions, *self.users]

        async def one(token):
            async with gate:
                for _ in range(5):
                    answer = await self.refresh(token)
                    if not answer.is_unknown:
                        break
                    await asyncio.sleep(1)
                if answer.label != "ok":
                    lost.append(f"a session's last token: {answer} {answer.body}")
                return answer.refresh_token or token
        renewed = await asyncio.gather(*(one(token) for token in tokens))
        self.users, self.ended_sessions = list(renewed[len(self.ended_sessions):]), []
        del self.requests[before:]
        lost += self.lost
        self.lost = []
        self.goes_on.set()
        return len(tokens), lost


class SQLLoad:
    """Connections that insert one row after the other: what PostgreSQL, Patroni and HAProxy do without the service."""

    def __init__(self, conninfo, users, rate):
        self.conninfo, self.rate = conninfo, rate
        self.requests, self.is_over = [], False
        self.writers = min(users, 16)
        self.written = [0] * self.writers
        self.acknowledged = set()

    async def prepare(self):
        import psycopg2
        self.psycopg2 = psycopg2
        connection = self.connect()
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE written (writer INT, number INT, PRIMARY KEY (writer, number))")
        connection.close()

    def connect(self):
        connection = self.psycopg2.connect(self.conninfo)
        connection.autocommit = True
        return connection

    async def run(self):
        threads = [threading.Thread(target=self.live, args=(index,), daemon=True) for index in range(self.writers)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            await asyncio.sleep(0.2)

    def live(self, index):
        connection, rng = None, random.Random(index)
        while not self.is_over:
            self.written[index] += 1
            began = time.time()
            try:
                connection = connection or self.connect()
                with connection.cursor() as cursor:
                    cursor.execute("INSERT INTO written VALUES (%s, %s)", (index, self.written[index]))
                # A commit that stopped waiting for the standby comes with a warning only.
                if any("synchronous replication" in notice for notice in connection.notices):
                    raise self.psycopg2.OperationalError("not replicated")
                self.acknowledged.add((index, self.written[index]))
                outcome = "ok"
            except self.psycopg2.Error as error:
                outcome = (str(error).strip().split("\n")[0] or type(error).__name__)[:70]
                connection = None
            self.requests.append(Request(began, time.time(), "insert", outcome))
            time.sleep(0.05 if outcome != "ok" else rng.uniform(0.5, 1.5) * self.writers / self.rate)

    async def verify(self):
        def read():
            connection = self.connect()
            with connection.cursor() as cursor:
                cursor.execute("SELECT writer, number FROM written")
                return set(cursor.fetchall())
        acknowledged = set(self.acknowledged)
        missing = acknowledged - await asyncio.to_thread(read)
        return len(acknowledged), [f"row {row}" for row in sorted(missing)]
