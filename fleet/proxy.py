"""A TCP proxy for one link, which can be cut, slowed down, stalled half-way through a reply, and reset once."""

import asyncio
import socket
import struct
import threading
from collections import deque

PASS, CUT, SILENT, STALLED = "pass", "cut", "silent", "stalled"


def in_loop(work):
    """Runs a function in the thread of all proxies, and returns its value."""

    async def run():
        return work()

    return asyncio.run_coroutine_threadsafe(run(), LOOP).result(10)


LOOP = asyncio.new_event_loop()
threading.Thread(target=LOOP.run_forever, daemon=True).start()


class Proxy:
    """`cut` resets connections and refuses new ones, `silent` leaves new ones without an answer, and `stalled` passes
    half of the next reply and nothing afterwards. `delay` is the time in seconds that bytes take, in each direction."""

    def __init__(self, target):
        self.target, self.mode, self.delay = target, PASS, 0.0
        self.lost_reply = 0
        # Bytes of the client that are replaced by others.
        self.rewrite = None
        self.pairs = set()
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = listener.getsockname()[1]
        serving = LOOP.create_server(lambda: Pair(self), sock=listener)
        self.server = asyncio.run_coroutine_threadsafe(serving, LOOP).result(10)

    def set(self, mode):
        def change():
            self.mode = mode
            for pair in list(self.pairs):
                if mode in (CUT, SILENT):
                    pair.reset()
                elif mode == PASS:
                    pair.back.flush()

        in_loop(change)

    def slow(self, delay):
        self.delay = delay

    def reset(self):
        """Resets the connections that there are."""
        in_loop(lambda: [pair.reset() for pair in list(self.pairs)])

    def lose_reply(self, least):
        """The next reply of so many bytes at least is lost with its connection; 0: none is."""
        self.lost_reply = least

    def close(self):
        in_loop(self.server.close)
        self.reset()


class Pair(asyncio.Protocol):
    """A connection of a client, and the one to the target."""

    def __init__(self, proxy):
        self.proxy = proxy

    def connection_made(self, transport):
        # The ways back to the client, and there to the target, once it is connected.
        self.back, self.there = Way(self.proxy, transport), None
        self.early = []
        if self.proxy.mode == CUT:
            abort(transport)
            return
        self.proxy.pairs.add(self)
        if self.proxy.mode != SILENT:
            LOOP.create_task(self.connect())

    async def connect(self):
        try:
            await LOOP.create_connection(lambda: Target(self), "127.0.0.1", self.proxy.target)
        except OSError:
            self.reset()

    def data_received(self, data):
        if rewrite := self.proxy.rewrite:
            data = data.replace(*rewrite)
        if self.there:
            self.there.send(data)
        else:
            self.early.append(data)

    def connection_lost(self, error):
        self.reset()

    def connected(self, transport):
        self.there = Way(self.proxy, transport)
        if self not in self.proxy.pairs:
            self.reset()
        for data in self.early:
            self.there.send(data)

    def reply(self, data):
        proxy = self.proxy
        if proxy.lost_reply and len(data) >= proxy.lost_reply:
            proxy.lost_reply = 0
            self.reset()
        elif proxy.mode == STALLED:
            if not self.back.held:
                half = len(data) // 2
                self.back.send(data[:half])
                data = data[half:]
            self.back.held.append(data)
        else:
            self.back.send(data)

    def reset(self):
        self.proxy.pairs.discard(self)
        for way in (self.back, self.there):
            if way:
                abort(way.transport)


class Target(asyncio.Protocol):
    def __init__(self, pair):
        self.pair = pair

    def connection_made(self, transport):
        self.pair.connected(transport)

    def data_received(self, data):
        self.pair.reply(data)

    def eof_received(self):
        # What was delayed is still sent.
        LOOP.call_later(self.pair.proxy.delay, self.pair.back.transport.close)

    def connection_lost(self, error):
        LOOP.call_later(self.pair.proxy.delay, self.pair.reset)


class Way:
    """One direction: bytes leave in order, each after the delay."""

    def __init__(self, proxy, transport):
        self.proxy, self.transport = proxy, transport
        self.queue, self.held = deque(), []
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data):
        if not self.proxy.delay and not self.queue:
            self.write(data)
            return
        self.queue.append((LOOP.time() + self.proxy.delay, data))
        if len(self.queue) == 1:
            LOOP.call_at(self.queue[0][0], self.leave)

    def write(self, data):
        if not self.transport.is_closing():
            self.transport.write(data)

    def leave(self):
        while self.queue and self.queue[0][0] <= LOOP.time():
            self.write(self.queue.popleft()[1])
        if self.queue:
            LOOP.call_at(self.queue[0][0], self.leave)

    def flush(self):
        held, self.held = self.held, []
        for data in held:
            self.send(data)


def abort(transport):
    """Closes with RST."""
    connection = transport.get_extra_info("socket")
    if connection and not transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
