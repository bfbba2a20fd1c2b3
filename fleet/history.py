"""What happened: operations, the faults meanwhile, and the effects that the processes have written."""

import itertools
import threading
import time
from dataclasses import dataclass, field

# Outcomes of an operation. LOST: accepted, but neither answer nor error came.
ANSWER, ERROR, BUSY, GONE, BROKEN, LOST = "answer", "error", "503", "404", "broken", "lost"


@dataclass
class Session:
    id: str
    # When it was asked for.
    opened: float
    owner: int
    # When a DELETE was sent, and when its 204 came.
    ending: float = None
    deleted: float = None
    # The level of log messages that was acknowledged; None if that is uncertain.
    level: str = "debug"
    events: int = 0
    seen: list = field(default_factory=list)
    operations: list = field(default_factory=list)


@dataclass
class Operation:
    kind: str
    session: Session
    # The number of the process, or None for the balancer.
    asked: int
    begin: float
    # The time that the handler takes by itself, in seconds.
    own: float = 0.0
    key: str = None
    end: float = None
    outcome: str = None
    note: str = ""
    # Why the stream of a call could not be resumed.
    resumed: str = None
    # Why an operation that is answered has another content than it must have, by the names of checks.
    wrong: dict = field(default_factory=dict)


@dataclass
class Fault:
    """A span of time in which something is not as usual. Process None: all, or the store itself."""

    name: str
    process: int
    begin: float
    end: float = None

    def overlaps(self, begin, end):
        return self.begin <= end and (self.end is None or self.end >= begin)


@dataclass
class Effect:
    key: str
    pid: int
    start: float
    end: float = None


@dataclass
class Promise:
    """One bound that was measured, or one expectation of a fault."""

    check: str
    what: str
    held: bool
    operations: list = field(default_factory=list)


class History:
    def __init__(self, heartbeat):
        self.heartbeat, self.lock = heartbeat, threading.Lock()
        self.operations, self.sessions, self.faults, self.promises = [], [], [], []
        self.pids = {}
        self.numbers = itertools.count(1)
        self.began = time.monotonic()

    def begin(self, kind, session, asked, own=0.0, key=None):
        operation = Operation(kind, session, asked, time.monotonic(), own, key)
        with self.lock:
            self.operations.append(operation)
        if session:
            session.operations.append(operation)
        return operation

    def finish(self, operation, outcome, note=""):
        operation.outcome, operation.note = outcome, operation.note or note
        operation.end = time.monotonic()
        return operation

    def key(self, kind):
        return f"{kind}-{next(self.numbers)}"

    def open(self, id, owner, opened):
        session = Session(id, opened, owner)
        with self.lock:
            self.sessions.append(session)
        return session

    def fault(self, name, process=None):
        fault = Fault(name, process, time.monotonic())
        with self.lock:
            self.faults.append(fault)
        return fault

    def over(self, fault):
        fault.end = time.monotonic()

    def during(self, begin, end, *names, process=None):
        """The faults of these names in a time; those of one process, and of all, if that is given."""
        return [
            fault
            for fault in list(self.faults)
            if fault.overlaps(begin, end)
            and (not names or fault.name in names)
            and (process is None or fault.process is None or fault.process == process)
        ]

    def promise(self, check, what, held, *operations):
        with self.lock:
            self.promises.append(Promise(check, f"{self.at(time.monotonic())} {what}", held, list(operations)))

    def bound(self, check, what, began, limit, *operations):
        """Something has happened now that had to happen in a time."""
        now = time.monotonic()
        lag = self.heartbeat.lag(began, now)
        took = now - began
        self.promise(check, f"{what}: {took:.2f} s of {limit:.1f} + {lag:.1f} s", took <= limit + lag, *operations)

    def flushed(self, session, end):
        """The store has lost what it had, in the life of a session until a time."""
        return bool(self.during(session.opened, end, "flushed"))

    def effects(self, path):
        """The effects by their keys, with times of the monotonic clock."""
        shift = time.time() - time.monotonic()
        effects = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            key, pid, moment, at = line.split()
            found = effects.setdefault(key, [])
            at = float(at) - shift
            if moment == "start":
                found.append(Effect(key, int(pid), at))
            else:
                next(each for each in found if each.pid == int(pid) and each.end is None).end = at
        return effects

    def at(self, moment):
        return f"{moment - self.began:7.3f}"

    def line(self, operation, effects):
        """A line of a table."""
        asked = "balancer" if operation.asked is None else f"process {operation.asked}"
        took = f"{operation.end - operation.begin:6.2f} s" if operation.end else "     open"
        text = f"{self.at(operation.begin)} {took} {operation.kind:<9} {asked:<9} {operation.outcome}"
        ran = [
            f"{self.pids.get(effect.pid, '?')}@{self.at(effect.start).strip()}" + ("" if effect.end else " (no end)")
            for effect in effects.get(operation.key, [])
        ]
        return " ".join(filter(None, [text, operation.key, ran and f"ran in {', '.join(ran)}", operation.note]))
