"""What breaks in production, done to the cluster while people go on."""

import asyncio
import signal
import time


class Faults:
    KINDS = ("kill", "terminate", "restart", "promote", "full", "clock", "stop")

    def __init__(self, world, options, rng):
        self.world, self.rng = world, rng
        self.kinds = self.KINDS if options.faults == "all" else tuple(filter(None, options.faults.split(",")))
        self.counts, self.recoveries, self.wrong = dict.fromkeys(self.kinds, 0), [], []

    def summary(self):
        if not self.kinds:
            return ""
        text = "; " + ", ".join(f"{count} × {kind}" for kind, count in self.counts.items())
        if self.recoveries:
            text += f"; first good answer {max(self.recoveries):.2f} s after a promotion at most"
        return text + "".join(f"; {fault}" for fault in self.wrong)

    async def run(self, deadline):
        while self.kinds and time.monotonic() < deadline - 30 and not self.world.is_over:
            # Kills are quick, and there should be many of them.
            kind = self.rng.choices(self.kinds, [6 if kind == "kill" else 2 if kind == "promote" else 1
                                                 for kind in self.kinds])[0]
            self.world.faults += 1
            self.world.is_failing += 1
            print(f"{time.monotonic() - self.world.began:6.0f} s  {kind}", flush=True)
            try:
                await getattr(self, kind)()
                self.counts[kind] += 1
            finally:
                self.world.is_failing -= 1
                self.world.faults += 1
                # Pools notice what they lost at their next use.
                self.world.failed_until = time.monotonic() + 1.5
            await asyncio.sleep(self.rng.uniform(2, 5))

    @staticmethod
    async def in_thread(function, *arguments):
        return await asyncio.to_thread(function, *arguments)

    def one(self):
        index = self.rng.randrange(2)
        return self.world.cluster.nodes[index], self.world.nodes[index]

    async def kill(self):
        process, node = self.one()
        process.process.kill()
        await self.in_thread(process.process.wait)
        node.forget_connections()
        await self.in_thread(process.start)

    async def terminate(self):
        self.world.cluster.postgres.primary.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' "
            "AND pid <> pg_backend_pid()")

    async def restart(self):
        primary = self.world.cluster.postgres.primary
        await self.in_thread(primary.stop)
        await self.in_thread(primary.start)

    async def promote(self):
        postgres = self.world.cluster.postgres
        await self.in_thread(postgres.promote)
        promoted = time.monotonic()
        for node in self.world.nodes:
            self.recoveries.append(await self.first_good_answer(node, promoted))
        if max(self.recoveries) >= 2:
            self.wrong.append(f"{max(self.recoveries):.1f} s after a promotion until the first good answer")
        await self.in_thread(postgres.restore_standby)

    async def first_good_answer(self, node, since):
        while True:
            answer = await node.call("POST", "accounts:signUp", {}, timeout=10)
            if answer.label == "ok":
                return time.monotonic() - since
            if time.monotonic() > since + 30:
                self.wrong.append("no good answer within 30 s of a promotion")
                return time.monotonic() - since
            await asyncio.sleep(0.05)

    async def full(self):
        """No room for WAL: a file takes what the small file system has left."""
        postgres = self.world.cluster.postgres
        await self.in_thread(postgres.fill)
        await asyncio.sleep(4)
        await self.in_thread(postgres.make_room)

    async def clock(self):
        process, _ = self.one()
        usual = process.clock
        process.set_clock(usual + self.rng.choice((60, -60)))
        self.world.drift += 60
        await asyncio.sleep(8)
        process.set_clock(usual)
        await asyncio.sleep(2)

    async def stop(self):
        process, _ = self.one()
        process.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(20)
        process.process.send_signal(signal.SIGCONT)
        await asyncio.sleep(1)
