"""Streams on which changes of lists arrive: of sessions, and listens of 2026-07-28."""

import threading
import time

from client import Modern, events
from cluster import PROCESSES
from operations import SILENCE, Unfit, attempted

CHANGED = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"


class Observer:
    """Reads a stream of notifications, and begins it again when it ends."""

    def __init__(self, operations, process, session=None):
        self.operations, self.process, self.session = operations, process, session
        self.found, self.running, self.response = [], True, None
        self.begun = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        asked, last = self.process, None
        while self.running:
            try:
                self.response = attempted(lambda: self.request(asked, last))
            except Unfit:
                asked = (asked + 1) % PROCESSES if self.session else asked
                time.sleep(0.1)
                continue
            if self.session:
                self.begun.set()
            for number, message in events(self.response):
                last = number or last
                if message and "method" in message:
                    self.begun.set()
                    self.found.append((time.monotonic(), message["method"]))
            self.response.connection.close()
            time.sleep(0.05)

    def request(self, asked, last):
        if self.session:
            return self.operations.client(asked, self.session).send("GET", **({"last-event-id": last} if last else {}))
        port = self.operations.cluster.ports[asked]
        params = {"notifications": {"toolsListChanged": True}}
        return Modern(port, timeout=SILENCE).send("subscriptions/listen", params)

    def has(self, method, since):
        return any(name == method and when >= since for when, name in list(self.found))

    def close(self):
        self.running = False
        socket = self.response and self.response.connection.sock
        if socket:
            try:
                socket.shutdown(2)
            except OSError:
                pass


class Observers:
    """A session and a listen at each process."""

    def __init__(self, shaker):
        self.shaker, self.operations = shaker, shaker.operations
        sessions = shaker.each_process()
        self.all = [Observer(self.operations, session.owner, session) for session in sessions]
        self.all += [Observer(self.operations, process) for process in range(PROCESSES)]
        for each in self.all:
            each.begun.wait(3)

    def change(self, process):
        """Reports a change of the tools at a process; returns that, and when."""
        now = time.monotonic()
        operation, _ = self.operations.modern(process, "change", "tools/call", {"name": "change", "arguments": {}})
        return process, now, operation

    def told(self, check, change, since, limit):
        """The observers at other processes hear of a change in a time."""
        history, (process, when, operation) = self.shaker.history, change
        cut = {fault.process for fault in history.during(when, when, "cut")}
        waiting = [each for each in self.all if each.process != process and each.begun.is_set()]
        if cut and process not in cut:
            # Those that were not cut off are told at once.
            waiting = [each for each in waiting if each.process in cut]
        late = list(waiting)
        while late and (now := time.monotonic()) <= since + limit + history.heartbeat.lag(since, now):
            late = [each for each in late if not each.has(CHANGED, when)]
            time.sleep(0.05)
        for each in waiting:
            kind = "session" if each.session else "listen"
            what = f"a change at process {process}, a {kind} of {each.process}"
            history.promise(check, what, each not in late, operation)

    def close(self):
        for each in self.all:
            each.close()
