"""A steady load for maintenance.py, in a process of its own: so many requests in a second, whatever becomes of those before.

usage: steady.py REQUESTS RECORD    commands on stdin: `rate N` (0 for as many as 64 connections carry), `nodes URL,…`, `end`

The requests are those of a file of bench.Requests, one after the other; a refresh token of an answer takes the place of the
one that was sent. Nodes get them in turns, over connections that are kept, as from the proxy of production.md: a node
that takes no connection is passed over, and anything else that is no answer, or none with status 200, is a failure. RECORD gets
three 64-bit floats of each request: when it was sent, when answered (of the monotonic clock; negative for a failure), and 1 for
a refresh.
"""

import array
import gc
import os
import select
import socket
import sys
import time
import urllib.parse

CONNECTIONS = 64
PATIENCE = 30


class Entry:
    """A request of the file, as bytes."""

    def __init__(self, line):
        self.method, self.path, self.kind, body = line.rstrip("\n").split("\t")
        self.is_refresh = self.path.startswith("/v1/token")
        self.change(body.encode())

    def change(self, body):
        self.body = body
        head = (f"{self.method} {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {self.kind}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n")
        self.bytes = head.encode() + body

    def follow(self, answer):
        at = answer.find(b'"refresh_token":"')
        if at >= 0:
            token = answer[at + 17:answer.index(b'"', at + 17)]
            self.change(b"grant_type=refresh_token&refresh_token=" + token)


class Connection:
    def __init__(self, node):
        self.node, self.entry, self.buffer = node, None, b""
        self.socket = socket.create_connection(node, timeout=1)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.number = self.socket.fileno()


class Steady:
    def __init__(self, requests, record):
        with open(requests) as file:
            self.entries = [Entry(line) for line in file]
        self.record_path = record
        self.record = array.array("d")
        self.poll = select.epoll()
        self.connections, self.free, self.nodes = {}, {}, []
        self.next_entry = self.turn = self.rate = self.busy = 0
        self.due = time.monotonic()
        self.failures = {}

    def send(self):
        entry = self.entries[self.next_entry]
        self.next_entry = (self.next_entry + 1) % len(self.entries)
        connection = self.connection()
        if connection is None:
            now = time.monotonic()
            return self.note(entry, now, -now, "no node takes a connection")
        connection.entry, connection.sent = entry, time.monotonic()
        self.busy += 1
        try:
            connection.socket.sendall(entry.bytes)
        except OSError as error:
            self.lost(connection, error)

    def connection(self):
        for _ in self.nodes:
            node = self.nodes[self.turn % len(self.nodes)]
            self.turn += 1
            if self.free.get(node):
                return self.free[node].pop()
            try:
                made = Connection(node)
            except OSError:
                continue
            self.connections[made.number] = made
            self.poll.register(made.number, select.EPOLLIN)
            return made
        return None

    def receive(self, connection):
        try:
            data = connection.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError as error:
            return self.lost(connection, error)
        if not data:
            return self.lost(connection, "closed without an answer")
        buffer = connection.buffer = connection.buffer + data
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = buffer[:end].lower()
        at = head.find(b"content-length:") + 15
        length = int(head[at:head.find(b"\r", at) if head.find(b"\r", at) >= 0 else None])
        if len(buffer) < end + 4 + length:
            return
        now = time.monotonic()
        answer, connection.buffer = buffer[end + 4:], b""
        entry, connection.entry = connection.entry, None
        self.busy -= 1
        if head.startswith(b"http/1.1 200"):
            self.note(entry, connection.sent, now)
            entry.follow(answer)
        else:
            self.note(entry, connection.sent, -now, (head[9:12] + b" " + answer[:200]).decode())
        if b"connection: close" in head:
            self.forget(connection)
        elif connection.node in self.nodes:
            self.free.setdefault(connection.node, []).append(connection)
        else:
            self.forget(connection)

    def lost(self, connection, reason):
        if connection.entry:
            self.busy -= 1
            self.note(connection.entry, connection.sent, -time.monotonic(), str(reason))
        elif connection in self.free.get(connection.node, []):
            self.free[connection.node].remove(connection)
        self.forget(connection)

    def forget(self, connection):
        self.connections.pop(connection.number, None)
        self.poll.unregister(connection.number)
        connection.socket.close()

    def note(self, entry, sent, answered, failure=None):
        self.record.extend((sent, answered, entry.is_refresh))
        if failure:
            self.failures[failure] = self.failures.get(failure, 0) + 1

    def obey(self, line):
        """A command; whether to go on."""
        word, _, value = line.partition(" ")
        if word == "rate":
            self.rate, self.due = int(value), time.monotonic()
        elif word == "nodes":
            urls = [urllib.parse.urlsplit(url) for url in value.split(",")]
            self.nodes = [(url.hostname, url.port) for url in urls]
            # What is under way there is answered; nothing more is sent.
            for node in list(self.free):
                if node not in self.nodes:
                    for connection in self.free.pop(node):
                        self.forget(connection)
        return word != "end"

    def run(self):
        gc.disable()
        self.poll.register(0, select.EPOLLIN)
        commands, goes_on = b"", True
        while goes_on or self.busy:
            now = time.monotonic()
            if goes_on and self.nodes:
                if self.rate:
                    while self.due <= now:
                        self.send()
                        self.due += 1 / self.rate
                else:
                    while self.busy < CONNECTIONS:
                        self.send()
            # Told in full milliseconds, which would come too late.
            for number, _ in self.poll.poll(0.001 if self.rate else 1):
                if number:
                    if number in self.connections:
                        self.receive(self.connections[number])
                    continue
                data = os.read(0, 4096)
                commands += data
                *lines, commands = commands.split(b"\n")
                for line in lines if data else [b"end"]:
                    goes_on = self.obey(line.decode()) and goes_on
            overdue = [c for c in self.connections.values() if c.entry and now - c.sent > PATIENCE] if self.busy > 500 or not goes_on else []
            for connection in overdue:
                self.lost(connection, "no answer")
        with open(self.record_path, "wb") as file:
            self.record.tofile(file)
        for failure, count in self.failures.items():
            print(f"{count} × {failure}", flush=True)


if __name__ == "__main__":
    Steady(*sys.argv[1:]).run()
